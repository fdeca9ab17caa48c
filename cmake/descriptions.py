"""Write the files that find_package and pkg-config read, filled in for the place of the library."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import build_library  # noqa: E402

PKG_CONFIG = ["jitcache.pc"]
CMAKE = ["jitcacheConfig.cmake", "jitcacheConfigVersion.cmake"]


def version() -> str:
    """Return the version that the header states."""
    return build_library.version()


def write(folder: Path, names: list[str], **values: str) -> None:
    """Write the files of these names into a folder.

    ``PREFIX`` is the top of the tree, and ``LIBDIR`` the folder of the library below it;
    ``UP`` leads from the CMake files to the top; ``LINK`` has the flags for the linker.
    """
    values.update(VERSION=version(), LIBRARY=build_library.SONAME)
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        text = (HERE / f"{name}.in").read_text()
        for key, value in values.items():
            text = text.replace(f"@{key}@", value)
        (folder / name).write_text(text)


def write_installed(top: Path, prefix: str) -> None:
    """Write them for a library in prefix/lib."""
    write(top / "lib" / "pkgconfig", PKG_CONFIG, PREFIX=prefix, LIBDIR="/lib", LINK="-ljitcache")
    write(top / "lib" / "cmake" / "jitcache", CMAKE, UP="../../..", LIBDIR="/lib")


def write_wheel(package: Path) -> None:
    """Write them for a library inside the Python package, wherever that is installed.

    A wheel has no symbolic links, so ``-ljitcache`` finds a linker script. No loader
    looks into a Python package, so the flags put its path into programs.
    """
    link = "-Wl,-rpath,${libdir} -ljitcache"
    write(package / "pkgconfig", PKG_CONFIG, PREFIX="${pcfiledir}/..", LIBDIR="", LINK=link)
    write(package / "cmake", CMAKE, UP="..", LIBDIR="")
    (package / "libjitcache.so").write_text(f"/* GNU ld script */\nINPUT({build_library.SONAME})\n")
