"""CPUs: for which one code was compiled, and on which ones it runs."""

from __future__ import annotations

import json
import os
import platform
import weakref
from typing import TYPE_CHECKING, Any, NamedTuple

import llvmlite.binding as ll
from numba.core import config
from numba.core.registry import cpu_target

from jitcache import Error, Key

if TYPE_CHECKING:
    from jitcache import Cache

#: The kind of the entries that list the CPUs that a cache has entries for.
KIND = "_numba-cpu"

# The longest such list: more kinds of machines than share a directory. Entries for a CPU that drops out of
# the list are used on that CPU only.
_MOST = 32

_V2 = "+64bit,+cmov,+cx8,+fxsr,+mmx,+sse,+sse2,+cx16,+sahf,+popcnt,+sse3,+sse4.1,+sse4.2,+ssse3"
_V3 = _V2 + ",+avx,+avx2,+bmi,+bmi2,+f16c,+fma,+lzcnt,+movbe,+xsave"
_V4 = _V3 + ",+avx512f,+avx512bw,+avx512cd,+avx512dq,+avx512vl"
_LEVELS = {"x86-64-v2": _V2, "x86-64-v3": _V3, "x86-64-v4": _V4}


class Target(NamedTuple):
    """What Numba compiles for: an LLVM triple, a CPU, and its features as ``+a,-b``."""

    triple: str
    cpu: str
    features: str

    @property
    def has(self) -> frozenset[str]:
        """The features that code for it may use."""
        return frozenset(f[1:] for f in self.features.replace(";", ",").split(",") if f.startswith("+"))

    @property
    def names(self) -> frozenset[str]:
        """All features that it mentions, with + or -."""
        return frozenset(f[1:] for f in self.features.replace(";", ",").split(",") if f)

    def runs(self, other: Target) -> bool:
        """Whether code for another target runs on this one. This one's list of features must be complete.

        LLVM cannot be asked which features the name of a CPU implies, so the other
        target's list must be complete too; only ``generic`` on x86 implies none. LLVM
        reports few features of other architectures, so there the name must be the same.
        """
        if other.triple != self.triple or not other.has <= self.has:
            return False
        if not self.triple.startswith("x86_64"):
            return other.cpu == self.cpu and other.names == self.names
        return other.cpu == "generic" or other.names == self.names


_targets: weakref.WeakKeyDictionary[Any, Target] = weakref.WeakKeyDictionary()


def current(codegen: Any) -> Target:
    """Return what a code generator compiles for."""
    found = _targets.get(codegen)
    if found is None:
        found = _targets[codegen] = Target(*(str(part) for part in codegen.magic_tuple()))
    return found


def is_chosen() -> bool:
    """Whether the user has chosen the CPU. Then code for other CPUs is not used, even if it would run."""
    return config.CPU_NAME is not None or config.CPU_FEATURES is not None


def _book(target: Target) -> Key:
    # Names of features differ between versions of LLVM.
    llvm = ".".join(map(str, ll.llvm_version_info))
    return Key(adapter="numba", book="targets", llvm=llvm, triple=target.triple).named(f"targets of LLVM {llvm}")


def known(cache: Cache, target: Target) -> list[Target]:
    """Return the targets that a cache may have entries for."""
    data = cache.get(_book(target), kind=KIND)
    if data is None:
        return []
    try:
        return [Target(*row) for row in json.loads(data)]
    except (ValueError, TypeError):
        return []


def note(cache: Cache, target: Target) -> None:
    """Record in a cache that it has entries for a target.

    If two processes do so at once, one of the two records may be lost. The next process
    that stores something for that target writes it again; until then, other CPUs do not
    find the target's entries.
    """
    targets = known(cache, target)
    if target not in targets:
        rows = [list(t) for t in [target, *targets][:_MOST]]
        cache.put(_book(target), json.dumps(rows).encode(), kind=KIND, replace=True)


def usable(cache: Cache, target: Target) -> list[Target]:
    """Return the other targets whose code runs on this one, those with the most features first."""
    if is_chosen():
        return []
    found = [t for t in known(cache, target) if t != target and target.runs(t)]
    return sorted(found, key=lambda t: (len(t.has), t.cpu != "generic"), reverse=True)


def baseline(portable: str | tuple[str, str]) -> tuple[str, str]:
    """Return CPU and features for ``portable``. Raises Error for an unknown name."""
    if not isinstance(portable, str):
        cpu, features = portable
        return str(cpu), str(features)
    if portable == "generic":
        return portable, ""
    if portable not in _LEVELS or platform.machine() != "x86_64":
        want = ", ".join(["generic", *_LEVELS])
        raise Error(f"portable {portable!r}: want {want} on x86-64, or a pair of a CPU's name and features for Numba")
    return "generic", _LEVELS[portable]


def choose(portable: str | tuple[str, str]) -> None:
    """Let this process and its children compile for a baseline.

    Raises Error if this machine cannot run the baseline, or if Numba has already chosen
    another CPU, which it does when the first function is decorated.
    """
    cpu, features = baseline(portable)
    host = Target("", "", ",".join(f"+{name}" for name, has in ll.get_host_cpu_features().items() if has))
    lacking = sorted(Target("", "", features).has - host.has) if host.features else []
    if lacking:
        raise Error(f"portable {portable!r}: this CPU lacks {', '.join(lacking)}")
    context = vars(cpu_target).get("_toplevel_target_context")
    chosen = current(context.codegen()) if context is not None else None
    if chosen is not None and (chosen.cpu, chosen.features) != (cpu, features):
        raise Error(
            f"portable {portable!r}: numba compiles for {chosen.cpu} already; set it before a function is decorated"
        )
    os.environ["NUMBA_CPU_NAME"] = cpu
    os.environ["NUMBA_CPU_FEATURES"] = features
    config.reload_config()
