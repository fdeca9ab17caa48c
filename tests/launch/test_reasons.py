"""A miss names its cause, whatever it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import conftest
import pytest

#: Asks for what counts only for who asks: its standard input, a limit.
ASKS = "#!/bin/sh\nread=$(stat -L -c %F /dev/stdin)\nulimit -n\nrandom\n"


def shell(line: str) -> Callable[[Any, list[str]], str]:
    """Run a command in another world, by a shell's words in which $RUN stands for it; return what is said."""

    def run(place: Any, command: list[str]) -> str:
        p = place.plain("sh", "-c", line.replace("$RUN", '"$@"'), "sh", conftest.PROGRAM, "run", *command, env=LOGGED)
        return (p.stdout + p.stderr).decode()

    return run


LOGGED = {"JITCACHE_LOG": "miss"}


def evict(place: Any, command: list[str]) -> str:
    place.plain(conftest.PROGRAM, "evict", "-older-than", "0s")
    return shell("$RUN")(place, command)


class Cause(NamedTuple):
    change: Callable[[Any, list[str]], str]
    said: str
    command: tuple[str, ...] = ("gcc", "-g", "-c", "a.c")


CAUSES = {
    "umask": Cause(shell("umask 0123; $RUN"), "another umask (0123)"),
    "standard input": Cause(shell("true | $RUN"), "standard input: is no longer /dev/null", ("asks",)),
    "limit": Cause(shell("ulimit -n 100; $RUN"), "limits changed (ulimit -s -n)", ("asks",)),
    "terminal": Cause(shell('script -qec "$PROGRAM run gcc -g -c a.c" /dev/null'), "prints to a terminal now"),
    "CPATH": Cause(shell("CPATH=/tmp $RUN"), "environment: CPATH is set now"),
    "another value": Cause(shell("LANG=C.UTF-8 $RUN"), "environment: LANG has another value"),
    "variable of an unknown program": Cause(shell("MINE=1 $RUN"), "environment: MINE is set now", ("asks",)),
    "folder": Cause(shell("mkdir d; cp a.c d; cd d; $RUN"), "/d: is another working folder"),
    "arguments": Cause(shell("$RUN a.c -O2 -c a.c"), "other arguments"),
    "placeholders": Cause(shell("JITCACHE_BASE_DIR=$PWD $RUN"), "other placeholders"),
    "hermetic run": Cause(shell("JITCACHE_HERMETIC=7 $RUN"), "it is hermetic now"),
    "file": Cause(shell("echo >> a.c; $RUN"), "a.c: size changed"),
    "age of the record": Cause(evict, "what is known of it was removed from the cache"),
    "refresh": Cause(shell("JITCACHE=refresh $RUN"), "JITCACHE=refresh"),
    "readonly": Cause(shell("JITCACHE=readonly $RUN -O1"), "nothing is stored: JITCACHE is readonly"),
    "small address space": Cause(shell("ulimit -v 900000; $RUN"), "the address space is limited"),
    "closed descriptor": Cause(shell("$RUN <&-"), "a standard descriptor is closed"),
}


@pytest.mark.control(
    "nounknown", rows=["umask", "terminal", "arguments", "placeholders", "hermetic run", "age of the record"]
)
@pytest.mark.parametrize("cause", CAUSES.values(), ids=CAUSES.keys())
def test_log_names_the_cause(place: Any, gcc: str, cause: Cause) -> None:
    place.env["PROGRAM"] = str(conftest.PROGRAM)
    place.write(a_c="int f(void) { return 1; }\n")
    place.tool("asks", ASKS)
    if cause.said.endswith("terminal now"):
        conftest.need("script")
    place.env["LANG"] = "C"
    for _ in range(2):  # the second finds an output that stands
        shell("$RUN")(place, list(cause.command))
    said = cause.change(place, list(cause.command))
    assert cause.said in said
    assert "absent" not in said


def test_first_of_all_is_absent(place: Any, gcc: str) -> None:
    place.write(a_c="int f(void) { return 1; }\n")
    assert "gcc a.c" in place.why("gcc", "-c", "a.c")


def test_result_alone_is_gone(place: Any, gcc: str) -> None:
    """What the command has looked at is noted, and its result was evicted."""
    place.write(a_c="int f(void) { return 1; }\n")
    place.run("gcc", "-c", "a.c")
    with_object = [p for p in place.cache.glob("v1/entries/*/*.jce") if b"\x7fELF" in p.read_bytes()]
    assert with_object
    for path in with_object:
        path.unlink()
    assert "its result is no longer in the cache" in place.why("gcc", "-c", "a.c")
