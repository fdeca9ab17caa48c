"""Variables: those of this process that the compilers in Warp's library for CUDA may obey.

libmathdx, for example, passes the text of ``LIBMATHDX_NVRTC_ARGS_EXTRA`` to NVRTC, and no manual of Warp's says so. A
compiler asks for a variable by its name, so its library contains the name. NVIDIA's contain some of them by ROT13
(``AB_BCG`` is ``NO_OPT``). So a variable counts if the library contains its name, either way.
"""

from __future__ import annotations

import codecs
import mmap
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import warp

from jitcache import Key

if TYPE_CHECKING:
    from jitcache import Cache

#: The kind of the entry that holds the names in the library: to find them takes seconds.
KIND = "warp-names"

#: Names in the library that say where things are or how to print. This is an allow-list: all others count.
_HARMLESS = frozenset(("HOME", "PATH", "TEMP", "TERM", "TMP", "TMPDIR"))

_NAME = re.compile(rb"(?<=\0)[A-Z][A-Z0-9_]{3,63}(?=\0)")

_names: dict[str, frozenset[str]] = {}  # by the digest of Warp's files


def obeyed(cache: Cache, toolchain: str) -> list[str]:
    """Return the variables that may change code for CUDA, as ``NAME=value``. Raises OSError.

    ``toolchain``: the digest of Warp's files.
    """
    if toolchain not in _names:
        _names[toolchain] = frozenset(_found(cache, toolchain))
    known = _names[toolchain]
    return sorted(
        f"{name}={value}"
        for name, value in os.environ.items()
        if name not in _HARMLESS and (name in known or codecs.encode(name, "rot13") in known)
    )


def _found(cache: Cache, toolchain: str) -> list[str]:
    memo = Key(names=toolchain).named(KIND)
    stored = cache.get(memo)
    if stored is not None:
        return bytes(stored).decode().split()
    path = Path(warp.__file__).parent / "bin" / "warp.so"
    with path.open("rb") as library, mmap.mmap(library.fileno(), 0, prot=mmap.PROT_READ) as content:
        names = sorted({found.group().decode() for found in _NAME.finditer(content)})
    cache.put(memo, "\n".join(names).encode(), kind=KIND)
    return names
