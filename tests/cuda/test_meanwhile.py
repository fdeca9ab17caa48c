"""What changes while a compile runs is not in the cache under what it was before."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import jitcache
import pytest
from conftest import Compiler
from jitcache import cuda
from trees import CHANGES, FORMS, Tree, stays

MOVES = [(form, change) for form in ("nested", "beside-the-source") for change in CHANGES if not stays(form, change)]


def meanwhile(tree: Tree, cache: jitcache.Cache, compiler: Compiler, gate: Path, change: str) -> cuda.Code:
    """Compile, and change something when NVRTC has been called and before it reads."""
    seen = compiler.compiles

    def wait() -> None:
        while compiler.compiles == seen:
            time.sleep(0.001)
        CHANGES[change].apply(tree)
        gate.unlink()

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    code = cuda.compile(**tree.request(), cache=cache)
    thread.join(timeout=60)
    return code


@pytest.mark.parametrize(("form", "change"), MOVES)
def test_result_is_handed_back_and_not_stored(
    compiler: Compiler, cache: jitcache.Cache, gate: Path, monkeypatch, tmp_path: Path, form: str, change: str
) -> None:
    """Control noinputs must fail this."""
    tree = Tree(tmp_path / "tree", FORMS[form])
    CHANGES[change].before(tree)
    monkeypatch.chdir(tree.working_directory)
    key = cuda.key(**tree.request())
    handed = meanwhile(tree, cache, compiler, gate, change)
    after = cuda.compile(**tree.request(), cache=False).code
    assert handed.code == after
    assert not handed.hit
    assert cache.get(key) is None
    assert cuda.key(**tree.request()).hex != key.hex
    assert cuda.compile(**tree.request(), cache=cache).code == after


@pytest.mark.parametrize("change", [name for name in CHANGES if stays("angle", name)])
def test_what_changes_nothing_does_no_harm(
    compiler: Compiler, cache: jitcache.Cache, gate: Path, tmp_path: Path, change: str
) -> None:
    tree = Tree(tmp_path / "tree", FORMS["angle"])
    CHANGES[change].before(tree)
    first = meanwhile(tree, cache, compiler, gate, change)
    assert cuda.compile(**tree.request(), cache=cache).code == first.code
