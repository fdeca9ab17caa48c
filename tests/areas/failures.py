"""Which tests failed, by name, with what they said: the last thing that a run prints, where a log is cut."""

from __future__ import annotations

import re
from collections.abc import Iterator

#: What each area has failed, in this run, and the end of what it said.
TEXTS: dict[str, dict[str, str]] = {}

#: Lines of a failing test that are shown: the end of a message, and where it stands; the whole is in the area's log.
_LINES = 15


def note(area: str, name: str, text: str = "") -> None:
    """Keep the name of a test that failed, and the end of what it said."""
    TEXTS.setdefault(area, {})[name] = "\n".join(text.strip().splitlines()[-_LINES:])


def report(area: str) -> str:
    """Return a paragraph for each test of an area that failed."""
    return "\n".join(f"FAILED {area}: {name}\n{text}".rstrip() for name, text in TEXTS.get(area, {}).items())


def of_pytest(text: str) -> Iterator[tuple[str, str]]:
    """Yield the names of what failed in a run of pytest, and what each has in the part on failures.

    Its summary has but the first line of a message. What a command says of its error is the last.
    """
    sections: dict[str, list[str]] = {}
    _, *parts = re.split(r"^_{3,} (?:ERROR (?:at \w+ of|collecting) )?(\S.*?) _{3,}$", text, flags=re.MULTILINE)
    for title, said in zip(parts[::2], parts[1::2]):
        sections.setdefault(title, []).append(_without_captured(said))
    for line in re.findall(r"^(?:FAILED|ERROR) (\S.*)", text, re.MULTILINE):
        words = line.split(" - ")  # which a name may hold too
        names = [" - ".join(words[:n]) for n in range(len(words), 0, -1)]
        name = next((name for name in names if sections.get(_title(name))), words[0])
        said = sections.get(_title(name))
        yield name, said.pop(0) if said else line[len(name) :]


def _title(name: str) -> str:
    """Return what stands above what a test has said."""
    return name.partition("::")[2].replace("::", ".") or name


def _without_captured(section: str) -> str:
    """Return a section up to what a test has printed, or up to the next part of all."""
    return re.split(r"^(?:-{3,} Captured |={3,} )", section, maxsplit=1, flags=re.MULTILINE)[0]
