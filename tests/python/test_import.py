"""Importing the package does next to nothing."""

from __future__ import annotations

import statistics

from processes import check


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
