"""nvcc, which runs the host's compiler and five programs of its own, and needs no GPU."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import conftest
import pytest
from opens import Opens

PYTHON = os.environ.get("JITCACHE_TEST_CALLERS", "")

pytestmark = pytest.mark.skipif(not PYTHON, reason="JITCACHE_TEST_CALLERS names no Python with nvcc")

SOURCE = """#include <cstdio>
#include "v.h"
__global__ void k(float *x) { x[threadIdx.x] *= V; }
void launch(float *x) { k<<<1, 32>>>(x); }
"""


class Nvcc:
    """nvcc of PyPI, and how often its code generators run, as copies that nobody else uses."""

    def __init__(self, place: Any, root: Path) -> None:
        self.place, self.path = place, root / "bin" / "nvcc"
        for name in ("bin", "nvvm/bin"):
            for program in (root / name).iterdir():
                program.chmod(program.stat().st_mode | 0o111)
        self.opens = Opens(
            *map(str, (root / "nvvm/bin/cicc", root / "bin/ptxas", root / "bin/cudafe++", root / "bin/nvlink"))
        )

    def run(self, *words: str, **more: Any) -> tuple[str, bool]:
        """Launch it; return what the log says, and whether CUDA's compilers were opened."""
        self.opens.count()
        log = self.place.cache.parent / "log"
        log.unlink(missing_ok=True)
        env = {**more.pop("env", {}), "JITCACHE_LOG": "miss", "JITCACHE_LOG_FILE": str(log)}
        p = self.place.run(self.path, "-arch=sm_90", *words, env=env, **more)
        assert p.returncode == 0, p.stderr.decode()
        return log.read_text() if log.exists() else "", self.opens.count() > 0


@pytest.fixture(scope="session")
def toolkit(tmp_path_factory: Any) -> Path:
    found = subprocess.run(
        [PYTHON, "-c", "import nvidia.cu13; print(*nvidia.cu13.__path__)"], capture_output=True, text=True, check=False
    )
    if found.returncode != 0:
        pytest.skip("no nvcc of PyPI")
    copy = tmp_path_factory.mktemp("toolkit") / "cu13"
    shutil.copytree(found.stdout.strip(), copy)
    return copy


@pytest.fixture
def nvcc(place: Any, gcc: str, toolkit: Path) -> Iterator[Nvcc]:
    place.write(a_cu=SOURCE, v_h="#define V 2\n")
    made = Nvcc(place, toolkit)
    yield made
    made.opens.close()


@pytest.mark.parametrize("words", [["-c"], ["-cubin"], ["-shared", "-Xcompiler=-fPIC", "-cudart=none"]], ids="".join)
def test_second_run_starts_no_compiler_and_an_edit_does(place: Any, nvcc: Nvcc, words: list[str]) -> None:
    words = [*words, "a.cu", "-o", "made"]
    assert nvcc.run(*words)[1]
    kept = place.read("made")
    (place.folder / "made").unlink()
    assert nvcc.run(*words) == ("", False)
    assert place.read("made") == kept
    place.write(v_h="#define V 3\n")
    (place.folder / "made").unlink()
    log, compiled = nvcc.run(*words)
    assert compiled
    assert "v.h" in log
    assert place.read("made") != kept


@pytest.mark.control("nolookers", rows=["-c", "-cubin"])
@pytest.mark.parametrize("words", [["-c"], ["-cubin"]], ids="".join)
def test_what_stands_where_the_output_goes_does_not_count(place: Any, nvcc: Nvcc, words: list[str]) -> None:
    """Nothing, the output itself, or anything. nvcc starts shells, and none of them looks at it."""
    words = [*words, "a.cu", "-o", "made"]
    assert nvcc.run(*words)[1]
    kept = place.read("made")
    for stands in (kept, b"", b"another\n" * 5000):
        (place.folder / "made").write_bytes(stands)
        assert nvcc.run(*words) == ("", False)
        assert place.read("made") == kept


def test_shell_that_looks_at_what_stands_counts_it(place: Any, nvcc: Nvcc) -> None:
    """It stands in for nvcc's host compiler, so it is the only program that is not known beside nvcc's."""
    script = place.tool("looks", '#!/bin/sh\n[ -e made ] && set -- "$@" -DSTANDS\nexec gcc "$@"\n')
    place.write(b_cu="#ifdef STANDS\nint stands;\n#endif\nint other;\n")
    words = [f"-ccbin={script}", "-c", "b.cu", "-o", "made"]
    sizes = []
    for stands in (False, True, False, True):
        (place.folder / "made").unlink(missing_ok=True)
        if stands:
            (place.folder / "made").write_text("stands\n")
        nvcc.run(*words)
        sizes.append(b"stands" in place.read("made"))
    assert sizes == [False, True, False, True]


