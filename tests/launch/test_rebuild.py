"""Builds over the results of earlier ones: what stood there is an input if it was read, as it stood when the command began."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import Any

import pytest
from conftest import need
from opens import own_program

C = "int f(void) { return %d; }\nint main(void) { return f(); }\n"
F = "module m\n integer, parameter :: v = %d\nend module\n"
#: The module is the same, and not the object.
G = "module m\ncontains\ninteger function f(x)\n integer, intent(in) :: x\n f = x + %d\nend function\nend module\n"

#: The source, its text, the words, what is left, and from which build on the contents 1, 2, 1, 2 hit.
ROWS: dict[str, tuple[str, str, str, list[str], int]] = {
    "gcc": ("a.c", C, "gcc a.c -o a", ["a"], 3),
    "lld": ("a.c", C, "gcc -fuse-ld=lld a.c -o a", ["a"], 3),
    "mold": ("a.c", C, "gcc -fuse-ld=mold a.c -o a", ["a"], 3),
    "gold": ("a.c", C, "gcc -fuse-ld=gold a.c -o a", ["a"], 3),
    "gfortran, another module": ("a.f90", F, "gfortran -c a.f90 -o a.o", ["a.o", "m.mod"], 4),
    "gfortran, the same module": ("a.f90", G, "gfortran -c a.f90 -o a.o", ["a.o", "m.mod"], 4),
}
NEEDS = {"lld": "ld.lld", "mold": "mold", "gold": "ld.gold"}


def state(folder: Path, names: list[str]) -> list[tuple[bytes, int]]:
    return [((folder / n).read_bytes(), (folder / n).stat().st_mode) for n in names]


@pytest.mark.control("nostood", rows=["gfortran, another module"])
@pytest.mark.parametrize("row", ROWS)
def test_build_over_an_older_result_hits(place: Any, row: str) -> None:
    """The witness is the kernel: nobody opens the program."""
    source, text, line, names, first = ROWS[row]
    words = shlex.split(line)
    need(NEEDS.get(row, words[0]))
    opens = own_program(place, words[0])
    alone = place.folder.parent / "alone"
    alone.mkdir()
    for build, v in enumerate((1, 2, 1, 2, 1, 2), 1):
        for folder in (place.folder, alone):
            (folder / source).write_text(text % v)
        assert place.plain(*words, cwd=alone).returncode == 0
        opens.count()
        assert place.run(*words).returncode == 0
        assert (opens.count() == 0) is (build >= first), build
        assert state(place.folder, names) == state(alone, names)
    opens.close()


def test_module_that_the_compiler_leaves_alone_is_left_alone(place: Any) -> None:
    """make compiles what uses it, if its time is another."""
    need("gfortran")
    times = []
    for v in (1, 2, 1, 2, 1):
        (place.folder / "a.f90").write_text(G % v)
        place.run("gfortran", "-c", "a.f90")
        times.append((place.folder / "m.mod").stat())
    assert len({(st.st_mtime_ns, st.st_ino) for st in times}) == 1
    (place.folder / "m.mod").write_bytes(b"")
    place.run("gfortran", "-c", "a.f90")
    assert place.read("m.mod") != b""


#: Scripts that read a file and write over it, by what they do to it. The shell alone asks for no times.
OVER = {
    "written into": "read x < f; echo $((x * 2)) > f",
    "made anew": "read x < f; rm f; echo $((x * 2)) > f",
    "replaced by another": "read x < f; echo $((x * 2)) > g; read y < g; rm g; echo $y > f",
    "read last": "echo 5 > f; read x < f; echo $x$x > f",
}


@pytest.mark.control("nostood", rows=["written into"])
@pytest.mark.parametrize("what", OVER)
def test_content_that_is_read_and_written_over_counts_as_it_was(place: Any, what: str) -> None:
    """A content that was there before is a hit, and any other is none, by links and second names too."""
    f, other = place.folder / "f", place.folder / "other"
    words = ["sh", "-c", f"{OVER[what]}"]
    opens = own_program(place, "sh")
    for turn, before in enumerate((1, 2, 3, 1, 2, 3)):
        results = []
        for run in (place.plain, place.run):
            f.unlink(missing_ok=True)
            other.unlink(missing_ok=True)
            f.write_text(f"{before}\n")
            os.link(f, other)
            with f.open() as held:
                opens.count()
                assert run(*words).returncode == 0
                ran = opens.count() > 0
                results.append((f.read_text(), other.read_text(), held.read(), f.stat().st_mode))
        assert results[0] == results[1]
        # rm looks at what it removes, and is not known: it may use the time, which is another one each time
        assert ran is (what == "made anew" or turn < (1 if what == "read last" else 3))
    opens.close()
