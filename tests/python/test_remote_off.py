"""A remote that is off: lookups miss as if there were no remote, and ask again when it may be back."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from processes import check, start
from proxy import Proxy
from remotes import Machine, Redis, free_port

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    m = Machine(tmp_path, "m", f"redis://127.0.0.1:{free_port()}|trust=unsigned")
    yield m
    m.end()


def test_miss_while_the_remote_is_off_needs_no_core_and_is_counted(machine: Machine) -> None:
    """A forked child has no core: a call that needs one loads a copy of the library, which its maps then show."""
    out = check(
        """
        import jitcache, json, os
        def copies():
            with open("/proc/self/maps") as f:
                return sum("memfd:" in line or "jitcache-copy" in line for line in f)
        cache = jitcache.Cache()
        keys = [jitcache.Key(n=n) for n in range(20)]
        for key in keys:  # asks, learns that the remote is off, and says so; and the keys are made at their first use
            assert cache.get(key) is None
        pid = os.fork()
        if pid == 0:
            for key in keys:
                assert cache.get(key) is None and cache.last_miss == "remote off"
            quiet = copies()
            cache.put(keys[0], b"x")  # the control: this needs one
            os._exit(0 if quiet == 0 and copies() > 0 else 1)
        assert os.waitpid(pid, 0)[1] == 0
        for key in keys:
            assert cache.get(key) is None or key is keys[0]
        print(json.dumps(cache.stats()["total"]["miss_reasons"]))
        """,
        env=machine.env,
    )
    assert json.loads(out) == {"remote off": 39}, "all of this process are counted"


def test_miss_of_what_the_remote_has_says_that_the_budget_is_spent(tmp_path: Path) -> None:
    """In the process, in its log and in the statistics: the entry was not looked for, so it is not "absent"."""
    redis = Redis(tmp_path)
    proxy = Proxy(redis.port)
    one, two = (
        Machine(tmp_path, name, url + "|trust=unsigned") for name, url in (("one", redis.url), ("two", proxy.url))
    )
    try:
        check("import jitcache; jitcache.Cache().put(jitcache.Key(there=1), b'x')", env=one.env)
        one.sent()
        proxy.fault, proxy.seconds = "latency", 0.3
        out = check(
            """
            import jitcache, json, time
            cache, there = jitcache.Cache(), jitcache.Key(there=1).named("there")
            said, end = [], time.monotonic() + 30
            while "remote budget spent" not in said and time.monotonic() < end:
                assert cache.get(jitcache.Key(n=len(said))) is None
                said.append(cache.last_miss)
                time.sleep(0.01)
            assert cache.get(there) is None
            explained = cache.explain(there)
            got = cache.get_or_compile(there, lambda: b"x")
            print(json.dumps([said, cache.last_miss, explained["reason"], cache.stats()["total"]["miss_reasons"]]))
            """,
            env={**two.env, "JITCACHE_LOG": "miss", "JITCACHE_LOG_FILE": str(tmp_path / "log")},
        )
        said, last, explained, counted = json.loads(out)
        assert "absent" in said
        assert (last, explained) == ("remote budget spent",) * 2
        assert counted == {reason: said.count(reason) + (reason == last) * 2 for reason in set(said)}
        log = (tmp_path / "log").read_text()
        assert "miss: there (" in log and log.count(": remote budget spent") == counted[last]
    finally:
        proxy.close()
        redis.stop()
        one.end()
        two.end()


@pytest.mark.control("JC_STAYS_QUIET")
def test_remote_that_is_back_is_asked_again_by_the_same_process(tmp_path: Path) -> None:
    redis = Redis(tmp_path)
    one, two = (Machine(tmp_path, name, redis.url + "|trust=unsigned") for name in ("one", "two"))
    try:
        check("import jitcache; jitcache.Cache().put(jitcache.Key(a=1), b'x')", env=one.env)
        one.sent()
        (name,) = redis.names()
        value = redis.get(name)
        redis.stop()
        p = start(
            """
            import jitcache, sys, time
            cache, key = jitcache.Cache(), jitcache.Key(a=1)
            for n in range(100):
                assert cache.get(jitcache.Key(n=n)) is None
            print("off", flush=True)
            sys.stdin.readline()
            end = time.monotonic() + 15
            while (got := cache.get(key)) is None and time.monotonic() < end:
                time.sleep(0.01)
            print(got)
            """,
            env=two.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert p.stdout is not None
        assert p.stdout.readline() == "off\n"
        redis.start()
        redis.say("SET", name, value)
        assert p.communicate("on\n", timeout=60)[0].strip() == "b'x'"
    finally:
        redis.stop()
        one.end()
        two.end()
