"""Each of NVIDIA's wheels compiles, as it is installed and without a variable that names a folder of libraries."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import NVRTC, wheels
from processes import check
from sources import OPTIONS, kernel

pytestmark = pytest.mark.nvrtc

#: The variable's end, and the folder of the library in the wheel. 13.0 has no path to its builtins.
WHEELS = {"128": NVRTC["12"], "12": NVRTC["12"], "130": NVRTC["13"], "13": NVRTC["13"]}

# Compiles the same in a worker and in the process, and then looks it up.
COMPILE = """
    import sys, jitcache
    from jitcache import cuda
    directory, source, *options = sys.argv[1:]
    cache = jitcache.Cache(directory, memory_size=0)
    worker = cuda.compile(source, options=options, cache=cache)
    process = cuda.compile(source, options=options, cache=False)
    again = cuda.compile(source, options=options, cache=cache)
    print(worker.code == process.code == again.code, worker.refused or "kept", again.hit)
"""


@pytest.mark.parametrize("build", ["", ".alt"])
@pytest.mark.parametrize("version", WHEELS)
def test_worker_and_process_compile_with_the_builtins_beside_nvrtc(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, version: str, build: str
) -> None:
    library = wheels(version) / WHEELS[version].replace(".so", f"{build}.so")
    if not library.exists():
        assert build == ".alt"
        assert version == "13"  # which has one build only
        return
    monkeypatch.setenv("JITCACHE_NVRTC", str(library))
    monkeypatch.delenv("LD_LIBRARY_PATH", raising=False)
    assert check(COMPILE, tmp_path / "cache", kernel(), *OPTIONS) == "True kept True\n"
