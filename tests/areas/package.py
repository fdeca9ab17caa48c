"""What a release has: the library's interface, the wheel, the source distribution."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
import tempfile
import zipfile
from pathlib import Path

import compilers
from lint import PYTHON_TOOLS

from .c import compiler
from .common import (
    BUILD,
    ROOT,
    Count,
    build_library,
    counted,
    environment,
    go_command,
    pytest,
    run,
    skipped,
    total,
    venv,
)

#: pyright, with the node.js that it needs, from PyPI.
PYRIGHT = "pyright[nodejs]==1.1.414"

CHECK = str(ROOT / "tests" / "abi" / "check.py")


def abi() -> Count:
    """Check the library's exports, soname, TLS and dependencies."""
    return counted(*run("abi", [sys.executable, CHECK, str(BUILD / "lib" / "libjitcache.so")]))


def types() -> Count:
    """Check the types of every C function, by abidiff, and of the Python package as users see it, by mypy and pyright."""
    return total([_types_in_c(), _types_in_python()])


def _types_in_c() -> Count:
    if shutil.which("abidiff") is None:
        return skipped("types", "types")
    library = build_library.build(BUILD / "symbols", strip=False)
    return counted(*run("types", [sys.executable, CHECK, "--types", str(library)]))


def _types_in_python() -> Count:
    python = venv(
        "types", "types-2", [PYRIGHT, "typing-extensions", *(tool for tool in PYTHON_TOOLS if tool.startswith("mypy"))]
    )
    if python is None:
        return Count(0, 0, 1)
    # Install it as a user does: mypy would check everything on MYPYPATH.
    status, text = run("types", [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"])
    if status != 0:
        return Count(0, 0, 1)
    installed = Path(text.strip()) / "jitcache"
    shutil.rmtree(installed, ignore_errors=True)
    shutil.copytree(ROOT / "python" / "jitcache", installed, ignore=shutil.ignore_patterns("*.so*", "__pycache__"))
    programs = sorted((ROOT / "tests" / "typed").glob("*.py"))
    command = [python, "-m", "mypy", "--strict", "--config-file=", "--no-incremental", "--python-version=3.10"]
    failed = sum(run("types", [*command, str(p)])[0] != 0 for p in programs)
    folder = BUILD / "test" / "typed"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "tests" / "typed", folder, ignore=shutil.ignore_patterns("__pycache__"))
    rules = {"typeCheckingMode": "strict", "reportUnnecessaryTypeIgnoreComment": True, "pythonVersion": "3.10"}
    (folder / "pyrightconfig.json").write_text(json.dumps(rules))
    status, _ = run("types", [python, "-m", "pyright", "--pythonpath", python], cwd=folder)
    return Count(len(programs) + 1, 0, failed + int(status != 0))


def _venv(area: str, folder: Path) -> str:
    run(area, [sys.executable, "-m", "venv", str(folder)])
    return str(folder / "bin" / "python")


def _pip(area: str, python: str, *args: str) -> int:
    return run(area, [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *args])[0]


def _try(area: str, python: str, folder: Path) -> Count:
    """Use an installed package: the README's lines twice, and the command."""
    bin_ = folder / "bin"
    bin_.mkdir()
    compilers.script(bin_ / "gcc", compilers.c())
    env = environment(HOME=str(folder))
    env["PATH"] = f"{bin_}{os.pathsep}{env['PATH']}"
    for name in ("JITCACHE_DIR", "XDG_CACHE_HOME", "PYTHONPATH"):
        env.pop(name, None)
    log_file = folder / "compiles"
    lines = [
        run(area, [python, str(ROOT / "tests" / "readme.py"), str(log_file)], env=env, cwd=folder) for _ in range(2)
    ]
    command = str(Path(python).parent / "jitcache")
    # The output is random. If both runs print the same, the second was a replay, so the launcher has found its observer.
    launched = [
        run(area, [command, "run", "od", "-A", "n", "-N", "16", "/dev/urandom"], env=env, cwd=folder) for _ in range(2)
    ]
    start = folder / "start"
    start.mkdir()
    followed = run(area, [python, str(ROOT / "tests" / "start.py"), str(Path(python).parent), str(start)], env=env)
    passed = [
        followed[0] == 0 and followed[1].endswith("warm\n"),
        *(status == 0 and text.startswith("10.0 ") and "site-packages" in text for status, text in lines),
        log_file.exists() and log_file.read_text() == "run\n",
        run(area, [command, "verify"], env=env, cwd=folder)[0] == 0,
        launched[0] == launched[1] and launched[0][0] == 0,
        run(area, [python, "-m", "jitcache", "doctor"], env=env, cwd=folder)[0] == 0,
    ]
    return Count(len(passed), 0, passed.count(False))


def _contents(area: str, wheel: Path) -> Count:
    """The wheel has all its files, and none of the tests."""
    names = set(zipfile.ZipFile(wheel).namelist())
    want = {f"jitcache/include/{path.name}" for path in (ROOT / "include").iterdir()}
    want |= {"_jitcache_startup.py", "jitcache_startup.pth"}
    want |= {
        f"jitcache/{name}"
        for name in (
            "libjitcache.so.1", "libjitcache.so", "jitcache-observe", "__init__.py", "py.typed", "pkgconfig/jitcache.pc",
            "cmake/jitcacheConfig.cmake", "cmake/jitcacheConfigVersion.cmake",
        )
    }  # fmt: skip
    stray = [n for n in names if "test" in n or n.endswith((".go", ".pyc"))]
    programs = sorted(n.rpartition(".data/scripts/")[2] for n in names if ".data/scripts/" in n)
    # Compressed, the library and each command take two megabytes, and the helper, with the engines' clients, four.
    if not want <= names or stray or programs != ["jitcache", "jitcache-bundle"] or wheel.stat().st_size > 11 << 20:
        run(area, ["echo", f"missing {want - names}, stray {stray}, {wheel.stat().st_size} bytes"])
        return Count(1, 0, 1)
    return Count(1, 0, 0)


PROGRAMS = {
    "c": """
#include <jitcache.h>
int main(void) { return jitcache_abi_version() >= JITCACHE_ABI_VERSION ? 0 : 1; }
""",
    "cpp": """
#include <jitcache.hpp>
int main() { return jitcache::Key().add("x", "1").hex().size() == 64 ? 0 : 1; }
""",
}
LISTS = """
cmake_minimum_required(VERSION 3.16)
project(host C CXX)
set(CMAKE_CXX_STANDARD 11)
find_package(jitcache 0.1 REQUIRED)
foreach(language c cpp)
  add_executable(host_${language} main.${language})
  target_link_libraries(host_${language} jitcache::jitcache)
endforeach()
"""


def _link(area: str, python: str, folder: Path) -> Count:
    """Programs in C and C++ build against an installed wheel in every documented way, and start without settings."""
    folder.mkdir()
    for language, text in PROGRAMS.items():
        (folder / f"main.{language}").write_text(text)
    (folder / "CMakeLists.txt").write_text(LISTS)
    env = environment(**compilers.variables())
    env.pop("LD_LIBRARY_PATH", None)

    def ask(*command: str) -> str:
        return run(area, [*command], env=env, cwd=folder)[1].strip()

    own = {what: ask(python, "-m", "jitcache", f"--{what}dir") for what in ("include", "lib", "pkgconfig", "cmake")}
    ways = {
        "-ljitcache": [f"-I{own['include']}", f"-L{own['lib']}", f"-Wl,-rpath,{own['lib']}", "-ljitcache"],
        "--cflags --libs": shlex.split(ask(python, "-m", "jitcache", "--cflags", "--libs")),
    }
    without = []
    env["PKG_CONFIG_PATH"] = own["pkgconfig"]
    if shutil.which("pkg-config"):
        ways["pkg-config"] = shlex.split(ask("pkg-config", "--cflags", "--libs", "jitcache"))
    else:
        without.append("pkg-config")
    attempts = [
        [[*compiler(standard), f"-std={standard}", f"main.{language}", "-o", f"by{i}", *flags], [f"./by{i}"]]
        for i, flags in enumerate(ways.values())
        for language, standard in (("c", "c99"), ("cpp", "c++11"))
    ]
    if shutil.which("cmake"):
        configure = ["cmake", "-S", ".", "-B", "build", f"-Djitcache_DIR={own['cmake']}"]
        attempts.append([configure, ["cmake", "--build", "build"], ["build/host_c"], ["build/host_cpp"]])
    else:
        without.append("cmake")
    failed = sum(any(run(area, command, env=env, cwd=folder)[0] != 0 for command in commands) for commands in attempts)
    return total([Count(len(attempts), 0, failed), skipped(area, *without)])


def wheel() -> Count:
    """Build a wheel with this machine's compiler, and try it in an empty environment."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        status, _ = run("wheel", [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", name])
        wheels = list(folder.glob("*.whl"))
        if status != 0 or len(wheels) != 1:
            return Count(0, 0, 1)
        python = _venv("wheel", folder / "venv")
        installed = _pip("wheel", python, "--no-index", str(wheels[0]))
        counts = [Count(1, 0, int(installed != 0)), _contents("wheel", wheels[0]), _try("wheel", python, folder)]
        return total([*counts, _link("wheel", python, folder / "link")])


def tests(area: str = "package") -> Count:
    """The tests of the build, the versions and the pages."""
    return pytest(area, sys.executable, "tests/package", "-m", "not rest")


def bench() -> Count:
    """The benchmark installs the packages that its rows need, in an environment without them."""
    area, result = "bench", BUILD / "bench" / "bench.json"
    python = venv(area, "bench", ["-r", str(ROOT / "tests" / "requirements.txt")])
    if python is None:
        return Count(0, 0, 1)
    result.unlink(missing_ok=True)
    rows = ["native_hit", "disk_hit_bytes_python", "layer_hit", "signed_layer", "key", "cuda_core_hit"]
    run(area, [python, str(ROOT / "tests" / "bench" / "bench.py"), "--quick", *(f"--only={row}" for row in rows)])
    doc = json.loads(result.read_text()) if result.exists() else {"notes": {"not measured": "all"}, "figures_us": {}}
    right = not doc["notes"]["not measured"] and set(rows) <= {row for row, at in doc["figures_us"].items() if at}
    return Count(len(rows), 0, 0 if right and "cython" in doc["figures_us"]["native_hit"] else len(rows))


def _own_tests(area: str, sdist: Path, folder: Path) -> Count:
    """Run some tests from the unpacked source distribution."""
    shutil.unpack_archive(sdist, folder)
    (tree,) = folder.iterdir()
    status, _ = run(area, [go_command(), "test", "-count=1", "./core/key", "./core/lease"], cwd=tree)
    env = environment(JITCACHE_LIBRARY=str(BUILD / "lib" / "libjitcache.so"))
    files = [str(tree / "tests" / "python" / name) for name in ("test_key.py", "test_mapping.py")]
    return total([Count(1, 0, int(status != 0)), pytest(area, sys.executable, "-m", "not root", *files, env=env)])


def sdist() -> Count:
    """The source distribution builds and works by itself; so does an editable install."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        status, _ = run("sdist", [sys.executable, "-m", "build", "--sdist", "--no-isolation", "--outdir", name])
        sdists = list(folder.glob("*.tar.gz"))
        if status != 0 or len(sdists) != 1:
            return Count(0, 0, 1)
        python = _venv("sdist", folder / "venv")
        counts = [Count(1, 0, int(_pip("sdist", python, str(sdists[0])) != 0)), _try("sdist", python, folder)]
        counts.append(_own_tests("sdist", sdists[0], folder / "unpacked"))
        editable = _venv("sdist", folder / "editable")
        failed = _pip("sdist", editable, "-e", str(ROOT))
        status, _ = run(
            "sdist",
            [editable, "-c", "import jitcache; assert jitcache.available()[0], jitcache.available()"],
            cwd=folder,
        )
        counts.append(Count(2, 0, int(failed != 0) + int(status != 0)))
        return total(counts)


def portable() -> Count:
    """The wheel as it is published, built by zig against glibc 2.17, and checked by auditwheel."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _pip("portable", sys.executable, "ziglang", "auditwheel")
        command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", name]
        status, _ = run("portable", command, env=environment(JITCACHE_PORTABLE="1"))
        wheels = list(folder.glob("*manylinux_2_17*.whl"))
        if status != 0 or len(wheels) != 1:
            return Count(0, 0, 1)
        status, text = run("portable", [sys.executable, "-m", "auditwheel", "show", str(wheels[0])])
        # auditwheel names the oldest tag that fits, which may be older than ours.
        fits = status == 0 and any(f'"manylinux_2_{n}_' in text for n in range(5, 18))
        counts = [Count(1, 0, int(not fits)), _contents("portable", wheels[0])]
        library = folder / "jitcache" / build_library.SONAME
        zipfile.ZipFile(wheels[0]).extract(f"jitcache/{build_library.SONAME}", folder)
        counts.append(counted(*run("portable", [sys.executable, CHECK, "--portable", str(library)])))
        python = _venv("portable", folder / "venv")
        counts.append(Count(1, 0, int(_pip("portable", python, "--no-index", str(wheels[0])) != 0)))
        counts.append(pytest("portable", sys.executable, "tests/package", "tests/packages", "-m", "rest"))
        return total([*counts, _try("portable", python, folder)])


def lint() -> Count:
    return counted(*run("lint", [sys.executable, str(ROOT / "tests" / "lint.py")]))
