"""A long walk through programs, options and edits: each answer is that of a fresh compile by cuda.core."""

from __future__ import annotations

import os
import random
import re
from pathlib import Path

import jitcache
import pytest
from cuda.core import Program, ProgramOptions
from jitcache.adapters.cuda_core import compile_program

OPTIONS = {
    "define_macro": [None, "A", ("A", "2"), [("A", "1"), ("B", "3")], [("B", "3"), ("A", "1")]],
    "undefine_macro": [None, "A"],
    "std": [None, "c++14", "c++20"],
    "fma": [None, True, False],
    "max_register_count": [None, 32],
    "arch": ["sm_80", "sm_90"],
    "include_path": [None, "i1", ["i1", "i2"], ["i2", "i1"]],
    "pre_include": [None, "p.h"],
    "name": [None, "k.cu", "i2/k.cu"],
    "use_fast_math": [None, True],
    "lineinfo": [None, None, True],
    "no_source_include": [None, True],
}
SOURCES = [
    '#include "h.h"\n#ifndef A\n#define A 9\n#endif\ntemplate <class T> __global__ void k(T *p) { *p = A * H + f(*p); }\n',
    "#if __has_include(<g.h>)\n#include <g.h>\n#else\n#define H 5\n#endif\n"
    "template <class T> __global__ void k(T *p) { *p = *p * H / 3.3f; }\n",
    "#ifndef A\n#define A 7\n#endif\ntemplate <class T> __global__ void k(T *p) { *p = A * A; }\n"
    "__device__ const char *file() { return __FILE__; }\n__device__ const char *(*used)() = file;\n",
]
NAMES = [[], ["k<int>"], ["k<int>", b"k<float>"], [b"k<float>", "k<int>"]]
FILES = ["h.h", "i1/h.h", "i2/h.h", "i1/g.h", "i2/g.h", "g.h", "p.h"]


def edit(r: random.Random) -> None:
    """Write a header, or take one away."""
    path = r.choice(FILES)
    if r.random() < 0.3 and os.path.exists(path):
        os.unlink(path)
    else:
        more = "static __device__ float f(float x) { return x + H; }\n" if path.endswith("h.h") else ""
        Path(path).write_text(f"#define H {r.randint(1, 4)}\n{more}")


def job(r: random.Random) -> tuple[str, dict[str, object]]:
    given = {name: r.choice(OPTIONS[name]) for name in r.sample(sorted(OPTIONS), 4)}
    given = {"arch": "sm_80", **{name: value for name, value in given.items() if value is not None}}
    if "lineinfo" in given and "name" not in given:
        del given["lineinfo"]  # cuda.core makes up a name
    return r.choice(SOURCES), given


def answer(compile_it) -> object:
    try:
        code = compile_it()
    except Exception as e:
        return [c.__name__ for c in type(e).__mro__ if c.__name__ == "NVRTCError"]
    # NVRTC puts the time and the number of the process into such names.
    data = re.sub(rb"_INTERNAL_\w+?_[0-9a-f]{8}_\d+", b"_INTERNAL_", code.code)
    return data, code.symbol_mapping


def walk(seed: int, compile_it) -> tuple[object, ...] | None:
    """Walk, and return where the answer is not that of a fresh compile, None if nowhere."""
    r, known = random.Random(seed), []
    for folder in ("i1", "i2"):
        Path(folder).mkdir(exist_ok=True)
    for _ in range(150):
        if r.random() < 0.15:
            edit(r)
        if not known or r.random() < 0.2:
            known.append(job(r))
        (source, given), names = r.choice(known), r.choice(NAMES)
        options = ProgramOptions(**given)
        fresh = answer(lambda s=source, o=options, n=names: Program(s, "c++", o).compile("cubin", n))
        if answer(lambda s=source, o=options, n=names: compile_it(s, o, n)) != fresh:
            return source, given, names
    return None


@pytest.mark.parametrize("seed", range(3))
def test_answer_is_that_of_a_fresh_compile(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    cache = jitcache.Cache(tmp_path / "cache")
    assert walk(seed, lambda s, o, n: compile_program(s, "c++", o, "cubin", n, cache=cache)) is None
    total = cache.stats()["total"]
    assert total["hits_memory"] + total["hits_disk"] > 30
    assert total["compiles"] > 30


@pytest.mark.parametrize("forgets", ["headers", "names"])
def test_walk_notices_what_a_cache_forgets(forgets: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: a dictionary, by the source and the options as cuda.core has them."""
    monkeypatch.chdir(tmp_path)
    kept: dict[object, object] = {}

    def remembered(source: str, options: ProgramOptions, names: list[str | bytes]) -> object:
        key = [source, options.name, *options.as_bytes("nvrtc")]
        key += names if forgets == "headers" else [Path(p).exists() and Path(p).read_text() for p in FILES]
        if tuple(key) not in kept:
            kept[tuple(key)] = Program(source, "c++", options).compile("cubin", names)
        return kept[tuple(key)]

    assert walk(0, remembered) is not None


def test_walk_finds_nothing_wrong_with_a_fresh_compile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert walk(0, lambda s, o, n: Program(s, "c++", o).compile("cubin", n)) is None
