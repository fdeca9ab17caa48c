"""A command that cannot be kept is observed once, and then run as it is, until the reason may be gone."""

from __future__ import annotations

import ctypes
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import conftest
import pytest


class Observer:
    """A launcher of its own, and whether it starts the observer: the kernel tells who opens that."""

    def __init__(self, place: Any, folder: Path) -> None:
        folder.mkdir()
        for name in ("jitcache", "jitcache-observe"):
            shutil.copy(conftest.PROGRAM.parent / name, folder / name)
        self._place, self._program = place, folder / "jitcache"
        libc = ctypes.CDLL(None, use_errno=True)
        self._fd = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        assert libc.inotify_add_watch(self._fd, os.fsencode(folder / "jitcache-observe"), 0x20) >= 0  # IN_OPEN

    def run(self, *words: Any, **more: Any) -> tuple[bytes, bool]:
        """Launch a command; return what it prints, and whether it was observed."""
        p = self._place.plain(self._program, "run", *words, **more)
        assert p.returncode == 0, p.stderr
        try:
            return p.stdout, os.read(self._fd, 1 << 16) != b""
        except BlockingIOError:
            return p.stdout, False

    def close(self) -> None:
        os.close(self._fd)


@pytest.fixture
def observer(place: Any, tmp_path: Path) -> Iterator[Observer]:
    made = Observer(place, tmp_path / "own")
    yield made
    made.close()


#: What is done each time anew; the first two depend on what stands there.
EACH_TIME = {
    "changed in place": "random >> log",
    "removed": "rm victim; random; : > victim",
    "read and written": "cat log > log2; random >> log2; cp log2 log; rm log2; random",
    "standard input": "cat; random",
    "the time of day": "random; date",
    "something goes on": "random; sleep 3 >/dev/null 2>&1 </dev/null &",
}


@pytest.mark.control("noremembered", rows=["changed in place"])
@pytest.mark.parametrize("what", EACH_TIME)
def test_command_that_cannot_be_kept_is_observed_once(place: Any, observer: Observer, what: str) -> None:
    script = place.tool("script", f"#!/bin/sh\n{EACH_TIME[what]}\n")
    for name in ("log", "victim"):
        (place.folder / name).write_text("older\n")
    place.write(in_txt="typed\n")
    said = []
    for observed in (True, False, False):
        with (place.folder / "in.txt").open("rb") as typed:
            said.append(observer.run(script, stdin=typed))
        assert said[-1][1] is observed, what
    assert len({text for text, _ in said}) == (1 if what == "changed in place" else 3)


def test_archive_that_is_changed_is_made_anew_where_there_is_none(place: Any, observer: Observer, gcc: str) -> None:
    place.write(a_c="int f(void) { return 1; }\n")
    assert place.plain(gcc, "-c", "a.c").returncode == 0
    assert place.plain("ar", "rcD", "a.a", "a.o").returncode == 0
    words = ["ar", "rcD", "a.a", "a.o"]
    assert [observer.run(*words)[1] for _ in range(2)] == [True, False]
    for observed in (True, False):
        (place.folder / "a.a").unlink()
        assert observer.run(*words)[1] is observed
        assert place.plain("ar", "t", "a.a").stdout == b"a.o\n"


def test_output_that_is_gone_lets_the_command_be_kept(place: Any, observer: Observer) -> None:
    script = place.tool("script", "#!/bin/sh\nrm -f out; random out\n")
    (place.folder / "out").write_text("older\n")
    assert [observer.run(script)[1] for _ in range(2)] == [True, False]
    said = []
    for _ in range(2):
        (place.folder / "out").unlink()
        said.append(observer.run(script))
    assert [observed for _, observed in said] == [True, False]
    assert said[0][0] == said[1][0]


@pytest.mark.control("noforgotten")
def test_another_script_is_observed_at_once(place: Any, observer: Observer) -> None:
    script = place.tool("script", "#!/bin/sh\ndate; random\n")
    assert [observer.run(script)[1] for _ in range(2)] == [True, False]
    place.tool("script", "#!/bin/sh\nrandom\n")
    said = [observer.run(script) for _ in range(2)]
    assert [observed for _, observed in said] == [True, False]
    assert said[0][0] == said[1][0]


def test_program_that_a_script_calls_is_another(place: Any, observer: Observer) -> None:
    script = place.tool("script", "#!/bin/sh\ninner; random\n")
    place.tool("inner", "#!/bin/sh\ndate\n")
    assert [observer.run(script)[1] for _ in range(2)] == [True, False]
    place.tool("inner", "#!/bin/sh\necho no date\n")
    assert [observer.run(script)[1] for _ in range(2)] == [True, False]


def test_source_that_shows_the_time_is_run_each_time(place: Any, observer: Observer, gcc: str) -> None:
    place.write(a_c="#include <stdio.h>\nint main(void) { puts(V); }\n")
    words = [gcc, "-DV=__TIME__", "a.c", "-o", "a"]
    assert [observer.run(*words)[1] for _ in range(3)] == [True, False, False]


@pytest.mark.control("nocures")
def test_command_that_is_cured_is_kept(place: Any, observer: Observer, gcc: str) -> None:
    """SOURCE_DATE_EPOCH is set, as the manual says; the source is mended; standard input is another."""
    words = [gcc, "-c", "d.c", "-o", "d.o"]
    place.write(d_c="const char *d = __DATE__;\n")
    assert [observer.run(*words)[1] for _ in range(2)] == [True, False]
    dated = {"SOURCE_DATE_EPOCH": "1"}
    assert [observer.run(*words, env=dated)[1] for _ in range(2)] == [True, False]
    assert "hit" in place.run("--json", *words, env=dated).stderr.decode()
    assert observer.run(*words)[1] is False
    place.write(d_c="const char *d;\n")
    assert [observer.run(*words)[1] for _ in range(2)] == [True, False]
    assert "hit" in place.run("--json", *words).stderr.decode()
    read, write = os.pipe()
    os.close(write)
    for observed in (True, False):
        assert observer.run("sh", "-c", "cat; random", stdin=read)[1] is observed
    os.close(read)
    assert [observer.run("sh", "-c", "cat; random")[1] for _ in range(2)] == [True, False]
