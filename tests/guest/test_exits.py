"""An interpreter that shuts down while its threads are inside the library."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from processes import check, run

DAEMONS = """
    import sys, threading, time, jitcache

    directory, memory, end = sys.argv[1:]
    cache = jitcache.Cache(directory, memory_size=memory)
    known = jitcache.Key(n=1)
    cache.put(known, b"known")
    held = cache.acquire(jitcache.Key(n=2))
    entered = []

    def look_up():
        entered.append(1)
        for n in range(10**9):
            assert cache.get(known) == b"known"
            cache.view(jitcache.Key(n=3))

    def wait():
        entered.append(1)
        cache.acquire(jitcache.Key(n=2))

    for f in (look_up, look_up, wait, wait):
        threading.Thread(target=f, daemon=True).start()
    while len(entered) < 4:
        time.sleep(0.001)
    time.sleep(0.01)
    print("ends", flush=True)
    if end == "error":
        raise RuntimeError("on purpose")
    if end == "exit":
        sys.exit(3)
"""


@pytest.mark.control("JC_LINGERS", rows=["0-return"])
@pytest.mark.parametrize("end", ["return", "exit", "error"])
@pytest.mark.parametrize("memory", ["0", "1Mi"])
def test_daemon_threads_in_the_library_do_not_keep_the_interpreter(
    tmp_path: Path, times: int, memory: str, end: str
) -> None:
    want = {"return": 0, "exit": 3, "error": 1}[end]
    for _ in range(max(1, times // 6)):
        start = time.monotonic()
        p = run(DAEMONS, tmp_path / "cache", memory, end)
        assert time.monotonic() - start < 10  # it ends at once
        assert (p.returncode, p.stdout) == (want, "ends\n"), p.stderr
        assert ("on purpose" in p.stderr) == (end == "error"), p.stderr
        assert "Fatal" not in p.stderr
        assert "panic" not in p.stderr


@pytest.mark.control("unloads")
def test_library_stays_loaded_after_dlclose(library: Path, tmp_path: Path) -> None:
    code = """
        import _ctypes, ctypes, sys

        lib = ctypes.CDLL(sys.argv[1])
        cache = ctypes.c_void_p()
        assert lib.jitcache_open(None, ctypes.byref(cache)) == 0
        count = ctypes.c_uint64()
        for _ in range(20):
            _ctypes.dlclose(lib._handle)
            assert sys.argv[1] in open("/proc/self/maps").read()
            assert lib.jitcache_count(cache, ctypes.byref(count)) == 0
            again = ctypes.CDLL(sys.argv[1])
            assert again.jitcache_count(cache, ctypes.byref(count)) == 0
            _ctypes.dlclose(again._handle)
        assert lib.jitcache_close(cache) == 0
        print("closed")
    """
    assert check(code, library) == "closed\n"
