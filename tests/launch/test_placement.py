"""How a command puts an output in the place of what stands there: a replay does the same, for whoever holds that file."""

from __future__ import annotations

import os
import shlex
import shutil
import stat
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from conftest import need
from opens import own_program

#: What stands where the output goes: nothing, or a file of these bytes.
STATES: dict[str, bytes | None] = {"nothing": None, "empty": b"", "older": b"older\n" * 100}

#: Commands that leave the file out. Some write into what stands, some replace it, GNU's linkers and assembler look.
ROWS = {
    "gcc -S": "gcc -S a.c -o out",
    "gcc -E": "gcc -E a.c -o out",
    "gcc -MF": "gcc -MD -MF out -c a.c -o a.o",
    "gcc -c": "gcc -c a.c -o out",
    "gcc -M": "gcc -M a.c -o out",
    "g++ -c": "g++ -x c++ -c a.c -o out",
    "gfortran -c": "gfortran -c f.f90 -o out",
    "as": "as a.s -o out",
    "bfd": "gcc -shared -fPIC a.c -o out",
    "gold": "gcc -fuse-ld=gold -shared -fPIC a.c -o out",
    "lld": "gcc -fuse-ld=lld -shared -fPIC a.c -o out",
    "mold": "gcc -fuse-ld=mold -shared -fPIC a.c -o out",
    "ld -r": "ld -r a.o.o -o out",
    "clang -c": "clang -c a.c -o out",
    "clang -S": "clang -S a.c -o out",
    "clang -MF": "clang -MD -MF out -c a.c -o a.o",
    "shell alone": "sh -c 'read -r x < a.c; echo \"$x\" > out'",
    "script that appends": "sh -c 'read -r x < a.c; echo \"$x\" >> out'",
    "script that may write over nothing": "sh -c 'set -C; read -r x < a.c; echo \"$x\" > out'",
    "script of bash that may write over nothing": "bash -c 'set -C; read -r x < a.c; echo \"$x\" > out'",
    "script that looks": "sh -c 'read -r x < a.c; [ -s out ] && x=more; echo \"$x\" > out'",
    "script that writes": "sh -c 'cat a.c > out'",
    "script that makes anew": "sh -c 'rm -f out; cat a.c > out'",
    "script that renames": "sh -c 'cat a.c > t; mv t out'",
    "script that sets permissions": "sh -c 'cat a.c > out; chmod 640 out'",
}
NEEDS = {"gold": "ld.gold", "lld": "ld.lld", "mold": "mold"}


class Seen(NamedTuple):
    """What there is afterwards, for who looks at the name, and for who held the file before."""

    mode: int
    content: bytes
    same: bool  # it is the file that stood there
    held: bytes | None
    other: bytes | None  # by another name of what stood there
    other_mode: int


def look(place: Any, state: str, mode: int, act: Callable[[], Any]) -> Seen:
    """Make a state, hold what stands, act, and look."""
    out, other = place.folder / "out", place.folder / "other"
    for path in (out, other):
        path.unlink(missing_ok=True)
    if STATES[state] is None:
        act()
        return Seen(out.stat().st_mode, out.read_bytes(), False, None, None, 0)
    out.write_bytes(STATES[state])
    out.chmod(mode)
    os.link(out, other)
    with out.open("rb") as held:
        act()
        same = os.fstat(held.fileno()).st_ino == out.stat().st_ino
        return Seen(out.stat().st_mode, out.read_bytes(), same, held.read(), other.read_bytes(), other.stat().st_mode)


def prepare(place: Any, row: str) -> list[str]:
    words = shlex.split(ROWS[row])
    need(NEEDS.get(row, words[0]))
    place.write(a_c="int f(void) { return 1; }\n", a_s=".byte 1\n", f_f90="subroutine s\nend subroutine\n")
    place.plain("as", "a.s", "-o", "a.o.o")
    return words


