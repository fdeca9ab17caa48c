"""Lookup by source: before anything is traced, by all that the function reaches."""

from __future__ import annotations

import inspect
import logging
import os
import re
import sys
import time
from typing import TYPE_CHECKING, Any

from jitcache import Key
from jitcache._code import Unkeyable

from . import KIND
from . import _object as objects
from ._memory import learn
from ._result import Compiled
from ._settings import settings_of
from ._tools import packages
from ._trace import Job, common
from ._visibility import is_dsl
from ._walk import Walker

if TYPE_CHECKING:
    from jitcache import Cache, Lease


# Options that put places in the source into the result.
_LINES = re.compile("line-?info|assert", re.IGNORECASE)

# Options that make a compile print what it finds.
_PRINTS = re.compile("warnings|remark|debug|diagnostic|iket", re.IGNORECASE)


class SourceLookup:
    """One lookup by source. ``reason``: why the function is not cached by its source, "" if it is."""

    def __init__(self, job: Job, cache: Cache) -> None:
        self._job = job
        self._cache = cache
        self._lease: Lease | None = None
        self._components: dict[str, Any] = {}
        self._key: Key | None = None
        self._replace = False
        self._began = 0.0  # when the compile began
        self._walker: Walker | None = None
        self._architecture = ""
        self.reason = ""

    @property
    def leased(self) -> bool:
        """Whether this lookup holds a lease, so that others wait for its compile."""
        return self._lease is not None and self._lease.guarded

    def find(self) -> Compiled | None:
        """Return the result if there is an entry. If not, and if the function can be keyed, take the lease."""
        try:
            walker = self._walker = Walker(places=self._has_places())
            self._components = self._seen(walker)
            described = walker.describe(((*self._job.receiver, *self._job.args), self._job.kwargs))
            self._key = Key({**self._components, "arguments": described, "rest": walker.rest()}).named(self._job.name)
        except Unkeyable as e:
            self._refuse(e.reason, e)
            return None
        except Exception as e:  # noqa: BLE001 - an object whose attributes raise; another version of the DSL
            self._refuse("unknown version", f"{type(e).__name__}: {e}")
            return None
        lease = self._cache.acquire(self._key, kind=KIND)
        self._began = time.monotonic()
        if lease.data is None:
            self._lease = lease
            return None
        with lease.entry() as entry:
            made = objects.object_file_of(bytes(entry.view), entry.attributes)
        try:
            return Compiled(*self._job.load(made), made, "source", "", hit=True)
        except Exception as e:  # noqa: BLE001 - the entry is intact, but this process cannot use it
            self._refuse("entry cannot be loaded", e)
            self._replace = True
            return None

    def _refuse(self, reason: str, why: object) -> None:
        self.reason = reason
        logging.getLogger("jitcache").info("cute-dsl: %s is traced: %s", self._job.name, why)

    def _seen(self, walker: Walker) -> dict[str, Any]:
        """Return what the compile depends on, except its arguments. Raises Unkeyable if not all of it can be seen."""
        if self._job.hooks:
            raise Unkeyable("trace hooks")
        owner = _owner(self._job.function)
        if getattr(owner, "_trace_finalize_hooks", True):
            raise Unkeyable("trace hooks")
        settings = settings_of(owner)
        options = _options(self._job.options)
        if _PRINTS.search(_all_options(owner, options)) or getattr(owner.envar, "debug", True):
            raise Unkeyable("prints what it finds")
        self._architecture = settings.architecture
        found: dict[str, Any] = walker.root(self._job.function)
        if self._has_places():
            found["places"] = [*packages(), os.path.dirname(os.__file__)]
        for receiver in self._job.receiver:
            found["class"] = walker.describe(type(receiver))
        found["options"] = options
        found["adapters"] = walker.describe(_adapters())
        found["python"] = list(sys.version_info[:3])
        return {**found, **common(self._cache, owner, settings)}

    def _has_places(self) -> bool:
        """Whether the result contains places in the source, for debuggers and messages."""
        owner = _owner(self._job.function)
        return _LINES.search(_all_options(owner, _options(self._job.options))) is not None or any(
            getattr(owner.envar, name, True) for name in ("lineinfo", "enable_assertions")
        )

    def store(self, result: Compiled) -> None:
        """Store a result under the key, unless something in the key has changed since ``find``."""
        made = result._made
        if self._key is None or made is None:
            return
        walker = Walker(self._walker, places=self._has_places())
        assert self._walker is not None
        try:
            changed = self._seen(walker) != self._components or not learn(self._walker.memories, walker.memories)
        except Unkeyable:
            changed = True
        if changed:
            self._refuse(self.reason or "changed while it was compiled", "changed while it was compiled")
            result.reason = self.reason
            return
        attributes = self._job.attributes(made, "source", self._architecture)
        if self._lease is not None:
            lease, self._lease = self._lease, None
            stored = lease.commit(made.data, attributes=attributes)
        else:
            stored = self._cache.put(
                self._key,
                made.data,
                attributes=attributes,
                kind=KIND,
                replace=self._replace,
                seconds=time.monotonic() - self._began,
            )
        if stored:
            result.how = "source"
        elif not result.reason:
            result.reason = self._cache.last_reason

    def end(self) -> None:
        """Give up the lease, if there still is one."""
        lease, self._lease = self._lease, None
        if lease is not None:
            lease.release()


