"""A job compiles what it lacks once, whatever its ranks have, and where."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import samples
from job import FORMS, Ended, end, run, start

RANK = Path(__file__).with_name("rank.py")


class Job:
    """What a test asks of ranks."""

    def __init__(self, folder: Path, mpi: str, ranks: int) -> None:
        self.folder, self.mpi, self.ranks = folder, mpi, ranks
        self.log = folder / "log"
        self.cache = folder / "cache"

    def request(self, **request: Any) -> list[object]:
        whole = {"cache": str(self.cache), "key": {"source": "s"}, "log": str(self.log), **request}
        return [RANK, json.dumps(whole)]

    def run(self, limit: float = 60, **request: Any) -> Ended:
        return run(self.mpi, self.ranks, self.request(**request), limit)

    def right(self, **request: Any) -> list[dict[str, Any]]:
        """Run it; every rank must get the right bytes."""
        ended = self.run(**request)
        said = ended.said
        assert ended.status == 0 and len(said) == max(1, self.ranks), ended.text
        assert all(answer.get("right") for line in said for answer in line["answers"]), ended.text
        return said

    def refused(self, **request: Any) -> list[dict[str, Any]]:
        """Run it; every rank must get the same error."""
        ended = self.run(**request)
        said = ended.said
        assert ended.status == 0 and len(said) == max(1, self.ranks), ended.text
        assert len({(line.get("error"), line.get("text")) for line in said}) == 1, ended.text
        assert said[0].get("error"), ended.text
        return said

    def noted(self, what: str) -> list[str]:
        """What the ranks noted: their compiles, or the keys that they made."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [line for line in lines if line.startswith(what)]

    def compiles(self) -> int:
        return len(self.noted("compile "))

    def places(self) -> list[str]:
        """A directory for each rank, as disks of nodes would be."""
        return [str(self.folder / f"node-{rank}") for rank in range(self.ranks)]


@pytest.fixture(params=FORMS, ids=lambda form: f"{form[0]}-{form[1]}")
def job(request: pytest.FixtureRequest, tmp_path: Path) -> Job:
    return Job(tmp_path, *request.param)


@pytest.fixture
def four(tmp_path: Path) -> Job:
    return Job(tmp_path, "mpich", 4)


@pytest.fixture
def two(tmp_path: Path) -> Job:
    return Job(tmp_path, "mpich", 2)


def test_one_rank_compiles_and_all_have_it(job: Job) -> None:
    said = job.right(times_asked=2)
    assert job.compiles() == 1
    assert all(line["there"] for line in said)
    # The next job compiles nothing.
    job.right()
    assert job.compiles() == 1


def test_process_by_itself(tmp_path: Path) -> None:
    job = Job(tmp_path, "mpich", 0)
    job.right(serial=True, times_asked=2)
    assert job.compiles() == 1
    assert (
        job.refused(serial=True, key={"source": "other"}, act="refused")[0]["text"] == "solver.c:3: error: expected ';'"
    )


def test_without_a_cache_one_rank_compiles(job: Job) -> None:
    job.right(cache=None)
    assert job.compiles() == 1


def test_each_directory_is_filled(job: Job) -> None:
    """Nodes with disks of their own: one compile for the job, and every node has it afterwards."""
    said = job.right(cache=job.places(), attributes={"a": 1})
    assert job.compiles() == 1
    assert all(line["there"] for line in said)


def test_any_rank_that_has_it_sends_it(four: Job) -> None:
    """Rank 2 alone has it, on its disk: nobody compiles, and the other disks have it afterwards."""
    said = four.right(cache=four.places(), warm=[2])
    assert four.compiles() == 0
    assert all(line["there"] for line in said)


def test_ranks_without_a_cache_are_sent_it(four: Job) -> None:
    places = [None, *four.places()[1:3], None]
    said = four.right(cache=places)
    assert [line["there"] for line in said] == [False, True, True, False]
    assert four.compiles() == 1
    assert four.noted("compile ")[0].startswith("compile 1 ")  # one that can store


def test_large_results_travel_in_parts(two: Job) -> None:
    said = two.right(cache=two.places(), chunk=1000, times=5000)
    assert said[0]["size"] > 50_000 and all(line["there"] for line in said)


@pytest.mark.parametrize("times", [0, 1, 300_000])
def test_results_of_any_size(two: Job, times: int) -> None:
    two.right(cache=two.places(), times=times)
    assert two.compiles() == 1


