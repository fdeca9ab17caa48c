"""What goes over the wire: counted by a proxy in front of Redis. docs/remote.md reckons with these figures."""

from __future__ import annotations

import collections
import time
from collections.abc import Iterator
from typing import Callable

import pytest
from processes import check
from proxy import Proxy
from remotes import Machine, Redis
from test_fleet import fleet
from test_remote import UNSIGNED, machine, redis

__all__ = ["machine", "redis"]  # fixtures

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

#: Entries, none of which can be compressed, one after the other.
COUNT, SIZE = 40, 5000

WORK = """
import os, sys, time, jitcache
what, count, size = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
with jitcache.Cache() as cache:
    for n in range(count):
        key = jitcache.Key(source=n)
        if what == "put":
            cache.put(key, os.urandom(size))
        elif what == "get":
            assert len(cache.get(key)) == size
        elif what == "miss":
            assert cache.get(jitcache.Key(absent=n)) is None
        else:
            cache.get_or_compile(jitcache.Key(made=n), lambda: os.urandom(size))
"""


@pytest.fixture
def proxy(redis: Redis) -> Iterator[Proxy]:
    p = Proxy(redis.port)
    yield p
    p.close()


def quiet(m: Machine, proxy: Proxy) -> None:
    """Wait until all is sent, and nothing has gone by for longer than a pulse takes."""
    m.sent()
    seen, since = proxy.counted(), time.monotonic()
    while time.monotonic() - since < 3:
        time.sleep(0.05)
        if proxy.counted() != seen:
            seen, since = proxy.counted(), time.monotonic()


def test_so_much_goes_over_the_wire_for_each_lookup(machine: Callable[..., Machine], proxy: Proxy) -> None:
    """A hit and a miss are one round trip, a result one more; a compile takes a claim, and gives it back."""
    one, two = (machine(proxy.url + UNSIGNED) for _ in range(2))
    figures = {}
    # Two runs of each, so that what a helper asks at its start is not counted.
    for m, what in ((one, "put"), (two, "get"), (two, "miss"), (one, "compile")):
        check(WORK, "miss", "1", "0", env=m.env)
        quiet(m, proxy)
        before = proxy.counted()
        check(WORK, what, str(COUNT), str(SIZE), env=m.env)
        quiet(m, proxy)
        c = proxy.counted().since(before)
        figures[what] = (c.commands / COUNT, c.sent / COUNT, c.received / COUNT)
        print(f"figure {what}: {figures[what]} {collections.Counter(proxy.commands[before.commands :])}")
    # Of a hit: the value, and a renewal; of a miss the same two. Each has a name of 64 digits, and ours before it.
    assert figures["get"][0] <= 2.1
    assert figures["get"][1] < 350
    assert figures["get"][2] < SIZE + 500
    assert figures["miss"][0] <= 2.1
    assert figures["miss"][1] + figures["miss"][2] < 400
    assert figures["put"][0] <= 1.3  # eight are sent at a time, and each of the connections is greeted
    assert SIZE < figures["put"][1] < SIZE + 500
    assert figures["compile"][0] < 9
    assert figures["compile"][1] < SIZE + 1800


@pytest.mark.slow
def test_who_waits_asks_seldom_and_who_holds_shows_a_pulse(machine: Callable[..., Machine], proxy: Proxy) -> None:
    """Two machines: one compiles for a long time, with a pulse each two seconds; the other looks every five at most."""
    one, two = (machine(proxy.url + UNSIGNED) for _ in range(2))
    holder = fleet([one], ["k"], COMPILE_SECONDS="600")
    time.sleep(4)
    before, began = proxy.counted(), time.monotonic()
    time.sleep(8)
    alone = proxy.counted().since(before).commands / (time.monotonic() - began)
    waiter = fleet([two], ["k"], COMPILE_SECONDS="0")
    time.sleep(40)  # until the wait is so long that looks are far apart
    before, began = proxy.counted(), time.monotonic()
    time.sleep(15)
    both = proxy.counted().since(before).commands / (time.monotonic() - began)
    for p in (*holder, *waiter):
        p.kill()
        p.wait()
    print(f"figure commands a second: {alone:.2f} who holds, {both - alone:.2f} who waits")
    assert alone < 1
    assert both - alone < 2.5
