"""Uses: wrappers of the methods by which Numba asks for registrations, and makes what it keeps.

Each wrapper calls Numba's method, and notes what is asked for or made. The names of the
methods are the same from Numba 0.61 on.
"""

from __future__ import annotations

import functools
import types as pytypes
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from numba.core import base, compiler, pythonapi, sigutils, types
from numba.core.datamodel import manager
from numba.core.dispatcher import Dispatcher
from numba.core.typing import asnumbatype, context, templates
from numba.np.ufunc.dufunc import DUFunc
from numba.np.ufunc.gufunc import GUFunc
from numba.np.ufunc.ufuncbuilder import UFuncDispatcher
from numba.stencils.stencil import StencilFunc

from . import _contexts, _object_mode
from ._code import versioned, versioned_class
from ._others import may_run
from ._registered import is_foreign, is_foreign_template, name_of, name_of_template, names_of, runs_unseen, written
from ._seen import current, here, is_made, making
from ._watch import observed, unobserved, watching

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from ._seen import Seen

    Method = Callable[..., Any]


# -- typing


def _note_unseen(seen: Seen, templates: Iterable[Any]) -> None:
    """Note those templates of others for a call or an attribute whose code runs where it is not observed."""
    for template in templates:
        if runs_unseen(template):
            seen.run_others(name_of_template(template))


def _call(original: Method) -> Method:
    def get_call_type(self: Any, context: Any, args: Any, kws: Any) -> Any:
        seen = current()
        if seen is None:
            return original(self, context, args, kws)
        _note_unseen(seen, self.templates)
        here.won = None
        found = original(self, context, args, kws)
        here.open[-1].ask(f"call {name_of(self.typing_key)}", "" if here.won is None else name_of_template(here.won))
        return found

    return get_call_type


def _builtin_call(original: Method) -> Method:
    def resolve(self: Any, func: Any, args: Any, kws: Any) -> Any:
        seen = current()
        if seen is None or isinstance(func, types.Type):
            return original(self, func, args, kws)
        _note_unseen(seen, map(type, self._functions.get(func, ())))
        here.won = None
        found = original(self, func, args, kws)
        seen.ask(f"call {name_of(func)}", "" if found is None or here.won is None else name_of_template(here.won))
        return found

    return resolve


def _apply(original: Method) -> Method:
    def apply(self: Any, args: Any, kws: Any) -> Any:
        if not here.open:
            return original(self, args, kws)
        template = type(self)
        if not is_foreign_template(template):
            found = original(self, args, kws)
        else:
            with making(written(template) or template) as made:
                made.note_types(args)
                found = observed(original, self, args, kws)
        if found is not None:
            here.won = template
        return found

    return apply


def _attribute(original: Method) -> Method:
    def find(self: Any, typ: Any, attr: str, *more: Any) -> Any:
        seen = current()
        if seen is not None:
            _note_unseen(seen, map(type, self._get_attribute_templates(typ)))
            for name in (name_of(typ), *names_of(type(typ))):
                seen.ask(f"attribute {name}", attr)
        return original(self, typ, attr, *more)

    return find


def _resolve(original: Method) -> Method:
    def resolve(self: Any, value: Any, attr: str) -> Any:
        if here.open and is_foreign_template(type(self)):
            with making(written(type(self)) or type(self)) as made:
                made.note_types((value,))
                return observed(original, self, value, attr)
        return original(self, value, attr)

    return resolve


# -- lowering


def _ask_for_arguments(name: str, args: Any) -> None:
    seen = current()
    if seen is not None:
        seen.ask(name, *(n for t in args for n in names_of(type(t))))


def _lower(original: Method) -> Method:
    def get_function(self: Any, fn: Any, sig: Any, *more: Any, **options: Any) -> Any:
        if here.open:
            key = fn.get_impl_key(sig.as_function()) if isinstance(fn, types.Callable) else fn
            _ask_for_arguments(f"lower {name_of(key)}", sig.as_function().args)
        return original(self, fn, sig, *more, **options)

    return get_function


def _lower_getattr(original: Method) -> Method:
    def get_getattr(self: Any, typ: Any, attr: str) -> Any:
        for name in (attr, None):
            _ask_for_arguments(f"getattr {name_of(name)}", (typ,))
        return original(self, typ, attr)

    return get_getattr


