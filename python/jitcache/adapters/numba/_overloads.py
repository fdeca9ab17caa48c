"""Overloads: the cache objects that Numba's functions ask for compiled signatures, instead of Numba's own.

``around_compile`` surrounds a compile. Before Numba takes its global compiler lock,
it makes the key and looks it up, and takes the lease if there is no entry. So no
thread that holds the lock waits for a lease whose holder needs the lock. (A compile
inside another one does hold the lock; ``Lookup.find`` limits its wait.) Numba then
calls ``load_overload`` and, if it has compiled, ``save_overload``. If the compile
fails, the lease is given up.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
import warnings
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any

from numba.core import compiler, sigutils
from numba.core.caching import _cache_log
from numba.core.compiler_lock import global_compiler_lock
from numba.core.errors import NumbaWarning

from . import _cpu as cpu
from ._addresses import places_of
from ._code import Unkeyable, own_locals
from ._entry import classes_in, defined_by, dump_library, dump_result, load_library, load_result
from ._index import Index
from ._ir_library import compiling, digests_of, note_source
from ._key import KeyParts, key_parts, options_for, options_of
from ._loaded import LoadedLibrary
from ._lookup import KIND, RECORDS, Lookup
from ._placed import placed
from ._record import MOST, dump, load, record_of
from ._seen import Seen, current, making
from ._verify import ATTRIBUTE, kept_digests, verification
from ._walk import Walker

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jitcache import Cache, Key

#: Why results were not cached, and how often.
uncached: Counter[str] = Counter()

# Why a result is not kept by its source in one process, though it may be in the next one.
_OF_THIS_PROCESS = frozenset(("changed while it was compiled", "compiled before", "error", "profiler"))

_here = threading.local()  # .lookups: the compiles of this thread, the innermost last


def refuse(reason: str, what: object) -> None:
    """Count a result that is not cached, and log it with the reason."""
    uncached[reason] += 1
    logging.getLogger("jitcache").info("numba: %s is not cached: %s", what, reason)


class Overloads:
    """The compiled signatures of one function, with the interface of Numba's caches.

    Each subclass is for one kind of function.
    """

    how = "jit"
    asked = True  # whether the program asks for the function to be cached

    def __init__(self, cache: Cache, function: Any) -> None:
        self._cache = cache
        self._function = function
        self._enabled = True
        self._fresh: set[str] | None = None  # keys stored since flush: only these are looked up

    # -- what Numba asks

    @property
    def cache_path(self) -> str:
        """The directory of the cache."""
        return str(self._cache.stats().get("directory", ""))

    def enable(self) -> None:
        """Look up and store from now on."""
        self._enabled = True

    def disable(self) -> None:
        """Neither look up nor store from now on."""
        self._enabled = False

    def flush(self) -> None:
        """Compile everything again from now on, and replace stored results."""
        self._fresh = set()

    def load_overload(self, sig: Any, context: Any) -> Any:
        """Return the result for a signature, None if it must be compiled."""
        lookup = self._open_lookup(sig)
        if lookup is None:
            with self.around_compile(sig) as lookup:
                return self._load(lookup, context)
        return self._load(lookup, context)

    def save_overload(self, sig: Any, result: Any) -> None:
        """Store the result for a signature, if it can be."""
        lookup = self._open_lookup(sig)
        if lookup is None:
            return
        is_cachable = lookup.verified is not None or self._is_cachable(lookup, result)  # this may warn, as an error
        try:
            if lookup.verified is not None:
                self._compare(lookup, result)
            elif is_cachable:
                self._save(lookup, result)
            else:
                lookup.note_refused(self._cache)
        except Unkeyable as e:
            refuse(e.reason, f"{self}: {e}")
        except Exception as e:  # noqa: BLE001 - a cache never fails the program
            refuse("cannot be stored", f"{self}: {type(e).__name__}: {e}")

    @property
    def _cache_file(self) -> Index:
        return Index(self._cache, self._function, KIND)

    # -- looking

    def _open_lookup(self, sig: Any) -> Lookup | None:
        lookups = getattr(_here, "lookups", ())
        return lookups[-1] if lookups and lookups[-1].overloads is self and lookups[-1].sig == sig else None

    @contextlib.contextmanager
    def around_compile(self, sig: Any, flags: Any = None, local_types: Any = None) -> Iterator[Lookup]:
        """Look up a signature, and hold the lease while the block runs.

        ``flags`` and ``local_types`` are those that Numba passes to the compile of a kernel.
        """
        lookup = Lookup(self, sig, flags, local_types)
        lookups = _here.__dict__.setdefault("lookups", [])
        lookups.append(lookup)
        try:
            if self._enabled:
                self._try_to_look_up(lookup)
            kept = self._enabled and self._fresh is None
            with making(), compiling(self._cache, lookup) if kept else contextlib.nullcontext():
                lookup.compiled_from = time.monotonic()
                yield lookup
        finally:
            lookups.pop()
            lookup.end()

    def _try_to_look_up(self, lookup: Lookup) -> None:
        try:
            self._look_up(lookup)
        except Unkeyable as e:
            refuse(e.reason, f"{self}: {e}")
            lookup.by_code = True
        except Exception as e:  # noqa: BLE001 - a cache never fails the program
            refuse("error", f"{self}: {type(e).__name__}: {e}")

    def _look_up(self, lookup: Lookup) -> None:
        context = self._context()
        with global_compiler_lock:
            context.refresh()
        lookup.target = cpu.current(context.codegen())
        lookup.parts = self._key_parts(lookup)
        lookup.replace = self._fresh is not None and lookup.parts.first().hex not in self._fresh
        if not lookup.replace:
            lookup.find(self._cache)

    def _load(self, lookup: Lookup, context: Any) -> Any:
        data, lookup.data = lookup.data, None
        if data is None or lookup.parts is None:
            return None
        if verification.on and lookup.key is not None:
            lookup.verified = (kept_digests(self._cache, lookup.key),)
            return None
        try:
            result = self._rebuild(data, context, lookup)
        except Exception as e:  # noqa: BLE001 - an entry that cannot be used is a miss
            lookup.replace = True
            refuse("entry cannot be loaded", f"{self}: {type(e).__name__}: {e}")
            return None
        lookup.kept = True
        if lookup.key is not None:
            self._note_kept(result, lookup.key)
        made = current()
        if made is not None and lookup.seen is not None:
            made.add(lookup.seen)
            made.note_state(self._function, lookup.parts.state)
        _cache_log("[cache] index loaded from %r", lookup.parts.name)
        _cache_log("[cache] data loaded from %r", lookup.parts.name)
        return result

    def _save(self, lookup: Lookup, result: Any) -> None:
        seen = current()
        if lookup.parts is None or lookup.target is None or seen is None:
            return
        first = lookup.parts.first()
        placed.look(everywhere=True)
        if not self._is_unchanged(lookup):
            refuse("changed while it was compiled", self)
            return
        if isinstance(getattr(result, "library", result), LoadedLibrary):
            self._refuse_loaded(seen, lookup.parts.walker)
            return
        data = self._dump(result, lookup)
        try:
            record, components = record_of(seen, lookup.parts.walker, classes_in(data, lookup.parts.walker))
        except Unkeyable as e:
            refuse(e.reason, f"{self}: {e}")
            if e.reason not in _OF_THIS_PROCESS:
                lookup.note_refused(self._cache)
            return
        key = lookup.parts.result(lookup.target, components)
        # Replaced, because an entry that is there already may be damaged.
        attributes, took = self._attributes(lookup), time.monotonic() - lookup.compiled_from
        attributes[ATTRIBUTE] = digests_of(getattr(result, "library", result))
        if not self._cache.put(key, data, attributes=attributes, kind=KIND, replace=True, seconds=took):
            refuse(self._cache.last_reason, self)
            return
        lookup.kept = True
        self._note_kept(result, key)
        records = load(self._cache.get(first, kind=RECORDS))
        if record not in records:
            self._cache.put(lookup.parts.first_named(), dump([record, *records][:MOST]), kind=RECORDS, replace=True)
        if self._fresh is not None:
            self._fresh.add(first.hex)
        cpu.note(self._cache, lookup.target)
        _cache_log("[cache] index saved to %r", lookup.parts.name)
        _cache_log("[cache] data saved to %r", lookup.parts.name)

    def _compare(self, lookup: Lookup, result: Any) -> None:
        """Compare a compile with the entry that a hit would have used."""
        assert lookup.parts is not None
        assert lookup.key is not None
        library = getattr(result, "library", result)
        lookup.kept = True
        if verification.compare(lookup.parts.name, *(lookup.verified or (None,)), library):
            note_source(library, lookup.key, defined_by(library))

    def _refuse_loaded(self, seen: Seen, walker: Walker) -> None:
        """Refuse a result whose code came from the second tier, with the reason of this process if there is one."""
        try:
            record_of(seen, walker, [])
        except Unkeyable as e:
            refuse(e.reason, f"{self}: {e}")
        else:
            refuse("code of others", self)  # it ran in an earlier process

    @staticmethod
    def _note_kept(result: Any, key: Key) -> None:
        library = getattr(result, "library", result)
        note_source(library, key, library.__dict__.get("jitcache_defined", ()))

    def _is_unchanged(self, lookup: Lookup) -> bool:
        """Whether the first key is still the same. Globals may have changed during the compile."""
        assert lookup.parts is not None
        return self._key_parts(lookup).first() == lookup.parts.first()

    @staticmethod
    def _is_known(library: Any, lookup: Lookup) -> bool:
        """Whether all addresses in a library's code are known: of jitted functions in the key, or of C functions."""
        if lookup.parts is None:
            return not library.has_dynamic_globals
        try:
            places_of(library, lookup.parts.walker)
        except Unkeyable:
            return False
        return True

    def _attributes(self, lookup: Lookup) -> dict[str, Any]:
        assert lookup.target is not None
        code = self._function.__code__
        return {
            "function": f"{self._function.__module__}.{self._function.__qualname__}",
            "file": code.co_filename,
            "line": code.co_firstlineno,
            "how": self.how,
            "types": ", ".join(map(str, sigutils.normalize_signature(lookup.sig)[0])),
            "cpu": list(lookup.target),
        }

    def __repr__(self) -> str:
        return f"{self._function.__module__}.{self._function.__qualname__} ({self.how})"

    # -- what differs

    def _context(self) -> Any:
        raise NotImplementedError

    def _key_parts(self, lookup: Lookup) -> KeyParts:
        raise NotImplementedError

    def _is_cachable(self, lookup: Lookup, result: Any) -> bool:
        raise NotImplementedError

    def _dump(self, result: Any, lookup: Lookup) -> bytes:
        raise NotImplementedError

    def _rebuild(self, data: bytes, context: Any, lookup: Lookup) -> Any:
        raise NotImplementedError


