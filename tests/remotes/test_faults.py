"""Faults of networks, servers and hosts between a program and its remote: no exception, no wrong byte, no hang.

docs/reliability.md has what each costs, as this prints it (pytest -s).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Callable

import pytest
from processes import check
from proxy import Proxy
from remotes import Machine, Redis
from test_fleet import KEYS, ended, fleet
from test_remote import UNSIGNED, compiled, machine, program, redis

__all__ = ["machine", "redis"]  # fixtures

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

#: Looks 40 keys up that the remote has, once it may begin, and says how long that took and how many came.
LOOKUPS = """
import json, os, sys, time, jitcache
cache = jitcache.Cache()
assert cache.get(jitcache.Key(source=0)) == b"0" * 5000
open(os.environ["READY"], "w").close()
while not os.path.exists(os.environ["READY"] + ".go"):
    time.sleep(0.01)
began, came = time.monotonic(), 0
for n in range(1, 41):
    got = cache.get(jitcache.Key(source=n))
    assert got is None or got == str(n).encode() * 5000, "a wrong byte"
    came += got is not None
took = time.monotonic() - began
assert cache.get_or_compile(jitcache.Key(own=1), lambda: b"compiled") == b"compiled"
print(json.dumps([took, came]))
"""

STORES = """
import jitcache
with jitcache.Cache() as cache:
    for n in range(60):
        cache.put(jitcache.Key(source=n), str(n).encode() * 5000)
