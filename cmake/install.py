"""Put jitcache where C and C++ programs find it: ``make install PREFIX=…``.

    python cmake/install.py --prefix /usr/local [--destdir DIR]

lib/libjitcache.so.1 and the link to it, include/, lib/pkgconfig, lib/cmake, and
the command bin/jitcache. The library must have been built (``make lib``).
``cmake --install`` does the same (cmake/CMakeLists.txt).
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import descriptions  # noqa: E402

import build_library  # noqa: E402


def install(prefix: str, destdir: str) -> None:
    """Copy everything below destdir + prefix."""
    top = Path(destdir + prefix) if destdir else Path(prefix)
    library = build_library.SONAME
    for folder in ("bin", "lib", "include"):
        (top / folder).mkdir(parents=True, exist_ok=True)
    shutil.copy2(ROOT / "build" / "lib" / "libjitcache.so", top / "lib" / library)
    (top / "libexec" / "jitcache").mkdir(parents=True, exist_ok=True)
    for program in build_library.BESIDE:
        shutil.copy2(ROOT / "build" / "lib" / program, top / "libexec" / "jitcache" / program)
    link = top / "lib" / "libjitcache.so"
    link.unlink(missing_ok=True)
    link.symlink_to(library)
    for header in (ROOT / "include").iterdir():
        shutil.copy2(header, top / "include")
    descriptions.write_installed(top, prefix)
    for command in build_library.COMMANDS:
        shutil.copy2(ROOT / "build" / "lib" / command, top / "bin" / command)


def main() -> None:
    """Parse the arguments and install."""
    parser = argparse.ArgumentParser(description="Install jitcache for C and C++ programs.")
    parser.add_argument("--prefix", default="/usr/local")
    parser.add_argument("--destdir", default="")
    a = parser.parse_args()
    prefix = os.path.abspath(a.prefix)
    install(prefix, a.destdir)
    print(f"installed jitcache {descriptions.version()} in {a.destdir}{prefix}")


if __name__ == "__main__":
    main()
