"""Ranks: steps that all ranks of a communicator do together."""

from __future__ import annotations

import pickle
import subprocess
import time
from typing import TYPE_CHECKING, Any, Callable, NamedTuple, TypeVar

from ._detached_entry import DetachedEntry
from ._errors import CompileError, Error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ._entry import Entry

T = TypeVar("T")


class SingleProcess:
    """The communicator of a process that is alone."""

    rank = 0
    size = 1

    def allgather(self, value: T) -> list[T]:
        return [value]

    def bcast(self, value: T, root: int = 0) -> T:
        del root
        return value

    def Split(self, color: int, key: int) -> SingleProcess:  # noqa: N802  MPI's name
        del color, key
        return self

    def Free(self) -> None:  # noqa: N802
        pass


def communicator(comm: Any) -> Any:
    if comm is None:
        return SingleProcess()
    return comm.tompi4py() if hasattr(comm, "tompi4py") else comm  # petsc4py has that method


class _Failure(NamedTuple):
    """What a rank raised, in a form that can be sent."""

    text: str
    log: str
    command: list[str] | None
    compiler: bool  # whether a compiler failed

    @classmethod
    def of(cls, e: BaseException) -> _Failure:
        if isinstance(e, CompileError):
            return cls(str(e), str(e.log), [str(word) for word in e.command or []] or None, compiler=True)
        if isinstance(e, subprocess.CalledProcessError):
            command = [e.cmd] if isinstance(e.cmd, (str, bytes)) else e.cmd
            return cls(
                str(e), _text_of(e.stdout) + _text_of(e.stderr), [_text_of(word) for word in command], compiler=True
            )
        text = str(e)
        if not isinstance(e, Error):
            text = f"{type(e).__name__}: {text}" if text else type(e).__name__
        return cls(text, "", None, compiler=False)

    def error(self, rank: str) -> Error:
        if self.compiler:
            return CompileError(f"{rank}{self.text}", self.log, self.command)
        return Error(f"{rank}{self.text}")


def _text_of(said: Any) -> str:
    return said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said or "")


def together(comm: Any, do: Callable[[], T], *, patient: bool = False) -> list[T]:
    """Call ``do`` on each rank, and return the results of all, by rank; if one raises, all raise. Collective.

    Everything that a rank does alone between two collectives runs in here. So the
    ranks meet again whatever happens on one of them, and then all know the same.
    ``patient``: ranks that are done sleep until the last one is done. The results
    must be picklable. Raises as ``get_or_compile`` does; if several ranks fail, the
    failure of the first one.
    """
    comm = communicator(comm)
    value, failure, original = b"", None, None
    try:
        value = pickle.dumps(do())
    except BaseException as e:  # noqa: BLE001  also Ctrl-C: the other ranks are waiting
        failure, original = _Failure.of(e), e
    if patient:
        _wait_for_all(comm)
    gathered = comm.allgather((value, failure))
    failed = [rank for rank, (_, f) in enumerate(gathered) if f is not None]
    if failed:
        _raise(comm, failed[0], gathered[failed[0]][1], original)
    return [pickle.loads(v) for v, _ in gathered]  # noqa: S301  from ranks of this job


def _raise(comm: Any, rank: int, failure: _Failure, original: BaseException | None) -> None:
    if original is not None and not isinstance(original, Exception):
        raise original
    raise failure.error(f"rank {rank}: " if comm.size > 1 else "") from original


_SHORTEST, _LONGEST = 1e-4, 2e-2  # seconds between two polls


def _wait_for_all(comm: Any) -> None:
    """Wait for all ranks, asleep, so that the one that compiles has the processor."""
    if comm.size == 1 or not hasattr(comm, "Ibarrier"):
        return
    request, pause = comm.Ibarrier(), _SHORTEST
    while not request.Test():
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST)


def group_of(comm: Any, sources: Sequence[int]) -> Any:
    """Return a communicator of all ranks that have this rank's source; the source is its rank 0. Collective."""
    source = sources[comm.rank]
    return comm.Split(source, 0 if source == comm.rank else 1 + comm.rank)


#: The most bytes of one message: MPI counts in 31 bits.
CHUNK = 1 << 30


def received(comm: Any, sources: Sequence[int], entry: Entry | None, kind: str, name: str) -> Entry:
    """Return this rank's own entry, or its source's, which is sent. Collective."""
    if all(source == rank for rank, source in enumerate(sources)):
        assert entry is not None
        return entry
    group = group_of(comm, sources)
    size, attributes = group.bcast((entry.size, entry.attributes) if entry is not None else None, 0)
    data = bytearray(size) if entry is None else entry.view
    view = memoryview(data)
    for start in range(0, size if group.size > 1 else 0, CHUNK):
        group.Bcast(view[start : start + CHUNK], 0)
    group.Free()
    return entry if entry is not None else DetachedEntry(bytes(data), attributes, kind, name)
