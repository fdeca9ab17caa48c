"""Uses: where Numba asks its contexts for what may be registered by others, and makes what it remembers.

Each method is Numba's and does what it did; what is asked for and made is written
down. The names are the same from Numba 0.61 on.
"""

from __future__ import annotations

import enum
import functools
import sys
import types as pytypes
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from numba.core import base, compiler, ir, pylowering, pythonapi, sigutils, types
from numba.core.datamodel import manager
from numba.core.dispatcher import Dispatcher
from numba.core.typeconv import castgraph, rules, typeconv
from numba.core.typing import asnumbatype, context, templates
from numba.np.ufunc.dufunc import DUFunc
from numba.np.ufunc.gufunc import GUFunc
from numba.np.ufunc.ufuncbuilder import UFuncDispatcher
from numba.stencils.stencil import StencilFunc

from jitcache._code import PLAIN

from ._code import versioned
from ._registered import is_foreign, is_foreign_template, name_of, name_of_template, names_of, registrations, written
from ._seen import current, here, is_made, making
from ._watch import observed, unobserved, watching

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Method = Callable[..., Any]


# -- typing


def _call(original: Method) -> Method:
    def get_call_type(self: Any, context: Any, args: Any, kws: Any) -> Any:
        seen = current()
        if seen is None:
            return original(self, context, args, kws)
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
            with making(written(template) or template):
                found = observed(original, self, args, kws)
        if found is not None:
            here.won = template
        return found

    return apply


def _attribute(original: Method) -> Method:
    def find(self: Any, typ: Any, attr: str, *more: Any) -> Any:
        seen = current()
        if seen is not None:
            for name in (name_of(typ), *names_of(type(typ))):
                seen.ask(f"attribute {name}", attr)
        return original(self, typ, attr, *more)

    return find


def _resolve(original: Method) -> Method:
    def resolve(self: Any, value: Any, attr: str) -> Any:
        if here.open and is_foreign_template(type(self)):
            with making(written(type(self)) or type(self)):
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
    """Have what others have written, which Numba is about to call, be seen while it runs."""
    if implementation is None or not here.open or not is_foreign(implementation):
        return implementation

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
        with making(handler):
            return observed(original, self, fetype)

    return lookup


@functools.cache
def _sure(handler: type) -> bool:
    """Whether a model of data is Numba's own; it is asked for more often than anything else."""
    return not is_foreign(handler)


def _meaning(original: Method) -> Method:
    def try_infer(self: Any, py_type: Any) -> Any:
        """Return the type that a class of Python's stands for; functions of others may say it."""
        seen = current()
        if seen is None:
            return original(self, py_type)
        seen.ask("meaning", name_of(py_type))
        return observed(original, self, py_type)

    return try_infer


def _precise(original: Method) -> Method:
    def get_precise(self: Any) -> Any:
        """Refuse: the type is that of the signature that a function was compiled for first in this process."""
        seen = current()
        if seen is not None:
            seen.refuse("first-class function", "typed by what was compiled before")
        return original(self)

    return get_precise


# -- what is made


def _arguments(result: Any) -> tuple[Any, ...]:
    return tuple(result.signature.args)


@contextmanager
def _making(dispatcher: Any, args: tuple[Any, ...]) -> Iterator[None]:
    """Write down what is made of a function for some types, or was."""
    before = not is_made(dispatcher, args) and args in map(_arguments, list(dispatcher.overloads.values()))
    with making(dispatcher, args) as seen:
        if before and not versioned(dispatcher.py_func.__code__.co_filename):
            seen.refuse("compiled before", dispatcher.py_func.__qualname__)
        yield


def _count_compiled(dispatcher: Any) -> None:
    """Have all that is compiled of a function count for what is made here: it chooses among that without a compile."""
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
                # What Numba imports to get ready is no part of what it compiles.
                typingctx.refresh()
                targetctx.refresh()
            if not versioned(func.__code__.co_filename):
                seen.compile(func)
            with watching():
                return original(typingctx, targetctx, func, *args, **more)

    return compile_extra


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


# -- what object mode holds


