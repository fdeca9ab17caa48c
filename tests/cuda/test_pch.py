"""Headers that NVRTC precompiles by itself stay with one worker, and leave nothing behind."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path
from typing import Callable

import pytest
from conftest import wheels
from processes import check, start
from sources import OPTIONS, kernel
from test_wheels import WHEELS

# Compiles sources with one header, with precompiled headers and without. Prints whether the two are the same, what was
# not kept, and whether each header has had a folder for temporary files with a precompiled header in it. A thread looks all
# the time: a worker ends when it has waited for ten seconds, or at once when workers are scarce, and its folder with it.
COMPILE = """
    import os, sys, threading, time, jitcache
    from jitcache import cuda
    directory, header, source, *options = sys.argv[1:]
    cache = jitcache.Cache(directory, memory_size=0)
    def compile(n, text, options, cache):
        source_ = f'#include "memory.h"\\n#include <file.h>\\n{source}\\n// {n}'
        return cuda.compile(source_, headers={"memory.h": text}, options=options, cache=cache)
    wanted = [(n, text) for n in range(3) for text in header.split("|")]
    left = set()
    def look():
        while True:
            left.update(at for at, _, files in os.walk(os.environ["TMPDIR"]) if any(f.endswith(".pch") for f in files))
            time.sleep(0.002)
    threading.Thread(target=look, daemon=True).start()
    kept = [compile(*each, [*options, "--pch"], cache) for each in wanted]
    if os.environ.get("WAITS"):
        print("left" if left else "nothing left", flush=True)
        sys.stdin.read()
    same = all(
        code.code == compile(*each, options, False).code == compile(*each, [*options, "--pch"], cache).code
        for code, each in zip(kept, wanted)
    )
    print(same, "".join(sorted({code.refused for code in kept})) or "kept", len(left) >= len(header.split("|")))
"""


@pytest.fixture(params=["stub", *(pytest.param(version, marks=pytest.mark.nvrtc) for version in WHEELS)])
def plain(request: pytest.FixtureRequest, built: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """Every NVRTC that can precompile headers, the real ones as NVIDIA has made them."""
    version = request.param
    path = wheels(version) / WHEELS[version] if version in WHEELS else built(version)
    monkeypatch.setenv("JITCACHE_NVRTC", str(path))


@pytest.fixture
def temporary(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder for temporary files, for nobody else."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.chdir(tmp_path)  # 12.8 and 12.9 leave it in the working folder, if nobody says where
    return folder


def words(tmp_path: Path, header: str) -> list[object]:
    (tmp_path / "file.h").write_text("".join(f"template <class T> struct S{i} {{ T t; }};\n" for i in range(100)))
    source = kernel().replace("#include", "//")
    return [COMPILE, tmp_path / "cache", header, source, *OPTIONS, f"-I{tmp_path}"]


@pytest.mark.control("noownfolder", rows=["stub"])
def test_compile_with_precompiled_headers_is_kept_and_leaves_nothing(
    plain: None, temporary: Path, tmp_path: Path
) -> None:
    """Control noownfolder must fail this."""
    before = {path.name for path in tmp_path.iterdir()} | {"cache", "file.h"}
    assert check(*words(tmp_path, "#define A 1\n")) == "True kept True\n"
    assert list(temporary.iterdir()) == []
    assert {path.name for path in tmp_path.iterdir()} == before


@pytest.mark.control("anyheaders", rows=["stub"])
def test_headers_with_another_text_are_not_those_that_were_precompiled(
    plain: None, temporary: Path, tmp_path: Path
) -> None:
    """NVRTC itself mistakes one for the other. Control anyheaders must fail this."""
    one, two = (f"static __device__ int value = {n};\n" for n in (1, 2))
    assert check(*words(tmp_path, f"{one}|{two}")) == "True kept True\n"


def test_killed_process_leaves_no_precompiled_headers(
    plain: None, temporary: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WAITS", "1")
    with start(*words(tmp_path, "#define A 1\n"), stdin=subprocess.PIPE, stdout=subprocess.PIPE) as p:
        wrote = p.stdout.readline()  # how many folders is not the test's: a worker may have ended, and another come
        p.kill()
    assert wrote == "left\n"
    end = time.monotonic() + 10
    while list(temporary.iterdir()):
        assert time.monotonic() < end, list(temporary.rglob("*"))
        time.sleep(0.02)
