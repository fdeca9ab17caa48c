"""The processor of this machine, as the kernel describes it."""

from __future__ import annotations

import functools

#: Where the kernel says it.
CPUINFO = "/proc/cpuinfo"

# What LLVM tells processors apart by, of those lines; the others are of one machine or one moment.
_IDENTITY = frozenset({
    "vendor_id", "cpu family", "model", "flags",
    "CPU implementer", "CPU architecture", "CPU variant", "CPU part", "Features",
})  # fmt: skip


@functools.cache
def description() -> str | None:
    """Return what code for this processor, and code that chooses by it, depends on; None if the kernel does not say.

    The first processor stands for all.
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
