"""Clocks that are hours off, of machines, of Redis and of who made a certificate.

The library and the helper are built with a clock that a variable puts wrong (capi/overlay/runtimes.py): LD_PRELOAD does
not reach Go, and namespaces have no time of day. Redis has a library loaded before its own. docs/reliability.md has what
each costs, as this prints it (pytest -s).
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
from processes import check, run
from remotes import Machine, Redis
from test_faults import LONGEST
from test_fleet import KEYS, ended, fleet
from test_remote import UNSIGNED, compiled, gateway, machine, redis
from test_s3 import CREDENTIALS

__all__ = ["machine", "redis"]  # fixtures

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::DeprecationWarning")]

#: What is tested: library, command and helper with a clock that is off.
BUILT = Path(os.environ.get("JITCACHE_LIBRARY", "nothing")).parent
OFF = "JITCACHE_TEST_CLOCK"
HOUR = 3600


def off(make: Callable[..., Machine], remote: str, hours: float, **env: str) -> Machine:
    """Return a machine whose clock is off; a helper gets no variable of ours, so a script gives it this one."""
    m = make(remote, **env)
    is_off(m, hours)
    return m


def is_off(m: Machine, hours: float) -> None:
    script = m.folder / f"storage{hours}"
    script.write_text(f'#!/bin/sh\n{OFF}={int(hours * HOUR)} exec {BUILT}/jitcache-storage "$@"\n')
    script.chmod(0o700)
    m.env.update({OFF: str(int(hours * HOUR)), "JITCACHE_STORAGE": str(script)})


def command(m: Machine, *words: object, **env: str) -> str:
    return subprocess.run(
        [BUILT / "jitcache", *map(str, words)], env={**os.environ, **m.env, **env}, capture_output=True, text=True, check=True
    ).stdout.strip()  # fmt: skip


def test_clock_of_the_build_is_off(machine: Callable[..., Machine]) -> None:
    """In what an entry says of itself; times that are measured are right."""
    code = """
    import jitcache, time
    from datetime import datetime
    with jitcache.Cache() as cache:
        cache.get_or_compile(jitcache.Key(n=1), lambda: time.sleep(0.1) or b"x")
        (entry,) = cache.entries()
        created = datetime.fromisoformat(entry["created"].replace("Z", "+00:00")).timestamp()
        print(created - time.time(), entry["compile_seconds"])
    """
    for hours in (-5, 0, 26):
        ahead, took = map(float, check(code, env=off(machine, "", hours).env).split())
        assert abs(ahead - hours * HOUR) < 60
        assert 0.1 <= took < 60


@pytest.mark.control("otherclock", rows=["redis"])
@pytest.mark.parametrize("engine", ["redis", "file"])
def test_fleet_whose_clocks_differ_compiles_each_key_once(
    machine: Callable[..., Machine], redis: Redis, tmp_path: Path, engine: str
) -> None:
    """Each compile takes longer than a pulse."""
    (tmp_path / "shared").mkdir()
    url = (redis.url if engine == "redis" else f"file://{tmp_path}/shared") + UNSIGNED
    machines = [off(machine, url, hours) for hours in (-5, 0, 5, 26)]
    keys = KEYS[:4]
    ended(fleet(machines, keys, COMPILE_SECONDS="3"))
    assert sorted(compiled(machines[0])) == sorted(keys)


@pytest.mark.parametrize("hours", [-5, 5])
def test_dead_machine_whose_clock_was_off_is_noticed_within_ten_seconds(
    machine: Callable[..., Machine], redis: Redis, hours: int
) -> None:
    one, two = off(machine, redis.url + UNSIGNED, hours), off(machine, redis.url + UNSIGNED, 0)
    (dying,) = fleet([one], ["k"], COMPILE_SECONDS="600")
    end = time.monotonic() + 30
    while not redis.claims():
        assert time.monotonic() < end
        time.sleep(0.01)
    for pid in one.helpers():
        os.kill(pid, 9)
    dying.kill()
    dying.wait()
    (waiting,) = fleet([two], ["k"])
    began = time.monotonic()
    ended([waiting])
    print(f"figure clock of a dead machine {hours} h off: {time.monotonic() - began:.1f} s")
    assert compiled(two) == ["k"]


#: What a machine does whose remote is of no use: 20 lookups, then a compile.
LOOKUPS = """
import json, time, jitcache
cache, began = jitcache.Cache(), time.monotonic()
came = sum(cache.get(jitcache.Key(source=str(n))) is not None for n in range(20))
took = time.monotonic() - began
assert cache.get_or_compile(jitcache.Key(own=time.time_ns()), lambda: b"compiled") == b"compiled"
print(json.dumps([took, came]))
"""


def in_vain(m: Machine, what: str, why: str) -> None:
    """Nothing comes from the remote, that costs the budget at most, and a line says why."""
    end, said = time.monotonic() + 60, ""
    while why not in said:  # on a machine that has no time it may be that the helper has not started
        assert time.monotonic() < end, said
        p = run(LOOKUPS, env=m.env)
        assert p.returncode == 0, p.stderr
        took, came = json.loads(p.stdout)
        said = p.stderr.strip()
        assert came == 0
        assert took < LONGEST
        assert "\n" not in said
    print(f"figure {what}: {took:.2f} s, {came} of 20 came; {said}")


def comes(m: Machine, seconds: float = 40) -> bool:
    """Whether what the remote has comes before long."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if json.loads(check(LOOKUPS, env=m.env))[1] == 20:
            return True
        time.sleep(1)
    return False


