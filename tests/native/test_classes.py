"""What a model of compilers had missed: each is changed, beside a build without the cache."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import rows_asked  # noqa: F401
import rows_headers  # noqa: F401
import rows_libraries  # noqa: F401
import rows_made  # noqa: F401
import rows_tools  # noqa: F401
from conftest import need, rest
from rows import CASES
from world import World

COMPILERS = ["gcc", "g++", pytest.param("clang", marks=rest), pytest.param("clang++", marks=rest)]


@pytest.mark.control("noabsent", rows=["library that appears earlier-gcc", "folder of headers that appears-gcc"])
@pytest.mark.control("nolooked", rows=["mode that a wrapper looks at-gcc"])
@pytest.mark.control("nochildren", rows=["member of a thin archive-gcc"])
@pytest.mark.control("nolinktexts", rows=["text of a link that a wrapper reads-gcc"])
@pytest.mark.control("nolistings", rows=["what a wrapper lists-gcc"])
@pytest.mark.control("noenvironment", rows=["variable of a wrapper-gcc"])
@pytest.mark.control("nomodes", rows=["mode that a wrapper looks at-gcc"])
@pytest.mark.control("nodates", rows=["time that a wrapper compares-gcc"])
@pytest.mark.control("notwins", rows=["header named twice that becomes another-gcc", "header that is a text too-gcc"])
@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("name", CASES)
def test_change_is_noticed(
    tmp_path: Path, cache: Any, monkeypatch: pytest.MonkeyPatch, name: str, compiler: str
) -> None:
    """After the change the result is what a fresh build's is; it was kept before and after, or refused by name."""
    need(compiler)
    w = World(tmp_path / "world", compiler)
    change = CASES[name](w, monkeypatch)
    before = w.fresh()
    assert before is not None
    first, hit, refused = w.cached(cache)
    assert not hit
    if name in REFUSED and not ("preload" in name and "clang" in compiler):
        assert REFUSED[name] in refused
        assert not w.cached(cache)[1]
        return
    assert (first, refused) == (before, "")
    assert w.cached(cache) == (before, True, "")
    change()
    after = w.fresh()
    assert after != before, "the row changes nothing, and proves nothing"
    got, hit, _ = w.cached(cache)
    assert (got, hit) == (after, False)
    if after is not None:
        assert w.cached(cache)[:2] == (after, True)


#: What is made and not kept, by what is said.
REFUSED = {
    "date by a flag": "time of day",
    "preloaded library": "time of day",
    # cc1 asks for the time by itself, but so might the plugin.
    "plugin that is built anew": "time of day",
    "what a plugin reads": "time of day",
    "variable that a plugin obeys": "time of day",
    "modules that a compiler keeps": "was left behind by the command",
}


@pytest.mark.parametrize("compiler", COMPILERS)
def test_what_ccache_keeps_is_no_input(
    tmp_path: Path, cache: Any, monkeypatch: pytest.MonkeyPatch, compiler: str
) -> None:
    """It stands aside: what it has of the same compile, or of others, is neither used nor looked at."""
    need(compiler)
    w = World(tmp_path / "world", compiler)
    CASES["header behind ccache"](w, monkeypatch)
    (w.folder / "ccache").mkdir()  # it looks for settings there
    fresh = w.fresh()
    assert w.cached(cache) == (fresh, False, "")
    assert list((w.folder / "ccache").iterdir()) == []
    name, text = next(iter(w.asked["sources"].items()))
    w.put(name, text)
    w.run(need("ccache"), need(compiler), "-c", f"-I{w.folder}", w.folder / name, "-o", "f.o")
    assert list((w.folder / "ccache").iterdir()) != []
    assert w.cached(cache) == (fresh, True, "")
    monkeypatch.setattr(w, "asked", {**w.asked, "flags": [*w.asked["flags"], "-DOTHER"]})
    assert w.cached(cache)[1:] == (False, "")
