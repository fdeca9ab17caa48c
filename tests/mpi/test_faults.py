"""What goes wrong on one rank: right bytes, or the same error on all, and nobody waits for ever."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest
from job import FORMS
from test_mpi import Job

LIMIT = 30


@pytest.fixture(params=FORMS[1:], ids=lambda form: f"{form[0]}-{form[1]}")
def job(request: pytest.FixtureRequest, tmp_path: Path) -> Job:
    return Job(tmp_path, *request.param)


def test_refusal_of_the_compiler_reaches_all(job: Job) -> None:
    said = job.refused(limit=LIMIT, act="refused")
    assert job.compiles() == 1
    assert {line["error"] for line in said} == {"CompileError"}
    assert {line["log"] for line in said} == {"the compiler's text"}
    assert said[0]["text"] == "rank 0: solver.c:3: error: expected ';'"
    assert [line["cause"] for line in said] == ["CompileError"] + ["NoneType"] * (job.ranks - 1)


@pytest.mark.parametrize(
    ("act", "error", "text"),
    [
        ("called", "CompileError", "exit status 1"),
        ("raises", "Error", "ZeroDivisionError: division by zero"),
        ("no bytes", "Error", "TypeError: want bytes, not int"),
    ],
)
def test_whatever_is_raised_reaches_all(job: Job, act: str, error: str, text: str) -> None:
    said = job.refused(limit=LIMIT, act=act)
    assert said[0]["error"] == error and text in said[0]["text"]
    assert said[0]["log"] == ("the text\n" if act == "called" else None)


def test_ctrl_c_on_one_rank_ends_all(job: Job) -> None:
    said = job.run(limit=LIMIT, act="interrupted").said
    assert [line["error"] for line in said] == ["KeyboardInterrupt"] + ["Error"] * (job.ranks - 1)


def test_job_goes_on_after_an_error(job: Job) -> None:
    job.refused(limit=LIMIT, act="refused", times_asked=2)
    assert job.compiles() == 2
    job.right()
    assert job.compiles() == 3


def test_error_of_one_cpu_reaches_those_of_the_other(tmp_path: Path) -> None:
    job = Job(tmp_path, "mpich", 4)
    keys = [{"source": "s", "cpu": name} for name in ("rich", "rich", "poor", "rich")]
    said = job.refused(limit=LIMIT, key=keys, act=["", "", "refused", ""])
    assert said[0]["text"].startswith("rank 2: ")


def test_different_keys_reach_all(job: Job) -> None:
    keys = [{"source": "s" if rank else "t"} for rank in range(job.ranks)]
    assert "'source'" in job.refused(limit=LIMIT, key=keys)[0]["text"]


def test_rank_that_is_killed_ends_the_job_and_the_next_one_compiles_at_once(job: Job) -> None:
    began = time.monotonic()
    ended = job.run(limit=LIMIT, act="killed")
    assert ended.status != 0 and time.monotonic() - began < LIMIT
    said = job.right(limit=LIMIT, seconds=0.0)
    assert job.compiles() == 2
    assert max(line["seconds"] for line in said) < 10


def test_directory_that_cannot_be_written(job: Job) -> None:
    job.cache.mkdir()
    place = job.cache / "file" / "below"
    (job.cache / "file").write_text("")
    said = job.right(limit=LIMIT, cache=str(place))
    assert job.compiles() == 1 and not any(line["there"] for line in said)


@pytest.mark.root
@pytest.mark.parametrize("kind", ["full", "read-only"])
def test_bad_disk(job: Job, kind: str) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root")
    job.cache.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k,mode=0700", "tmpfs", str(job.cache)], check=True)
    try:
        if kind == "full":
            with open(job.cache / "ballast", "wb", buffering=0) as f:
                try:
                    while True:
                        f.write(bytes(4096))
                except OSError:
                    pass
        else:
            subprocess.run(["mount", "-o", "remount,ro", str(job.cache)], check=True)
        said = job.right(limit=LIMIT, times=5000)
        assert job.compiles() == 1 and not any(line["there"] for line in said)
        # One good directory among them has it afterwards.
        places = [str(job.cache)] * (job.ranks - 1) + [str(job.folder / "good")]
        said = job.right(limit=LIMIT, times=5000, cache=places)
        assert [line["there"] for line in said] == [False] * (job.ranks - 1) + [True]
    finally:
        subprocess.run(["umount", "-l", str(job.cache)], check=True)
