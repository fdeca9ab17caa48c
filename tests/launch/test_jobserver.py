"""The tokens of make's and cargo's job servers are no input; that there is one is, and so is anything else under its numbers."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from conftest import PROGRAM, need
from opens import own_program

#: Takes a token from the job server that MAKEFLAGS names, as jobserver of Rust does, and writes what no run repeats.
TAKES = """
import os, re, select, sys
r, w = map(int, re.search("--jobserver-auth=(\\\\d+),(\\\\d+)", os.environ["MAKEFLAGS"]).groups())
if "again" in sys.argv:
    r, w = os.open(f"/dev/fd/{r}", os.O_RDONLY), os.open(f"/dev/fd/{w}", os.O_WRONLY)
select.select([r], [], [])
os.write(w, os.read(r, 1))
open(sys.argv[1], "w").write(os.urandom(8).hex())
"""
PYTHON = "/usr/bin/python3 -I -S"


@pytest.mark.parametrize("how", ["given", "again"])
def test_below_make_what_takes_tokens_hits(place: Any, how: str) -> None:
    place.write(t_py=TAKES, Makefile=f"all: a b c\na b c:\n\t+{PROGRAM} run {PYTHON} t.py $@ {how}\n")
    said = []
    for jobs in (5, 6):  # each job has a token, and takes another
        p = place.plain(need("make"), f"-j{jobs}")
        assert p.returncode == 0, p.stderr
        said.append([place.read(name) for name in "abc"])
        for name in "abc":
            (place.folder / name).unlink()
    assert said[0] == said[1]
    assert len(set(said[0])) == 3


def descriptors(place: Any, *words: Any, read: int, write: int, auth: str = "3,4") -> Any:
    """Run words with two descriptors as 3 and 4, which MAKEFLAGS names."""

    def begin() -> None:
        os.dup2(read, 103)
        os.dup2(write, 104)
        os.dup2(103, 3)
        os.dup2(104, 4)

    env = {"MAKEFLAGS": f" -j2 --jobserver-auth={auth}"}
    return place.plain(*words, env=env, close_fds=False, preexec_fn=begin)


READS = "import os; print(os.read(3, 1), os.urandom(8).hex())"


def test_file_under_the_number_of_a_job_server_is_an_input(place: Any) -> None:
    """make 4.3 names 3 and 4 to each command, and they may be anything."""
    said = []
    for text in ("1", "2", "2"):
        (place.folder / "data").write_text(text)
        fd = os.open(place.folder / "data", os.O_RDWR)
        p = descriptors(place, PROGRAM, "run", *PYTHON.split(), "-c", READS, read=fd, write=fd)
        os.close(fd)
        assert p.returncode == 0, p.stderr
        said.append(p.stdout)
    assert len(set(said)) == 3
    assert [text[2:3] for text in said] == [b"1", b"2", b"2"]


def test_more_than_a_token_is_an_input(place: Any) -> None:
    said = []
    for tokens in (b"++", b"++++", b"++++"):
        r, w = os.pipe()
        os.write(w, tokens)
        more = READS.replace("1)", "9)")
        said.append(descriptors(place, PROGRAM, "run", *PYTHON.split(), "-c", more, read=r, write=w).stdout)
        os.close(r)
        os.close(w)
    assert len(set(said)) == 3
    assert said[0].startswith(b"b'++' ")


C = "int f(int x) { return x + %d; }\nint main(void) { return f(0); }\n"


def lto(place: Any, *before: Any, how: str) -> tuple[bytes, bytes]:
    """Link by -flto=jobserver with a job server, with one that is only named, or with none; return the program and what was said."""
    words = (*before, "gcc", "-O2", "-flto=jobserver", "a.c", "-o", "a")
    r, w = os.pipe()
    os.write(w, b"+")
    if how == "none":
        p = place.plain(*words)
    else:
        p = descriptors(place, *words, read=r, write=w, auth="3,4" if how == "there" else "8,9")
    assert p.returncode == 0, p.stderr
    os.set_blocking(r, False)
    assert how == "none" or os.read(r, 9) == b"+"
    os.close(r)
    os.close(w)
    return place.read("a"), p.stderr


@pytest.mark.control("nojobserver")
def test_link_by_a_job_server_hits_and_says_where_there_is_none(place: Any, gcc: str) -> None:
    opens = own_program(place, gcc)
    seen: set[tuple[int, str]] = set()
    for v, how in (
        (1, "there"),
        (2, "there"),
        (1, "none"),
        (1, "absent"),
        (1, "there"),
        (2, "there"),
        (1, "none"),
        (1, "absent"),
    ):
        (place.folder / "a.c").write_text(C % v)
        plain = lto(place, how=how)
        opens.count()
        assert lto(place, PROGRAM, "run", how=how) == plain
        assert (opens.count() == 0) is ((v, how) in seen), (v, how)
        seen.add((v, how))
    opens.close()


def test_fifo_of_a_job_server_is_no_input(place: Any, tmp_path: Path) -> None:
    """make 4.4 names one, another one each time."""
    said = []
    for name in ("one", "two"):
        fifo = tmp_path / name
        os.mkfifo(fifo)
        held = os.open(fifo, os.O_RDWR)
        os.write(held, b"+")
        script = (
            "import os, re; fd = os.open(re.search('fifo:(.*)', os.environ['MAKEFLAGS'])[1], os.O_RDWR);"
            "os.write(fd, os.read(fd, 1)); print(os.urandom(8).hex())"
        )
        env = {"MAKEFLAGS": f" -j2 --jobserver-auth=fifo:{fifo}"}
        p = place.run(*PYTHON.split(), "-c", script, env=env)
        os.close(held)
        assert p.returncode == 0, p.stderr
        said.append(p.stdout)
    assert said[0] == said[1] != b""
