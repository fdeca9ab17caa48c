"""The processor that code is compiled for, as XLA sees it."""

from __future__ import annotations

import functools
import re

# Read where XLA does not say: the kernel's description of each processor.
CPUINFO = "/proc/cpuinfo"

# What LLVM tells processors apart by, of those lines; the others are of one machine or one moment.
_IDENTITY = frozenset({
    "vendor_id", "cpu family", "model", "flags",
    "CPU implementer", "CPU architecture", "CPU variant", "CPU part", "Features",
})  # fmt: skip

_TEXT = re.compile(rb"[ -~]{4,}")
_FEATURES = re.compile(rb"[+-][a-z0-9.]+,[+-][a-z0-9.]+")


def _said_by_xla() -> str | None:
    """Return the triple, the name and the features that XLA compiles for on this machine.

    They are the texts of the description that XLA has of its CPU devices. Its numbers
    are those of devices and processes, which code does not depend on.
    """
    try:
        import jax
        from jax._src.lib import xla_client

        described = xla_client.get_topology_for_devices(jax.local_devices(backend="cpu")).serialize()
    except Exception:  # noqa: BLE001 - private, and the CPU may be switched off
        return None
    texts = _TEXT.findall(described)
    return b"\n".join(texts).decode() if any(map(_FEATURES.match, texts)) else None


def _said_by_kernel() -> str | None:
    try:
        with open(CPUINFO) as f:
            first = f.read().split("\n\n")[0]
    except OSError:
        return None
    lines = dict(line.partition(":")[::2] for line in first.splitlines())
    known = {name.strip(): value.strip() for name, value in lines.items() if name.strip() in _IDENTITY}
    if not ("flags" in known or "Features" in known):
        return None
    return "\n".join(f"{name}: {' '.join(sorted(value.split()))}" for name, value in sorted(known.items()))


@functools.lru_cache(maxsize=1)
def description() -> str | None:
    """Return what code for this processor depends on, None if nobody says."""
    return _said_by_xla() or _said_by_kernel()
