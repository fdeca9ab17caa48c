"""Adapters say of which kind they look something up, so that statistics show misses, compiles and hits of one kind."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import jitcache

ADAPTERS = Path(jitcache.__file__).parent / "adapters"

#: Methods of a cache that count a lookup or a result.
COUNTING = {"get", "view", "acquire", "put", "get_or_compile", "entry_or_compile"}

#: The names under which adapters have a cache.
CACHES = {"cache", "self.cache", "self._cache", "self._jitcache"}


def calls() -> Iterator[tuple[str, ast.Call]]:
    """Yield the calls of adapters that a cache counts, each with its place."""
    for path in sorted(ADAPTERS.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            if node.func.attr in COUNTING and ast.unparse(node.func.value) in CACHES:
                yield f"{path.relative_to(ADAPTERS)}:{node.lineno}", node


def test_every_lookup_and_result_of_an_adapter_has_its_kind() -> None:
    found = list(calls())
    assert {"numba", "triton", "cute_dsl", "jax", "warp", "cuda_core"} <= {place.split("/")[0] for place, _ in found}
    without = [place for place, call in found if all(k.arg != "kind" for k in call.keywords)]
    assert without == []
