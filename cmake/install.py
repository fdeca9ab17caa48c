"""Put jitcache where C and C++ programs find it: ``make install PREFIX=…``.

    python cmake/install.py --prefix /usr/local [--destdir DIR]

lib/libjitcache.so.1 and the link to it, include/, lib/pkgconfig, lib/cmake, and
the command bin/jitcache. Everything must have been built (``make lib``).
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import build_library  # noqa: E402


def version() -> str:
    """Return the version that the header states."""
    for line in (ROOT / "include" / "jitcache.h").read_text().splitlines():
        if line.startswith("#define JITCACHE_VERSION "):
            return line.split('"')[1]
    raise SystemExit("include/jitcache.h states no version")


def install(prefix: str, destdir: str) -> None:
    """Copy everything below destdir + prefix."""
    top = Path(destdir + prefix) if destdir else Path(prefix)
    library = build_library.SONAME
    for folder in ("bin", "lib/pkgconfig", "lib/cmake/jitcache", "include"):
        (top / folder).mkdir(parents=True, exist_ok=True)
    shutil.copy2(ROOT / "build" / "lib" / "libjitcache.so", top / "lib" / library)
    link = top / "lib" / "libjitcache.so"
    link.unlink(missing_ok=True)
    link.symlink_to(library)
    for header in (ROOT / "include").iterdir():
        shutil.copy2(header, top / "include")
    values = {"@PREFIX@": prefix, "@VERSION@": version(), "@LIBRARY@": library}
    for template, place in (
        ("jitcache.pc.in", "lib/pkgconfig/jitcache.pc"),
        ("jitcacheConfig.cmake.in", "lib/cmake/jitcache/jitcacheConfig.cmake"),
        ("jitcacheConfigVersion.cmake.in", "lib/cmake/jitcache/jitcacheConfigVersion.cmake"),
    ):
        text = (ROOT / "cmake" / template).read_text()
        for name, value in values.items():
            text = text.replace(name, value)
        (top / place).write_text(text)
    command = [build_library.find_go() or "go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w"]
    env = {**os.environ, "CGO_ENABLED": "1", "GOTOOLCHAIN": "local", "CC": " ".join(build_library.find_cc() or ["cc"])}
    subprocess.run(
        [*command, "-o", str(top / "bin" / "jitcache"), "./core/cli/jitcache"], cwd=ROOT, env=env, check=True
    )


def main() -> None:
    """Parse the arguments and install."""
    parser = argparse.ArgumentParser(description="Install jitcache for C and C++ programs.")
    parser.add_argument("--prefix", default="/usr/local")
    parser.add_argument("--destdir", default="")
    a = parser.parse_args()
    prefix = os.path.abspath(a.prefix)
    install(prefix, a.destdir)
    print(f"installed jitcache {version()} in {a.destdir}{prefix}")


if __name__ == "__main__":
    main()
