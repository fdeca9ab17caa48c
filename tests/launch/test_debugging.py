"""The sessions of docs/debugging.md print what the page shows, but for numbers, keys and folders."""

from __future__ import annotations

import re
from typing import Any

import conftest
import samples


def alike(text: str, place: Any) -> list[str]:
    """Return the lines of a text without what differs in each run."""
    text = text.replace(str(place.cache), "/home/me/.cache/jitcache").replace("…", "...")
    text = re.sub(r"\S*gcc\S* \(time\)", "gcc (time)", text)
    text = re.sub(r"\b[0-9a-f]{2}/[0-9a-f]{20,}|\b[0-9a-f]{12}\b", "KEY", text)
    return [re.sub(r"\d+(\.\d+)?", "0", line).rstrip() for line in text.splitlines() if line.strip()]


def check(place: Any, shown: str) -> None:
    """Run the commands of a session, and compare what they print with what the page shows."""
    link = place.tools / "jitcache"
    if not link.exists():
        link.symlink_to(conftest.PROGRAM)
    printed = ""
    for command in re.findall(r"^\$ (.*)$", shown, re.MULTILINE):
        p = place.plain("sh", "-c", f"exec 2>&1; {command}")
        printed += f"$ {command}\n{p.stdout.decode()}"
    assert alike(printed, place) == alike(shown, place)


def test_session_about_a_build_that_is_not_kept(place: Any, gcc: str) -> None:
    place.write(dated_c="#include <stdio.h>\nint main(void) { puts(__DATE__); }\n")
    check(place, samples.under("docs/debugging.md", "A build that is not kept"))


def test_sessions_about_a_miss_and_a_suspicion(place: Any, gcc: str) -> None:
    place.write(a_h="#define X 1\n", b_c='#include "a.h"\nint f(void) { return X; }\n')
    place.run("gcc", "-c", "b.c")
    place.write(a_h="#define X 2\n")
    check(place, samples.under("docs/debugging.md", "A miss that should be a hit"))
    check(place, samples.under("docs/debugging.md", "A wrong hit suspected", 0))
    damaged = max(place.cache.glob("v1/entries/*/*.jce"), key=lambda p: p.stat().st_size)
    damaged.chmod(0o600)
    damaged.write_bytes(damaged.read_bytes()[:100] + b"X" + damaged.read_bytes()[101:])
    check(place, samples.under("docs/debugging.md", "A wrong hit suspected", 1))
