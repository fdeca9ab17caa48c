"""Holders of a compile that neither finish nor die."""

from __future__ import annotations

import fcntl
import os
import signal
import time
from pathlib import Path

import jitcache
import pytest
from conftest import Figures
from crowd import STUCK, Crowd
from journal import Journal, Line, intervals, overlaps

WAITERS = 6
LIMIT = 10.0  # after which a stopped holder is given up on
COMPILE = 0.1

KEY = 7


class RefusedError(Exception):
    """What the compilers of those who wait raise, so that all of them compile."""


def hold(folder: Path, journal: Journal) -> None:
    """Compile for as long as nobody says otherwise, and stop in between."""

    def compile() -> bytes:
        journal.say("begin", KEY)
        os.kill(os.getpid(), signal.SIGSTOP)
        journal.say("end", KEY)
        return b"late"

    assert jitcache.Cache(folder).get_or_compile(jitcache.Key(n=KEY), compile) in (b"late", b"code")


def ask(folder: Path, journal: Journal) -> None:
    """Ask, and compile in vain."""

    def compile() -> bytes:
        journal.say("begin", KEY)
        time.sleep(COMPILE)
        journal.say("end", KEY)
        raise RefusedError

    journal.say("ask", KEY)
    with pytest.raises(RefusedError):
        jitcache.Cache(folder).get_or_compile(jitcache.Key(n=KEY), compile)
    journal.say("got", KEY)


def until(journal: Journal, word: str, limit: float = STUCK) -> Line | None:
    """Wait for a word; return None if it was not said in time."""
    end = time.monotonic() + limit
    while time.monotonic() < end:
        for line in journal.lines():
            if line.word == word:
                return line
        time.sleep(0.01)
    return None


def stopped(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


def wait_behind(crowd: Crowd, holder: int, folder: Path, journal: Journal) -> float:
    """Let others ask while a process holds the lock; return when they began to."""
    since = time.monotonic()
    waiters = {crowd.start(ask, folder, journal) for _ in range(WAITERS)}
    while not all(crowd.ended(pid) for pid in waiters) and time.monotonic() < since + STUCK:
        time.sleep(0.02)
    assert crowd.living == {holder}, "some wait for ever for one who is not coming back"
    return since


def behind_a_stopped_holder(folder: Path, library: str | None = None) -> tuple[list[Line], float]:
    """Return what those who waited have said, and since when they did."""
    journal = Journal(folder / "journal")
    with Crowd(folder, library) as crowd:
        holder = crowd.start(hold, folder / "cache", journal)
        assert until(journal, "begin")
        while not stopped(holder):
            time.sleep(0.005)
        since = wait_behind(crowd, holder, folder / "cache", journal)
        os.kill(holder, signal.SIGCONT)
        assert not crowd.wait()
        assert crowd.complaints() == ""
    return [line for line in journal.lines() if line.pid != holder], since


@pytest.mark.soak
def test_stopped_holder_is_given_up_on_by_one_at_a_time(tmp_path: Path, figures: Figures) -> None:
    lines, since = behind_a_stopped_holder(tmp_path)
    of_key = intervals(lines, "begin", "end")[KEY]
    assert len(of_key) == WAITERS
    assert overlaps(of_key) == 0
    first = min(begin.when for begin, _ in of_key) - since
    assert LIMIT - 0.5 < first < 10 * LIMIT
    figures.add("stopped-holder-given-up-after", first, "s")


def test_control_without_leases_nobody_waits_for_the_stopped(tmp_path: Path, without_leases: str) -> None:
    lines, since = behind_a_stopped_holder(tmp_path, without_leases)
    of_key = intervals(lines, "begin", "end")[KEY]
    assert overlaps(of_key) > 0
    assert min(begin.when for begin, _ in of_key) - since < LIMIT - 0.5


# ----------------------------------------------------- a lock without a name


def lock_only(folder: Path, journal: Journal) -> None:
    """Hold the lock of the key as one who was stopped before writing a name into it, or on a full disk."""
    cache = jitcache.Cache(folder)
    assert cache.get(jitcache.Key(n=KEY)) is None
    f = os.open(folder / "v1" / "locks" / f"{jitcache.Key(n=KEY).hex}.jclock", os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(f, fcntl.LOCK_EX)
    journal.say("held", KEY)
    time.sleep(STUCK)


def test_control_lock_that_is_held_on_is_not_free(tmp_path: Path) -> None:
    """What the limit of two seconds after a kill would show if the lock outlived the killed."""
    journal = Journal(tmp_path / "journal")
    with Crowd(tmp_path) as crowd:
        crowd.start(lock_only, tmp_path / "cache", journal)
        assert until(journal, "held")
        crowd.start(ask, tmp_path / "cache", journal)
        assert until(journal, "ask")
        assert until(journal, "begin", 2) is None


@pytest.mark.soak
def test_lock_without_a_name_is_given_up_on(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal")
    with Crowd(tmp_path) as crowd:
        holder = crowd.start(lock_only, tmp_path / "cache", journal)
        assert until(journal, "held")
        wait_behind(crowd, holder, tmp_path / "cache", journal)
        assert crowd.complaints() == ""
    assert overlaps(intervals(journal.lines(), "begin", "end")[KEY]) == 0
