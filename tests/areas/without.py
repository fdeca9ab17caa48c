"""Builds without a mechanism. One build is copied for each control, and the control's name is written into the copy.

Linking takes ten seconds, and there are two hundred controls.
"""

from __future__ import annotations

import functools
import re
import shutil
import struct
import threading
from pathlib import Path
from typing import Callable

from .common import BUILD, ROOT, build_library, go_command, run

_FOLDER = BUILD / "control"
_building = threading.RLock()  # areas run at the same time

#: Controls that are other builds of the library, with the mechanisms that they go without.
OTHERS = {
    "go_runtime": "the build changes Go's runtime",
    "preempts": "Go sends no signals to preempt threads",
    "unloads": "dlclose does not unmap the library",
}

#: Behind a control of the front: in a build that aborts if the order of locks is broken.
RANKS = "+ranks"


@functools.cache
def controls() -> dict[str, str]:
    """Return the names of all controls of the library and the tracer, with what they take out, or do."""
    lines = (ROOT / "core" / "control" / "controls.txt").read_text().splitlines()
    core = (line.split(None, 1) for line in lines if line and not line.startswith("#"))
    headers = [ROOT / "capi" / "controls.h", ROOT / "observe" / "tracer" / "control.h"]
    c = (m for h in headers for m in re.findall(r"^\t(J[CO]_\w+),\s*/\* (.*) \*/$", h.read_text(), re.MULTILINE))
    return {**dict(core), **dict(c), **OTHERS}


def build(folder: Path, control: str) -> Path:
    """Put a library without a mechanism, command and programs into a folder; return the library."""
    if control in OTHERS:
        return _build_other(folder, control)
    if control.startswith("JC_"):
        # A build of the front has no command.
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(BUILD / "lib", folder, symlinks=True)
        return front(folder, control.replace(RANKS, ""), ranks=control.endswith(RANKS))
    return library(folder, control)


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


def _build_other(folder: Path, control: str) -> Path:
    with _building:
        built = build_library.build(folder, plain=control == "go_runtime", preempt=control == "preempts", command=False)
    if control == "unloads":
        _let_unload(built)
    return built


def _let_unload(library: Path) -> None:
    """Remove the flag that keeps dlclose from unmapping a library. Go's linker always sets it."""
    section, tag, nodelete = 2, 0x6FFFFFFB, 8  # PT_DYNAMIC, DT_FLAGS_1, DF_1_NODELETE
    data = bytearray(library.read_bytes())
    (headers,) = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    for header in range(headers, headers + size * count, size):
        kind, _, offset, _, _, length = struct.unpack_from("<IIQQQQ", data, header)
        for at in range(offset, offset + length, 16) if kind == section else ():
            if struct.unpack_from("<Q", data, at)[0] == tag:
                data[at + 8] &= ~nodelete
    library.write_bytes(data)


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