def filled(m: Machine) -> None:
    check(
        "import jitcache\nwith jitcache.Cache() as cache:\n  for n in range(20):\n    cache.put(jitcache.Key(source=str(n)), b'x' * 5000)",
        env=m.env,
    )
    m.sent()


@pytest.mark.parametrize("hours", [-5, 5])
def test_s3_that_refuses_a_machine_whose_clock_is_off(
    machine: Callable[..., Machine], tmp_path: Path, hours: int
) -> None:
    """It says RequestTimeTooSkewed. When the clock is right, what waited is sent, and what is there comes."""
    process, url = gateway(tmp_path)
    try:
        one, two = (off(machine, url + UNSIGNED, h, **CREDENTIALS) for h in (0, hours))
        filled(one)
        in_vain(two, f"S3, clock {hours} h off", "RequestTimeTooSkewed")
        assert two.outboxes()
        is_off(two, 0)
        assert comes(two)
        two.sent()
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[tuple[str, int]]:
    """A Redis behind TLS, whose certificate is valid from now on for a day: its port."""
    cert, secret = tmp_path / "cert.pem", tmp_path / "key.pem"
    words = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1"]
    more = [
        "-subj",
        "/CN=127.0.0.1",
        "-addext",
        "subjectAltName=IP:127.0.0.1",
        "-keyout",
        str(secret),
        "-out",
        str(cert),
    ]
    subprocess.run([*words, *more], check=True, capture_output=True)
    (tmp_path / "redis").mkdir()
    tls = [
        "--tls-cert-file",
        str(cert),
        "--tls-key-file",
        str(secret),
        "--tls-ca-cert-file",
        str(cert),
        "--tls-auth-clients",
        "no",
    ]
    r = Redis(tmp_path / "redis", *tls, tls=True)
    yield f"rediss://127.0.0.1:{r.port}|ca-file={cert}|trust=unsigned", r.port
    r.stop()


@pytest.mark.parametrize("hours", [-5, 29])
def test_certificate_that_is_not_valid_by_a_machines_clock(
    machine: Callable[..., Machine], guarded: tuple[str, int], hours: int
) -> None:
    """Not yet, or no more. When the clock is right, it is."""
    one, two = (off(machine, guarded[0], h) for h in (0, hours))
    filled(one)
    in_vain(two, f"TLS, clock {hours} h off", "expired or is not yet valid")
    is_off(two, 0)
    assert comes(two)


def test_signed_by_a_machine_whose_clock_is_off(machine: Callable[..., Machine], redis: Redis) -> None:
    """A key that is trusted from now on: what seems older is a miss, and is compiled; what seems newer serves."""
    two = off(machine, redis.url, 0)
    secret = two.folder / "secret"
    public = command(two, "trust", "new", secret)
    command(two, "trust", "add", "-not-before", "now", public)
    sign = {"JITCACHE_SIGNING_KEY_FILE": str(secret)}
    behind, ahead = (off(machine, redis.url, hours, **sign) for hours in (-5, 5))
    behind.compile("a")
    ahead.compile("b")
    for m in (behind, ahead):
        m.sent()
    assert two.compile("a", "b") == "[1, 1]"
    is_off(behind, 0)
    behind.compile("c")
    behind.sent()
    assert two.compile("c") == "[1, 0]"


