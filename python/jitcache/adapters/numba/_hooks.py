"""Hooks: replacements for the methods in which Numba decides how to cache.

Each keeps Numba's method, and calls it for every function that does not use a jitcache.
The hooks depend on names that Numba has had unchanged since 0.57: ``enable_caching``,
``_cache`` and its methods, and the methods that surround a compile.
"""

from __future__ import annotations

import threading
import weakref
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, Callable

from llvmlite.binding import options
from numba.core import sigutils
from numba.core.bytecode import FunctionIdentity
from numba.core.caching import NullCache
from numba.core.ccallback import CFunc
from numba.core.target_extension import dispatcher_registry, target_registry
from numba.core.targetconfig import ConfigStack
from numba.core.types import misc
from numba.np.ufunc import array_exprs, wrappers
from numba.np.ufunc.ufuncbuilder import UFuncDispatcher
from numba.parfors import parfor_lowering
from numba.stencils import stencil

from jitcache._fork import ForkLock

from . import _ir_library, _llvm, _uses
from ._code import versioned
from ._contexts import note_earlier
from ._entry import keep_reloads
from ._ir_text import draw_short, drawn
from ._loaded import LoadedLibrary, LoadedResult, Source
from ._options import given_options
from ._overloads import CFuncOverloads, JitOverloads, KernelOverloads, Overloads, WrapperOverloads

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jitcache import Cache

Dispatcher = dispatcher_registry[target_registry["CPU"]]

_lock = ForkLock()
_kernels: weakref.WeakSet[Any] = weakref.WeakSet()  # functions of vectorize and guvectorize that use a jitcache


class Choice:
    """Which functions use a jitcache, and which cache that is."""

    def __init__(self) -> None:
        self.installed = False
        self.everything = False
        self.cache: Callable[[], Cache]
        self._here = threading.local()

    @property
    def decorating(self) -> bool:
        """Whether this thread runs one of our decorators."""
        return bool(getattr(self._here, "decorating", False))

    @decorating.setter
    def decorating(self, value: bool) -> None:
        self._here.decorating = value

    def takes(self) -> bool:
        """Whether a function that asks for a cache gets a jitcache."""
        return self.installed or self.decorating

    def wants(self, cache: Any, function: Any) -> bool:
        """Whether a function that is about to be compiled gets a jitcache instead of ``cache``."""
        if isinstance(cache, Overloads) or not self.installed:
            return False
        if isinstance(cache, NullCache):
            return self.everything and self._is_kept(function)
        # Numba's own cache is replaced: the function asked for it before install. Caches of other packages stay.
        return type(cache).__module__ == "numba.core.caching"

    @staticmethod
    def _is_kept(function: Any) -> bool:
        """Whether a function that does not ask for a cache gets one: of Numba's own, only those that Python calls.

        Numba's other functions are compiled into their callers, which are cached.
        """
        code = getattr(function, "__code__", None)  # the wrapper of a loop may have no function
        return code is not None and (not versioned(code.co_filename) or len(ConfigStack()) == 0)

    def overloads(self, ours: type[Overloads], instead_of: Any, function: Any) -> Overloads:
        """Return the overloads of a function, which replace another cache object."""
        made = ours(self.cache(), function)
        made.asked = not isinstance(instead_of, NullCache)
        return made


choice = Choice()


def _random_ids() -> Iterator[int]:
    """Return an iterator over numbers that no other process draws, not even a forked child.

    Numba numbers functions from 1 in each process, and only the number makes their
    symbols different: code of two processes may have one symbol for two functions.
    """
    return drawn()


def _name_by_number(_named: Any) -> int:
    """Return a number for a name: of an expression, a loop, a stencil, a jitclass. Numba takes a hash or an address."""
    return draw_short()


def _enabling(attribute: str, function: str, ours: type[Any]) -> Callable[[Any], Any]:
    def make(original: Any) -> Any:
        def enable_caching(self: Any) -> None:
            if not choice.takes():
                original(self)
                return
            setattr(self, attribute, ours(choice.cache(), self))
            if ours is KernelOverloads:
                _kernels.add(getattr(self, function))

        return enable_caching

    return make


