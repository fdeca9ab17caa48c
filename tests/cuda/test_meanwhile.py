"""What changes while a compile runs is not in the cache under what it was before."""

from __future__ import annotations

import threading
from pathlib import Path

import jitcache
import pytest
from conftest import Compiler
from fakes import Gate
from jitcache import cuda
from trees import CHANGES, FORMS, IN_FRONT, Tree, stays

MOVES = [(form, change) for form in ("nested", "beside-the-source") for change in CHANGES if not stays(form, change)]


def meanwhile(tree: Tree, cache: jitcache.Cache, gate: Gate, change: str) -> cuda.Code:
    """Compile, and change something when NVRTC has been called and before it reads."""

    def wait() -> None:
        gate.wait()
        CHANGES[change].apply(tree)
        gate.open()

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    code = cuda.compile(**tree.request(), cache=cache)
    thread.join(timeout=60)
    return code


@pytest.mark.parametrize(("form", "change"), MOVES)
def test_answer_is_of_the_world_that_nvrtc_has_seen(
    compiler: Compiler, cache: jitcache.Cache, gate: Gate, monkeypatch, tmp_path: Path, form: str, change: str
) -> None:
    """What has changed before it was looked at is no reason not to keep the code; under what it was nobody finds it."""
    tree = Tree(tmp_path / "tree", FORMS[form])
    CHANGES[change].before(tree)
    monkeypatch.chdir(tree.working_directory)
    handed = meanwhile(tree, cache, gate, change)
    monkeypatch.delenv("STUBNVRTC_GATE")
    after = cuda.compile(**tree.request(), cache=False).code
    assert (handed.code, handed.hit) == (after, False)
    codes = [cuda.compile(**tree.request(), cache=cache) for _ in range(2)]
    assert [code.code for code in codes] == [after, after]
    assert codes[1].hit


@pytest.mark.parametrize(("form", "change"), MOVES)
def test_what_changes_behind_nvrtc_is_found_by_nobody(
    stub: Compiler, cache: jitcache.Cache, gate: Gate, monkeypatch, tmp_path: Path, form: str, change: str
) -> None:
    tree = Tree(tmp_path / "tree", FORMS[form])
    CHANGES[change].before(tree)
    monkeypatch.chdir(tree.working_directory)
    monkeypatch.delenv("STUBNVRTC_GATE")
    before = cuda.compile(**tree.request(), cache=False).code
    monkeypatch.setenv("STUBNVRTC_GATE_BEHIND", gate.name)
    handed = meanwhile(tree, cache, gate, change)
    assert handed.code == before
    # What was absent is noted as such, and the next one sees that it is there.
    assert bool(handed.refused) == (cache.stats()["total"]["puts"] == 0)
    assert handed.refused or change in IN_FRONT
    monkeypatch.delenv("STUBNVRTC_GATE_BEHIND")
    after = cuda.compile(**tree.request(), cache=False).code
    assert after != before
    assert cuda.compile(**tree.request(), cache=cache).code == after


@pytest.mark.parametrize("change", [name for name in CHANGES if stays("angle", name)])
def test_what_changes_nothing_does_no_harm(
    compiler: Compiler, cache: jitcache.Cache, gate: Gate, monkeypatch, tmp_path: Path, change: str
) -> None:
    tree = Tree(tmp_path / "tree", FORMS["angle"])
    CHANGES[change].before(tree)
    first = meanwhile(tree, cache, gate, change)
    monkeypatch.delenv("STUBNVRTC_GATE")
    assert cuda.compile(**tree.request(), cache=cache).code == first.code


def test_log_names_what_has_changed_and_the_counters_say_that_it_was_an_input(
    stub: Compiler, gate: Gate, monkeypatch, tmp_path: Path
) -> None:
    """So a program can print the path, and tell that the next attempt may be kept (examples/demo/refusals.py)."""
    monkeypatch.setenv("JITCACHE_LOG", "miss")
    monkeypatch.setenv("JITCACHE_LOG_FILE", str(tmp_path / "log"))
    tree = Tree(tmp_path / "tree", FORMS["angle"])
    monkeypatch.delenv("STUBNVRTC_GATE")
    monkeypatch.setenv("STUBNVRTC_GATE_BEHIND", gate.name)
    with jitcache.Cache(tmp_path / "cache") as cache:
        handed = meanwhile(tree, cache, gate, "edit")
        assert handed.refused == f"{tree.target}: changed during the run"
        assert cache.stats()["total"]["not_stored_reasons"] == {"input changed": 1}
    assert f": {handed.refused}\n" in (tmp_path / "log").read_text()