@pytest.mark.control("noplacement", rows=["gcc -S", "gcc -c", "bfd", "clang -MF"])
@pytest.mark.parametrize("row", ROWS)
def test_replay_does_to_what_stands_there_what_the_command_does(place: Any, row: str) -> None:
    """Whatever stood there in the run that was kept, and whatever stands there now."""
    words = prepare(place, row)
    plain = {
        (state, mode): look(place, state, mode, lambda: place.plain(*words))
        for state in STATES
        for mode in (0o600, 0o664)
    }
    assert len(set(plain.values())) > 1
    for first in STATES:
        shutil.rmtree(place.cache, ignore_errors=True)
        assert look(place, first, 0o600, lambda: place.run(*words)) == plain[first, 0o600], first
        for (state, mode), want in plain.items():
            # what stands counts for scripts, so the first run is no hit
            for _ in range(2 if row.startswith("script") else 1):
                assert look(place, state, mode, lambda: place.run(*words)) == want, (first, state, mode)


@pytest.mark.control("nolookers", rows=["shell alone"])
@pytest.mark.parametrize("row", [row for row in ROWS if not row.startswith("script")])
def test_states_that_a_known_command_does_not_tell_apart_are_one_result(place: Any, row: str) -> None:
    """The witness is the kernel: nobody opens the program."""
    words = prepare(place, row)
    opens = own_program(place, words[0])
    look(place, "nothing", 0, lambda: place.run(*words))
    assert opens.count() > 0
    for state in STATES:
        look(place, state, 0o644, lambda: place.run(*words))
        assert opens.count() == 0, state
    opens.close()


@pytest.mark.parametrize("mask", [0o077, 0o002])
@pytest.mark.parametrize("row", ["gcc -S", "gcc -MF", "gcc -c", "bfd", "gold", "clang -MF"])
def test_permissions_where_nothing_stands_are_those_of_now(place: Any, row: str, mask: int) -> None:
    """The first run found a file of mktemp's."""
    words = prepare(place, row)
    want = look(place, "nothing", 0, lambda: place.plain(*words, umask=mask))
    look(place, "empty", 0o600, lambda: place.run(*words, umask=mask))
    assert look(place, "nothing", 0, lambda: place.run(*words, umask=mask)).mode == want.mode


def test_times_of_what_is_written_into_keep_their_order(place: Any, gcc: str) -> None:
    """make compares them: a depfile is older than its object."""
    words = shlex.split("gcc -MD -MF out -c a.c -o a.o")
    place.write(a_c="int f(void) { return 1; }\n")
    for _ in range(3):
        place.run(*words)
        assert (place.folder / "out").stat().st_mtime_ns <= (place.folder / "a.o").stat().st_mtime_ns


def test_output_under_a_bind_mount_or_a_link_to_its_folder(place: Any, gcc: str) -> None:
    """The folder's other name leads to the same file."""
    place.write(a_c="int f(void) { return 1; }\n")
    (place.folder / "real").mkdir()
    (place.folder / "way").symlink_to("real")
    words = [gcc, "-S", "a.c", "-o", "way/a.s"]
    for _ in range(3):
        (place.folder / "real" / "a.s").write_bytes(b"")
        with (place.folder / "real" / "a.s").open("rb") as held:
            place.run(*words)
            assert held.read() == place.read("real/a.s") != b""


def own_list() -> bytes:
    """An access list by which daemon's group may read (acl(5), posix_acl_xattr.h)."""
    nobody = 0xFFFFFFFF
    entries = [(0x01, 6, nobody), (0x04, 4, nobody), (0x08, 4, 1), (0x10, 4, nobody), (0x20, 4, nobody)]
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *e) for e in entries)


#: What a command gives an output beside content and permissions: in Python, for the path p.
GIVEN = {
    "group": "os.chown(p, -1, 1)",
    "group of a folder": "os.remove(p); os.mkdir(p); os.chown(p, -1, 1)",
    "group of a link": "os.remove(p); os.symlink('x', p); os.lchown(p, -1, 1)",
    "access list": f"os.setxattr(p, 'system.posix_acl_access', {own_list()!r})",
    "default access list": f"os.remove(p); os.mkdir(p); os.setxattr(p, 'system.posix_acl_default', {own_list()!r})",
    "setgid of a folder": "os.remove(p); os.mkdir(p); os.chmod(p, 0o2755)",
    "setgid of a program": "os.chmod(p, 0o2755)",
    "time of a folder": "os.remove(p); os.mkdir(p); os.utime(p, (9, 9))",
    "time of a link": "os.remove(p); os.symlink('x', p); os.utime(p, (9, 9), follow_symlinks=False)",
    "time of a file": "os.utime(p, (9, 9))",
}


