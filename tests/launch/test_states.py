"""One request in more states than a set has lists: the words are the same, and what they lead to is not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

#: A set has eight lists. So the second round needs sets below it, and one of them is full again.
STATES = 20

#: A compiler that is known, and a witness that it runs: what it prints is never the same again.
COUNTED = "#!/bin/sh\nrandom\nexec gcc "


class Request(NamedTuple):
    """The words, and what puts the world into the n-th state: it returns the folder to run in."""

    words: str
    state: Callable[[Path, int], Path]


def conftest(folder: Path, n: int) -> Path:
    (folder / "conftest.c").write_text(f"int f(void) {{ return {n}; }}\n")
    return folder


def branch(folder: Path, n: int) -> Path:
    """Each branch changes a header of its own, and nothing else."""
    for i in range(STATES):
        header = folder / f"h{i}.h"
        text = f"#define H{i} {int(i == n)}\n"
        if not header.exists() or header.read_text() != text:
            header.write_text(text)
    (folder / "a.c").write_text("".join(f'#include "h{i}.h"\n' for i in range(STATES)) + "int f(void) { return H1; }\n")
    return folder


def standing(folder: Path, n: int) -> Path:
    """Folders that stand, with the same words in each; -g shows the folder."""
    of_its_own = folder / f"f{n}"
    of_its_own.mkdir(exist_ok=True)
    (of_its_own / "main.c").write_text("int main(void) { return 0; }\n")
    return of_its_own


REQUESTS = {
    "conftest": Request("-c conftest.c", conftest),
    "branches": Request("-c a.c -o a.o", branch),
    "folders": Request("-g -c main.c", standing),
}


@pytest.mark.control("noquestions", rows=["conftest", "branches", "folders"])
@pytest.mark.parametrize("request_", REQUESTS.values(), ids=REQUESTS.keys())
def test_many_states_of_one_request_are_all_hits(place: Any, gcc: str, request_: Request) -> None:
    script = place.tool("counted", COUNTED + request_.words + "\n")
    printed = {}
    for n in [*range(STATES), *range(STATES)]:
        folder = request_.state(place.folder, n)
        for made in folder.glob("*.o"):
            made.unlink()
        out = place.run(script, cwd=folder).stdout
        assert list(folder.glob("*.o")), n
        assert printed.setdefault(n, out) == out, f"state {n} was compiled again"
    assert len(set(printed.values())) == STATES
