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


def once_it_compiles(compiler: Compiler, do) -> threading.Thread:
    """Do something in a thread as soon as NVRTC is called, which takes its time."""
    seen = compiler.compiles

    def wait() -> None:
        while compiler.compiles == seen:
            time.sleep(0.01)
        do()

    thread = threading.Thread(target=wait)
    thread.start()
    return thread


@pytest.mark.parametrize(("form", "change"), MOVES)
def test_result_is_handed_back_and_not_stored(
    compiler: Compiler, cache: jitcache.Cache, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, form: str, change: str
) -> None:
    """The control build (tag control_noinputs) must fail this."""
    tree = Tree(tmp_path / "tree", FORMS[form])
    CHANGES[change].before(tree)
    monkeypatch.chdir(tree.working_directory)
    before = cuda.compile(**tree.request(), cache=False).code
    key = cuda.key(**tree.request())
    monkeypatch.setenv("STUBNVRTC_SLEEP_MS", "300")
    thread = once_it_compiles(compiler, lambda: CHANGES[change].apply(tree))
    handed = cuda.compile(**tree.request(), cache=cache)
    thread.join()
    monkeypatch.setenv("STUBNVRTC_SLEEP_MS", "0")
    after = cuda.compile(**tree.request(), cache=False).code
    assert handed.code == after != before  # NVRTC read it when it had slept
    assert cache.get(key) is None
    assert cuda.compile(**tree.request(), cache=cache).code == after


def test_header_touched_meanwhile_does_no_harm(
    stub: Compiler, cache: jitcache.Cache, tmp_path: Path, monkeypatch
) -> None:
    tree = Tree(tmp_path / "tree", FORMS["angle"])
    monkeypatch.setenv("STUBNVRTC_SLEEP_MS", "300")
    thread = once_it_compiles(stub, lambda: CHANGES["touch"].apply(tree))
    first = cuda.compile(**tree.request(), cache=cache)
    thread.join()
    assert cuda.compile(**tree.request(), cache=cache).code == first.code
