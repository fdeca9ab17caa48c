"""The import of the package does almost nothing."""

from __future__ import annotations

import statistics
import subprocess
import sys
from pathlib import Path

import pytest
from processes import check

PYTHON = Path(__file__).resolve().parents[2] / "python"


def test_import_loads_no_library_and_starts_no_thread() -> None:
    out = check(
        """
        import os, sys
        import ctypes
        def threads():
            return len(os.listdir("/proc/self/task"))
        before = threads()
        import jitcache, jitcache._cache, jitcache._key, jitcache._library
        assert threads() == before == 1, threads()
        with open("/proc/self/maps") as f:
            assert "libjitcache" not in f.read()
        for module in ("logging", "subprocess", "asyncio", "typing_extensions", "importlib.metadata"):
            assert module not in sys.modules, module
        assert jitcache.available()[0]
        with open("/proc/self/maps") as f:
            assert "libjitcache" in f.read()
        assert threads() - before <= 12
        print("ok")
        """
    )
    assert out == "ok\n"


#: What the package may import beside its own modules and ctypes, which it cannot do without: nothing that is a file
#: of more than a few lines, and nothing that is read for annotations, for errors or for what few programs ask.
ALLOWED = {
    "import jitcache": {"__future__"},
    "from jitcache import *": {"__future__", "atexit"},
    """
from jitcache import Cache, Key
cache = Cache(sys.argv[1])
assert cache.get(Key(n=1)) == cache.view(Key(n=1)) == b"x"
""": {"__future__", "atexit"},
    """
import jitcache
with jitcache.default_cache() as cache:
    cache.put(jitcache.Key(n=2), b"y", replace=True)
    assert cache.get(jitcache.Key(n=3)) is None
    assert cache.get_or_compile(jitcache.Key(n=3), lambda: b"z") == b"z"
    assert cache.entry(jitcache.Key(n=3)).view == b"z"
    cache.remove(jitcache.Key(n=3))
""": {"__future__", "atexit"},
}


@pytest.mark.parametrize("code", ALLOWED)
def test_no_other_module_is_imported_until_it_is_needed(tmp_path: Path, code: str) -> None:
    """Without site, whose files import modules too."""
    check("import jitcache, sys; jitcache.Cache(sys.argv[1]).put(jitcache.Key(n=1), b'x')", tmp_path / "cache")
    head = f"import sys\nsys.path.insert(0, {str(PYTHON)!r})\nimport ctypes\nbefore = set(sys.modules)"
    tail = "print(*sorted(m for m in set(sys.modules) - before if m.partition('.')[0] != 'jitcache'))"
    text = f"{head}\n{code}\n{tail}"
    command = [sys.executable, "-S", "-c", text, str(tmp_path / "cache")]
    p = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    assert set(p.stdout.split()) <= ALLOWED[code]


def test_names_are_there_before_their_modules_are_read() -> None:
    out = check(
        """
        import jitcache, sys
        print(set(jitcache.__all__) <= set(dir(jitcache)), "jitcache._cache" in sys.modules)
        print(jitcache.Cache is jitcache.Cache, "Cache" in vars(jitcache), hasattr(jitcache, "Cahce"))
        from jitcache import *
        print(all(name in globals() for name in jitcache.__all__))
        """
    )
    assert out == "True False\nTrue True False\nTrue\n"


def test_modules_of_their_own_are_read_when_they_are_named() -> None:
    out = check(
        "import jitcache; print(jitcache.native.build.__module__, jitcache.cuda.__name__, 'mpi' in dir(jitcache))"
    )
    assert out == "jitcache.native jitcache.cuda True\n"


def test_import_is_fast() -> None:
    """Promised: 5 ms on top of ctypes. Fails at ten times that; the figure itself is in docs/bench.md."""
    code = """
        import time, ctypes, json, threading, weakref, struct, itertools
        start = time.perf_counter()
        import jitcache
        print((time.perf_counter() - start) * 1000)
    """
    times = [float(check(code)) for _ in range(5)]
    assert statistics.median(times) < 50, times


def test_every_public_name_is_documented() -> None:
    import inspect

    import jitcache

    for name in jitcache.__all__:
        thing = getattr(jitcache, name)
        assert thing.__doc__, name
        if not inspect.isclass(thing):
            continue
        for attribute, value in vars(thing).items():
            if not attribute.startswith("_") and (callable(value) or isinstance(value, (property, classmethod))):
                assert getattr(value, "__doc__", None), f"{name}.{attribute}"
