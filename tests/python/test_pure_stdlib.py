"""The list of Python's own modules that look at nothing outside, held against their sources."""

from __future__ import annotations

import ast
import importlib.util
from pathlib import Path

import pytest
from jitcache._pure_stdlib import NAMES, ROWS, SOURCE, C, is_pure


def source_of(module: str) -> Path | None:
    """Return the source of a module, None if this Python has it in C, frozen or not at all."""
    spec = importlib.util.find_spec(module)
    origin = None if spec is None else spec.origin
    return Path(origin) if origin and origin.endswith(".py") else None


def imported_by(source: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(source.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.add(str(node.module))
    return found


@pytest.mark.parametrize("module", [m for m, row in ROWS.items() if row.found == SOURCE])
def test_source_imports_only_what_is_listed_or_named_beside_it(module: str) -> None:
    source = source_of(module)
    if source is not None:
        unlisted = {name for name in imported_by(source) if not is_pure(name)}
        assert unlisted <= set(ROWS[module].beside)


def test_row_says_how_it_was_found_out() -> None:
    for module, row in ROWS.items():
        assert row.found in {C, SOURCE, NAMES}, module
        assert (row.names is None) == (row.found != NAMES), module
        assert row.found != C or source_of(module) is None, module


@pytest.mark.parametrize(
    "module", ["os", "sys", "time", "random", "locale", "logging", "warnings", "pathlib", "socket"]
)
def test_module_that_looks_outside_is_not_pure_as_a_whole(module: str) -> None:
    assert not is_pure(module)


def test_part_of_a_module_is_pure_with_it_and_one_that_is_not_listed_is_not() -> None:
    assert is_pure("json.encoder")
    assert is_pure("os", "fspath")
    assert not is_pure("os", "getcwd")
    assert not is_pure("os.path", "fspath")


def test_import_that_is_not_listed_is_seen(tmp_path: Path) -> None:
    source = tmp_path / "module.py"
    source.write_text("import math, random\nfrom . import a\ndef f():\n    from time import time\n")
    assert {name for name in imported_by(source) if not is_pure(name)} == {"random", "time"}
