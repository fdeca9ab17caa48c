"""The names and messages of failed tests. A run prints them last, because logs are cut at the front."""

from __future__ import annotations

import re
from collections.abc import Iterator

#: The failed tests of each area in this run, with the ends of their messages.
TEXTS: dict[str, dict[str, str]] = {}

#: How many lines of a failed test are shown: the end of its message, and its place. The area's log has everything.
_LINES = 15


def note(area: str, name: str, text: str = "") -> None:
    """Keep the name of a failed test, and the end of its message."""
    TEXTS.setdefault(area, {})[name] = "\n".join(text.strip().splitlines()[-_LINES:])


def report(area: str) -> str:
    """Return a paragraph for each test of an area that failed."""
    return "\n".join(f"FAILED {area}: {name}\n{text}".rstrip() for name, text in TEXTS.get(area, {}).items())


def of_pytest(text: str) -> Iterator[tuple[str, str]]:
    """Yield the names of the failed tests in pytest's output, with their texts from the section on failures.

    pytest's summary has only the first line of a message, but an error of a command is in its last line.
    """
    sections: dict[str, list[str]] = {}
    _, *parts = re.split(r"^_{3,} (?:ERROR (?:at \w+ of|collecting) )?(\S.*?) _{3,}$", text, flags=re.MULTILINE)
    for title, said in zip(parts[::2], parts[1::2]):
        sections.setdefault(title, []).append(_without_captured(said))
    for line in re.findall(r"^(?:FAILED|ERROR) (\S.*)", text, re.MULTILINE):
        words = line.split(" - ")  # a name may contain that too
        names = [" - ".join(words[:n]) for n in range(len(words), 0, -1)]
        name = next((name for name in names if sections.get(_title(name))), words[0])
        said = sections.get(_title(name))
        yield name, said.pop(0) if said else line[len(name) :]


def _title(name: str) -> str:
    """Return the title of a test's section on failures."""
    return name.partition("::")[2].replace("::", ".") or name


def _without_captured(section: str) -> str:
    """Return a section without the captured output of the test, and without the next section."""
    return re.split(r"^(?:-{3,} Captured |={3,} )", section, maxsplit=1, flags=re.MULTILINE)[0]