def _around_compile(cache: Any, sig: Any, *more: Any) -> Any:
    return cache.around_compile(sig, *more) if isinstance(cache, Overloads) else nullcontext()


def _jit_compile(original: Any) -> Any:
    def compile(self: Any, sig: Any) -> Any:  # noqa: A001 - Numba's name
        args = tuple(sigutils.normalize_signature(sig)[0])
        if args in self.overloads or not self._can_compile:
            return original(self, sig)
        given_options(self)
        if choice.wants(self._cache, self.py_func):
            self._cache = choice.overloads(JitOverloads, self._cache, self)
        with _around_compile(self._cache, sig):
            entry_point = original(self, sig)
        compiled = self.overloads.get(args)
        again = partial(self._compiler.compile, *sigutils.normalize_signature(sig))
        if isinstance(compiled, LoadedResult):
            compiled.open(again)
        elif compiled is not None and isinstance(compiled.library, LoadedLibrary):
            compiled.library.source, compiled.library.descriptor = Source(again), compiled.fndesc
        if compiled is not None and compiled.reload_init:
            keep_reloads(compiled.library, compiled.reload_init)  # for callers that are stored
        return entry_point

    return compile


def _cfunc_compile(original: Any) -> Any:
    def compile(self: Any) -> None:  # noqa: A001 - Numba's name
        if choice.wants(self._cache, self._pyfunc):
            self._cache = choice.overloads(CFuncOverloads, self._cache, self)
        with _around_compile(self._cache, self._sig):
            original(self)
        if isinstance(self._library, LoadedLibrary):
            self._library.source = Source(self._compile_uncached)

    return compile


def _kernel_compile(original: Any) -> Any:
    def compile(self: Any, sig: Any, flags: Any, locals: Any) -> Any:  # noqa: A001, A002 - Numba's names
        if choice.wants(self.cache, self.py_func):
            self.cache = choice.overloads(KernelOverloads, self.cache, self)
        with _around_compile(self.cache, sig, flags, locals):
            return original(self, sig, flags, locals)

    return compile


class _Undecided:
    """Replaces Numba's cache for the loop of ``guvectorize``, which would look for a cache directory at once."""

    def __init__(self, py_func: Any) -> None:
        self.py_func = py_func


def _wrapper_cache(original: Any) -> Any:
    def make(py_func: Any) -> Any:
        return _Undecided(py_func) if py_func in _kernels or choice.installed else original(py_func=py_func)

    return make


def _wrapper_compile(original: Any) -> Any:
    def compile(self: Any, wrapper_name: Any) -> Any:  # noqa: A001 - Numba's name
        if isinstance(self.cache, _Undecided) or (choice.wants(self.cache, self.py_func) and not self.is_parfors):
            self.cache = WrapperOverloads(choice.cache(), self)
        with _around_compile(None if self.is_parfors else self.cache, self.cres.signature):
            return original(self, wrapper_name)

    return compile


_PLACES: list[tuple[Any, str, Callable[[Any], Any]]] = [
    *_uses.PLACES,
    *_ir_library.PLACES,
    (Dispatcher, "enable_caching", _enabling("_cache", "py_func", JitOverloads)),
    (Dispatcher, "compile", _jit_compile),
    (CFunc, "enable_caching", _enabling("_cache", "_pyfunc", CFuncOverloads)),
    (CFunc, "compile", _cfunc_compile),
    (UFuncDispatcher, "enable_caching", _enabling("cache", "py_func", KernelOverloads)),
    (UFuncDispatcher, "_compile_core", _kernel_compile),
    (wrappers, "GufWrapperCache", _wrapper_cache),
    (wrappers._GufuncWrapper, "_compile_wrapper", _wrapper_compile),
]
_attached = 0  # how many of them are replaced


def attach() -> None:
    """Replace the methods, once per process. A child that is forked meanwhile continues with those that are left."""
    global _attached
    with _lock():
        if _attached == len(_PLACES):
            return
        FunctionIdentity._unique_ids = _random_ids()
        array_exprs.hash = parfor_lowering.hash = misc.id = stencil.id = _name_by_number
        _llvm.note(options)
        if not _attached:
            note_earlier()
        for owner, name, make in _PLACES[_attached:]:
            setattr(owner, name, make(getattr(owner, name)))
            _attached += 1
