"""jitcache.mpi without an MPI: by itself, and with threads for ranks. tests/mpi has it on real ones."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jitcache
import pytest
from jitcache import mpi

KEY = {"source": "s"}


class Meeting:
    """The barrier at which the threads of a communicator meet."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._barrier = threading.Barrier(size, timeout=20)
        self._slots: list[Any] = [None] * size
        self.parts: dict[Any, Meeting] = {}

    def exchange(self, rank: int, value: Any) -> list[Any]:
        self._slots[rank] = value
        self._barrier.wait()
        seen = list(self._slots)
        self._barrier.wait()
        return seen


class Thread:
    """One thread's communicator, with just those methods of mpi4py's that jitcache.mpi uses."""

    def __init__(self, meeting: Meeting, rank: int) -> None:
        self._meeting = meeting
        self.rank, self.size = rank, meeting.size

    def allgather(self, value: Any) -> list[Any]:
        return self._meeting.exchange(self.rank, value)

    def bcast(self, value: Any, root: int = 0) -> Any:
        return self.allgather(value)[root]

    def Bcast(self, buffer: Any, root: int = 0) -> None:  # noqa: N802
        sent = self.allgather(bytes(buffer))[root]
        if self.rank != root:
            buffer[:] = sent

    def Split(self, color: int, key: int) -> Thread:  # noqa: N802
        members = sorted((k, rank) for rank, (c, k) in enumerate(self.allgather((color, key))) if c == color)
        if members[0][1] == self.rank:
            self._meeting.parts[color] = Meeting(len(members))
        self.allgather(None)
        return Thread(self._meeting.parts[color], members.index((key, self.rank)))

    def Free(self) -> None:  # noqa: N802
        self._meeting = None  # type: ignore[assignment]


def job(size: int, program: Callable[[Thread], Any]) -> list[Any]:
    """Run a program on so many threads; return what each returned or raised."""
    meeting, ended = Meeting(size), [None] * size

    def rank(n: int) -> None:
        try:
            ended[n] = program(Thread(meeting, n))
        except BaseException as e:
            ended[n] = e

    threads = [threading.Thread(target=rank, args=(n,)) for n in range(size)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(60)
    return ended


class Compiler:
    """Counts."""

    def __init__(self, result: bytes = b"code") -> None:
        self.runs = 0
        self.result = result

    def __call__(self) -> bytes:
        self.runs += 1
        return self.result


@pytest.mark.parametrize("size", [1, 2, 5])
@pytest.mark.parametrize("where", ["together", "apart", "nowhere"])
def test_one_rank_compiles(tmp_path: Path, size: int, where: str) -> None:
    compiler = Compiler()

    def program(comm: Thread) -> bytes:
        cache: Any = (
            False
            if where == "nowhere"
            else jitcache.Cache(tmp_path / (str(comm.rank) if where == "apart" else "cache"))
        )
        return mpi.get_or_compile(comm, cache, jitcache.Key(KEY), compiler)

    assert job(size, program) == [b"code"] * size
    assert compiler.runs == 1


def test_by_itself(tmp_path: Path) -> None:
    cache, compiler = jitcache.Cache(tmp_path / "cache"), Compiler()
    for _ in range(2):
        assert mpi.get_or_compile(None, cache, jitcache.Key(KEY), compiler) == b"code"
    assert mpi.get_or_compile(None, cache, lambda: jitcache.Key(KEY), compiler) == b"code"
    assert compiler.runs == 1
    with mpi.entry_or_compile(None, cache, jitcache.Key(KEY), compiler) as entry:
        assert Path(entry.path).read_bytes() == b"code"


def test_default_cache_is_the_default() -> None:
    compiler = Compiler()
    for _ in range(2):
        mpi.get_or_compile(None, None, jitcache.Key(KEY), compiler)
    assert compiler.runs == 1
    assert jitcache.default_cache().get(jitcache.Key(KEY)) == b"code"


def test_attributes_travel(tmp_path: Path) -> None:
    def program(comm: Thread) -> Any:
        cache = jitcache.Cache(tmp_path / str(comm.rank))
        attributes = {"log": "a warning"}
        with mpi.entry_or_compile(
            comm, cache, jitcache.Key(KEY), Compiler(), attributes=attributes, kind="native"
        ) as e:
            said = (e.attributes, e.kind)
        with cache.entry(jitcache.Key(KEY)) as e:
            return said == (e.attributes, e.kind) == (attributes, "native")

    assert job(3, program) == [True] * 3


def test_keys_are_compared() -> None:
    compiler = Compiler()
    ended = job(3, lambda c: mpi.get_or_compile(c, False, jitcache.Key(KEY, flags=c.rank == 1), compiler))
    assert [str(e) for e in ended] == ["key differs between ranks in component 'flags' (ranks 0,2 | 1)"] * 3
    ended = job(2, lambda c: mpi.get_or_compile(c, False, jitcache.Key.from_hex(f"{c.rank:064x}"), compiler))
    assert [str(e) for e in ended] == ["key differs between ranks 0 | 1, its components are not known"] * 2
    assert compiler.runs == 0


def test_label_of_the_cpu_can_be_named() -> None:
    compiler = Compiler()
    ended = job(4, lambda c: mpi.get_or_compile(c, False, jitcache.Key(KEY, target=c.rank % 2), compiler, cpu="target"))
    assert ended == [b"code"] * 4 and compiler.runs == 2


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("text", "TypeError: key: want a Key or a function, not str"),
        (lambda: 3, "TypeError: key: want a Key from the function, not int"),
    ],
)
def test_what_is_no_key(key: Any, text: str) -> None:
    ended = job(2, lambda c: mpi.get_or_compile(c, False, key if c.rank == 0 else jitcache.Key(KEY), Compiler()))
    assert [str(e) for e in ended] == [f"rank 0: {text}"] * 2