def described(path: Path) -> tuple[Any, ...]:
    st = path.lstat()
    lists = {}
    if not stat.S_ISLNK(st.st_mode):
        lists = {n: os.getxattr(path, n) for n in os.listxattr(path) if "posix_acl" in n}
    return st.st_mode, st.st_gid, lists, st.st_mtime == 9


@pytest.mark.control("anygiven", rows=["access list-plain", "setgid of a folder-plain"])
@pytest.mark.control("anytimes", rows=["time of a link-plain"])
@pytest.mark.parametrize("above", ["plain", "setgid", "list"])
@pytest.mark.parametrize("what", GIVEN)
def test_what_a_command_gives_its_output_is_there_each_time(place: Any, what: str, above: str) -> None:
    folder = place.folder / "d"
    folder.mkdir()
    if above == "setgid":
        folder.chmod(0o2755)
    try:
        if above == "list":
            os.setxattr(folder, "system.posix_acl_default", own_list())
        script = f"import os; p = 'd/out'; open(p, 'w').close(); {GIVEN[what]}"
        words = ["python3", "-I", "-S", "-c", script]
        p = place.plain(*words)
        if p.returncode != 0:
            pytest.skip("it may not do that here")
    except OSError as e:
        pytest.skip(f"no access lists here: {e}")
    want = described(folder / "out")
    for _ in range(3):
        path = folder / "out"
        path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
        assert place.run(*words).returncode == 0
        assert described(path) == want


@pytest.mark.parametrize("above", ["plain", "setgid", "list"])
def test_what_a_folder_gives_its_files_is_no_obstacle(place: Any, above: str) -> None:
    """Its group, its bit, its access list: a replay gets them as the command does."""
    folder = place.folder / "d"
    folder.mkdir()
    if above == "setgid":
        os.chown(folder, -1, 1 if os.geteuid() == 0 else os.getegid())
        folder.chmod(0o2755)
    if above == "list":
        try:
            os.setxattr(folder, "system.posix_acl_default", own_list())
        except OSError as e:
            pytest.skip(f"no access lists here: {e}")
    words = ["sh", "-c", "random d/out > said; mkdir d/e; random d/e/f > d/g; chmod 750 d/g"]
    seen = []
    for _ in range(2):
        place.run(*words)
        names = ("out", "e", "e/f", "g")
        seen.append(([described(folder / n) for n in names], place.read("said"), place.read("d/g")))
        shutil.rmtree(folder / "e")
        for name in ("out", "g"):
            (folder / name).unlink()
        (place.folder / "said").unlink()
    assert seen[0] == seen[1]


@pytest.mark.parametrize(
    "words",
    ["clang -fmodules -fmodules-cache-path=mc -Iinc -c a.c -o out", "g++ -std=c++20 -fmodules-ts -c m.cc -o out"],
)
def test_folder_that_stands_is_no_obstacle(place: Any, words: str) -> None:
    need(words.split(maxsplit=1)[0])
    (place.folder / "inc").mkdir()
    (place.folder / "inc" / "module.modulemap").write_text('module M { header "m.h" }\n')
    (place.folder / "inc" / "m.h").write_text("#pragma once\n#define H 1\n")
    place.write(
        a_c='#include "m.h"\nint f(void) { return H; }\n',
        m_cc="export module m;\nexport inline int f() { return 1; }\n",
    )
    place.env["SOURCE_DATE_EPOCH"] = "1"
    opens = own_program(place, words.split(maxsplit=1)[0])
    for first in (True, False):
        assert place.run(*words.split()).returncode == 0
        assert (opens.count() > 0) is first
        (place.folder / "out").unlink()
    opens.close()


@pytest.mark.control("noabsent")
def test_script_that_finds_its_output_is_another_run_however_long_it_takes(place: Any) -> None:
    """The folder has not changed since: its stamp alone says nothing of what the command itself has made there."""
    words = ["sh", "-c", "if [ -e out ]; then echo stands; else random out; fi; sleep 0.1"]
    said = [place.run(*words).stdout for _ in range(3)]
    assert said[0] == place.read("out")
    assert said[1:] == [b"stands\n"] * 2
