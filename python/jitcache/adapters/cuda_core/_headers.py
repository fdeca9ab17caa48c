"""Bundled headers: NVRTC contains them, and installs them into a folder of the user's.

``--use-bundled-headers=FOLDER`` writes the headers there if they are missing, is an
error if those of another version are there, and puts the folder and its ``cccl`` on
the search path. A hit would not write them, so jitcache.cuda refuses the option.
Here the headers are written or checked before anything is compiled, and their content
is in the key as that of all other headers.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from cuda.core import Program, ProgramOptions

from jitcache.cuda import key_of

if TYPE_CHECKING:
    from jitcache import Cache
    from jitcache.cuda import Wish

_OPTION = b"--use-bundled-headers="

# A header in memory that nothing includes. It gives these requests other keys than
# requests with the same folders that NVRTC has not checked.
_MARK = (("jitcache/bundled-headers", ""),)

# The file by which NVRTC recognises a folder that it has written.
_MARKER = b"/.nvrtc_headers_version"

# The folders that this process's NVRTC has checked, and the state of that file then.
_written: dict[bytes, tuple[int, int] | None] = {}


def _state(folder: bytes) -> tuple[int, int] | None:
    """Return values that change when any NVRTC writes the folder again."""
    try:
        s = os.stat(folder + _MARKER)
    except OSError:
        return None
    return s.st_ino, s.st_mtime_ns


def with_bundled(wish: Wish, given: list[bytes], options: Any, cache: Cache) -> Wish:
    """Write the headers that are missing, and return a wish that has their folders on its search path.

    ``given`` are its options for NVRTC. If the result is in the cache, nothing is
    written: it was compiled by this very NVRTC, with the headers that are there.
    """
    flags: list[bytes] = []
    folders: list[bytes] = []
    for flag in given:
        if flag.startswith(_OPTION):
            folder = flag[len(_OPTION) :]
            folders.append(folder)
            flags += [b"--include-path=" + folder, b"--include-path=" + folder + b"/cccl"]
        else:
            flags.append(flag)
    wish = wish._replace(options=tuple(flags), headers=_MARK)
    for folder in folders:
        state = _state(folder)
        if state is not None and (state == _written.get(folder) or cache.explain(key_of(wish, cache)).get("hit")):
            continue
        Program("", "c++", ProgramOptions(arch=options.arch, use_bundled_headers=True)).compile("cubin")
        _written[folder] = _state(folder)
    return wish
