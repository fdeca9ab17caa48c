"""Builds without a mechanism. One build is copied for each control, and the control's name is written into the copy.

Linking takes ten seconds, and there are a hundred controls.
"""

from __future__ import annotations

import functools
import threading
from pathlib import Path
from typing import Callable

from .common import BUILD, build_library, go_command, run

_FOLDER = BUILD / "control"
_building = threading.RLock()  # areas run at the same time


def library(folder: Path, out: str) -> Path:
    """Put library, command and programs into a folder, without a mechanism of core/control/controls.txt."""
    build_library.check_control(out)
    return _copied(_library().parent, folder, functools.partial(_without, out=out))


def front(folder: Path, name: str, *, ranks: bool = False) -> Path:
    """Put library and programs into a folder, without a mechanism of capi/controls.h; ``ranks`` checks the order of locks."""
    slot, number = build_library.FRONT_SLOT, build_library.front_number(name)
    with _building:
        built = _build_front(ranks)
    if built.read_bytes().count(slot + b"\0") != 1:
        raise RuntimeError(f"{built}: want one place for a control of the front")
    return _copied(built.parent, folder, lambda data: data.replace(slot + b"\0", slot + bytes([number])))


def built(folder: Path, **how: bool) -> Path:
    """Build the library into a folder, in another way (``build_library.build``)."""
    with _building:
        return build_library.build(folder, **how)


def _copied(built: Path, folder: Path, change: Callable[[bytes], bytes]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for file in built.iterdir():
        copy = folder / file.name
        copy.unlink(missing_ok=True)
        if file.is_symlink():
            copy.symlink_to(file.readlink())
        else:
            copy.write_bytes(change(file.read_bytes()))
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


@functools.cache
def _build_front(ranks: bool) -> Path:
    folder = _FOLDER / ("front-ranks" if ranks else "front")
    return build_library.build(folder, front=build_library.ANY_FRONT, ranks=ranks, command=False)


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
