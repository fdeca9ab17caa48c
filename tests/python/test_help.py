"""help(jitcache) and what it leads to: everything public is said what it is, in a process that uses nothing yet."""

from __future__ import annotations

import inspect
import pydoc
import re
from pathlib import Path

import jitcache
import pytest

FOLDER = Path(jitcache.__file__).parent


def test_overview_names_what_is_there() -> None:
    text = inspect.getdoc(jitcache) or ""
    adapters = {p.name for p in (FOLDER / "adapters").iterdir() if (p / "__init__.py").exists()}
    part = re.sub(r"\s+", " ", text).partition("``jitcache.adapters``:")[2].partition(" each in place")[0]
    assert set(re.findall(r"``(\w+)``", part)) == adapters
    modules = {p.stem for p in FOLDER.glob("*.py") if not p.stem.startswith("_")}
    assert set(re.findall(r"``jitcache\.(\w+)``", text)) == {*modules, "adapters"}
    for line in text.splitlines():
        assert len(line) <= 88, line  # a terminal has 80 columns, and help indents


@pytest.mark.parametrize("name", jitcache.__all__)
def test_everything_public_is_documented(name: str) -> None:
    found = getattr(jitcache, name)
    assert inspect.getdoc(found), name
    for member, value in inspect.getmembers(found):
        if not member.startswith("_") and inspect.isfunction(value):
            assert inspect.getdoc(value), f"{name}.{member}"
    # And can be shown.
    assert name in pydoc.plain(pydoc.render_doc(found))
