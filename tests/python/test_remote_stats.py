"""Statistics of remotes in the command: state, hits, misses by reason, bytes, what waits, the last error."""

from __future__ import annotations

import json
import re
from typing import Any, Callable

import pytest
from remotes import Machine, Redis
from test_remote import UNSIGNED, machine, program, redis

__all__ = ["machine", "redis"]  # fixtures

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def told(m: Machine) -> dict[str, Any]:
    """Return the one remote from ``stats``, which ``doctor`` must show equally, and as text."""
    rows = [json.loads(program(*words, **m.env).stdout) for words in (("stats", "-json"), ("doctor", "-json"))]
    [of_stats], [of_doctor] = (r["remotes"] for r in rows)
    for row in (of_stats, of_doctor):
        row.get("helper", {}).pop("uptime_seconds", None)
    assert of_stats == of_doctor
    [line] = re.findall("^remote .*", program("stats", **m.env).stdout, re.MULTILINE)
    text = line.partition(": ")[2]
    assert text in program("doctor", **m.env).stdout
    return {**of_stats, "text": text}


def test_stats_tell_each_miss_of_a_remote_by_its_reason(machine: Callable[..., Machine], redis: Redis) -> None:
    one, two = (machine(redis.url + UNSIGNED) for _ in range(2))
    objects = {}
    for n in ("good", "damaged", "foreign"):
        one.compile(n)
        one.sent()
        [name] = set(redis.names()) - set(objects.values())
        objects[n] = name
    redis.say("SET", objects["foreign"], redis.get(objects["good"]))
    redis.say("SET", objects["damaged"], b"<html>please log in</html>")
    assert two.compile("damaged", "good", "foreign", "absent") == "[1, 3]", "the damaged one does not stop the others"
    two.sent()
    row = told(two)
    helper = row["helper"]
    assert (row["reads"], row["writes"], row["waiting"], helper["state"], helper["puts"]) == (True, True, 0, "up", 3)
    reasons = helper["miss_reasons"]
    assert helper["hits"] == 1
    # Two requests for an entry that is looked for again when the claim on its key is got, and no more.
    assert reasons == {"damaged": 2, "foreign key": 2, "absent": 2}
    assert helper["misses"] == 6
    sizes = [len(redis.get(objects[n])) for n in objects]
    assert helper["sent_bytes"] >= sizes[1] and helper["received_bytes"] >= sizes[0]
    assert re.search(r"; up, 1 hits, \d+ misses \(\d+ absent, 2 damaged, 2 foreign key\), .*, 0 waiting", row["text"])


def test_stats_know_that_a_remote_is_gone_though_nobody_has_asked_it_since(
    machine: Callable[..., Machine], redis: Redis
) -> None:
    one = machine(redis.url + UNSIGNED)
    one.compile("a")
    one.sent()
    assert told(one)["helper"]["state"] == "up"
    redis.stop()
    row = told(one)
    assert row["helper"]["state"].startswith("down for") and "refused" in row["helper"]["last_error"]
    one.compile("b")
    row = told(one)
    assert row["waiting"] == 1
    assert row["helper"]["miss_reasons"]["down"] >= 1
    assert "1 waiting, last error: " in row["text"]
    # What waits is also known without a helper.
    silent = {**one.env, "JITCACHE_STORAGE": "/bin/false"}
    text = program("stats", **silent).stdout
    assert "1 waiting; its helper does not answer" in text
