"""One rank of a PETSc job that uses the cache. Run with the Python that has petsc4py.

    rank.py before|after FOLDER PETSC_OPTION...

before: the library is loaded before PETSc starts. The rank says in
FOLDER/rank-N what it has done; every compile is a line of FOLDER/compiles.
"""

from __future__ import annotations

import hashlib
import os
import signal
import sys
import threading
import time
from pathlib import Path

import jitcache

KEYS = 6


def note(path: Path, line: str) -> None:
    """Append a line, whole, whoever else appends."""
    fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(fd, f"{line}\n".encode())
    os.close(fd)


def catches(number: int) -> bool:
    """Say whether this process has a handler for a signal."""
    line = next(x for x in Path("/proc/self/status").read_text().splitlines() if x.startswith("SigCgt:"))
    return bool(int(line.split()[1], 16) >> (number - 1) & 1)


def code_of(n: int) -> bytes:
    return hashlib.sha256(str(n).encode()).digest() * 1000


def ask(cache: jitcache.Cache, folder: Path, n: int) -> None:
    """Get an entry, or compile it for all ranks."""

    def compile() -> bytes:
        note(folder / "compiles", f"key {n} pid {os.getpid()}")
        time.sleep(0.05)
        return code_of(n)

    assert cache.get_or_compile(jitcache.Key(n=n).named(f"kernel {n}"), compile) == code_of(n)


def work(cache: jitcache.Cache, seconds: float) -> None:
    """Keep the runtime in long loops, in several threads: where it would be preempted."""
    large = os.urandom(48 << 20)
    end = time.monotonic() + seconds

    def thread(t: int) -> None:
        i = 0
        while time.monotonic() < end or i == 0:
            i += 1
            cache.put(jitcache.Key(large=large, t=t, i=i, pid=os.getpid()), large[: 1 << 20])
            cache.verify()

    threads = [threading.Thread(target=thread, args=(t,)) for t in range(3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()


def fork(cache: jitcache.Cache, folder: Path) -> None:
    """Use the cache in a forked child."""
    pid = os.fork()
    if pid == 0:
        signal.alarm(60)
        try:
            for n in range(KEYS + 1):
                ask(cache, folder, n)
        except BaseException as e:
            note(folder / "failures", repr(e))
            os._exit(1)
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert status == 0, f"the child: {status}"


def main() -> None:
    order, folder = sys.argv[1], Path(sys.argv[2])
    if order == "before":
        assert jitcache.available()[0], jitcache.available()
    import petsc4py

    petsc4py.init(["rank", *sys.argv[3:]])
    from petsc4py import PETSc

    world = PETSc.COMM_WORLD
    before = catches(signal.SIGURG)
    cache = jitcache.Cache(folder / "cache", memory_size="1Mi")
    assert jitcache.available()[0], jitcache.available()
    # The attack: without PETSc's handler in place nothing would be tested.
    assert before and catches(signal.SIGURG), "PETSc does not catch SIGURG"
    for n in range(KEYS):
        world.barrier()
        ask(cache, folder, n)
    work(cache, 1.0)
    vector = PETSc.Vec().createMPI(100, comm=world)
    vector.set(2.0)
    assert vector.sum() == 200.0
    world.barrier()
    fork(cache, folder)
    work(cache, 0.2)
    note(folder / f"rank-{world.getRank()}", f"of {world.getSize()}")
    world.barrier()


if __name__ == "__main__":
    main()
