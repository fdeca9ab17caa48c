"""Where output cannot be written: a launched command fails as one that is not, and nothing is printed twice."""

from __future__ import annotations

import os
import resource
import select
import signal
import subprocess
import time
from typing import Any

import pytest

SIZES = {"one write": 1000, "many writes": 400_000}


@pytest.mark.parametrize("size", SIZES)
def test_full_disk_under_the_output(place: Any, size: str) -> None:
    """The command is told where it writes again; of the last write the launcher says it."""
    place.write(in_txt="0123456789\n" * (SIZES[size] // 11))
    for _ in range(2):  # it is not kept
        with open("/dev/full", "wb") as full:
            p = place.run("cat", "in.txt", stdout=full, stderr=subprocess.PIPE, capture_output=False)
        assert p.returncode == 1
        assert b"rite error: No space left on device" in p.stderr or b"cat: " in p.stderr
    for _ in range(2):  # nor remembered: it is kept now
        assert place.run("cat", "in.txt").stdout == place.read("in.txt")
    assert b"not kept" not in place.run("--json", "cat", "in.txt").stderr
    with open("/dev/full", "wb") as full:  # and of a replay
        p = place.run("cat", "in.txt", stdout=full, stderr=subprocess.PIPE, capture_output=False)
    assert p.returncode == 1
    assert b"No space left on device" in p.stderr


def test_what_one_reader_did_not_want_the_next_one_gets(place: Any) -> None:
    """A script goes on when its child is told that nobody reads: what it has printed is not whole."""
    script = place.tool("lines", "#!/bin/sh\nseq 2000000\ntrue\n")
    with place.start(script) as p:
        assert p.stdout.readline() == b"1\n"
        p.stdout.close()
        assert p.wait() == 0
    for _ in range(2):
        assert place.run(script).stdout.endswith(b"\n2000000\n")


def _fills(fd: int, p: subprocess.Popen[bytes]) -> None:
    """Wait until a pipe is full, or nobody writes."""
    while p.poll() is None and select.select([], [fd], [], 0)[1]:
        time.sleep(0.001)


@pytest.mark.control("nowaiting", rows=["replay"])
@pytest.mark.parametrize("what", ["run", "replay"])
def test_pipe_that_does_not_block_gets_all_of_it_once(place: Any, what: str) -> None:
    place.write(in_txt="".join(f"{n}\n" for n in range(40_000)))
    if what == "replay":
        assert place.run("cat", "in.txt").returncode == 0
    ours, theirs = os.pipe()
    os.set_blocking(theirs, False)
    with open(ours, "rb") as reader, place.start("cat", "in.txt", stdout=theirs) as p:
        _fills(theirs, p)
        os.close(theirs)
        assert reader.read() == place.read("in.txt")
    assert p.returncode == 0


def _kept(place: Any) -> tuple[Any, bytes, bytes]:
    """A command whose runs leave other bytes in a file each, and print much; and what is kept of it."""
    script = place.tool("prints", "#!/bin/sh\nrandom out\nseq 200000\n")
    printed = place.run(script).stdout
    kept = place.read("out")
    (place.folder / "out").unlink()
    return script, printed, kept


def test_replay_whose_reader_has_enough_ends_by_the_signal(place: Any) -> None:
    script, _, kept = _kept(place)
    with place.start(script) as p:
        assert p.stdout.read(10)
        p.stdout.close()
        assert p.wait() == -signal.SIGPIPE
    assert place.read("out") == kept  # it was not run as well


@pytest.mark.control("noending")
def test_replay_that_cannot_print_to_the_end_says_so(place: Any) -> None:
    script, printed, kept = _kept(place)

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    with (place.folder / "said").open("wb") as said:
        p = place.run(script, stdout=said, stderr=subprocess.PIPE, capture_output=False, preexec_fn=limit)
    assert (p.returncode, p.stderr) == (1, b"jitcache: write error: file too large\n")
    assert place.read("said") == printed[:100_000]
    assert place.read("out") == kept


@pytest.mark.control("noroom")
def test_limit_for_files_is_none_for_a_pipe(place: Any) -> None:
    """What a command prints goes by way of a file, which it would be killed for."""
    most = 80 << 20
    script = place.tool("large", f"#!/bin/sh\nhead -c {most + 1} /dev/zero\n")
    p = place.run("--json", script, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)))
    assert (p.returncode, len(p.stdout)) == (0, most + 1)
    assert b"ulimit -f" in p.stderr