"""

#: The budget is a second. The rest is for a machine that others use.
LONGEST = 1 + 1.5


@pytest.fixture
def proxy(redis: Redis) -> Iterator[Proxy]:
    p = Proxy(redis.port)
    yield p
    p.close()


@pytest.mark.parametrize("fault", ["latency", "hole", "reset", "trickle", "noise", "cut", "refused"])
def test_network_that_fails_in_the_middle_costs_a_second(
    machine: Callable[..., Machine], redis: Redis, proxy: Proxy, fault: str
) -> None:
    """Five seconds of latency, answers that never come, half an answer, a byte a second; and all connections cut. Then it is well again."""
    one, two = (machine(url + UNSIGNED) for url in (redis.url, proxy.url))
    check(STORES, env=one.env)
    one.sent()
    ready = two.folder / "ready"
    path = os.pathsep.join(sys.path)
    p = subprocess.Popen(
        [sys.executable, "-c", LOOKUPS], env={**os.environ, "PYTHONPATH": path, **two.env, "READY": str(ready)}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )  # fmt: skip
    end = time.monotonic() + 30
    while not ready.exists():
        assert time.monotonic() < end and p.poll() is None
        time.sleep(0.01)
    if fault == "refused":
        proxy.close()
    elif fault == "cut":
        proxy.cut()
    else:
        proxy.fault = fault
    ready.with_name("ready.go").touch()
    out, err = p.communicate(timeout=60)
    assert p.returncode == 0
    took, came = json.loads(out)
    print(f"figure {fault}: {took:.2f} s, {came} of 40 came")
    assert took < LONGEST
    assert "\n" not in err.strip() and "?" not in err, "a warning is one line"
    if fault == "refused":
        return
    proxy.fault = ""
    assert heals(two)


def heals(m: Machine, seconds: float = 40) -> bool:
    """Whether another process finds something in the remote, before long."""
    look = "import jitcache, sys; print(jitcache.Cache().get(jitcache.Key(source=int(sys.argv[1]))) is not None)"
    for n in range(41, 60):
        began = time.monotonic()
        if check(look, str(n), env=m.env).strip() == "True":
            return True
        seconds -= 2
        if seconds < 0:
            break
        time.sleep(max(0.0, 2 - (time.monotonic() - began)))
    return False


@pytest.mark.control("nooutbox")
def test_replica_that_is_read_only_serves_and_takes_nothing(
    machine: Callable[..., Machine], redis: Redis, tmp_path: Path
) -> None:
    (tmp_path / "replica").mkdir()
    replica = Redis(tmp_path / "replica", "--replicaof", f"127.0.0.1 {redis.port}")
    try:
        one, two = machine(redis.url + UNSIGNED), machine(replica.url + UNSIGNED)
        one.compile("a")
        one.sent()
        end = time.monotonic() + 20
        while not replica.names():
            assert time.monotonic() < end
            time.sleep(0.05)
        began = time.monotonic()
        assert two.compile("a", "b") == "[1, 1]"
        print(f"figure replica: {time.monotonic() - began:.2f} s for a process with two keys")
        assert two.outboxes(), "what could not be sent waits"
    finally:
        replica.stop()


def test_redis_that_evicts_costs_hits_alone(machine: Callable[..., Machine], tmp_path: Path) -> None:
    """allkeys-lru, with others that fill it all the time: entries and claims are lost, and nobody notices but by compiles."""
    redis = Redis(tmp_path, "--maxmemory", "3mb", "--maxmemory-policy", "allkeys-lru", "--maxmemory-samples", "1")
    try:
        machines = [machine(redis.url + UNSIGNED) for _ in range(4)]
        processes = fleet(machines, KEYS[:4], COMPILE_SECONDS="0.5")
        filled = 0
        while any(p.poll() is None for p in processes):
            redis.say("SET", f"other{filled}", os.urandom(100_000))
            filled += 1
        ended(processes)
        done = compiled(machines[0])
        evicted = int(redis.say("INFO", "stats").split(b"evicted_keys:")[1].split()[0])
        print(f"figure evicting Redis: {len(done)} compiles of 4 keys by 4 machines, {evicted} values evicted")
        assert evicted > 0
        assert set(done) == set(KEYS[:4])
        assert max(done.count(k) for k in done) <= len(machines)
    finally:
        redis.stop()


@pytest.mark.control("JC_NO_COPY")
def test_fork_while_another_thread_asks(machine: Callable[..., Machine], redis: Redis, proxy: Proxy) -> None:
    """The child asks by itself; the parent's answer is the parent's."""
    one, two = (machine(url + UNSIGNED) for url in (redis.url, proxy.url))
    check(STORES, env=one.env)
    one.sent()
    proxy.fault, proxy.seconds = "latency", 0.2
    code = """
    import jitcache, os, signal, threading
    cache = jitcache.Cache()
    def look(n):
        got = cache.get(jitcache.Key(source=n))
        assert got == str(n).encode() * 5000, got
    for n in range(0, 9, 3):
        t = threading.Thread(target=look, args=(n,))
        t.start()
        pid = os.fork()
        if pid == 0:
            signal.alarm(30)  # a child that hangs ends, and is not right
            try:
                look(n + 1)
                os._exit(0)
            except BaseException as e:
                print(e, flush=True)
                os._exit(1)
        look(n + 2)
        t.join()
        assert os.waitpid(pid, 0)[1] == 0, n
    print("right")
    """
    assert check(code, env=two.env).strip() == "right"


#: A filter that lets a process do everything but start programs.
NO_EXEC = """
import ctypes, struct
class Program(ctypes.Structure):
    _fields_ = [("len", ctypes.c_ushort), ("filter", ctypes.c_void_p)]
def forbid_exec():
    numbers = {"x86_64": (59, 322), "aarch64": (221, 281)}[__import__("platform").machine()]
    code = [(0x20, 0, 0, 0)]  # the number of the call
    for i, n in enumerate(numbers):
        code.append((0x15, len(numbers) - i, 0, n))
    code += [(0x06, 0, 0, 0x7FFF0000), (0x06, 0, 0, 0x00050001)]  # allowed; EPERM
    raw = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in code))
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.prctl(38, 1, 0, 0, 0) == 0
    program = Program(len(code), ctypes.cast(raw, ctypes.c_void_p))
    assert libc.prctl(22, 2, ctypes.byref(program), 0, 0) == 0, ctypes.get_errno()
"""


def test_host_that_may_start_no_program_goes_on_without_the_remote(
    machine: Callable[..., Machine], redis: Redis
) -> None:
    """And with it, if somebody else has started the helper."""
    one, two = (machine(redis.url + UNSIGNED) for _ in range(2))
    check(STORES, env=one.env)
    one.sent()
    code = (
        NO_EXEC
        + """
import os, time, jitcache
forbid_exec()
try:
    os.execv("/bin/true", ["true"])
    raise SystemExit("it could start one")