def test_ranks_of_different_cpus_get_their_own(four: Job) -> None:
    keys = [{"source": "s", "cpu": name} for name in ("rich", "rich", "poor", "rich")]
    four.right(key=keys)
    assert four.compiles() == 2
    four.right(key=keys)
    assert four.compiles() == 2


def test_cpus_on_disks_of_their_own(four: Job) -> None:
    keys = [{"source": "s", "cpu": name} for name in ("rich", "poor", "poor", "rich")]
    said = four.right(key=keys, cache=four.places(), warm=[3])
    assert four.compiles() == 1  # rank 3 sends what it has to rank 0
    assert all(line["there"] for line in said)


def test_different_keys_are_refused_by_name(four: Job) -> None:
    keys = [{"source": "s", "flags": f, "abi": a} for f, a in ((1, 1), (1, 1), (2, 1), (1, 1))]
    keys[3]["more"] = 1
    said = four.refused(key=keys)
    assert said[0]["text"] == (
        "key differs between ranks in component 'flags' (ranks 0-1,3 | 2), 'more' (ranks 0-2 | 3)"
    )
    assert four.compiles() == 0


def test_different_keys_are_refused_although_cpus_differ_too(two: Job) -> None:
    said = two.refused(key=[{"source": "s", "cpu": 1}, {"source": "t", "cpu": 2}])
    assert "'source'" in said[0]["text"] and "'cpu'" not in said[0]["text"]


def test_function_makes_the_key_once_per_machine(four: Job) -> None:
    four.right(function=True, machines=["a", "a", "b", "b"])
    assert sorted(four.noted("key ")) == ["key 0", "key 2"]
    assert four.compiles() == 1


def test_keys_and_functions_may_be_mixed(four: Job) -> None:
    four.right(function=[False, True, True, False])
    assert four.noted("key ") == ["key 1"]
    assert four.compiles() == 1


def test_keys_of_functions_are_compared(four: Job) -> None:
    keys = [{"source": name} for name in "ssts"]
    said = four.refused(function=True, machines=["a", "a", "b", "b"], key=keys)
    assert said[0]["text"] == "key differs between ranks in component 'source' (ranks 0-1 | 2-3)"


def test_function_that_fails_is_an_error_on_all(four: Job) -> None:
    said = four.refused(
        function=True, machines=["a", "a", "b", "b"], key=[{"source": "s"}, {"source": "s"}, None, {"source": "s"}]
    )
    assert said[0]["text"].startswith("rank 2: FileNotFoundError: ")
    assert [line["cause"] for line in said] == ["NoneType", "NoneType", "FileNotFoundError", "NoneType"]


def test_sub_communicators_at_once(four: Job) -> None:
    """Two halves of a job, with a directory in common, ask for the same and for different things."""
    four.right(colors=[0, 1, 0, 1], key=[{"source": name} for name in "stst"])
    assert four.compiles() == 2
    four.right(colors=[0, 0, 1, 1], key={"source": "u"})
    assert four.compiles() == 3


def test_jobs_at_once_compile_once(two: Job) -> None:
    jobs = [start("mpich", 2, two.request(seconds=1.0)) for _ in range(2)]
    for each in jobs:
        ended = end(each)
        assert ended.status == 0 and all(line["right"] for line in ended.said), ended.text
    assert two.compiles() == 1


#: What the samples of docs/mpi.md leave open, and what they are to have come to.
SAMPLES_BEGIN = """
import os, sys
import jitcache
from mpi4py import MPI
comm, cache, source, headers = MPI.COMM_WORLD, jitcache.Cache(sys.argv[1]), "int x;", ["a.h"]
def build(text):
    with open(sys.argv[2], "a") as log:
        log.write("compile\\n")
    return text.encode()
def make_key(text, headers):
    return jitcache.Key(source=text, headers=headers)
key = jitcache.Key(source=source)
compile = lambda: build("other")
"""


@pytest.mark.parametrize("mpi", ["mpich", "openmpi"])
def test_samples_of_the_page_compile_once_a_job(tmp_path: Path, mpi: str) -> None:
    lines = samples.under("docs/mpi.md", "Jobs of ranks") + "assert code == bytes(entry.view) == b'int x;'\n"
    lines += samples.under("docs/mpi.md", "Expensive keys") + "assert code == b'other'\n"
    program, log = tmp_path / "program.py", tmp_path / "log"
    program.write_text(SAMPLES_BEGIN + lines)
    for _ in range(2):
        ended = run(mpi, 2, [program, tmp_path / "cache", log])
        assert ended.status == 0, ended.text
        assert log.read_text() == "compile\n" * 2
