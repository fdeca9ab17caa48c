"""The adapters, each in a virtual environment with its framework."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterable

from . import control
from .common import BUILD, INSTALLING, ROOT, Count, counted, environment, pytest, run, skipped, total, venv
from .control import red
from .launch import NVCC
from .python import interpreters

#: The current version of Numba, which all tests use.
NUMBA = "0.68.1"

#: A version for each generation of Numba's caching code, with the Pythons that it runs on. The first that is installed is used.
GENERATIONS = {
    "0.61.2": ("3.10", "3.11", "3.12"),
    "0.65.1": ("3.13", "3.12", "3.11"),
    "0.68.1": ("3.12", "3.13", "3.10"),
}

#: The packages that cuda.core compiles with. The bindings need Python 3.11.
CUDA_CORE = [
    "cuda-bindings==13.5.0",
    "nvidia-cuda-nvrtc==13.5.37",
    "nvidia-nvjitlink==13.5.37",
    "nvidia-nvvm==13.5.37",
]


#: Triton's current version, and the last version that has the fingerprint in another place.
TRITON, TRITON_OLD = "3.9.0", "3.3.1"

#: The versions between, whose libraries are built by other tools. PyTorch 2.11 comes with 3.6.0.
TRITON_BETWEEN, TRITON_OF_PYTORCH = ("3.4.0", "3.5.1", "3.7.1", "3.8.0"), "3.6.0"

#: CuTe DSL, the package for its TVM FFI route, and a package with tensors.
CUTE_DSL = ("nvidia-cutlass-dsl==4.8.1", "apache-tvm-ffi==0.1.15.post2", "numpy>=2")

#: cuTile with its compiler, whose wheels need Python 3.10 or later.
CUTILE = (
    "cuda-tile[tileiras]==1.7.0",
    "nvidia-cuda-tileiras==13.4.92",
    "nvidia-cuda-nvcc==13.4.92",
    "nvidia-nvvm==13.4.92",
)

#: JAX's current version, and the last for Python 3.11, each with the Pythons that it runs on.
JAX = {"0.12.0.1": ("3.12", "3.13", "3.14"), "0.10.2": ("3.11", "3.12", "3.13")}


def _newest() -> str:
    """Return an interpreter for the current version: this one, if Numba runs on it."""
    fits = {v: p for v, p in interpreters().items() if (3, 10) <= tuple(map(int, v.split("."))) <= (3, 13)}
    return sys.executable if (3, 10) <= sys.version_info[:2] <= (3, 13) else next(iter(fits.values()), sys.executable)


def _pythons() -> dict[str, str]:
    """Return all interpreters, by version, this one among them."""
    return {**interpreters(), f"{sys.version_info[0]}.{sys.version_info[1]}": sys.executable}


def _venv(area: str, name: str, packages: list[str], versions: Iterable[str]) -> str | None:
    """Make an environment with packages and pytest, for the first of some versions of Python that is installed."""
    here = _pythons()
    own = next((here[v] for v in versions if v in here), None)
    return own and venv(area, name, [*packages, "pytest>=8"], own)


def _pytest(area: str, python: str | None, *args: str) -> Count:
    """Run pytest in an environment. It is a failure if that could not be made."""
    return Count(0, 0, 1) if python is None else pytest(area, python, *args, env=environment())


def _with_numba(area: str) -> str | None:
    return venv(area, "numba-example", [f"numba=={NUMBA}", "quantecon", "pytest>=8"], _newest())


def _builder() -> dict[str, str]:
    """Return an environment that names an interpreter that can build a wheel."""
    return environment(JITCACHE_TEST_BUILDER=sys.executable)


def numba(area: str = "numba") -> Count:
    """Numba, with its own cache and ours side by side, and with mechanisms taken out."""
    python = _with_numba(area)
    return Count(0, 0, 1) if python is None else pytest(area, python, "tests/numba", env=_builder())


def numba_old() -> Count:
    """The same with older versions, on other Pythons."""
    counts, here = [], _pythons()
    for version, wanted in GENERATIONS.items():
        name = next((w for w in wanted if w in here), None)
        if name is None:
            counts.append(skipped("numba-old", f"numba {version}"))
            continue
        python = venv(
            "numba-old", f"numba-example-{version}-{name}", [f"numba=={version}", "quantecon", "pytest>=8"], here[name]
        )
        # Only the current version is tested for speed, and with mechanisms taken out.
        chosen = ["tests/numba", "--deselect", "tests/numba/test_speed.py", "-k", "not without"]
        counts.append(Count(0, 0, 1) if python is None else pytest("numba-old", python, *chosen, env=_builder()))
    return total(counts)


def numba_upstream() -> Count:
    """Numba's own caching tests with our storage, including those for IPython."""
    packages = [f"numba=={NUMBA}", "ipython>=8", "ipykernel>=6"]
    python = venv("numba-upstream", "numba-upstream", packages, _newest())
    if python is None:
        return Count(0, 0, 1)
    command = [python, str(ROOT / "tests" / "numba" / "upstream.py"), str(BUILD / "test" / "upstream")]
    return counted(*run("numba-upstream", command, env=environment()))


