"""Keys: what an entry of Numba's depends on."""

from __future__ import annotations

import re
import sys
import threading
from typing import TYPE_CHECKING, Any, NamedTuple

import llvmlite
import llvmlite.binding as ll
import numba
import numpy as np
from numba.core import compiler, config, sigutils
from numba.core.registry import cpu_target
from numba.core.targetconfig import ConfigStack

from .. import Key
from ._numba_reach import Reach, versioned

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ._numba_cpu import Target

#: Of what is stored: changes with what a reader has to know.
FORMAT = 1

# Settings that no code depends on; of the others all count, those of versions to come too.
_IRRELEVANT = re.compile(
    "CACHE_|COLOR_SCHEME|CUDA_|DEBUG_CACHE|DEFAULT_NUM_THREADS|DEVELOPER_MODE|DISABLE_CUDA|DISABLE_PERFORMANCE_WARNINGS"
    "|DUMP_|ENABLE_CUDASIM|FORCE_CUDA|FULL_TRACEBACKS|FUNCTION_CACHE_SIZE|HIGHLIGHT_DUMPS|HTML|NUMBA_|PARALLEL_DIAGNOSTICS"
    "|SHOW_HELP|THREADING_LAYER|CPU_"
)

_VERSIONS = "\n".join(
    (
        f"numba {numba.__version__}",
        f"llvmlite {llvmlite.__version__}",
        f"llvm {ll.llvm_version_info}",
        f"numpy {np.__version__}",
        f"python {sys.implementation.cache_tag}{sys.abiflags}",
        f"format {FORMAT}",
    )
)


class Wanted(NamedTuple):
    """A key, without and with the CPU, and the walk that made it."""

    components: dict[str, Any]
    name: str
    reach: Reach

    def key(self, target: Target) -> Key:
        """Return the key for a target."""
        return Key({**self.components, "cpu": "\n".join(target)}).named(self.name)


class _Settings:
    """The settings of Numba that code may depend on, as text; made anew only when one has changed."""

    def __init__(self) -> None:
        self._values: list[Any] = []
        self._names: list[str] = []
        self._text = ""

    def text(self) -> str:
        """Return them now."""
        space = vars(config)
        if not self._names:
            self._names = sorted(n for n in space if n.isupper() and not _IRRELEVANT.match(n))
        # Not a setting, but a switch of a module that may not be there yet.
        parfor = sys.modules.get("numba.parfors.parfor")
        values = [getattr(parfor, "sequential_parfor_lowering", False), *map(space.get, self._names)]
        if values != self._values:
            self._text = "\n".join(f"{n} {v!r}" for n, v in zip(["sequential_parfor_lowering", *self._names], values))
            self._values = values
        return self._text


settings = _Settings()


class _Extensions:
    """The functions with which others than Numba extend it: overloads, methods, lowering.

    Which of them a function uses is only known when it is compiled, so all count.
    Numba's lists of them only grow: each is looked through once.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._registries = 0
        self._lists: list[tuple[list[Any], Callable[[Any], Iterator[Any]]]] = []
        self._looked_at: dict[int, int] = {}  # how much of each list
        self._found: dict[int, Any] = {}

    def all(self) -> list[Any]:
        """Return them, in the order of their registration."""
        with self._lock:
            typing, lowering = cpu_target.typing_context._registries, cpu_target.target_context._registries
            if len(typing) + len(lowering) != self._registries:
                self._registries = len(typing) + len(lowering)
                self._lists = [row for r in typing for row in _typing_lists(r)]
                self._lists += [row for r in lowering for row in _lowering_lists(r)]
            for rows, functions in self._lists:
                start = self._looked_at.get(id(rows), 0)
                if start != len(rows):
                    new = rows[start:]
                    self._look(new, functions)
                    self._looked_at[id(rows)] = start + len(new)
            return list(self._found.values())

    def _look(self, rows: list[Any], functions: Callable[[Any], Iterator[Any]]) -> None:
        for row in rows:
            for f in functions(row):
                if hasattr(f, "__code__") and not versioned(f.__code__.co_filename):
                    self._found[id(f)] = f


def _typing_lists(registry: Any) -> Iterator[tuple[list[Any], Callable[[Any], Iterator[Any]]]]:
    yield registry.functions, _of_template
    yield registry.attributes, _of_template
    yield registry.globals, lambda row: (f for t in getattr(row[1], "templates", ()) for f in _of_template(t))


def _lowering_lists(registry: Any) -> Iterator[tuple[list[Any], Callable[[Any], Iterator[Any]]]]:
    for rows in (registry.functions, registry.getattrs, registry.setattrs, registry.casts, registry.constants):
        yield rows, lambda row: iter((getattr(row[0], "__wrapped__", row[0]),))


def _of_template(template: Any) -> Iterator[Any]:
    """Yield the functions of a template of Numba's typing that others may have written."""
    written = template.__dict__.get("_overload_func")
    if written is not None:
        yield getattr(written, "__func__", written)
    elif not template.__module__.startswith("numba."):
        for value in vars(template).values():
            yield getattr(value, "__func__", value)


_extensions = _Extensions()


class Options(NamedTuple):
    """Compile flags as bytes, and whether they ask for debug information."""

    data: bytes
    debug: bool


def options_of(flags: Any, reach: Reach) -> Options:
    """Return compile flags as bytes."""
    out = []
    for name in sorted(type(flags).options):
        value = getattr(flags, name)
        plain = value is None or type(value) in (bool, str)
        out.append(f"{name} {value!r}".encode() if plain else name.encode() + b" " + reach.describe(value))
    return Options(b"\n".join(out), bool(flags.debuginfo))


_known_options: dict[Any, Options] = {}


def options_for(how: Any, reach: Reach) -> Options:
    """Return the compile flags that a compiler of Numba's will use now."""
    given = how.targetoptions
    # Inside of another compile they are in part that one's.
    again = len(ConfigStack()) == 0 and all(v is None or type(v) in (bool, str) for v in given.values())
    key = (type(how), how.targetdescr.options, *given.items(), settings.text()) if again else None
    found = _known_options.get(key)
    if found is None:
        flags = compiler.Flags()
        how.targetdescr.options.parse_as_flags(flags, given)
        found = options_of(how._customize_flags(flags), reach)
        if again:
            _known_options[key] = found
    return found


def wanted(reach: Reach, function: Any, sig: Any, options: Options, how: str, *more: Any) -> Wanted:
    """Return what compiling a function for a signature depends on.

    ``how`` is the way it is compiled, ``more`` what that adds. Raises Unkeyable
    if something cannot be described.
    """
    debug = bool(options.debug or config.DEBUGINFO_DEFAULT or config.ENABLE_PROFILING)
    components: dict[str, Any] = dict(reach.root(function, lines=debug))
    components["types"] = reach.describe(sigutils.normalize_signature(sig))
    components["options"] = options.data
    components["how"] = reach.describe((how, *more))
    extensions = _extensions.all()
    if extensions:
        components["extensions"] = reach.describe(extensions)
    components["settings"] = settings.text()
    components["versions"] = _VERSIONS
    return Wanted(components, _name(function, sig, how), reach)


def _name(function: Any, sig: Any, how: str) -> str:
    args, _ = sigutils.normalize_signature(sig)
    text = f"{function.__module__}.{function.__qualname__}({', '.join(map(str, args))})"
    if how != "jit":
        text += f" {how}"
    return re.sub(" at 0x[0-9a-f]+", "", text).replace("\0", "").encode("utf-8", "replace")[:1000].decode("utf-8", "ignore")