class Results(Overloads):
    """Overloads whose results are CompileResult."""

    def _is_cachable(self, lookup: Lookup, result: Any) -> bool:
        # Of a block that has no code of its own there is None.
        if any(lifted is not None and not lifted.can_cache for lifted in result.lifted):
            reason, why = "lifted loops", "as it uses lifted code"
        elif not self._is_known(result.library, lookup):
            reason = "dynamic globals"
            why = "as it uses dynamic globals (such as ctypes pointers and large global arrays)"
        else:
            return True
        if lookup.parts is not None:  # without parts, the refusal was counted already
            refuse(reason, self)
        if not self.asked:
            return False
        name = result.fndesc.qualname.split(".")[-1]
        code = self._function.__code__
        text = f'Cannot cache compiled function "{name}" {why}'
        warnings.warn_explicit(text, NumbaWarning, code.co_filename, code.co_firstlineno)
        return False

    def _dump(self, result: Any, lookup: Lookup) -> bytes:
        assert lookup.parts is not None
        return dump_result(result, lookup.parts.walker)

    def _rebuild(self, data: bytes, context: Any, lookup: Lookup) -> Any:
        assert lookup.parts is not None
        result = load_result(data, context, lookup.parts.walker, self._function)
        args, _ = sigutils.normalize_signature(lookup.sig)
        if tuple(result.signature.args) != tuple(args):
            raise ValueError(f"the entry is for {result.signature}")
        return result


