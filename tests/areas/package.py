"""What is shipped: the library's interface, the wheel, the source distribution."""

from __future__ import annotations

import shutil
import sys
import tempfile
import zipfile
from pathlib import Path

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


# The README's five lines, and the command, from anywhere but the checkout.
TRY = """
import jitcache, sys
assert "site-packages" in jitcache.__file__, jitcache.__file__
assert jitcache.available() == (True, ""), jitcache.available()
cache = jitcache.Cache(sys.argv[1])
key = jitcache.Key(source="x", options=["-O3"], arch="sm_90").named("saxpy")
assert cache.get_or_compile(key, lambda: b"code") == b"code"
assert cache.get_or_compile(key, lambda: 1 / 0) == b"code"
"""


def _try(area: str, python: str, folder: Path) -> Count:
    """Use an installed package: import it, run its command."""
    env = environment(HOME=str(folder))
    env.pop("JITCACHE_DIR")
    cache = str(folder / "cache")
    ran = [
        run(area, [python, "-c", TRY, cache], env=env, cwd=folder)[0],
        run(area, [str(Path(python).parent / "jitcache"), "-directory", cache, "verify"], env=env, cwd=folder)[0],
        run(area, [python, "-m", "jitcache", "doctor"], env=env, cwd=folder)[0],
    ]
    return Count(len(ran), 0, sum(status != 0 for status in ran))


def _contents(area: str, wheel: Path) -> Count:
    """The wheel has what it needs and nothing of the tests."""
    names = set(zipfile.ZipFile(wheel).namelist())
    want = {"jitcache/libjitcache.so", "jitcache/include/jitcache.h", "jitcache/py.typed", "jitcache/__init__.py"}
    stray = [n for n in names if "test" in n or n.endswith((".go", ".pyc"))]
    if not want <= names or stray or wheel.stat().st_size > 3 << 20:
        run(area, ["echo", f"missing {want - names}, stray {stray}, {wheel.stat().st_size} bytes"])
        return Count(1, 0, 1)
    return Count(1, 0, 0)


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
        return total([Count(1, 0, int(installed != 0)), _contents("wheel", wheels[0]), _try("wheel", python, folder)])


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
        library = folder / "jitcache" / "libjitcache.so"
        zipfile.ZipFile(wheels[0]).extract("jitcache/libjitcache.so", folder)
        counts.append(counted(*run("portable", [sys.executable, CHECK, "--portable", str(library)])))
        python = _venv("portable", folder / "venv")
        counts.append(Count(1, 0, int(_pip("portable", python, "--no-index", str(wheels[0])) != 0)))
        return total([*counts, _try("portable", python, folder)])


def lint() -> Count:
    return counted(*run("lint", [sys.executable, str(ROOT / "tests" / "lint.py")]))
