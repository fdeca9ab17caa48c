"""The processor of this machine, as the kernel describes it."""

from __future__ import annotations

import functools

#: The file with the kernel's description.
CPUINFO = "/proc/cpuinfo"

# The lines by which LLVM tells processors apart. The other lines differ from machine to machine, or change.
_IDENTITY = frozenset({
    "vendor_id", "cpu family", "model", "flags",
    "CPU implementer", "CPU architecture", "CPU variant", "CPU part", "Features",
})  # fmt: skip


@functools.cache
def description() -> str | None:
    """Return what code depends on that is compiled for this processor or asks for its features.

    The first processor stands for all. None if the kernel does not tell.
    """
    try:
        with open(CPUINFO, encoding="ascii", errors="replace") as f:
            first = f.read().split("\n\n")[0]
    except OSError:
        return None
    lines = dict(line.partition(":")[::2] for line in first.splitlines())
    known = {name.strip(): value.strip() for name, value in lines.items() if name.strip() in _IDENTITY}
    if not ("flags" in known or "Features" in known):
        return None
    return "\n".join(f"{name}: {' '.join(sorted(value.split()))}" for name, value in sorted(known.items()))