def _lower_setattr(original: Method) -> Method:
    def get_setattr(self: Any, attr: str, sig: Any) -> Any:
        for name in (attr, None):
            _ask_for_arguments(f"setattr {name_of(name)}", sig.args)
        return original(self, attr, sig)

    return get_setattr


def _cast(original: Method) -> Method:
    def cast(self: Any, builder: Any, val: Any, fromty: Any, toty: Any) -> Any:
        _ask_for_arguments("cast", (fromty, toty))
        return original(self, builder, val, fromty, toty)

    return cast


def _constant(original: Method) -> Method:
    def get_constant_generic(self: Any, builder: Any, ty: Any, val: Any) -> Any:
        _ask_for_arguments("constant", (ty,))
        return original(self, builder, ty, val)

    return get_constant_generic


def _seeing(implementation: Any) -> Any:
    """Return an implementation that Numba is about to call, wrapped to be observed if it is not Numba's own."""
    if implementation is None or not here.open or not is_foreign(implementation):
        return implementation
    if not isinstance(implementation, pytypes.FunctionType):
        here.open[-1].run_others(implementation)  # code that is not Python's is not seen

    @functools.wraps(implementation)
    def seen(*args: Any, **more: Any) -> Any:
        return observed(implementation, *args, **more)

    return seen


def _find(original: Method) -> Method:
    def find(self: Any, sig: Any) -> Any:
        return _seeing(original(self, sig))

    return find


def _box(original: Method) -> Method:
    def lookup(self: Any, typeclass: Any, default: Any = None) -> Any:
        seen = current()
        if seen is not None:
            seen.ask("box", *names_of(typeclass))
        return _seeing(original(self, typeclass, default))

    return lookup


def _model(original: Method) -> Method:
    def lookup(self: Any, fetype: Any) -> Any:
        if not here.open:
            return original(self, fetype)
        kind = type(fetype)
        here.open[-1].ask("model", names_of(kind)[0])
        handler = self._handlers.get(kind)
        if handler is None or _sure(handler):
            return original(self, fetype)
        with making(handler) as made:
            made.run_others(handler)
            made.note_types((fetype,))
            return observed(original, self, fetype)

    return lookup


@functools.cache
def _sure(handler: type) -> bool:
    """Whether a data model is Numba's own. Models are asked for more often than anything else."""
    return not is_foreign(handler)


def _meaning(original: Method) -> Method:
    def try_infer(self: Any, py_type: Any) -> Any:
        """Return the Numba type that a Python class stands for. Functions of others may decide this."""
        seen = current()
        if seen is None:
            return original(self, py_type)
        seen.ask("meaning", name_of(py_type))
        return observed(original, self, py_type)

    return try_infer


def _structure(original: Method) -> Method:
    def init(self: Any, fields: Any) -> None:
        """Make a type of a structure, for which a class of others may change the fields."""
        observed(original, self, fields)

    return init


def _precise(original: Method) -> Method:
    def get_precise(self: Any) -> Any:
        """Refuse: the type is the signature for which this process compiled a function first."""
        seen = current()
        if seen is not None:
            seen.refuse("first-class function", "its type is the signature that was compiled first")
        return original(self)

    return get_precise


# -- what is made


def _arguments(result: Any) -> tuple[Any, ...]:
    return tuple(result.signature.args)


@contextmanager
def _making(dispatcher: Any, args: tuple[Any, ...]) -> Iterator[None]:
    """Note what is looked at to compile a function for some types; refuse if it was compiled before notes were made."""
    before = not is_made(dispatcher, args) and args in map(_arguments, list(dispatcher.overloads.values()))
    with making(dispatcher, args) as seen:
        if before and not versioned(dispatcher.py_func.__code__.co_filename):
            seen.refuse("compiled before", dispatcher.py_func.__qualname__)
        yield


def _count_compiled(dispatcher: Any) -> None:
    """Let all compiled signatures of a function count for what is made here, which chooses among them."""
    if here.open:
        for args in map(_arguments, list(dispatcher.overloads.values())):
            with _making(dispatcher, args):
                pass


def _compile(original: Method) -> Method:
    def compile(self: Any, sig: Any) -> Any:  # noqa: A001 - Numba's name
        args = tuple(sigutils.normalize_signature(sig)[0])
        with unobserved(), _making(self, args):
            return original(self, sig)

    return compile


def _call_template(original: Method) -> Method:
    def get_call_template(self: Any, args: Any, kws: Any) -> Any:
        if not self._can_compile:
            _count_compiled(self)
        return original(self, args, kws)

    return get_call_template