def _owner(function: Any) -> Any:
    """Return the DSL object that will compile a function."""
    inner = inspect.unwrap(function)
    owner = getattr(inner, "_dsl_object", None)
    if owner is not None:
        return owner
    cls: Any = getattr(function, "_dsl_cls", None) or getattr(inner, "_dsl_cls", None)
    get = getattr(cls, "_get_dsl", None)
    if get is None:
        raise Unkeyable("unknown version", "DSL of a function")
    return get()


def _options(options: Any) -> str:
    if isinstance(options, str) or not options:
        text = options or ""
        if "link" in text:
            raise Unkeyable("linked file", text)
        return text
    lines = []
    for option in options if isinstance(options, tuple) else (options,):
        cls = option if isinstance(option, type) else type(option)
        value = True if isinstance(option, type) else option.value
        if not isinstance(value, (str, int, bool)) or cls.__name__ == "LinkLibraries":
            raise Unkeyable("linked file" if cls.__name__ == "LinkLibraries" else "unknown options", cls.__name__)
        lines.append(f"{cls.__name__} {value!r}")
    return "\n".join(lines)


def _all_options(owner: Any, options: str) -> str:
    """Return the options that were given, and those of the environment."""
    return f"{options} {getattr(owner.envar, 'compiler_opt', '')}"


def _adapters() -> list[Any]:
    """Return what programs have registered to convert arguments. All count: only a trace shows which ones are used."""
    from cutlass.base_dsl.runtime.jit_arg_adapters import JitArgAdapterRegistry

    # Versions differ in how many tables there are, and in what they are called.
    found: list[tuple[str, Any]] = []
    members = vars(JitArgAdapterRegistry).items()
    tables = [(name, table) for name, table in members if isinstance(table, dict) and not name.startswith("__")]
    while tables:
        name, table = tables.pop()
        for kind, adapter in table.items():
            if isinstance(adapter, dict):
                tables.append((f"{name} {kind}", adapter))
            elif not _is_own(adapter):
                found.append((f"{name} {kind}", adapter))
    return sorted(found, key=lambda row: row[0])


def _is_own(adapter: Any) -> bool:
    """Whether an adapter, a function or a class, is the DSL's own."""
    code = getattr(adapter, "__code__", None)
    if code is not None:
        return is_dsl(code.co_filename)
    module = sys.modules.get(getattr(adapter, "__module__", ""))
    return is_dsl(str(getattr(module, "__file__", "")))
