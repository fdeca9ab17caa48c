"""Builds of one request in more states than a set has lists, in one process and in another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from conftest import CountedCompiler, in_process
from jitcache import native

#: A set has eight lists.
STATES = 12


@pytest.mark.control("noquestions")
def test_many_states_of_one_request_are_all_hits(tmp_path: Path, cache: Any, counted: CountedCompiler) -> None:
    header = tmp_path / "own.h"
    asked: Any = {
        "sources": '#include "own.h"\nint f(void) { return OWN; }\n',
        "compiler": str(counted.path),
        "flags": [f"-I{tmp_path}"],
    }
    for n in [*range(STATES), *range(STATES)]:
        header.write_text(f"#define OWN {n}\n")
        entry = native.build(**asked, cache=cache)
        assert native.load_shared(entry)["f"]() == n
    assert counted.compiles() == STATES
    header.write_text(f"#define OWN {STATES}\n")
    entry = native.build(**asked, cache=cache)
    assert "own.h: content changed" in entry.missed
    header.write_text("#define OWN 1\n")
    assert in_process(tmp_path / "cache", **asked)["hit"]
    assert counted.compiles() == STATES + 1