#: The number of areas that share Numba's general suite.
SUITE_SHARDS = 4


def _suite(area: str, *args: str) -> tuple[int, str]:
    python = venv(area, "numba-suite", [f"numba=={NUMBA}", "scipy", "cffi"], _newest())
    if python is None:
        return 1, ""
    folder = str(BUILD / "test" / area)
    return run(area, [python, str(ROOT / "tests" / "numba" / "suite.py"), folder, *args], env=environment())


def numba_suite() -> Count:
    """About a hundred tests of Numba's general suite with everything cached, some of them with mechanisms taken out."""
    count = counted(*_suite("numba-suite", "--small"))
    # Without one of these mechanisms, a test of Numba gives another result when it is warm.
    controls = {"closure": "test_closure", "recursion": "test_recursion", "looking into": "test_cfunc"}
    for what, module in controls.items():
        status, text = _suite("numba-suite", "--modules", module, "--without", what)
        count = total([count, red("numba-suite", what, module, status == 1 and "plain, cold, warm: " in text)])
    return count


def numba_suite_shard(number: int) -> Count:
    """A shard of the 2,600 tests of Numba's general suite with everything cached. All shards take hours."""
    return counted(*_suite(f"numba-suite-{number}", "--shard", f"{number}/{SUITE_SHARDS}"))


def _with_cuda_core(area: str, version: str) -> str | None:
    return _venv(area, f"cuda-core-{version}", [f"cuda-core=={version}", *CUDA_CORE], ("3.11", "3.12", "3.13", "3.14"))


def cuda_core(area: str = "cuda-core") -> Count:
    """cuda.core, with its own program cache and ours side by side, and with mechanisms taken out."""
    return _pytest(area, _with_cuda_core(area, "1.2.2"), "tests/cuda_core")


def cuda_core_old() -> Count:
    """The same with the first version that has a program cache."""
    return _pytest("cuda-core-old", _with_cuda_core("cuda-core-old", "1.0.1"), "tests/cuda_core")


def _with_cute_dsl(area: str) -> str | None:
    return venv(area, "cute-dsl", [*CUTE_DSL, "pytest>=8"], _newest())


def cute_dsl(area: str = "cute-dsl") -> Count:
    """CuTe DSL, which has no cache of its own, also with mechanisms taken out; without a GPU."""
    return _pytest(area, _with_cute_dsl(area), "tests/cute_dsl")


def _with_cutile(area: str) -> str | None:
    return _venv(area, "cutile-1.7.0", [*CUTILE], ("3.11", "3.12", "3.13", "3.10"))


def cutile(area: str = "cutile") -> Count:
    """cuTile, with its own cache and ours side by side, also with mechanisms taken out; without a GPU."""
    python = _with_cutile(area)
    if python is None:
        return Count(0, 0, 1)
    return total([pytest(area, python, "tests/cutile", env=environment()), control.of_area(area, python=python)])


def _with_triton(area: str, version: str) -> str | None:
    return _venv(area, f"triton-{version}", [f"triton=={version}"], ("3.11", "3.12", "3.13"))


def _triton(area: str, version: str, *chosen: str) -> Count:
    return _pytest(area, _with_triton(area, version), *chosen)


#: Triton's tests that take two minutes; and the rest, which wait for time stamps to age, or run with mechanisms taken out.
_TRITON_SHORT = ("tests/triton/test_manager.py", "tests/triton/test_processes.py", "tests/triton/test_faults.py")
_TRITON_REST = ("tests/triton/test_meanings.py", "tests/triton/test_fingerprint.py", "tests/triton/test_controls.py")
_TRITON_TWINS = "tests/triton/test_meanings.py::test_twins_are_two_kernels[an attribute of a module]"
#: Tests that fail if nothing of a version's is kept.
_TRITON_KEPT = ("tests/triton/test_processes.py::test_four_processes_at_once_compile_once", _TRITON_TWINS)


