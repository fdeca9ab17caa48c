"""A miss can say what changed."""

from __future__ import annotations

from pathlib import Path

import jitcache
import pytest
from conftest import Compiler
from jitcache import cuda
from sources import OPTIONS, TEMPLATE

# What changes, and the components of the key that are then named.
CHANGES = {
    "source": ({"source": TEMPLATE + "\n"}, "source"),
    "target": ({"target": "ptx"}, "target"),
    "architecture": ({"options": ["-arch=sm_90"]}, "options"),
    "option": ({"options": [*OPTIONS, "-DN=2"]}, "options"),
    "name expression": ({"name_expressions": ["axpy<int>"]}, "name expressions"),
    "header in memory": ({"headers": {"a.h": "#define A 2\n"}}, "headers in memory"),
}


def ask(**changed: object) -> dict:
    request = {
        "source": TEMPLATE, "name": "axpy.cu", "options": OPTIONS, "name_expressions": ["axpy<float>"],
        "headers": {"a.h": "#define A 1\n"},
    }  # fmt: skip
    return {**request, **changed}


@pytest.mark.parametrize("what", CHANGES)
def test_what_changed_is_named(stub: Compiler, cache: jitcache.Cache, what: str) -> None:
    changed, component = CHANGES[what]
    cuda.compile(**ask(), cache=cache)
    said = cache.explain(cuda.key(**ask(**changed), cache=cache))
    assert not said["hit"]
    assert ", ".join(said["changed"]) == component


def test_header_that_changed_is_named(stub: Compiler, cache: jitcache.Cache, tmp_path: Path) -> None:
    header = tmp_path / "a.h"
    source = "#include <a.h>\n" + TEMPLATE
    header.write_text("#define A 1\n")
    request = ask(source=source, options=[*OPTIONS, f"-I{tmp_path}"], headers=None)
    cuda.compile(**request, cache=cache)
    header.write_text("#define A 2\n")
    assert cache.explain(cuda.key(**request, cache=cache))["why"] == f"{header}: content changed"


def test_compiler_that_changed_is_named(stub: Compiler, cache: jitcache.Cache, built, monkeypatch) -> None:
    cuda.compile(**ask(), cache=cache)
    monkeypatch.setenv("JITCACHE_NVRTC", str(built("older")))
    assert cache.explain(cuda.key(**ask(), cache=cache))["changed"] == ["nvrtc"]


def test_hit_is_explained_as_one(stub: Compiler, cache: jitcache.Cache) -> None:
    cuda.compile(**ask(), cache=cache)
    assert cache.explain(cuda.key(**ask(), cache=cache))["hit"]