@pytest.mark.control("nolease")
def test_of_four_processes_that_ask_at_once_one_compiles(place: Any, nvcc: Nvcc) -> None:
    """A compile opens each of CUDA's compilers so many times."""
    words = ["-arch=sm_90", "-cubin", "a.cu", "-o", "made"]
    nvcc.opens.count()
    assert place.run(nvcc.path, *words).returncode == 0
    once = nvcc.opens.count()
    assert once > 0
    (place.folder / "made").unlink()
    place.write(v_h="#define V 5\n")
    started = [place.start(nvcc.path, *words) for _ in range(4)]
    for p in started:
        p.communicate(timeout=120)
        assert p.returncode == 0
    assert 0 < nvcc.opens.count() < 2 * once


def test_others_may_use_the_folder_for_temporary_files(place: Any, nvcc: Nvcc) -> None:
    """nvcc lists it, to remove its own."""
    words = ["-cubin", "a.cu", "-o", "made"]
    nvcc.run(*words)
    (place.folder / "made").unlink()
    (Path(place.env["TMPDIR"]) / "of-others").write_text("")
    assert nvcc.run(*words) == ("", False)


@pytest.mark.parametrize("name", ["d.cu", "d.ii"])
def test_date_is_seen(place: Any, nvcc: Nvcc, name: str) -> None:
    """The front ends ask for it each time, and it counts where it may be in what they read."""
    (place.folder / name).write_text("const char *f() { return __DATE__; }\n")
    for why in ("time of day", "seen in an earlier run; it is not observed for now"):
        log, _ = nvcc.run("-ptx", name, "-o", "made")
        assert "not stored" in log
        assert why in log


def test_variable_of_nvcc_counts(place: Any, nvcc: Nvcc) -> None:
    words = ["-ptx", "a.cu", "-o", "made"]
    nvcc.run(*words)
    kept = place.read("made")
    (place.folder / "made").unlink()
    nvcc.run(*words, env={"NVCC_APPEND_FLAGS": "-DX -lineinfo"})
    assert place.read("made") != kept


#: Programs that show code. They ask for no times, and cuobjdump lists the folder for temporary files.
SHOWING = [["cuobjdump", "-sass"], ["cuobjdump", "-elf"], ["nvdisasm"], ["nvdisasm", "-hex"]]


@pytest.mark.parametrize("words", SHOWING, ids=" ".join)
def test_what_shows_code_is_kept_and_depends_on_no_times(
    place: Any, nvcc: Nvcc, toolkit: Path, tmp_path: Path, words: list[str]
) -> None:
    assert place.plain(nvcc.path, "-arch=sm_90", "-cubin", "a.cu", "-o", "a.cubin").returncode == 0
    program, *more = [toolkit / "bin" / words[0], *words[1:], "a.cubin"]
    first = place.run(program, *more)
    assert first.returncode == 0, first.stderr
    assert len(first.stdout) > 500
    opens = Opens(str(program))
    os.utime(place.folder / "a.cubin", (10**9, 10**9))
    (Path(place.env["TMPDIR"]) / "of-others").write_text("")
    assert place.run(program, *more).stdout == first.stdout
    assert opens.count() == 0
    opens.close()
    assert place.plain(program, *more, env={"TMPDIR": str(tmp_path)}).stdout == first.stdout


@pytest.mark.parametrize("made", ["linked.o", "linked.cubin"])
def test_link_of_lto_ir_is_kept(place: Any, nvcc: Nvcc, toolkit: Path, made: str) -> None:
    """nvlink asks for the time, and does not use it: linked again, the bytes are the same."""
    libraries = toolkit / "nvvm" / "lib64"  # where nvlink looks; the wheel has libNVVM elsewhere
    if not libraries.exists():
        libraries.mkdir()
        (libraries / "libnvvm.so").symlink_to(toolkit / "lib" / "libnvvm.so.4")
    place.write(a_cu="extern __device__ int f(int); __global__ void k(int *p) { *p = f(*p); }\n")
    place.write(b_cu="__device__ int f(int x) { return x * 3; }\n")
    assert place.plain(nvcc.path, "-arch=sm_90", "-dc", "-dlto", "a.cu", "b.cu").returncode == 0
    words = ["-dlto", "-dlink", *(["-cubin"] if made.endswith("cubin") else []), "a.o", "b.o", "-o", made]
    assert nvcc.run(*words)[1]
    kept = place.read(made)
    (place.folder / made).unlink()
    for name in ("a.o", "b.o"):
        os.utime(place.folder / name, (10**9, 10**9))
    assert nvcc.run(*words) == ("", False)
    assert place.read(made) == kept
    assert place.plain(nvcc.path, "-arch=sm_90", *words).returncode == 0
    assert place.read(made) == kept


