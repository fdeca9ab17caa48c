"""The ``jitcache`` command, and where this package has the files to build C and C++ programs with.

    cc program.c $(python -m jitcache --cflags --libs)
    cmake -Djitcache_DIR=$(python -m jitcache --cmakedir) …
    PKG_CONFIG_PATH=$(python -m jitcache --pkgconfigdir) …

``--includedir`` has the headers, ``--libdir`` the library.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

from . import _library

_FOLDERS = {"--cmakedir": "cmake", "--includedir": "include", "--libdir": "", "--pkgconfigdir": "pkgconfig"}
_FLAGS = {"--cflags": "-I{0}/include", "--libs": "-L{0} -Wl,-rpath,{0} -ljitcache"}


def _print_places(wanted: list[str]) -> int:
    here = os.path.dirname(os.path.abspath(__file__))
    if not os.path.isdir(os.path.join(here, "include")):
        print(f"jitcache: {here}: no wheel was installed here; see make install", file=sys.stderr)
        return 1
    print(*(_FLAGS[w].format(here) if w in _FLAGS else os.path.join(here, _FOLDERS[w]).rstrip("/") for w in wanted))
    return 0


def main() -> int:
    """Run the command with ``sys.argv``; return its exit status."""
    if len(sys.argv) > 1 and {*_FOLDERS, *_FLAGS} >= set(sys.argv[1:]):
        return _print_places(sys.argv[1:])
    lib = _library.load()
    if lib is None:
        print(f"jitcache: {_library.available()[1]}", file=sys.stderr)
        return 1
    # The command runs in the library, and Python's handler would wait until it
    # returns. And `jitcache ls | head` ends quietly.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    args = ["jitcache", *sys.argv[1:]]
    argv = (ctypes.c_char_p * (len(args) + 1))(*[os.fsencode(a) for a in args], None)
    sys.stdout.flush()
    status = int(lib.jitcache_main(len(args), argv))
    if "doctor" in args and not {"-json", "--json"} & set(args):
        _print_uncovered()
    return status


def _print_uncovered() -> None:
    """Name the packages of this Python with a cache of their own that one might think an adapter covers."""
    from importlib.util import find_spec

    if find_spec("numba_cuda") is not None:
        print("numba-cuda    not covered: it keeps its kernels itself, beside their sources")


if __name__ == "__main__":
    sys.exit(main())
