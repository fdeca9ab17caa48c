"""Many processes, which come and go and are killed.

The members of a crowd are forked from the process of the tests, which never
loads the library itself: each loads its own, as programs do, and costs
milliseconds.
"""

from __future__ import annotations

import os
import signal
import time
import traceback
from pathlib import Path
from types import TracebackType
from typing import Any, Callable, NoReturn

from jitcache import _library

#: How long anything may take before it counts as stuck. Nothing here waits for
#: more than ten seconds by design, and the machine may be busy.
STUCK = 120.0


class Crowd:
    """Processes that were started together and end with the ``with`` block."""

    def __init__(self, folder: Path, library: str | None = None) -> None:
        self.living: set[int] = set()
        self.killed: dict[int, float] = {}  # pid -> time.monotonic()
        self._library = library
        self._errors = folder / "errors"
        self._errors.touch()

    def start(self, act: Callable[..., None], *args: Any, **environment: str) -> int:
        """Run act in a process of its own and return its pid."""
        assert _library._why is None, "the process of the tests has loaded the library, so its children have"
        pid = os.fork()
        if pid == 0:
            self._live(act, args, environment)
        self.living.add(pid)
        return pid

    def _live(self, act: Callable[..., None], args: tuple[Any, ...], environment: dict[str, str]) -> NoReturn:
        status = 1
        try:
            os.environ.update(environment)
            if self._library is not None:
                os.environ["JITCACHE_LIBRARY"] = self._library
            act(*args)
            status = 0
        except BaseException:
            self.complain(traceback.format_exc())
        finally:
            os._exit(status)

    def complain(self, text: str) -> None:
        """Note what must not happen, from any process."""
        f = os.open(self._errors, os.O_WRONLY | os.O_APPEND)
        os.write(f, text.encode())
        os.close(f)

    def complaints(self) -> str:
        """Return what the processes have complained of."""
        return self._errors.read_text()

    def kill(self, pid: int) -> None:
        """End a process as an out-of-memory killer does."""
        self.killed[pid] = time.monotonic()
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        self.living.discard(pid)

    def ended(self, pid: int) -> bool:
        """Report whether a process has ended by itself."""
        if pid not in self.living:
            return True
        found, _ = os.waitpid(pid, os.WNOHANG)
        if found:
            self.living.discard(pid)
        return found != 0

    def wait(self, limit: float = STUCK) -> list[int]:
        """Wait until all have ended; return those that have not."""
        end = time.monotonic() + limit
        while time.monotonic() < end and not all(self.ended(pid) for pid in list(self.living)):
            time.sleep(0.01)
        return sorted(self.living)

    def __enter__(self) -> Crowd:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        for pid in list(self.living):
            self.kill(pid)


class Gate:
    """Holds processes back until it opens; threads of one process count singly."""

    def __init__(self) -> None:
        self._read, self._write = os.pipe()

    def wait(self) -> None:
        """Wait in a forked process."""
        os.read(self._read, 1)

    def enter(self) -> None:
        """Give up this process's copy of the end that holds the gate shut."""
        os.close(self._write)

    def open(self) -> None:
        os.close(self._write)
        os.close(self._read)


def ask(folder: Path, act: Callable[[], Any], library: str | None = None) -> str:
    """Return what act returns in a process of its own, as text."""
    answer = folder / f"answer-{time.monotonic_ns()}"

    def write() -> None:
        answer.write_text(repr(act()))

    with Crowd(folder, library) as crowd:
        crowd.start(write)
        stuck = crowd.wait()
        assert not stuck and answer.exists(), f"stuck {stuck}: {crowd.complaints()}"
    return answer.read_text()