#: Machines on one directory: all keys, in an order of their own; and then more than the cap holds.
SHARED = """
import os, random, sys, jitcache
names = list(range(60))
random.Random(os.getpid()).shuffle(names)
def compiled(n):
    with open(os.environ["WITNESS"], "a") as f:
        f.write(f"{n}\\n")
    return b"%d " % n * 2000
with jitcache.Cache() as cache:
    for n in names:
        assert cache.get_or_compile(jitcache.Key(n=n), lambda: compiled(n)) == b"%d " % n * 2000
"""
FILLS = """
import os, jitcache
with jitcache.Cache(os.environ["JITCACHE_DIR"], max_size=2_000_000) as cache:
    for n in range(600):
        key = jitcache.Key(more=n, of=os.getpid())
        cache.put(key, b"%d " % n * 2000)
        got = cache.get(jitcache.Key(n=n % 60))
        assert got is None or got == b"%d " % (n % 60) * 2000
"""


def test_directory_that_machines_share_whose_clocks_differ(machine: Callable[..., Machine], tmp_path: Path) -> None:
    """As on a network's home: each key is compiled once, the cap is kept, and nothing is broken."""
    shared = {"JITCACHE_DIR": str(tmp_path / "home")}
    machines = [off(machine, "", hours, **shared) for hours in (-5, 0, 26)]
    path = os.pathsep.join(sys.path)
    for code in (SHARED, FILLS):
        ended([m.start(sys.executable, "-c", code, PYTHONPATH=path) for m in machines])
    assert sorted(map(int, compiled(machines[0]))) == list(range(60))
    size = sum(f.stat().st_size for f in (tmp_path / "home").rglob("*.jce"))
    assert 500_000 < size < 2_200_000
    for m in machines:
        assert json.loads(command(m, "verify", "-keep", "-json"))["bad"] == []


#: The time of day of a program in C, off by what a file says.
SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
static long off(void) {
	long n = 0;
	FILE *f = fopen(getenv("CLOCK_FILE"), "r");
	if (f) {
		if (fscanf(f, "%ld", &n) != 1)
			n = 0;
		fclose(f);
	}
	return n;
}
int gettimeofday(struct timeval *tv, void *zone) {
	static int (*real)(struct timeval *, void *);
	if (!real)
		real = (int (*)(struct timeval *, void *))dlsym(RTLD_NEXT, "gettimeofday");
	int r = real(tv, zone);
	tv->tv_sec += off();
	return r;
}
time_t time(time_t *at) {
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	now.tv_sec += off();
	if (at)
		*at = now.tv_sec;
	return now.tv_sec;
}
"""


@pytest.mark.parametrize("hours", [-26, 26])
def test_redis_whose_clock_is_set_while_machines_compile(
    machine: Callable[..., Machine], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hours: int
) -> None:
    """Claims seem old and are forgotten, or never: a key is compiled once more at most, and what is new then once."""
    (tmp_path / "shim.c").write_text(SHIM)
    shim, clock = tmp_path / "shim.so", tmp_path / "clock"
    subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-o", shim, tmp_path / "shim.c", "-ldl"], check=True)
    clock.write_text("0")
    with monkeypatch.context() as m:
        m.setenv("LD_PRELOAD", str(shim))
        m.setenv("CLOCK_FILE", str(clock))
        redis = Redis(tmp_path)
    try:
        before = int(redis.say("TIME").split(b"\r\n")[2])
        machines = [machine(redis.url + UNSIGNED) for _ in range(3)]
        processes = fleet(machines, ["k"], COMPILE_SECONDS="4")
        end = time.monotonic() + 30
        while not redis.claims():
            assert time.monotonic() < end
            time.sleep(0.01)
        clock.write_text(str(hours * HOUR))
        assert abs(int(redis.say("TIME").split(b"\r\n")[2]) - before - hours * HOUR) < 60
        began = time.monotonic()
        ended(processes)
        done = compiled(machines[0])
        print(
            f"figure clock of Redis set by {hours} h: {len(done)} compiles of 1 key, {time.monotonic() - began:.1f} s"
        )
        assert 1 <= len(done) <= len(machines)
        ended(fleet(machines, ["new", "newer"], COMPILE_SECONDS="1"))
        assert sorted(compiled(machines[0])) == sorted([*done, "new", "newer"])
    finally:
        redis.stop()
