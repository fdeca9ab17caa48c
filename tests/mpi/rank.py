"""One rank of a job that asks jitcache.mpi; the tests say for what, as JSON.

    rank.py '{"cache": …, "key": …, …}'

What differs by rank is a list with one value for each. Writes a line of JSON:
what it got, or what was raised. A compile is counted by a line in a file.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

import jitcache
from jitcache import _ranks, mpi

request: dict[str, Any] = json.loads(sys.argv[1])


def without(mechanism: str) -> None:
    """Take a mechanism out: the control of the tests, which must then fail."""
    if mechanism == "keys compared":
        mpi._compare = lambda *_: None
    elif mechanism == "errors broadcast":
        mpi.together = lambda comm, do, patient=False: _ranks.communicator(comm).allgather(do())
    elif mechanism == "one rank compiles":
        mpi._Plan.compilers = lambda self, found: frozenset(r for r, there in enumerate(found) if not there)
    else:
        raise SystemExit(f"no control is called {mechanism!r}")


if os.environ.get("MPI_CONTROL"):
    without(os.environ["MPI_CONTROL"])

if request.get("serial"):
    comm, rank, size = None, 0, 1
else:
    from mpi4py import MPI

    comm = MPI.COMM_WORLD
    rank, size = comm.rank, comm.size
    if "colors" in request:
        comm = comm.Split(request["colors"][rank], rank)
if "machines" in request:
    mpi.machine = lambda: request["machines"][rank]
if "chunk" in request:
    _ranks.CHUNK = request["chunk"]


def own(name: str, default: Any = None) -> Any:
    """What is asked of this rank."""
    value = request.get(name, default)
    return value[rank] if isinstance(value, list) else value


def note(line: str) -> None:
    fd = os.open(request["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    os.write(fd, f"{line}\n".encode())
    os.close(fd)


def compile() -> bytes:
    note(f"compile {rank} {json.dumps(own('key'), sort_keys=True)}")
    act = own("act", "")
    if act == "killed":
        os.kill(os.getpid(), 9)
    if act == "refused":
        raise jitcache.CompileError("solver.c:3: error: expected ';'", "the compiler's text", ["cc", "solver.c"])
    if act == "called":
        import subprocess

        subprocess.run([sys.executable, "-c", "raise SystemExit('the text')"], check=True, capture_output=True)
    if act == "raises":
        raise ZeroDivisionError("division by zero")
    if act == "interrupted":
        raise KeyboardInterrupt
    if act == "no bytes":
        return 3  # type: ignore[return-value]
    time.sleep(request.get("seconds", 0.2))
    return code()


def code() -> bytes:
    """The result for this rank's key."""
    return f"{json.dumps(own('key'), sort_keys=True)}\n".encode() * request.get("times", 1)


def key() -> jitcache.Key:
    note(f"key {rank}")
    if own("key") is None:
        raise OSError(2, "no such header")
    return jitcache.Key(own("key"))


def ask(cache: Any) -> dict[str, Any]:
    """Ask once; return what came of it."""
    start = time.monotonic()
    try:
        what = key if own("function") else jitcache.Key(own("key"))
        got = mpi.get_or_compile(comm, cache, what, compile, attributes=request.get("attributes"))
    except (jitcache.Error, KeyboardInterrupt) as e:
        return {
            "error": type(e).__name__,
            "text": str(e),
            "log": getattr(e, "log", None),
            "cause": type(e.__cause__).__name__,
            "seconds": time.monotonic() - start,
        }
    return {"right": got == code(), "size": len(got), "seconds": time.monotonic() - start}


def main() -> None:
    place = own("cache")
    cache = jitcache.Cache(place, memory_size=0) if place else False
    if request.get("warm") is not None and rank in request["warm"]:
        cache.put(jitcache.Key(own("key")), code())
    answers = [ask(cache) for _ in range(request.get("times_asked", 1))]
    there = bool(cache) and own("key") is not None and cache.get(jitcache.Key(own("key"))) == code()
    line = json.dumps({"rank": rank, "of": size, "there": there, **answers[-1], "answers": answers})
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


main()
