"""Profiles: what a job has used is fetched in the background, in one request, when it starts elsewhere."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from typing import Callable

import pytest
from processes import check
from proxy import Proxy
from remotes import Machine, Redis
from test_cli import command
from test_remote import NATIVE, UNSIGNED, compiled, machine, redis

__all__ = ["machine", "redis"]  # fixtures

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

KEYS = [f"k{n}" for n in range(60)]


@pytest.fixture
def proxy(redis: Redis) -> Iterator[Proxy]:
    p = Proxy(redis.port)
    yield p
    p.close()


#: Starts, and does other things until its directory has so many entries, or for as long as it waits.
STARTS = """
import glob, os, sys, time, jitcache
cache = jitcache.Cache()
end = time.monotonic() + float(os.environ.get("PATIENCE", "20"))
while len(glob.glob(os.environ["JITCACHE_DIR"] + "/v1/entries/*/*.jce")) < int(sys.argv[1]) and time.monotonic() < end:
    time.sleep(0.01)
"""


def has(m: Machine) -> int:
    return len(list((m.folder / "cache/v1/entries").glob("*/*.jce")))


@pytest.mark.control("noprofile")
def test_job_that_starts_elsewhere_fetches_what_it_used_in_one_request(
    machine: Callable[..., Machine], redis: Redis, proxy: Proxy
) -> None:
    """The remote is not asked any more: it is gone."""
    one = machine(redis.url + UNSIGNED, JITCACHE_PROFILE="job")
    one.compile(*KEYS)
    one.sent()
    proxied = proxy.url + UNSIGNED
    two, three = machine(proxied, JITCACHE_PROFILE="job"), machine(proxied)
    check(STARTS, str(len(KEYS)), env=two.env)
    assert has(two) == len(KEYS)
    # The connection is made, the profile is asked for, and the keys, 32 at a time.
    with_profile, proxy.requests = proxy.requests, 0
    assert with_profile <= 3 + 1 + 2
    assert three.compile(*KEYS) == "[60, 0]"
    assert proxy.requests >= len(KEYS)
    redis.stop()
    assert two.compile(*KEYS) == "[0, 0]"
    assert compiled(two) == KEYS


def test_profile_is_what_all_processes_and_runs_of_a_job_have_used(
    machine: Callable[..., Machine], redis: Redis
) -> None:
    """Other jobs do not fetch it."""
    one, two = (machine(redis.url + UNSIGNED, JITCACHE_PROFILE="job") for _ in range(2))
    one.compile("a", "b")
    one.compile("c", "a")
    one.compile("d", JITCACHE_PROFILE="other")
    one.compile("e", JITCACHE_PROFILE="")
    one.sent()
    two.compile("f")
    two.sent()
    three = machine(redis.url + UNSIGNED, JITCACHE_PROFILE="job")
    check(STARTS, "4", env=three.env)
    time.sleep(0.2)
    assert has(three) == 4
    redis.stop()
    assert three.compile("a", "b", "c", "f") == "[0, 0]"


@pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no gcc")
def test_profile_has_the_lists_of_observed_compiles(machine: Callable[..., Machine], redis: Redis) -> None:
    same = {"CC": "gcc", "HOME": str(redis.folder), "XDG_CONFIG_HOME": str(redis.folder), "JITCACHE_PROFILE": "job"}
    one, two = (machine(redis.url + UNSIGNED, **same) for _ in range(2))
    assert check(NATIVE, env=one.env).strip() == '[false, ""]'
    one.sent()
    check(STARTS, "2", env=two.env)
    redis.stop()
    assert check(NATIVE, "second", env=two.env).strip() == '[true, ""]'


def test_profile_of_a_stranger_fetches_nothing(machine: Callable[..., Machine], redis: Redis) -> None:
    """It is signed as an entry is, and so is each entry that it names."""
    ci = machine(redis.url, JITCACHE_PROFILE="job")
    secret = ci.folder / "secret"
    public = command("trust", "new", secret, **ci.env).stdout.strip()
    ci.compile("a", "b", JITCACHE_SIGNING_KEY_FILE=str(secret))
    ci.sent()
    assert len(redis.names()) == 3
    other = machine(redis.url, JITCACHE_PROFILE="job", PATIENCE="2")
    stranger = command("trust", "new", other.folder / "secret", **other.env).stdout.strip()
    check(STARTS, "1", env={**other.env, "JITCACHE_KEYS": stranger})
    assert has(other) == 0
    reader = machine(redis.url, JITCACHE_PROFILE="job", JITCACHE_KEYS=public)
    check(STARTS, "2", env=reader.env)
    assert has(reader) == 2
