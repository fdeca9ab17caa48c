"""Which tests failed, by name, with what they said: the last thing that a run prints, where a log is cut."""

from __future__ import annotations

#: What each area has failed, in this run, and the end of what it said.
TEXTS: dict[str, dict[str, str]] = {}

#: Lines of a failing test that are shown: a message and where it stands; the whole is in the area's log.
_LINES = 12


def note(area: str, name: str, text: str = "") -> None:
    """Keep the name of a test that failed."""
    TEXTS.setdefault(area, {})[name] = "\n".join(text.strip().splitlines()[-_LINES:])


def report(area: str) -> str:
    """Return a paragraph for each test of an area that failed."""
    return "\n".join(f"FAILED {area}: {name}\n{text}".rstrip() for name, text in TEXTS.get(area, {}).items())
