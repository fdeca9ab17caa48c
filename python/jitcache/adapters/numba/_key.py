"""Keys: what an entry of Numba's depends on."""

from __future__ import annotations

import hashlib
import operator
import re
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import llvmlite
import llvmlite.binding as ll
import numba
import numpy as np
from numba.core import compiler, config, sigutils
from numba.core.dispatcher import Dispatcher
from numba.core.targetconfig import ConfigStack

from jitcache import Key

from ._code import Unkeyable, lines_of, pack
from ._llvm import given
from ._objects import plain_typers
from ._others import in_every_compile, refuse
from ._placed import placed
from ._registered import registrations

if TYPE_CHECKING:
    from collections.abc import Callable

    from ._cpu import Target
    from ._walk import Walker

#: The version of the stored format: it changes whenever a reader has to know of a change.
FORMAT = 12

# Settings on which no compiled code depends. All others count, including those of future versions.
_IRRELEVANT = re.compile(
    "CACHE_|COLOR_SCHEME|CUDA_|DEBUG_CACHE|DEFAULT_NUM_THREADS|DEVELOPER_MODE|DISABLE_CUDA"
    "|DUMP_|ENABLE_CUDASIM|FORCE_CUDA|FULL_TRACEBACKS|FUNCTION_CACHE_SIZE|HIGHLIGHT_DUMPS|HTML|NUMBA_|PARALLEL_DIAGNOSTICS"
    "|SHOW_HELP|THREADING_LAYER|CPU_"
)

#: The versions of all that makes code.
VERSIONS = "\n".join(
    (
        f"numba {numba.__version__}",
        f"llvmlite {llvmlite.__version__}",
        f"llvm {ll.llvm_version_info}",
        f"numpy {np.__version__}",
        f"python {sys.implementation.cache_tag}{sys.abiflags} {sys.version_info[2]}",
        f"optimize {sys.flags.optimize}",  # compile-time code may ask for __debug__
        f"format {FORMAT}",
    )
)


class KeyParts(NamedTuple):
    """What is known of a compile before it begins, and the walk that found it."""

    components: dict[str, Any]
    name: str
    walker: Walker
    state: bytes  # of the function, as state_of returns it

    def first(self) -> Key:
        """Return the key of the records of compiles."""
        return Key({**self.components, "what": "records"})

    def first_named(self) -> Key:
        """Return the same key with a name of its own: keys of one name are compared to explain a miss."""
        return self.first().named(f"{self.name} by source")

    def refused(self) -> Key:
        """Return the key under which it is noted that the result is not kept by its source."""
        return Key({**self.components, "what": "refused"})

    def turn(self, target: Target) -> Key:
        """Return the key whose lease a process holds while it compiles for a target."""
        return Key({**self.components, "what": "turn", "cpu": "\n".join(target)})

    def result(self, target: Target, seen: dict[str, Any]) -> Key:
        """Return the key of a result for a target. ``seen`` has the components that a record adds."""
        return Key({**self.components, **seen, "cpu": "\n".join(target)}).named(self.name)


class _Settings:
    """The settings of Numba that code may depend on, as text. The text is made again only if one has changed."""

    def __init__(self) -> None:
        self._values: list[Any] = []
        self._names: list[str] = []
        self._text = ""

    def text(self) -> str:
        """Return the present settings."""
        space = vars(config)
        if not self._names:
            self._names = sorted(n for n in space if n.isupper() and not _IRRELEVANT.match(n))
        # Not a setting, but a switch in a module that may not be imported yet.
        parfor = sys.modules.get("numba.parfors.parfor")
        values = [getattr(parfor, "sequential_parfor_lowering", False), *map(space.get, self._names)]
        # Compared by identity: the levels of optimisation 3 and "max" are equal, and so are 0 and False.
        if len(values) != len(self._values) or not all(map(operator.is_, values, self._values)):
            self._text = "\n".join(f"{n} {v!r}" for n, v in zip(["sequential_parfor_lowering", *self._names], values))
            self._values = values
        return self._text

    def chosen(self) -> str:
        """Return the same without that switch: Numba sets it for what it compiles within a parallel loop."""
        return self.text().partition("\n")[2]


settings = _Settings()


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


def flags_for(how: Any) -> Any:
    """Return the compile flags that one of Numba's compilers would use now."""
    flags = compiler.Flags()
    # Copies, because Numba removes items from dictionaries that it is given.
    given = {name: dict(v) if isinstance(v, dict) else v for name, v in how.targetoptions.items()}
    how.targetdescr.options.parse_as_flags(flags, given)
    return how._customize_flags(flags)


def options_for(how: Any, flags: Callable[[], Any], walker: Walker) -> Options:
    """Return the compile flags of one of Numba's compilers as bytes. ``flags`` returns what ``flags_for`` does."""
    given = how.targetoptions
    # Inside another compile, some flags are inherited from it.
    again = len(ConfigStack()) == 0 and all(v is None or type(v) in (bool, str) for v in given.values())
    key = (type(how), how.targetdescr.options, *given.items(), settings.text()) if again else None
    found = _known_options.get(key)
    if found is None:
        found = options_of(flags(), walker)
        if again:
            _known_options[key] = found
    return found


def _names_itself(function: Any, label: str) -> bool:
    value = function.__globals__.get(label[len("global ") :]) if label.startswith("global ") else None
    return isinstance(value, Dispatcher) and value.py_func is function


def state_of(function: Any, root: dict[str, bytes]) -> bytes:
    """Return the digest of what a function depends on, by a walk that began with it, and of Numba's settings.

    A function with a signature is compiled before its own name is there.
    """
    parts = (p for label, v in root.items() if not _names_itself(function, label) for p in (label.encode(), v))
    return hashlib.sha256(pack(*parts, settings.chosen().encode())).digest()[:16]


def key_parts(
    walker: Walker, function: Any, sig: Any, options_by: Callable[[Walker], Options], how: str, *more: Any
) -> KeyParts:
    """Return what compiling a function for a signature depends on.

    ``how`` names the kind of compile, ``more`` is what else that kind depends on.
    Raises Unkeyable if something cannot be described.
    """
    if given:
        raise Unkeyable("option of LLVM", given[-1])
    components: dict[str, Any] = dict(walker.root(function))
    state = state_of(function, components)
    options = options_by(walker)
    debug = bool(options.debug or config.DEBUGINFO_DEFAULT or config.ENABLE_PROFILING)
    if debug:
        components["lines"] = lines_of(function)
    components["types"] = walker.describe(sigutils.normalize_signature(sig))
    components["options"] = options.data
    components["how"] = walker.describe((how, *more))
    always = [*placed.look(), *plain_typers()]
    if always:
        components["placed"] = walker.registered(tuple(always))
    for one in (walker.code_of_others, *always, *registrations.put, in_every_compile()):
        refuse(one)
    components["settings"] = settings.text()
    components["versions"] = VERSIONS
    return KeyParts(components, _name(function, sig, how), walker, state)


def _name(function: Any, sig: Any, how: str) -> str:
    args, _ = sigutils.normalize_signature(sig)
    text = f"{function.__module__}.{function.__qualname__}({', '.join(map(str, args))})"
    if how != "jit":
        text += f" {how}"
    if " at 0x" in text:
        text = re.sub(" at 0x[0-9a-f]+", "", text)
    return text.replace("\0", "").encode("utf-8", "replace")[:1000].decode("utf-8", "ignore")
