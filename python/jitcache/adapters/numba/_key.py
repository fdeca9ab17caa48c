"""Keys: what an entry of Numba's depends on."""

from __future__ import annotations

import re
import sys
import threading
from typing import TYPE_CHECKING, Any, NamedTuple, Union

import llvmlite
import llvmlite.binding as ll
import numba
import numpy as np
from numba.core import compiler, config, datamodel, pythonapi, sigutils
from numba.core.registry import cpu_target
from numba.core.targetconfig import ConfigStack

from jitcache import Key

from ._code import versioned

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ._cpu import Target
    from ._walk import Walker

#: Of what is stored: changes with what a reader has to know.
FORMAT = 2

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
        f"python {sys.implementation.cache_tag}{sys.abiflags} {sys.version_info[2]}",
        f"format {FORMAT}",
    )
)


class KeyParts(NamedTuple):
    """A key, without and with the CPU, and the walk that made it."""

    components: dict[str, Any]
    name: str
    walker: Walker

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


# A container of what is registered, and what finds the functions of others in its items.
_Registered = tuple[Union[list[Any], dict[Any, Any]], "Callable[[list[Any]], list[Any]]"]


class _Extensions:
    """What others than Numba extend it with: overloads, methods, lowering, boxes, models of data.

    Which of it a function uses is only known when it is compiled, so all counts.
    Numba's lists of it only grow: each item is looked at once.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._registries = 0
        self._places: list[_Registered] = []
        self._examined: dict[int, int] = {}  # how much of each container
        self._found: list[Any] = []

    def all(self) -> list[Any]:
        """Return it, in an order that does not depend on that of imports."""
        with self._lock:
            typing, lowering = cpu_target.typing_context._registries, cpu_target.target_context._registries
            if len(typing) + len(lowering) != self._registries:
                self._registries = len(typing) + len(lowering)
                self._places = [place for r in typing for place in _typing_registered(r)]
                self._places += [place for r in lowering for place in _lowering_registered(r)]
                self._places += [(r.functions, _foreign) for r in (pythonapi._boxers, pythonapi._unboxers)]
                self._places.append((datamodel.default_manager._handlers, _of_classes))
            for container, functions in self._places:
                start = self._examined.get(id(container), 0)
                if start != len(container):
                    items = list(container.values() if isinstance(container, dict) else container)
                    self._look(items[start:], functions)
                    self._examined[id(container)] = len(items)
            return self._found

    def _look(self, items: list[Any], functions: Callable[[list[Any]], list[Any]]) -> None:
        found = functions(items)
        if found:
            self._found += found
            self._found.sort(key=lambda f: (f[0].__module__ or "", f[0].__qualname__, f[0].__code__.co_firstlineno))


# A process looks at some 4,000 items once, nearly all of Numba's own. A call for
# each of them would take half as long again: 2.3 ms for 1.5, and 4.4 for 3.6 the
# first time.


def _typing_registered(registry: Any) -> Iterator[_Registered]:
    yield registry.functions, _of_templates
    yield registry.attributes, _of_templates
    yield registry.globals, lambda rows: _of_templates([t for row in rows for t in getattr(row[1], "templates", ())])


def _lowering_registered(registry: Any) -> Iterator[_Registered]:
    for rows in (registry.functions, registry.getattrs, registry.setattrs, registry.casts, registry.constants):
        yield rows, lambda rows: _foreign([row[0] for row in rows])


def _foreign(functions: list[Any]) -> list[Any]:
    """Return those that are not of Numba and its kin, each in a tuple."""
    found = []
    for function in functions:
        written = getattr(function, "__wrapped__", function)
        code = getattr(written, "__code__", None)
        if code is not None and not versioned(code.co_filename):
            found.append((written,))
    return found


def _of_classes(classes: list[Any]) -> list[Any]:
    """Return the methods of classes that others have written."""
    others = [c for c in classes if not c.__module__.startswith("numba.")]
    return _foreign([getattr(value, "__func__", value) for c in others for value in vars(c).values()])


def _of_templates(templates: list[Any]) -> list[Any]:
    """Return the functions of templates of Numba's typing that others may have written, and with which options."""
    found, plain = [], []
    for template in templates:
        members = template.__dict__
        written = members.get("_overload_func") or members.get("_definition_func")
        if written is None:
            plain.append(template)
            continue
        function = getattr(written, "__func__", written)
        code = getattr(function, "__code__", None)
        if code is not None and not versioned(code.co_filename):
            options = (getattr(template, n, None) for n in ("_jit_options", "_strict", "_inline", "prefer_literal"))
            found.append((function, *options))
    return found + _of_classes(plain)


_extensions = _Extensions()


class Options(NamedTuple):
    """Compile flags as bytes, and whether they ask for debug information."""

    data: bytes
    debug: bool


def options_of(flags: Any, walker: Walker) -> Options:
    """Return compile flags as bytes."""
    out = []
    for name in sorted(type(flags).options):
        value = getattr(flags, name)
        plain = value is None or type(value) in (bool, str)
        out.append(f"{name} {value!r}".encode() if plain else name.encode() + b" " + walker.describe(value))
    return Options(b"\n".join(out), bool(flags.debuginfo))


_known_options: dict[Any, Options] = {}


def options_for(how: Any, walker: Walker) -> Options:
    """Return the compile flags that a compiler of Numba's will use now."""
    given = how.targetoptions
    # Inside of another compile they are in part that one's.
    again = len(ConfigStack()) == 0 and all(v is None or type(v) in (bool, str) for v in given.values())
    key = (type(how), how.targetdescr.options, *given.items(), settings.text()) if again else None
    found = _known_options.get(key)
    if found is None:
        flags = compiler.Flags()
        how.targetdescr.options.parse_as_flags(flags, given)
        found = options_of(how._customize_flags(flags), walker)
        if again:
            _known_options[key] = found
    return found


def key_parts(walker: Walker, function: Any, sig: Any, options: Options, how: str, *more: Any) -> KeyParts:
    """Return what compiling a function for a signature depends on.

    ``how`` is the way it is compiled, ``more`` what that adds. Raises Unkeyable
    if something cannot be described.
    """
    debug = bool(options.debug or config.DEBUGINFO_DEFAULT or config.ENABLE_PROFILING)
    components: dict[str, Any] = dict(walker.root(function, lines=debug))
    components["types"] = walker.describe(sigutils.normalize_signature(sig))
    components["options"] = options.data
    components["how"] = walker.describe((how, *more))
    extensions = _extensions.all()
    if extensions:
        components["extensions"] = walker.describe(extensions)
    components["settings"] = settings.text()
    components["versions"] = _VERSIONS
    return KeyParts(components, _name(function, sig, how), walker)


def _name(function: Any, sig: Any, how: str) -> str:
    args, _ = sigutils.normalize_signature(sig)
    text = f"{function.__module__}.{function.__qualname__}({', '.join(map(str, args))})"
    if how != "jit":
        text += f" {how}"
    return (
        re.sub(" at 0x[0-9a-f]+", "", text)
        .replace("\0", "")
        .encode("utf-8", "replace")[:1000]
        .decode("utf-8", "ignore")
    )