def _without(framework: str, *mechanisms: str) -> list[str]:
    """A framework's controls that take seconds; make test-all runs all of its controls."""
    return [f"tests/{framework}/test_controls.py::test_without_it_its_test_fails[{m}]" for m in mechanisms]


def triton() -> Count:
    """Triton through the cache: who compiles, where files are, and what happens after faults; without a GPU."""
    shown = [_TRITON_TWINS, *_without("triton", "check", "names")]
    current = _triton("triton", TRITON, *_TRITON_SHORT, *shown, "-m", "not slow", "-k", "not does_with_it")
    return total([current, _triton("triton", TRITON_OF_PYTORCH, *_TRITON_KEPT)])


def triton_rest() -> Count:
    """Triton's own manager, fifty rounds in fresh folders, the fingerprint, and tests with mechanisms taken out."""
    area = "triton-rest"
    slow = _triton(area, TRITON, *_TRITON_SHORT, "-m", "slow")
    own = _triton(area, TRITON, *_TRITON_SHORT, "-m", "not slow", "-k", "does_with_it")
    return total([slow, own, _triton(area, TRITON, *_TRITON_REST)])


def triton_old() -> Count:
    """The same with an older version, and that something is kept with each version between."""
    # Only the current version is tested for speed, with Triton's own manager, and with mechanisms taken out.
    chosen = ["tests/triton", "-k", "not without_it and not does_with_it and not ten_times"]
    kept = [_triton("triton-old", version, *_TRITON_KEPT) for version in (*TRITON_BETWEEN, TRITON_OF_PYTORCH)]
    return total([_triton("triton-old", TRITON_OLD, *chosen), *kept])


def _with_jax(area: str, version: str) -> str | None:
    return _venv(area, f"jax-{version}", [f"jax=={version}", "etils", "filelock"], JAX[version])


def _jax(area: str, version: str, *chosen: str) -> Count:
    return _pytest(area, _with_jax(area, version), *(chosen or ["tests/jax"]))


def jax() -> Count:
    """JAX, with its own persistent cache and ours side by side: tests of a minute; without a GPU."""
    shown = [*_without("jax", "cpu", "form"), "-k", "not own_cache_it_is_used and not without_a_list"]
    return _jax("jax", "0.12.0.1", "tests/jax/test_right.py", "tests/jax/test_processes.py", *shown)


def jax_rest() -> Count:
    """All of that, and with mechanisms taken out."""
    return _jax("jax-rest", "0.12.0.1")


def jax_old() -> Count:
    """The same with an older version."""
    return _jax("jax-old", "0.10.2")


def _with_warp(area: str, version: str) -> str | None:
    return _venv(area, f"warp-{version}", [f"warp-lang=={version}", "numpy>=2"], ("3.12", "3.11", "3.13", "3.10"))


def _warp(area: str, version: str, *chosen: str) -> Count:
    return _pytest(area, _with_warp(area, version), *(chosen or ["tests/warp"]))


#: Warp's tests that take a minute together. Each test waits for clang.
_WARP_SHORT = (
    "fresh_process or three_processes or (repaired_without and cut) or its_test_fails[repair] or its_test_fails[digits]"
)


def warp() -> Count:
    """Warp, with its own cache and ours side by side: tests of a minute; without a GPU."""
    return _warp("warp", "1.19.0", "tests/warp", "-k", _WARP_SHORT)


def warp_rest() -> Count:
    """All of that, and with mechanisms taken out."""
    return _warp("warp-rest", "1.19.0")


def warp_old() -> Count:
    """The same with an older version."""
    # Only the current version is tested for speed, and with mechanisms taken out.
    return _warp("warp-old", "1.18.0", "tests/warp", "-k", "not without_it and not ten_times")


#: CuPy's current version, an older one that has no hook for another cache, and the NVRTC for both.
CUPY, CUPY_OLD = "14.2.0", "13.6.0"
CUPY_NVRTC = ["nvidia-cuda-nvrtc-cu12==12.9.86", "nvidia-cuda-runtime-cu12==12.9.79"]


def _with_cupy(area: str, version: str) -> str | None:
    return _venv(area, f"cupy-{version}", [f"cupy-cuda12x=={version}", *CUPY_NVRTC], ("3.12", "3.11", "3.13", "3.10"))


def _cupy(area: str, version: str, *chosen: str) -> Count:
    return _pytest(area, _with_cupy(area, version), *(chosen or ["tests/cupy"]))