class JitOverloads(Results):
    """Overloads of ``jit`` and ``njit``."""

    def __init__(self, cache: Cache, dispatcher: Any) -> None:
        super().__init__(cache, dispatcher.py_func)
        self._compiler = dispatcher._compiler

    def _context(self) -> Any:
        return self._compiler.targetdescr.target_context

    def _key_parts(self, lookup: Lookup) -> KeyParts:
        how = self._compiler
        more = own_locals(how.locals), how.pipeline_class
        options = partial(options_for, how, lambda: lookup.flags_of(how))
        return key_parts(Walker(), self._function, lookup.sig, options, self.how, *more)


class CFuncOverloads(JitOverloads):
    """Overloads of ``cfunc``."""

    how = "cfunc"

    def __init__(self, cache: Cache, cfunc: Any) -> None:
        Results.__init__(self, cache, cfunc._pyfunc)
        self._compiler = cfunc._compiler


class KernelOverloads(Results):
    """Overloads of the kernels that ``vectorize`` and ``guvectorize`` call for each element."""

    how = "ufunc"

    def __init__(self, cache: Cache, dispatcher: Any) -> None:
        super().__init__(cache, dispatcher.py_func)
        self._dispatcher = dispatcher

    def _context(self) -> Any:
        return self._dispatcher.targetdescr.target_context

    def _key_parts(self, lookup: Lookup) -> KeyParts:
        local_types = own_locals({**self._dispatcher.locals, **(lookup.local_types or {})})
        options = partial(options_of, lookup.flags)
        return key_parts(Walker(), self._function, lookup.sig, options, self.how, local_types)


class WrapperOverloads(Overloads):
    """Overloads of the loop of ``guvectorize`` around a kernel: a library that calls the kernel by its symbol."""

    how = "gufunc"

    def __init__(self, cache: Cache, wrapper: Any) -> None:
        super().__init__(cache, wrapper.py_func)
        self._wrapper = wrapper

    def _context(self) -> Any:
        return self._wrapper.cres.target_context

    def _key_parts(self, lookup: Lookup) -> KeyParts:
        w = self._wrapper
        more = (type(w), w.fndesc.mangled_name, w.fndesc.unique_name, w.cres.objectmode, w.sin, w.sout)
        return key_parts(Walker(), self._function, lookup.sig, partial(options_of, compiler.Flags()), self.how, *more)

    def _is_cachable(self, lookup: Lookup, result: Any) -> bool:
        if not self._is_known(result, lookup):
            if lookup.parts is not None:
                refuse("dynamic globals", self)
            return False
        return True

    def _dump(self, result: Any, lookup: Lookup) -> bytes:
        assert lookup.parts is not None
        return dump_library(result, lookup.parts.walker)

    def _rebuild(self, data: bytes, context: Any, lookup: Lookup) -> Any:
        assert lookup.parts is not None
        return load_library(data, context, lookup.parts.walker, self._function)
