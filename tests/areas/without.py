"""Builds without a mechanism: linked once, and copied for each control with its name written into the copy.

Linking takes ten seconds, and there are a hundred controls.
"""

from __future__ import annotations

import functools
import threading
from pathlib import Path

from .common import BUILD, build_library, go_command, run

_FOLDER = BUILD / "control"
_building = threading.RLock()  # areas run side by side


def library(folder: Path, out: str) -> Path:
    """Put library, command and programs into a folder, without a mechanism of core/control/controls.txt."""
    build_library.check_control(out)
    folder.mkdir(parents=True, exist_ok=True)
    for file in _library().parent.iterdir():
        copy = folder / file.name
        copy.unlink(missing_ok=True)
        if file.is_symlink():
            copy.symlink_to(file.readlink())
        else:
            copy.write_bytes(_without(file.read_bytes(), out))
            copy.chmod(file.stat().st_mode)
    return folder / "libjitcache.so"


def tests(area: str, package: str, out: str) -> Path:
    """Return the test program of a Go package, without a mechanism. It runs in the package's folder."""
    build_library.check_control(out)
    program = _FOLDER / f"{package.replace('/', '-')}-{out}.test"
    data = _tests(area, package).read_bytes()
    program.unlink(missing_ok=True)
    program.write_bytes(_without(data, out))
    program.chmod(0o755)
    return program


def _without(data: bytes, out: str) -> bytes:
    slot = build_library.ANY_CONTROL.encode()
    return data.replace(slot, out.encode().ljust(len(slot), b"."))


def _library() -> Path:
    with _building:
        return _build_library()


@functools.cache
def _build_library() -> Path:
    return build_library.build(_FOLDER / "lib", control=build_library.ANY_CONTROL)


def _tests(area: str, package: str) -> Path:
    with _building:
        return _build_tests(area, package)


@functools.cache
def _build_tests(area: str, package: str) -> Path:
    program = _FOLDER / f"{package.replace('/', '-')}.test"
    tags, linker = build_library.control_flags(build_library.ANY_CONTROL)
    command = [go_command(), "test", "-c", "-tags", tags, "-ldflags", linker, "-o", str(program), f"./{package}"]
    status, text = run(area, command)
    if status != 0:
        raise RuntimeError(f"{package}: {text[-2000:]}")
    return program