def _is_same_as_copy(value: Any) -> bool:
    """Whether a pickle of a value gives what is not to be told from it in another process."""
    kind = type(value)
    if kind in PLAIN or isinstance(value, (type, types.Type, pytypes.ModuleType, pytypes.CodeType, Dispatcher)):
        return True
    if kind in (tuple, frozenset):
        return all(map(_is_same_as_copy, value))
    if isinstance(value, (enum.Enum, np.dtype, np.generic, np.ufunc)):
        return True
    module = getattr(value, "__module__", None)
    found = sys.modules.get(module) if isinstance(module, str) and module != "__main__" else None
    for part in str(getattr(value, "__qualname__", "")).split("."):
        found = getattr(found, part, None)
    return found is value


def _note_held(value: Any) -> None:
    """Refuse: loaded code would have a copy of an object that the program may change, or look at."""
    seen = current()
    if seen is not None and not _is_same_as_copy(value):
        seen.refuse("object mode", f"holds an object of type {type(value).__qualname__}")


def _hold(original: Method) -> Method:
    def lower_const(self: Any, const: Any) -> Any:
        _note_held(const)
        return original(self, const)

    return lower_const


def _hold_block(original: Method) -> Method:
    def load_dispatcher(self: Any, fnty: Any, argtypes: Any) -> Any:
        """Numba puts a pickle of the block's intermediate code into compiled code."""
        for block in fnty.dispatcher.func_ir.blocks.values():
            for statement in block.find_insts(ir.Assign):
                if isinstance(statement.value, (ir.Const, ir.FreeVar)):
                    _note_held(statement.value.value)
        return original(self, fnty, argtypes)

    return load_dispatcher


# -- what is put beside what is registered

#: Where Numba's own methods that put something call one another.
_CONTEXTS = tuple(str(m.__file__) for m in (base, context, typeconv, castgraph, rules))


def _is_put_by_others() -> bool:
    frame: Any = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename in _CONTEXTS:
        if frame.f_code.co_name == "install_registry":
            return False
        frame = frame.f_back
    return frame is not None and not versioned(frame.f_code.co_filename)


def _registering(owner: Any, names: tuple[str, ...]) -> Callable[[Method], Method]:
    """Have Numba's registries be put by its own methods, at their speed: thousands of things."""

    def make(original: Any) -> Method:
        for name in names:
            if f"_own{name}" not in vars(owner):
                setattr(owner, f"_own{name}", getattr(owner, name))
        code = original.__code__
        code = code.replace(co_names=tuple(f"_own{n}" if n in names else n for n in code.co_names))
        made: Any = pytypes.FunctionType(code, original.__globals__, None, original.__defaults__, original.__closure__)
        made.__kwdefaults__ = original.__kwdefaults__
        return functools.update_wrapper(made, original)

    return make


_TYPING = ("insert_attributes", "insert_function", "insert_global", "insert_user_function", "_remove_global")
_TARGET = (
    "insert_func_defn", "_insert_getattr_defn", "_insert_setattr_defn", "_insert_cast_defn",
    "_insert_get_constant_defn", "insert_user_function",
)  # fmt: skip


def _putting(original: Method) -> Method:
    def put(self: Any, *args: Any, **more: Any) -> Any:
        if _is_put_by_others():
            args = tuple(list(a) if hasattr(type(a), "__next__") else a for a in args)
            registrations.note_put(original.__name__, (*args, *more.values()))
        return original(self, *args, **more)

    return put


#: What is replaced: object, attribute, and what makes ours of what stands there.
PLACES: list[tuple[Any, str, Callable[[Method], Method]]] = [
    (types.functions.BaseFunction, "get_call_type", _call),
    (context.BaseContext, "_resolve_builtin_function_type", _builtin_call),
    (context.BaseContext, "find_matching_getattr_template", _attribute),
    (context.BaseContext, "resolve_setattr", _attribute),
    (types.UndefinedFunctionType, "get_precise", _precise),
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
    (context.BaseContext, "install_registry", _registering(context.BaseContext, _TYPING)),
    (base.BaseContext, "install_registry", _registering(base.BaseContext, _TARGET)),
    (Dispatcher, "__init__", _registering(context.BaseContext, ("insert_global",))),
    *((context.BaseContext, name, _putting) for name in _TYPING),
    *((base.BaseContext, name, _putting) for name in _TARGET),
    (typeconv.TypeManager, "set_compatible", _putting),
    (pylowering.PyLower, "lower_const", _hold),
    (pythonapi.ObjModeUtils, "load_dispatcher", _hold_block),
]