except PermissionError:
    pass
cache, began = jitcache.Cache(), time.monotonic()
came = sum(cache.get(jitcache.Key(source=n)) is not None for n in range(40))
assert cache.get_or_compile(jitcache.Key(own=1), lambda: b"compiled") == b"compiled"
print(came, time.monotonic() - began)
"""
    )
    came, took = check(code, env=two.env).split()
    print(f"figure no exec: {float(took):.2f} s")
    assert came == "0"
    assert float(took) < LONGEST
    program("remote", "status", **two.env)  # starts one
    assert check(code.replace("own=1", "own=2"), env=two.env).split()[0] == "40"


@pytest.mark.control("manyserve")
def test_of_helpers_that_start_at_once_one_serves(machine: Callable[..., Machine], redis: Redis) -> None:
    one, two = (machine(redis.url + UNSIGNED) for _ in range(2))
    check(STORES, env=one.env)
    one.sent()
    lib = os.environ.get("JITCACHE_LIBRARY", str(Path(__file__).resolve().parents[2] / "build/lib/libjitcache.so"))
    built = Path(lib).with_name("jitcache")
    helpers = [
        subprocess.Popen([built, "remote", "serve"], env={**os.environ, **two.env}, stderr=subprocess.PIPE)
        for _ in range(6)
    ]
    try:
        end = time.monotonic() + 20
        while sum(p.poll() is not None for p in helpers) < 5:
            assert time.monotonic() < end
            time.sleep(0.02)
        time.sleep(0.3)
        assert [p.returncode for p in helpers if p.poll() is not None] == [3] * 5, "who finds another one serves nobody"
        assert heals(two)
        assert len(two.helpers()) == 1
    finally:
        for p in helpers:
            p.kill()
            p.communicate()


@pytest.mark.control("longplaces")
def test_paths_that_are_too_long_for_a_socket(machine: Callable[..., Machine], redis: Redis, tmp_path: Path) -> None:
    """Folder of the sockets and cache directory: each longer than a socket's path may be."""
    long = tmp_path / ("x" * 100) / ("y" * 100)
    long.mkdir(parents=True, mode=0o700)
    one = machine(redis.url + UNSIGNED)
    two = machine(redis.url + UNSIGNED, XDG_RUNTIME_DIR=str(long), JITCACHE_DIR=str(long / "cache"))
    check(STORES, env=one.env)
    one.sent()
    assert heals(two)
    two.compile("b")
    end = time.monotonic() + 20
    while len(redis.names()) < 61:
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.control("needscopy")
@pytest.mark.root
def test_no_space_for_the_copy(machine: Callable[..., Machine], redis: Redis) -> None:
    """What comes from the remote is used all the same."""
    one, two = (machine(redis.url + UNSIGNED) for _ in range(2))
    check(STORES, env=one.env)
    one.sent()
    place = two.folder / "cache"
    place.mkdir(mode=0o700)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k,mode=0700", "none", str(place)], check=True)
    try:
        code = """
        import jitcache
        cache = jitcache.Cache()
        for n in range(60):
            assert cache.get(jitcache.Key(source=n)) == str(n).encode() * 5000
        print(cache.stats()["total"]["hits_remote"])
        """
        assert int(check(code, env=two.env).split()[-1]) == 60
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


@pytest.mark.control("nooutbox")
def test_password_that_becomes_right_is_used(machine: Callable[..., Machine], tmp_path: Path) -> None:
    """The helper that was denied has ended; the next process starts another."""
    redis = Redis(tmp_path, "--requirepass", "old")
    try:
        one = machine(f"redis://:new@127.0.0.1:{redis.port}{UNSIGNED}")
        one.compile("a")
        assert one.outboxes()
        subprocess.run(
            ["redis-cli", "-p", str(redis.port), "-a", "old", "config", "set", "requirepass", "new"],
            check=True, capture_output=True,
        )  # fmt: skip
        time.sleep(1)
        one.compile("b")
        one.sent(40)
        two = machine(f"redis://:new@127.0.0.1:{redis.port}{UNSIGNED}")
        assert two.compile("a", "b") == "[2, 0]"
        assert compiled(two) == ["a", "b"]
    finally:
        redis.stop()