def _compile_result(original: Method) -> Method:
    def get_compile_result(self: Any, sig: Any) -> Any:
        if tuple(sig.args) in self.overloads:
            _count_compiled(self)
        return original(self, sig)

    return get_compile_result


def _kernel_for(original: Method) -> Method:
    def find_ewise_function(self: Any, ewise_types: Any) -> Any:
        _count_compiled(self._dispatcher)
        return original(self, ewise_types)

    return find_ewise_function


def _compile_kernel(original: Method) -> Method:
    def compile(self: Any, sig: Any, flags: Any, locals: Any) -> Any:  # noqa: A001, A002 - Numba's names
        with unobserved(), _making(self, tuple(sigutils.normalize_signature(sig)[0])):
            return original(self, sig, flags, locals)

    return compile


def _compile_extra(original: Method) -> Method:
    @functools.wraps(original)
    def compile_extra(typingctx: Any, targetctx: Any, func: Any, *args: Any, **more: Any) -> Any:
        with unobserved():
            seen = current()
            if seen is None:
                return original(typingctx, targetctx, func, *args, **more)
            if not here.watching:
                # What Numba imports to get ready is no part of the compile.
                typingctx.refresh()
                targetctx.refresh()
            if not versioned(func.__code__.co_filename):
                seen.compile(func)
            with watching():
                result = original(typingctx, targetctx, func, *args, **more)
            _note_classes(seen, getattr(getattr(result, "fndesc", None), "typemap", None))
            return result

    return compile_extra


def _note_classes(seen: Seen, typemap: Mapping[str, Any] | None) -> None:
    """Note classes of others among the types of variables: Numba asks a type about itself where that is not seen."""
    for cls in set(map(type, (typemap or {}).values())):
        if not versioned_class(cls) and may_run(cls):
            seen.run_others(cls)


def _compile_subroutine(original: Method) -> Method:
    def compile_subroutine(self: Any, builder: Any, impl: Any, sig: Any, *args: Any, **more: Any) -> Any:
        with unobserved(), making(impl.__code__, sig):
            return original(self, builder, impl, sig, *args, **more)

    return compile_subroutine


def _type_stencil(original: Method) -> Method:
    def type_me(self: Any, argtys: Any, kwtys: Any) -> Any:
        with unobserved(), making(self, argtys):
            return original(self, argtys, kwtys)

    return type_me


#: What is replaced: object, attribute, and the function that wraps the original.
PLACES: list[tuple[Any, str, Callable[[Method], Method]]] = [
    (types.functions.BaseFunction, "get_call_type", _call),
    (context.BaseContext, "_resolve_builtin_function_type", _builtin_call),
    (context.BaseContext, "find_matching_getattr_template", _attribute),
    (context.BaseContext, "resolve_setattr", _attribute),
    (types.UndefinedFunctionType, "get_precise", _precise),
    (types.StructRef, "__init__", _structure),
    (asnumbatype.AsNumbaTypeRegistry, "try_infer", _meaning),
    (templates.AbstractTemplate, "apply", _apply),
    (templates.CallableTemplate, "apply", _apply),
    (templates.ConcreteTemplate, "apply", _apply),
    (templates.AttributeTemplate, "resolve", _resolve),
    (base.BaseContext, "get_function", _lower),
    (base.BaseContext, "get_getattr", _lower_getattr),
    (base.BaseContext, "get_setattr", _lower_setattr),
    (base.BaseContext, "cast", _cast),
    (base.BaseContext, "get_constant_generic", _constant),
    (base.OverloadSelector, "find", _find),
    (pythonapi._Registry, "lookup", _box),
    (manager.DataModelManager, "lookup", _model),
    (Dispatcher, "compile", _compile),
    (Dispatcher, "get_call_template", _call_template),
    (Dispatcher, "get_compile_result", _compile_result),
    (DUFunc, "find_ewise_function", _kernel_for),
    (GUFunc, "find_ewise_function", _kernel_for),
    (UFuncDispatcher, "_compile_core", _compile_kernel),
    (compiler, "compile_extra", _compile_extra),
    (base.BaseContext, "compile_subroutine", _compile_subroutine),
    (StencilFunc, "_type_me", _type_stencil),
    *_contexts.PLACES,
    *_object_mode.PLACES,
]
