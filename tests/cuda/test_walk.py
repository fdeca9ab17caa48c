"""Random edits of random trees of headers: no answer is ever another than a fresh compile's.

Each step edits something, or nothing, and asks. A fresh compile says what the
answer must be. Of the steps that change nothing at least 80 % must hit.
"""

from __future__ import annotations

import json
import os
import random
from pathlib import Path

import jitcache
import pytest
from conftest import REAL, Compiler
from processes import check
from random_trees import RandomTree, ask

# Now and then another process is asked, which knows what was noted and nothing else.
ELSEWHERE = 25

ASK = """
    import json, sys, jitcache
    from random_trees import ask
    directory, request = sys.argv[1:]
    print(json.dumps(ask(json.loads(request), jitcache.Cache(directory, memory_size=0))))
"""


def test_long_walk(stub: Compiler, tmp_path: Path) -> None:
    """The control builds (tags control_topfile and control_noabsent) must fail this."""
    walk(tmp_path, 2000)


@pytest.mark.parametrize("compiler", REAL, indirect=True)
def test_short_walk(compiler: Compiler, tmp_path: Path) -> None:
    walk(tmp_path, 200)


def walk(tmp_path: Path, steps: int) -> None:
    seed = int(os.environ.get("CUDA_WALK_SEED") or random.randrange(10**6))
    print(f"CUDA_WALK_SEED={seed}")
    (tmp_path / "wood").mkdir()
    wood = RandomTree(tmp_path / "wood", seed)
    unchanged = hits = 0
    codes = set()
    with jitcache.Cache(tmp_path / "cache", memory_size=0) as cache:
        for n in range(steps):
            changed = wood.step() or n == 0
            fresh = ask(wood.request(), cache=False)[1]
            if n % ELSEWHERE == ELSEWHERE - 1:
                hit, code = json.loads(check(ASK, tmp_path / "cache", json.dumps(wood.request())))
            else:
                hit, code = ask(wood.request(), cache)
            assert code == fresh, f"seed {seed}, step {n}: {'a wrong hit' if hit else 'a wrong answer'}"
            codes.add(code)
            unchanged += not changed
            hits += hit and not changed
    print(f"{steps} steps, {unchanged} of them unchanged, {hits} of those hits, {len(codes)} results")
    assert len(codes) > steps / 20
    assert unchanged > steps / 5
    assert hits >= 0.8 * unchanged
