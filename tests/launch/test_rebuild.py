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
    "objcopy": ("a.c", C, "objcopy -I binary -O elf64-x86-64 a.c a.o", ["a.o"], 3),
    "ar": ("a.o", "of version %d\n", "ar rcs a.a a.o", ["a.a"], 4),
    "split DWARF": ("a.c", C, "gcc -g -gsplit-dwarf -c a.c -o a.o", ["a.o", "a.dwo"], 3),
    "ThinLTO with lld's cache": (
        "a.c",
        C,
        "clang -O2 -flto=thin -fuse-ld=lld -Wl,--thinlto-cache-dir=cache a.c -o a",
        ["a"],
        3,
    ),
    "modules of gcc, hermetic": (
        "m.cc",
        "export module m;\nexport int f() { return %d; }\n",
        "g++ -std=c++20 -fmodules-ts -c m.cc -o m.o",
        ["m.o"],
        3,
    ),
    "gfortran, another module": ("a.f90", F, "gfortran -c a.f90 -o a.o", ["a.o", "m.mod"], 4),
    "gfortran, the same module": ("a.f90", G, "gfortran -c a.f90 -o a.o", ["a.o", "m.mod"], 4),
}
NEEDS = {"lld": "ld.lld", "mold": "mold", "gold": "ld.gold", "ThinLTO with lld's cache": "ld.lld"}


#: Modules of gcc have the time in them.
ENV = {"modules of gcc, hermetic": {"JITCACHE_HERMETIC": "1700000000"}}


Files = dict[str, tuple[bytes, int]]


def exchange(folder: Path, names: list[str], with_: Files) -> Files:
    """Put other files in the place of some, and return those, if there are any."""
    found = {
        n: ((folder / n).read_bytes(), (folder / n).stat().st_mode & 0o7777) for n in names if (folder / n).exists()
    }
    for name in found:
        (folder / name).unlink()
    for name, (content, mode) in with_.items():
        (folder / name).write_bytes(content)
        (folder / name).chmod(mode)
    return found


@pytest.mark.control("nostood", rows=["gfortran, another module"])
@pytest.mark.parametrize("row", ROWS)
def test_build_over_an_older_result_hits(place: Any, row: str) -> None:
    """The witness is the kernel: nobody opens the program."""
    source, text, line, names, first = ROWS[row]
    words = shlex.split(line)
    need(NEEDS.get(row, words[0]))
    opens = own_program(place, words[0])
    alone: Files = {}
    for build, v in enumerate((1, 2, 1, 2, 1, 2), 1):
        (place.folder / source).write_text(text % v)
        ours = exchange(place.folder, names, alone)
        assert place.plain(*words).returncode == 0
        alone = exchange(place.folder, names, ours)
        opens.count()
        assert place.run(*words, env=ENV.get(row, {})).returncode == 0
        assert (opens.count() == 0) is (build >= first), build
        assert exchange(place.folder, names, alone) == alone
    opens.close()


@pytest.mark.control("noadders")
def test_library_that_stands_keeps_its_other_members(place: Any) -> None:
    """ar looks whether there is one, and adds to it."""
    need("ar")
    for name in "abc":
        (place.folder / name).write_text(name)
    opens = own_program(place, "ar")
    for turn in range(2):
        for before in ("", "b", "c", "b c"):
            seen = []
            for run in (place.plain, place.run):
                (place.folder / "l.a").unlink(missing_ok=True)
                if before:
                    place.plain("ar", "rcs", "l.a", *before.split())
                opens.count()
                assert run("ar", "rcs", "l.a", "a").returncode == 0
                ran = opens.count() > 0
                seen.append(place.read("l.a"))
            assert seen[0] == seen[1], before
            assert ran is (turn == 0), before
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


@pytest.mark.control("nostood", rows=["strip"])
@pytest.mark.parametrize(
    "words", ["strip -g a.o", "objcopy --strip-debug a.o", "strip a.o"], ids=["strip", "objcopy", "all"]
)
def test_program_that_changes_its_input_is_replayed_for_each_content(place: Any, words: str, gcc: str) -> None:
    """Into the file that stands, with its permissions and its other names."""
    opens = own_program(place, words.split(maxsplit=1)[0])
    a, other = place.folder / "a.o", place.folder / "other"
    objects = []
    for v in (1, 2):
        place.write(a_c=C % v)
        place.plain(gcc, "-g", "-c", "a.c", "-o", "a.o")
        objects.append(a.read_bytes())
    for turn, v in enumerate((0, 1, 0, 1)):
        seen = []
        for run in (place.plain, place.run):
            for path in (a, other):
                path.unlink(missing_ok=True)
            a.write_bytes(objects[v])
            a.chmod(0o640)
            os.link(a, other)
            opens.count()
            assert run(*words.split()).returncode == 0
            seen.append((a.read_bytes(), other.read_bytes(), a.stat().st_mode))
        assert seen[0] == seen[1]
        assert (opens.count() == 0) is (turn >= 2)
    opens.close()


def test_time_that_strip_keeps_counts(place: Any, gcc: str) -> None:
    place.write(a_c=C % 1)
    place.plain(gcc, "-g", "-c", "a.c", "-o", "a.o")
    for at in (10**9, 10**9 + 5, 10**9):
        os.utime(place.folder / "a.o", (at, at))
        assert place.run("strip", "-p", "a.o", "-o", "b.o").returncode == 0
        assert (place.folder / "b.o").stat().st_mtime == at
