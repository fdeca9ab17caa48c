"""Trace: a compile that stops when its module is known, and continues only if there is no entry for the module.

CuTe DSL calls hooks after it has traced a function, and before it compiles anything.
Our hook makes the key. On a hit it raises an exception, which ends the compile. On a
miss it returns, holding the lease, and the DSL compiles what it has traced.
"""

from __future__ import annotations

import contextlib
import inspect
import re
import threading
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from jitcache import File, Key
from jitcache._code import Unkeyable
from jitcache._fork import ForkLock

from . import KIND
from . import _object as objects
from . import _tools as tools
from ._arguments import describe_arguments, describe_signature
from ._settings import Settings, options_of, settings_of
from ._text import place_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from jitcache import Cache, Entry, Lease

# MLIR keeps state per thread and the DSL per process, so one thread compiles at a time. A thread that holds this lock
# never waits for a lease.
_compiling = ForkLock(threading.RLock)

# Files that locations in a module's text name.
_FILES = re.compile(r'loc\("([^"\n]+)":\d')

_LINKED = re.compile(r'"?link-libraries"? = \[([^\]]*)\]')


@contextlib.contextmanager
def one_at_a_time() -> Iterator[None]:
    """Keep other threads of this process from compiling meanwhile."""
    with _compiling():
        yield


class Job(NamedTuple):
    """What is to be compiled."""

    given: Any  # what the caller gave to compile
    function: Callable[..., Any]  # the function of that
    receiver: tuple[Any, ...]  # of a method
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    options: Any
    hooks: tuple[Any, ...]

    @property
    def name(self) -> str:
        """The name of the key and of the entry."""
        return f"{self.function.__module__}.{self.function.__qualname__}"

    def names(self) -> list[str]:
        """Return the names of arguments that go into ``**kwargs``: they become parameters of the result."""
        parameters = inspect.signature(self.function).parameters
        if all(p.kind is not p.VAR_KEYWORD for p in parameters.values()):
            return []
        return [name for name in self.kwargs if name not in parameters]

    def compile(self, *hooks: Any) -> Any:
        """Compile, as the DSL does it. Raises what it raises."""
        from cutlass import cute

        kwargs = dict(self.kwargs)
        # cute.compile without a subscript would use options that earlier compiles have left in it.
        if isinstance(self.options, str) and self.options:
            compile_, kwargs["options"] = cute.compile[()], self.options
        else:
            compile_ = cute.compile[self.options or ()]
        if hooks or self.hooks:
            kwargs["trace_finalize_hooks"] = (*self.hooks, *hooks)
        with one_at_a_time():
            return compile_(self.given, *self.args, **kwargs)

    def load(self, made: objects.ObjectFile) -> tuple[Any, Any]:
        """Return what the object file defines, and what to call."""
        return objects.load(made, self.function, (*self.receiver, *self.args), self.kwargs)

    def attributes(self, made: objects.ObjectFile, how: str, architecture: str) -> dict[str, Any]:
        """Return the attributes of an entry."""
        code = inspect.unwrap(self.function).__code__
        return {
            "function": self.name,
            "file": code.co_filename,
            "line": code.co_firstlineno,
            "route": "abi" if made.call is None else "tvm-ffi",
            "architecture": architecture,
            "how": how,
            **made.attributes(),
        }


class _Stop(BaseException):
    """Ends a compile from its hook. It is not an Exception, because the DSL wraps these."""


