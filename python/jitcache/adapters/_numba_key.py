"""Keys: what an entry of Numba's depends on."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import llvmlite
import llvmlite.binding as ll
import numba
import numpy as np
from numba.core import config, imputils, sigutils
from numba.core.typing import templates

from .. import Key
from ._numba_reach import Reach, Unkeyable, versioned

if TYPE_CHECKING:
    from ._numba_cpu import Target

#: Of what is stored: changes with what a reader has to know.
FORMAT = 1

# Settings that no code depends on; of the others all count, those of versions to come too.
_IRRELEVANT = re.compile(
    "CACHE_|COLOR_SCHEME|CUDA_|DEBUG_CACHE|DEFAULT_NUM_THREADS|DEVELOPER_MODE|DISABLE_CUDA|DISABLE_PERFORMANCE_WARNINGS"
    "|DUMP_|ENABLE_CUDASIM|FORCE_CUDA|FULL_TRACEBACKS|FUNCTION_CACHE_SIZE|HIGHLIGHT_DUMPS|HTML|NUMBA_|PARALLEL_DIAGNOSTICS"
    "|SHOW_HELP|THREADING_LAYER|CPU_"
)

_VERSIONS = {
    "numba": numba.__version__,
    "llvmlite": llvmlite.__version__,
    "llvm": ".".join(map(str, ll.llvm_version_info)),
    "numpy": np.__version__,
    "python": f"{sys.implementation.cache_tag}{sys.abiflags}",
}


class Wanted(NamedTuple):
    """A key, without and with the CPU, and the walk that made it."""

    components: dict[str, Any]
    name: str
    reach: Reach

    def key(self, target: Target) -> Key:
        """Return the key for a target."""
        return Key({**self.components, "cpu": list(target)}).named(self.name)


def _settings() -> dict[str, str]:
    found = {n: repr(v) for n, v in vars(config).items() if n.isupper() and not _IRRELEVANT.match(n)}
    # Not a setting, but a switch of a module that may not be there yet.
    parfor = sys.modules.get("numba.parfors.parfor")
    found["sequential_parfor_lowering"] = repr(getattr(parfor, "sequential_parfor_lowering", False))
    return found


def _registered() -> list[Any]:
    """Return the functions with which others than Numba extend it: overloads, methods, lowering.

    Which of them a function uses is only known when it is compiled, so all count.
    """
    t, i = templates.builtin_registry, imputils.builtin_registry
    typing = [*t.functions, *t.attributes]
    for _, kind in t.globals:
        typing += getattr(kind, "templates", ())
    found = [f for template in typing for f in _written(template)]
    for row in (*i.functions, *i.getattrs, *i.setattrs, *i.casts, *i.constants):
        function = getattr(row[0], "__wrapped__", row[0])
        code = getattr(function, "__code__", None)
        if code is not None and not versioned(code.co_filename):
            found.append(function)
    return found


def _written(template: Any) -> list[Any]:
    """Return what of a template of Numba's typing is written by others."""
    candidates = [vars(template).get(name) for name in ("_overload_func", "_definition_func")]
    if template.__module__.partition(".")[0] != "numba":
        candidates += vars(template).values()
    functions = [getattr(c, "__func__", c) for c in candidates if c is not None]
    functions = [f for f in functions if hasattr(f, "__code__")]
    return [f for f in functions if not versioned(f.__code__.co_filename)]


def flags_of(flags: Any) -> dict[str, Any]:
    """Return compile flags by name."""
    return {name: getattr(flags, name) for name in sorted(type(flags).options)}


def wanted(function: Any, sig: Any, flags: Any, how: str, *more: Any) -> Wanted:
    """Return what compiling a function for a signature depends on.

    ``how`` is the way it is compiled, ``more`` what that adds. Raises Unkeyable
    if something cannot be described.
    """
    reach = Reach()
    options = flags_of(flags)
    debug = bool(options.get("debuginfo") or config.DEBUGINFO_DEFAULT or config.ENABLE_PROFILING)
    components: dict[str, Any] = dict(reach.root(function, lines=debug))
    components["types"] = reach.describe(sigutils.normalize_signature(sig))
    components["options"] = {name: reach.describe(value) for name, value in options.items()}
    components["how"] = [how, *(reach.describe(m) for m in more)]
    extensions = _registered()
    if extensions:
        components["extensions"] = [reach.describe(f) for f in extensions]
    components["settings"] = _settings()
    components["versions"] = {**_VERSIONS, "format": str(FORMAT)}
    return Wanted(components, _name(function, sig, how), reach)


def _name(function: Any, sig: Any, how: str) -> str:
    args, _ = sigutils.normalize_signature(sig)
    text = f"{function.__module__}.{function.__qualname__}({', '.join(map(str, args))})"
    if how != "jit":
        text += f" {how}"
    return re.sub(" at 0x[0-9a-f]+", "", text).replace("\0", "").encode("utf-8", "replace")[:1000].decode("utf-8", "ignore")


__all__ = ["FORMAT", "Unkeyable", "Wanted", "flags_of", "wanted"]
