"""Variables that a launched command is not given: they cannot matter."""

from __future__ import annotations

from typing import Any

import pytest

#: A script that may obey any variable, prints those that the tests set, and what no run repeats.
SHOWS = """#!/bin/sh
env | grep -E '^(LAB|CFLAGS|MY_SDK)' | sort
od -A n -N 16 -t x1 /dev/urandom
"""


@pytest.fixture
def shows(place: Any) -> Any:
    place.tool("shows", SHOWS)
    return place


def lines(place: Any, words: tuple[str, ...] = ("shows",), **env: str) -> list[str]:
    """Launch it, and return what it has printed."""
    p = place.run(*words, env=env)
    assert p.returncode == 0, p.stderr
    return [str(line) for line in p.stdout.decode().splitlines()]


@pytest.mark.control("nowithheld")
def test_withheld_variables_are_not_given_and_do_not_count(shows: Any) -> None:
    seen = [lines(shows, JITCACHE_WITHHOLD="LAB_*:OTHER", LAB_RUN=n) for n in ("1", "2")]
    assert len(seen[0]) == 1 and seen[0] == seen[1]
    other = [lines(shows, JITCACHE_WITHHOLD="LAB_*:OTHER", CFLAGS=n) for n in ("1", "2")]
    assert [line[0] for line in other] == ["CFLAGS=1", "CFLAGS=2"]


@pytest.mark.control("nostrict")
def test_strict_gives_what_toolchains_obey_and_what_is_named(shows: Any) -> None:
    seen = [lines(shows, JITCACHE_WITHHOLD="strict:+MY_SDK", LAB_RUN=n, MY_SDK="s", CFLAGS="c") for n in ("1", "2")]
    assert seen[0][:-1] == ["CFLAGS=c", "MY_SDK=s"] and seen[0] == seen[1]
    assert lines(shows, JITCACHE_WITHHOLD="strict:+MY_SDK", MY_SDK="t", CFLAGS="c")[-1] != seen[0][-1]


@pytest.mark.control("nowithheld", rows=["off", "readonly"])
@pytest.mark.parametrize("how", [{"JITCACHE": "0"}, {"JITCACHE": "readonly"}], ids=["off", "readonly"])
def test_command_that_is_not_observed_is_not_given_them_either(shows: Any, how: dict[str, str]) -> None:
    assert len(lines(shows, JITCACHE_WITHHOLD="LAB_*", LAB_RUN="1", **how)) == 1


def test_flag_does_what_the_variable_does(shows: Any) -> None:
    seen = [lines(shows, ("--withhold=LAB_*", "shows"), LAB_RUN=n) for n in ("1", "2")]
    assert len(seen[0]) == 1 and seen[0] == seen[1]


@pytest.mark.control("nosession", rows=["XDG_SESSION_ID", "WINDOWID"])
@pytest.mark.parametrize(
    "name",
    [
        "XDG_SESSION_ID",
        "WINDOWID",
        "SSH_CONNECTION",
        "TERM_SESSION_ID",
        "INVOCATION_ID",
        "JOURNAL_STREAM",
        "KITTY_WINDOW_ID",
    ],
)
def test_name_of_a_session_is_not_given_and_does_not_count(place: Any, name: str) -> None:
    place.tool("shows", f'#!/bin/sh\necho "${{{name}-unset}}"\nrandom\n')
    seen = [place.run("shows", env={name: n}).stdout for n in ("1", "2")]
    assert seen[0] == seen[1]
    assert seen[0].startswith(b"unset\n")


@pytest.mark.parametrize("name", ["XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "SSH_AUTH_SOCK"])
def test_what_a_command_may_work_with_counts_but_not_for_compilers(place: Any, gcc: str, name: str) -> None:
    place.tool("shows", f'#!/bin/sh\necho "${name}"\nrandom\n')
    assert [place.run("shows", env={name: n}).stdout[:1] for n in ("1", "2")] == [b"1", b"2"]
    place.write(a_c="int f(void) { return 1; }\n")
    said = [place.run("--json", gcc, "-c", "a.c", env={name: n}).stderr for n in ("1", "2")]
    assert b'"hit"' in said[1], said


def test_without_it_all_are_given_and_count(shows: Any) -> None:
    seen = [lines(shows, LAB_RUN=n) for n in ("1", "2", "2")]
    assert [line[0] for line in seen] == ["LAB_RUN=1", "LAB_RUN=2", "LAB_RUN=2"]
    assert seen[0][1] != seen[1][1] == seen[2][1]
