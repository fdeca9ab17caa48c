"""What others put into Numba's contexts and rules of conversion directly, beside its registries."""

from __future__ import annotations

import functools
import sys
import threading
from typing import Any, Callable

from numba.core import base, cpu, types
from numba.core.registry import cpu_target
from numba.core.runtime import rtsys
from numba.core.typeconv import castgraph, rules, typeconv
from numba.core.typing import context
from numba.core.typing.templates import AttributeTemplate, FunctionTemplate

from ._code import versioned
from ._registered import Registration, is_foreign, is_foreign_template, registrations

Method = Callable[..., Any]


def note_put(kind: str, args: tuple[Any, ...]) -> None:
    """Note what others have put. It counts for every function."""
    registrations.add(Registration(f"put {kind}", lambda _: True, ("put", kind, *map(_parts_of, args))))


def note_earlier() -> None:
    """Note what others have put there before ``install``."""
    made = vars(cpu_target)
    if "_toplevel_typing_context" in made:
        typing = cpu_target.typing_context
        own = {t for r in typing._registries for t in (*r.functions, *r.attributes)}
        own.update(t for r in typing._registries for _, kind in r.globals for t in getattr(kind, "templates", ()))
        put = [type(t) for kept in (typing._functions, typing._attributes) for many in kept.values() for t in many]
        put += [t for kind in typing._globals.values() for t in getattr(kind, "templates", ())]
        for template in dict.fromkeys(put):
            if template not in own and is_foreign_template(template):
                note_put("template", (template,))
    if "_toplevel_target_context" in made:
        target = cpu_target.target_context
        rows = (r for registry in target._registries for many in _lowered(registry) for r in many)
        known = {id(row[0]) for row in rows}
        for selector in (
            *target._defns.values(),
            *target._getattrs.values(),
            *target._setattrs.values(),
            target._casts,
        ):
            for signature, implementation in selector.versions:
                if id(implementation) not in known and is_foreign(implementation, *signature):
                    note_put("lowering", (tuple(signature), implementation))


def _lowered(registry: Any) -> tuple[Any, ...]:
    return registry.functions, registry.getattrs, registry.setattrs, registry.casts


def _parts_of(value: Any) -> Any:
    """Return the part of an argument that counts: the class of a template, the templates of a function type."""
    if isinstance(value, (list, tuple)):
        return tuple(map(_parts_of, value))
    if isinstance(value, (AttributeTemplate, FunctionTemplate)):
        return type(value)
    return getattr(value, "templates", value) if isinstance(value, types.Function) else value


# The files of Numba's methods that put something. The methods call one another.
_CONTEXTS = tuple(str(m.__file__) for m in (base, context, typeconv, castgraph, rules))


def _is_put_by_others() -> bool:
    """Whether the method that asks was called, by way of Numba's own methods, by code that is not Numba's."""
    frame: Any = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename in _CONTEXTS:
        if frame.f_code in _INSTALLERS:
            return False
        frame = frame.f_back
    return frame is not None and not versioned(frame.f_code.co_filename)


# Numba's methods that put what is in a registry, which is seen there.
_OF_TYPING = context.BaseContext.install_registry.__code__
_OF_TARGET = base.BaseContext.install_registry.__code__
_INSTALLERS = (_OF_TYPING, _OF_TARGET)


_TYPING = ("insert_attributes", "insert_function", "insert_global", "insert_user_function", "_remove_global")
_TARGET = (
    "insert_func_defn", "_insert_getattr_defn", "_insert_setattr_defn", "_insert_cast_defn",
    "_insert_get_constant_defn", "insert_user_function",
)  # fmt: skip


def _putting(original: Method) -> Method:
    @functools.wraps(original)
    def put(self: Any, *args: Any, **more: Any) -> Any:
        # Numba gets ready with thousands of calls, straight from these. A longer look would take 7 of the 230 ms.
        by = sys._getframe(1).f_code
        if by is not _OF_TYPING and by is not _OF_TARGET and _is_put_by_others():
            args = tuple(list(a) if hasattr(type(a), "__next__") else a for a in args)
            note_put(original.__name__, (*args, *more.values()))
        return original(self, *args, **more)

    return put


class _Now(threading.local):
    asked: list[tuple[Any, Any]] | None = None  # contexts, and the registries that this thread's load has them install


_now = _Now()


def _installing(original: Method) -> Method:
    @functools.wraps(original)
    def install_registry(self: Any, registry: Any) -> None:
        """Do nothing if nothing was registered since this context had the registry installed."""
        # While Numba gets ready it asks each of its 17 registries 250 times. Nearly always there is nothing new, and it
        # takes 7 ms to find that out: more than all we add to a first call.
        if _now.asked is not None:
            _now.asked.append((self, registry))
        loader = self._registries.get(registry)
        lists, total = getattr(loader, "jitcache_installed", ((), -1))
        now = sum(map(len, lists))
        if now == total:
            return
        original(self, registry)
        if loader is not None:
            loader.jitcache_installed = lists or [getattr(registry, kind) for kind in loader.registry_items], now

    return install_registry


def _loading(original: Method) -> Method:
    @functools.wraps(original)
    def load_additional_registries(self: Any) -> None:
        """Install the registries of the last time, if there was one: all that it imports is there since."""
        # While Numba gets ready it does this 250 times, with 40 imports each.
        known = self.__dict__.get("jitcache_loaded")
        if known is not None and rtsys._init:
            for registry in known:
                self.install_registry(registry)
            return
        before, _now.asked = _now.asked, []
        try:
            original(self)
            self.jitcache_loaded = [registry for context, registry in _now.asked if context is self]
        finally:
            _now.asked = before

    return load_additional_registries


#: What is replaced, as in ``_uses``.
PLACES: list[tuple[Any, str, Callable[[Method], Method]]] = [
    *((context.BaseContext, name, _putting) for name in _TYPING),
    *((base.BaseContext, name, _putting) for name in _TARGET),
    (typeconv.TypeManager, "set_compatible", _putting),
    (context.BaseContext, "install_registry", _installing),
    (base.BaseContext, "install_registry", _installing),
    (context.Context, "load_additional_registries", _loading),
    (cpu.CPUContext, "load_additional_registries", _loading),
]