#: CuPy's tests that take a minute together: headers, many processes, and the controls for both.
_CUPY_SHORT = "test_processes or fresh_process or header_that_changed or names_of or its_test_fails[lease] or its_test_fails[observed]"


def cupy() -> Count:
    """CuPy with a real NVRTC, with its own cache and ours side by side: tests of a minute; without a GPU."""
    return _cupy("cupy", CUPY, "tests/cupy", "-k", _CUPY_SHORT)


def cupy_rest() -> Count:
    """All of that, and with mechanisms taken out."""
    return _cupy("cupy-rest", CUPY)


def cupy_old() -> Count:
    """The same with an older version."""
    # The older version makes no LTO-IR. Only the current version is tested with mechanisms taken out.
    return _cupy("cupy-old", CUPY_OLD, "tests/cupy", "-k", "not ltoir and not without_it")


#: PyTorch, and what it needs beside NVIDIA's libraries, which are 2 GB; tests/torch/stubs.py stands in for most of them.
TORCH = "2.15.0"
TORCH_NEEDS = [
    "filelock", "fsspec", "jinja2", "networkx", "ninja", "numpy>=2", "setuptools", "sympy", "typing_extensions",
    "nvidia-cuda-runtime==13.2.*", "nvidia-cuda-cupti==13.2.*",
]  # fmt: skip


def _with_torch(area: str, version: str) -> str | None:
    python = _venv(area, f"torch-{version}", TORCH_NEEDS, ("3.11", "3.12", "3.13"))
    if python is None:
        return None
    ready = BUILD / "venvs" / f"torch-{version}" / "torch-ready"
    alone = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps", f"torch=={version}"]
    with INSTALLING:
        if not ready.exists():
            for command in (alone, [python, str(ROOT / "tests" / "torch" / "stubs.py")]):
                if run(area, command)[0] != 0:
                    return None
            ready.touch()
    return python


#: Older versions of PyTorch, and the tests that are run with them: what their users get. Each takes a gigabyte.
TORCH_OLD = ("2.14.0", "2.11.0")
_TORCH_KEPT = [
    "tests/torch/test_right.py", "tests/torch/test_broken.py", "tests/torch/test_compiler.py",
    "-k", "fresh_process or another_machine or another_vector_isa or variables or cut_short or log_and_runs or read_only",
]  # fmt: skip


def torch_old() -> Count:
    """What is kept with older versions, one after the other; their environments are removed afterwards."""
    counts = []
    for version in TORCH_OLD:
        counts.append(_pytest("torch-old", _with_torch("torch-old", version), *_TORCH_KEPT))
        shutil.rmtree(BUILD / "venvs" / f"torch-{version}", ignore_errors=True)
    return total(counts)


def torch(area: str = "torch") -> Count:
    """PyTorch on the CPU, with compilers that are counted, beside its own cache, and with mechanisms taken out."""
    return _pytest(area, _with_torch(area, TORCH), "tests/torch")


def interpreters_of(area: str) -> dict[str, str]:
    """Return an interpreter for each framework that could be installed."""
    found = {
        "NUMBA": _with_numba(area), "CUDA_CORE": _with_cuda_core(area, "1.2.2"), "CUTE_DSL": _with_cute_dsl(area),
        "TRITON": _with_triton(area, TRITON), "JAX": _with_jax(area, "0.12.0.1"), "WARP": _with_warp(area, "1.19.0"),
        "CUPY": _with_cupy(area, CUPY), "CUTILE": _with_cutile(area), "TORCH": _with_torch(area, TORCH),
        "NVCC": _venv(area, "nvcc-13.5.37", NVCC, ("3.11", "3.12", "3.13")),
    }  # fmt: skip
    return {name: python for name, python in found.items() if python is not None}


def frameworks() -> Count:
    """Run the examples of all adapters as make demo-all does, with frameworks that are installed already."""
    area = "frameworks"
    found = dict.fromkeys(("numba", "cuda_core", "cute_dsl", "triton", "jax"))
    given = [
        f"--python={name.lower()}={python}" for name, python in interpreters_of(area).items() if name.lower() in found
    ]
    command = [sys.executable, str(ROOT / "examples" / "frameworks.py"), *given, *found]
    status, text = run(area, command, env=environment())
    right = len(re.findall(r"^Each was compiled once", text, re.MULTILINE))
    return Count(len(found), 0, 0 if status == 0 and right == len(found) else max(1, len(found) - right))
