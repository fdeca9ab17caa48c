"""``python -m jitcache``: the command ``jitcache``, and flags and folders for building C and C++ programs.

    cc program.c $(python -m jitcache --cflags --libs)
    cmake -Djitcache_DIR=$(python -m jitcache --cmakedir) …
    PKG_CONFIG_PATH=$(python -m jitcache --pkgconfigdir) …

``--includedir`` prints the folder of the headers, ``--libdir`` that of the library.
"""

from __future__ import annotations

import os
import subprocess
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


def program() -> str:
    """Return the path of the command's program, "" if it is not installed."""
    for library in (*_library.candidates(), *_library.installed()):
        folder = os.path.dirname(os.path.realpath(library))
        # It is beside the library in a checkout, and in bin after make install.
        for place in (folder, os.path.join(os.path.dirname(folder), "bin")):
            if os.path.exists(library) and _runs(os.path.join(place, "jitcache")):
                return os.path.join(place, "jitcache")
    import sysconfig

    packages = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    schemes = [sysconfig.get_path("scripts"), os.path.join(packages, "bin")]  # the latter for pip install --target
    if "posix_user" in sysconfig.get_scheme_names():
        schemes.append(sysconfig.get_path("scripts", "posix_user"))
    # After the install of a wheel: three folders above the packages, or where this Python has its scripts.
    for place in (os.path.join(os.path.dirname(packages), "..", "..", "bin"), *schemes):
        if _runs(os.path.join(place, "jitcache")):
            return os.path.normpath(os.path.join(place, "jitcache"))
    return ""


def _runs(path: str) -> bool:
    """Whether the file is a program. A script is another package's, or the one that starts this module."""
    try:
        with open(path, "rb") as f:
            return f.read(4) == b"\x7fELF" and os.access(path, os.X_OK)
    except OSError:
        return False


_HELP = """
python -m jitcache also prints, of a wheel:
  --cflags        flags for compiling against the headers
  --libs          flags for linking with the library, and for finding it when the program runs
  --cmakedir      folder for cmake -Djitcache_DIR=...
  --pkgconfigdir  folder for PKG_CONFIG_PATH
  --includedir    folder of the headers, which are the manual of C and C++
  --libdir        folder of the library
help(jitcache) is the manual of the package, and of its adapters."""


def main() -> int:
    """Replace this process by the command with ``sys.argv``; return the exit status if that is not done."""
    if len(sys.argv) > 1 and {*_FOLDERS, *_FLAGS} >= set(sys.argv[1:]):
        return _print_places(sys.argv[1:])
    path = program()
    if not path:
        print("jitcache: the command was not found; it is installed with the library", file=sys.stderr)
        return 1
    sys.stdout.flush()
    args = ["jitcache", *sys.argv[1:]]
    helps = sys.argv[1:] in (["help"], ["-h"], ["-help"], ["--help"])
    if not helps and ("doctor" not in args or {"-json", "--json"} & set(args)):
        os.execv(path, args)  # noqa: S606
    status = subprocess.run(args, executable=path, check=False).returncode  # noqa: S603
    if helps:
        print(_HELP)
        return status
    _print_unloaded()
    _print_uncovered()
    return status


def _print_unloaded() -> None:
    """Print why this Python cannot load the library, if it cannot."""
    usable, why = _library.available()
    if not usable:
        print("python        ", why, sep="", flush=True)


def _print_uncovered() -> None:
    """Print the installed packages with a cache of their own that look as if an adapter covered them."""
    from importlib.util import find_spec

    if find_spec("numba_cuda") is not None:
        print("numba-cuda    not covered: it keeps its kernels itself, beside their sources")


if __name__ == "__main__":
    sys.exit(main())
