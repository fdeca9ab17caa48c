"""JITCACHE_FS=network: what a cache does where several machines may see its directory.

Only what one node can show: two processes on it, and where their locks go.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from member import Member


def compiles(tmp_path: Path, **env: str) -> tuple[int, list[list[object]]]:
    """Let two processes want the same keys at once; return how often they compiled."""
    log, keys = tmp_path / "log", 8
    with Member(JITCACHE_FS="network", **env) as one, Member(JITCACHE_FS="network", **env) as two:
        for member in (one, two):
            member.do("open", str(tmp_path / "cache"))
        answers = []
        for n in range(keys):
            for member in (one, two):
                member.begin("compile", n, 3000, str(log), 0.3)
            answers += [one.end(), two.end()]
        assert [one.do("get", n, 3000) for n in range(keys)] == ["right"] * keys
        assert one.do("warnings") == two.do("warnings") == []
    assert all(right for right, _ in answers)
    return len(log.read_text().split()), answers


@pytest.mark.control("nolease", rows=["JITCACHE_LOCK_DIR"])
@pytest.mark.parametrize("variable", ["JITCACHE_LOCK_DIR", "XDG_RUNTIME_DIR", "TMPDIR"])
def test_one_compile_per_node_with_locks_on_the_node(variable: str, tmp_path: Path) -> None:
    node = tmp_path / "node"
    node.mkdir(mode=0o700)
    env = {"XDG_RUNTIME_DIR": "", variable: str(node)}
    count, _ = compiles(tmp_path, **env)
    assert count == 8
    assert list(node.rglob("*.jclock")), "no lock file on the node"
    assert not list((tmp_path / "cache" / "v1" / "locks").iterdir()), "a lock file on the network"


def test_nodes_that_do_not_see_each_other_compile_each(tmp_path: Path) -> None:
    """Two folders of locks are two nodes: a compile each at most, and the right bytes."""
    with (
        Member(JITCACHE_FS="network", JITCACHE_LOCK_DIR=str(tmp_path / "a")) as one,
        Member(JITCACHE_FS="network", JITCACHE_LOCK_DIR=str(tmp_path / "b")) as two,
    ):
        for member in (one, two):
            member.do("open", str(tmp_path / "cache"))
            member.begin("compile", 1, 3000, str(tmp_path / "log"), 1.0)
        answers = [one.end(), two.end()]
        assert answers == [[True, 1], [True, 1]]  # this is what the other test would see without locks
        assert one.do("get", 1, 3000) == two.do("get", 1, 3000) == "right"


def test_hit_leaves_the_network_alone(tmp_path: Path) -> None:
    """No recency is written there, however old the entry."""
    with Member(JITCACHE_FS="network", JITCACHE_LOCK_DIR=str(tmp_path / "node")) as member:
        member.do("open", str(tmp_path / "cache"), max_size=20_000)
        assert member.do("put", 1) == "stored"
        entry = next((tmp_path / "cache" / "v1" / "entries").rglob("*.jce"))
        os.utime(entry, ns=(10**18, 10**18))
        assert member.do("get", 1) == "right"
        assert entry.stat().st_mtime_ns == 10**18
    with Member() as member:  # the control: on a disk it is
        member.do("open", str(tmp_path / "cache"))
        assert member.do("get", 1) == "right"
        assert entry.stat().st_mtime_ns > 10**18