LISTS = """
cmake_minimum_required(VERSION 3.20)
project(demo CUDA CXX)
add_library(kernels STATIC one.cu two.cu)
set_target_properties(kernels PROPERTIES CUDA_SEPARABLE_COMPILATION ON CUDA_ARCHITECTURES "90;100")
add_executable(demo main.cpp)
set_target_properties(demo PROPERTIES CUDA_ARCHITECTURES "90;100")
target_link_libraries(demo kernels)
"""


def test_cmake_with_separable_compilation_and_two_architectures(place: Any, nvcc: Nvcc) -> None:
    """In an empty folder nothing is compiled; after a header has changed, what includes it is."""
    place.write(
        CMakeLists_txt=LISTS,
        h_h="#define N 1\n",
        one_cu='#include "h.h"\nextern __device__ int two(int);\n__global__ void one(int *p) { *p = two(*p) + N; }\n'
        "void launch(int *p) { one<<<1, 1>>>(p); }\n",
        two_cu="__device__ int two(int x) { return x * 2; }\n",
        main_cpp="void launch(int *);\nint main(int n, char **) { if (n > 1) launch(nullptr); return 0; }\n",
    )
    compilers = Opens(*(str(nvcc.path.parent / name) for name in ("../nvvm/bin/cicc", "cudafe++", "ptxas")))
    build, launcher = place.folder / "build", f"-DCMAKE_CUDA_COMPILER_LAUNCHER={conftest.PROGRAM};run"
    path = {"PATH": f"{Path(PYTHON).parent}:/usr/bin:/bin"}
    configure = [
        "cmake",
        "-G",
        "Ninja",
        "-S",
        place.folder,
        "-B",
        build,
        f"-DCMAKE_CUDA_COMPILER={nvcc.path}",
        launcher,
    ]

    def make() -> int:
        """Build; return how often CUDA's compilers were opened, which CMake tries when it configures."""
        for words in (configure, ["ninja", "-C", build]):
            compilers.count()
            p = place.plain(*words, env=path)
            assert p.returncode == 0, p.stdout.decode() + p.stderr.decode()
        return compilers.count()

    first = make()
    assert first > 0
    shutil.rmtree(build)
    assert make() == 0
    assert place.plain(build / "demo").returncode == 0
    place.write(h_h="#define N 2\n")
    assert 0 < make() < first
    compilers.close()


ANONYMOUS = """namespace { __device__ int value; __global__ void k() { value = 1; } }
void launch() { k<<<1, 1>>>(); }
"""


def hashes(path: Path) -> set[bytes]:
    """The hashes of the path in names of code. Elsewhere objects of nvcc have the number of a process in them."""
    found = set(re.findall(rb"[0-9a-f]{8}_\d+_a_cu", path.read_bytes()))
    assert found
    return found


@pytest.mark.control("nohashed", rows=["-ptx"])
@pytest.mark.parametrize("words", [["-rdc=true", "-c"], ["-c"], ["-ptx"]], ids="".join)
def test_result_that_has_a_hash_of_the_sources_path_stays_in_its_folder(
    place: Any, nvcc: Nvcc, words: list[str]
) -> None:
    """nvcc makes names of code from it, and the search for the folder's name does not see it."""
    words = [*words, "a.cu", "-o", "made"]
    for name in ("one", "two", "one"):
        folder = place.folder / name
        again = folder.exists()
        if not again:
            folder.mkdir()
            (folder / "a.cu").write_text(ANONYMOUS)
            os.utime(folder / "a.cu", (10**9, 10**9))
        assert place.plain(nvcc.path, "-arch=sm_90", *words, cwd=folder).returncode == 0
        alone = hashes(folder / "made")
        (folder / "made").unlink()
        log, compiled = nvcc.run(*words, cwd=folder, env={"JITCACHE_BASE_DIR": str(folder)})
        assert hashes(folder / "made") == alone
        assert compiled is not again, log
