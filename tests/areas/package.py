"""What is shipped: the library's interface, the wheel, the source distribution."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import zipfile
from pathlib import Path

import compilers

from .c import compiler
from .common import BUILD, ROOT, Count, build_library, counted, environment, run, total

CHECK = str(ROOT / "tests" / "abi" / "check.py")


def abi() -> Count:
    """Exports, soname, TLS, what it needs."""
    return counted(*run("abi", [sys.executable, CHECK, str(BUILD / "lib" / "libjitcache.so")]))


def types() -> Count:
    """The same with the types of every function, by abidiff."""
    if shutil.which("abidiff") is None:
        return Count(0, 1, 0)
    library = build_library.build(BUILD / "symbols", strip=False)
    return counted(*run("types", [sys.executable, CHECK, "--types", str(library)]))


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
    witness = folder / "compiles"
    lines = [
        run(area, [python, str(ROOT / "tests" / "readme.py"), str(witness)], env=env, cwd=folder) for _ in range(2)
    ]
    command = str(Path(python).parent / "jitcache")
    passed = [
        *(status == 0 and text.startswith("10.0 ") and "site-packages" in text for status, text in lines),
        witness.exists() and witness.read_text() == "run\n",
        run(area, [command, "verify"], env=env, cwd=folder)[0] == 0,
        run(area, [python, "-m", "jitcache", "doctor"], env=env, cwd=folder)[0] == 0,
    ]
    return Count(len(passed), 0, passed.count(False))


def _contents(area: str, wheel: Path) -> Count:
    """The wheel has what it needs and nothing of the tests."""
    names = set(zipfile.ZipFile(wheel).namelist())
    want = {f"jitcache/include/{path.name}" for path in (ROOT / "include").iterdir()}
    want |= {
        f"jitcache/{name}"
        for name in (
            "libjitcache.so.1", "__init__.py", "py.typed", "pkgconfig/jitcache.pc",
            "cmake/jitcacheConfig.cmake", "cmake/jitcacheConfigVersion.cmake",
        )
    }  # fmt: skip
    stray = [n for n in names if "test" in n or n.endswith((".go", ".pyc"))]
    if not want <= names or stray or wheel.stat().st_size > 3 << 20:
        run(area, ["echo", f"missing {want - names}, stray {stray}, {wheel.stat().st_size} bytes"])
        return Count(1, 0, 1)
    return Count(1, 0, 0)


PROGRAM = """
#include <jitcache.hpp>
int main() { return jitcache::Key().add("x", "1").hex().size() == 64 ? 0 : 1; }
"""
LISTS = """
cmake_minimum_required(VERSION 3.16)
project(host CXX)
find_package(jitcache 0.1 REQUIRED)
add_executable(host main.cpp)
target_link_libraries(host jitcache::jitcache)
"""


def _link(area: str, python: str, folder: Path) -> Count:
    """Build a program in C++ against an installed wheel: by hand, pkg-config and CMake."""
    where = {
        what: run(area, [python, "-m", "jitcache", f"--{what}dir"], cwd=folder)[1].strip()
        for what in ("include", "lib", "pkgconfig", "cmake")
    }
    (folder / "main.cpp").write_text(PROGRAM)
    (folder / "CMakeLists.txt").write_text(LISTS)
    host, build = folder / "host", folder / "build"
    compile_ = [*compiler("c++11"), "-std=c++11", str(folder / "main.cpp"), "-o", str(host)]
    rpath = f"-Wl,-rpath,{where['lib']}"
    by_hand = [f"-I{where['include']}", f"{where['lib']}/{build_library.SONAME}", rpath]
    attempts = [[[*compile_, *by_hand], [str(host)]]]
    if shutil.which("pkg-config"):
        env = environment(PKG_CONFIG_PATH=where["pkgconfig"])
        flags = run(area, ["pkg-config", "--cflags", "--libs", "jitcache"], env=env)[1].split()
        attempts.append([[*compile_, *flags, rpath], [str(host)]])
    if shutil.which("cmake"):
        configure = ["cmake", "-S", str(folder), "-B", str(build), f"-Djitcache_DIR={where['cmake']}"]
        attempts.append([configure, ["cmake", "--build", str(build)], [str(build / "host")]])
    failed = 0
    for commands in attempts:
        host.unlink(missing_ok=True)
        failed += any(run(area, command, cwd=folder)[0] != 0 for command in commands)
    return Count(len(attempts), 3 - len(attempts), failed)


def wheel() -> Count:
    """A wheel of this machine's compiler, in an empty environment."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        status, _ = run("wheel", [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", name])
        wheels = list(folder.glob("*.whl"))
        if status != 0 or len(wheels) != 1:
            return Count(0, 0, 1)
        python = _venv("wheel", folder / "venv")
        installed = _pip("wheel", python, "--no-index", str(wheels[0]))
        counts = [Count(1, 0, int(installed != 0)), _contents("wheel", wheels[0]), _try("wheel", python, folder)]
        return total([*counts, _link("wheel", python, folder)])


def sdist() -> Count:
    """The source distribution alone builds and works; so does an editable install."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        status, _ = run("sdist", [sys.executable, "-m", "build", "--sdist", "--no-isolation", "--outdir", name])
        sdists = list(folder.glob("*.tar.gz"))
        if status != 0 or len(sdists) != 1:
            return Count(0, 0, 1)
        python = _venv("sdist", folder / "venv")
        counts = [Count(1, 0, int(_pip("sdist", python, str(sdists[0])) != 0)), _try("sdist", python, folder)]
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
    """The wheel that is published: zig, glibc 2.17, as auditwheel sees it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _pip("portable", sys.executable, "ziglang", "auditwheel")
        command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", name]
        status, _ = run("portable", command, env=environment(JITCACHE_PORTABLE="1"))
        wheels = list(folder.glob("*manylinux_2_17*.whl"))
        if status != 0 or len(wheels) != 1:
            return Count(0, 0, 1)
        status, text = run("portable", [sys.executable, "-m", "auditwheel", "show", str(wheels[0])])
        # It names the oldest tag that fits, which is at most ours.
        fits = status == 0 and any(f'"manylinux_2_{n}_' in text for n in range(5, 18))
        counts = [Count(1, 0, int(not fits)), _contents("portable", wheels[0])]
        library = folder / "jitcache" / build_library.SONAME
        zipfile.ZipFile(wheels[0]).extract(f"jitcache/{build_library.SONAME}", folder)
        counts.append(counted(*run("portable", [sys.executable, CHECK, "--portable", str(library)])))
        python = _venv("portable", folder / "venv")
        counts.append(Count(1, 0, int(_pip("portable", python, "--no-index", str(wheels[0])) != 0)))
        return total([*counts, _try("portable", python, folder)])


def lint() -> Count:
    return counted(*run("lint", [sys.executable, str(ROOT / "tests" / "lint.py")]))
