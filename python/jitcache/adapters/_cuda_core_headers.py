"""The headers that NVRTC brings along and installs into a folder of the user's.

``--use-bundled-headers=FOLDER`` writes them there if they are missing or of
another version, and stands for that folder and its ``cccl`` on the search path.
A hit would not write them, so jitcache.cuda refuses the option. Here the headers
are written before anything is compiled, and keyed by their content like all
others.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from cuda.core import Program, ProgramOptions

from jitcache.cuda import key_of

if TYPE_CHECKING:
    from jitcache import Cache
    from jitcache.cuda import _Program

_OPTION = b"--use-bundled-headers="

# A header in memory that nothing includes: what these options make is not mixed up
# with what the same folders make without NVRTC having looked at them.
_MARK = {"jitcache/bundled-headers": ""}

# Folders that this process's NVRTC has looked at.
_written: set[bytes] = set()


def with_bundled(program: _Program, given: list[bytes], options: Any, cache: Cache) -> _Program:
    """Return a program that finds the headers on its search path, with those written that have to be.

    ``given`` are its options for NVRTC. Where the result is in the cache nothing is
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
    program = program._replace(options=flags, headers=_MARK)
    for folder in folders:
        there = os.path.isdir(folder)
        if there and (folder in _written or cache.explain(key_of(program, cache)).get("hit")):
            continue
        Program("", "c++", ProgramOptions(arch=options.arch, use_bundled_headers=True)).compile("cubin")
        _written.add(folder)
    return program
