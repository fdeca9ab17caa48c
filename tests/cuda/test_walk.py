"""Random edits of random trees of headers: no answer is ever another than a fresh compile's.

Each step edits something, or nothing, and asks. A fresh compile says what the
answer must be. The walk goes on until nothing new has happened for a while: what was
done to a file of a kind, what the cache noticed, and what came of it. Of the steps that
change nothing at least 80 % must hit.
"""

from __future__ import annotations

import json
import os
import random
from pathlib import Path

import jitcache
import pytest
from conftest import REAL, Compiler
from coverage_of_walks import Coverage, fact
from jitcache import cuda
from processes import check
from random_trees import RandomTree, ask

# Now and then another process is asked, which knows the manifests and nothing else.
ELSEWHERE = 25

ASK = """
    import json, sys, jitcache
    from random_trees import ask
    directory, request = sys.argv[1:]
    print(json.dumps(ask(json.loads(request), jitcache.Cache(directory, memory_size=0))))
"""


@pytest.mark.control("noabsent")
def test_long_walk(stub: Compiler, tmp_path: Path) -> None:
    walk(tmp_path, "walk_with_the_fake_NVRTC", 1000, 60)


@pytest.mark.parametrize("compiler", REAL, indirect=True)
def test_short_walk(compiler: Compiler, tmp_path: Path) -> None:
    walk(tmp_path, "walk_with_NVRTC_" + compiler.name, 300, 20)


def walk(tmp_path: Path, name: str, quiet: int, seconds: float) -> None:
    seed = int(os.environ.get("CUDA_WALK_SEED") or random.randrange(10**6))
    print(f"CUDA_WALK_SEED={seed}")
    (tmp_path / "tree").mkdir()
    tree = RandomTree(tmp_path / "tree", seed)
    coverage = Coverage(quiet, seconds)
    n = unchanged = hits = 0
    codes: set[str] = set()
    with jitcache.Cache(tmp_path / "cache", memory_size=0) as cache:
        while not coverage.over:
            changed = tree.step() or n == 0
            request = tree.request()
            fresh = ask(request, cache=False)[1]
            missed = cache.explain(cuda.key(**request, cache=cache)).get("why") or ""
            if n % ELSEWHERE == ELSEWHERE - 1:
                hit, code = json.loads(check(ASK, tmp_path / "cache", json.dumps(request)))
            else:
                hit, code = ask(request, cache)
            assert code == fresh, f"seed {seed}, step {n}, {tree.did}: {'a wrong hit' if hit else 'a wrong answer'}"
            coverage.step(tree.did, fact(missed), "hit" if hit else "made", "known" if code in codes else "new")
            codes.add(code)
            unchanged += not changed
            hits += hit and not changed
            n += 1
    print(f"figure {name} {coverage}; {unchanged} steps unchanged, {hits} of those hits, {len(codes)} results")
    assert len(codes) > min(n, 2000) / 20
    assert unchanged > n / 5
    assert hits >= 0.8 * unchanged