def test_errors_are_raised_on_all() -> None:
    def refuse() -> bytes:
        raise jitcache.CompileError("no", "the text", ["cc", "-c"])

    def call() -> bytes:
        subprocess.run([sys.executable, "-c", "print('said'); raise SystemExit(3)"], check=True, capture_output=True)
        return b""

    for fails, log in ((refuse, "the text"), (call, "said\n")):
        ended = job(3, lambda c, fails=fails: mpi.get_or_compile(c, False, jitcache.Key(KEY), fails))
        assert [type(e) for e in ended] == [jitcache.CompileError] * 3
        assert {e.log for e in ended} == {log} and len({str(e) for e in ended}) == 1
        assert [e.__cause__ is not None for e in ended] == [True, False, False]
    with pytest.raises(jitcache.CompileError, match=r"^no$") as raised:
        mpi.get_or_compile(None, False, jitcache.Key(KEY), refuse)
    assert raised.value.command == ["cc", "-c"]


def test_together() -> None:
    assert job(3, lambda c: mpi.together(c, lambda: c.rank * 2)) == [[0, 2, 4]] * 3
    ended = job(3, lambda c: mpi.together(c, lambda: 1 // (c.rank - 1)))
    assert [str(e) for e in ended] == ["rank 1: ZeroDivisionError: integer division or modulo by zero"] * 3
    ended = job(2, lambda c: mpi.together(c, lambda: threading.Lock()))
    assert all(isinstance(e, jitcache.Error) and "TypeError" in str(e) for e in ended)  # it cannot be pickled


def test_request_is_one_miss_and_then_one_hit(tmp_path: Path) -> None:
    cache = jitcache.Cache(tmp_path / "cache", memory_size=0)
    for misses, hits in ((1, 0), (1, 1)):
        assert mpi.get_or_compile(None, cache, jitcache.Key(n=1), lambda: b"code") == b"code"
        total = cache.stats()["total"]
        assert (total["misses"], total["hits_disk"]) == (misses, hits)