class Trace:
    """One lookup by the traced module. ``made`` is from the entry; ``result`` is from the DSL, if it compiled."""

    def __init__(self, job: Job, cache: Cache, *, replace: bool = False, leased: bool = False) -> None:
        self._job = job
        self._cache = cache
        self._replace = replace
        self._leased = leased  # the caller holds the lease of another key, so this one must not be waited for
        self._lease: Lease | None = None
        self._waited: Key | None = None
        self._stop = _Stop()
        self._calls = 0
        self._began = 0.0  # when the compile began
        self.key: Key | None = None
        self.architecture = ""
        self.tvm_ffi = False
        self.made: objects.ObjectFile | None = None
        self.result: Any = None
        self.refused: Unkeyable | None = None

    def run(self) -> None:
        """Trace, and compile if there is no entry. Raises only what the DSL's compile raises."""
        try:
            while not self._once():
                assert self._waited is not None
                # Another thread or process compiles it. Wait for that without holding the lock.
                self._lease = self._cache.acquire(self._waited, kind=KIND)
                if self._lease.data is not None:
                    self._take(self._lease.entry())
                    return
        except BaseException:
            self.end()
            raise

    def _once(self) -> bool:
        """Trace once. Return False if another thread or process has the lease."""
        self._calls, self._waited = 0, None
        try:
            self.result = self._job.compile(self._hook)
        except _Stop as stop:
            if stop is not self._stop:
                raise
            return self.made is not None
        if self._calls != 1 and self.refused is None:
            self.refused = Unkeyable("not traced" if not self._calls else "traced more than once")
        return True

    def _hook(self, owner: Any, module: Any, _function_name: str) -> None:
        self._calls += 1
        if self._calls > 1:
            return
        try:
            key = self._key(owner, module)
        except Unkeyable as e:
            self.refused = e
            return
        except Exception as e:  # noqa: BLE001 - another version of the DSL, which can still compile
            self.refused = Unkeyable("unknown version", f"{type(e).__name__}: {e}")
            return
        if self.key is not None and key != self.key:
            self.end()  # this trace gave another module than the one before
        self.key = key
        self._began = time.monotonic()
        if self._lease is not None or self._replace:
            return
        lease = self._cache.acquire(key, 0, kind=KIND)
        if lease.data is not None:
            self._take(lease.entry())
            raise self._stop
        if not lease.guarded and not self._leased:
            lease.release()
            self._waited = key
            raise self._stop
        self._lease = lease

    def _take(self, found: Entry) -> None:
        with found as entry:
            self.made = objects.object_file_of(bytes(entry.view), entry.attributes)

    def _key(self, owner: Any, module: Any) -> Key:
        settings, options = settings_of(owner), options_of(owner.compile_options)
        self.architecture, self.tvm_ffi = settings.architecture, options.tvm_ffi
        text = module.operation.get_asm(enable_debug_info=options.locations)
        components = {
            "module": text,
            "signature": describe_signature(self._job.function),
            "names": self._job.names(),
            "options": options.text,
            "option text": _option_text(self._job.options),
            **common(self._cache, owner, settings),
        }
        if options.locations:
            components["places"] = sorted(place_of(path) for path in set(_FILES.findall(text)))
        if options.tvm_ffi:
            components["arguments"] = self._checks()
        linked = [*options.linked, *(p.strip(' "') for found in _LINKED.findall(text) for p in found.split(",") if p)]
        for i, path in enumerate(linked):
            try:
                components[f"linked {i}"] = File(path)
            except OSError as e:
                raise Unkeyable("linked file", e) from e
        # Named unlike keys by source, which have other components: `jitcache explain` compares keys of one name.
        return Key(components).named(f"{self._job.name} traced")

    def _checks(self) -> bytes:
        """Return what the TVM FFI route makes argument checks from. The module does not contain these checks."""
        for p in inspect.signature(self._job.function).parameters.values():
            if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
                raise Unkeyable("variable arguments", p.name)
        return describe_arguments((self._job.name, *self._job.receiver, *self._job.args), self._job.kwargs)

    def commit(self, made: objects.ObjectFile) -> str:
        """Store what was compiled; return why it was not stored, "" if it was."""
        assert self.key is not None
        attributes = self._job.attributes(made, "traced", self.architecture)
        if self._lease is not None:
            lease, self._lease = self._lease, None
            return "" if lease.commit(made.data, attributes=attributes) else self._cache.last_reason
        stored = self._cache.put(
            self.key,
            made.data,
            attributes=attributes,
            kind=KIND,
            replace=self._replace,
            seconds=time.monotonic() - self._began,
        )
        return "" if stored else self._cache.last_reason

    def end(self) -> None:
        """Give up the lease, if there still is one."""
        lease, self._lease = self._lease, None
        if lease is not None:
            lease.release()


def common(cache: Cache, owner: Any, settings: Settings) -> dict[str, Any]:
    """Return the components that all keys have."""
    return {
        "settings": settings.text,
        "architecture": settings.architecture,
        "processor": tools.processor(),
        "versions": tools.versions(owner),
        "compiler": tools.compiler(cache, settings.libraries),
    }


def _option_text(options: Any) -> str:
    """Return options that are text as they were given: the DSL's parsed options do not contain all of them."""
    return options if isinstance(options, str) else ""
