"""A panic of the core: the host lives, the library says what happened, Python goes on without a cache.

The build under test panics on purpose, for a key of the name "control panic".
"""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

import builds
import pytest
from processes import check, run, start
from test_callbacks import locks

PANICS = """
    import logging, os, pickle, sys, threading, jitcache
    logging.basicConfig(format="%(levelname)s %(name)s %(message)s", stream=sys.stdout)
    folder = sys.argv[1]
    cache = jitcache.Cache(folder, memory_size=0)
    known = jitcache.Key(n=1)
    assert cache.put(known, b"known") and cache.get(known) == b"known"
    bad = jitcache.Key(n=2).named("control panic")
"""

ALWAYS_MISSES = """
    for key in (known, bad, jitcache.Key(n=3, large="x" * 100000), jitcache.Key(f=jitcache.File("/bin/sh")),
                jitcache.Key.from_hex("ab" * 32), known.named("other"), pickle.loads(pickle.dumps(known))):
        for c in (cache, jitcache.Cache(folder + "-other"), jitcache.default_cache()):
            assert c.get(key, b"d") == b"d" and c.view(key) is None and c.entry(key) is None
            assert c.last_miss == "internal error", c.last_miss
            assert c.put(key, b"x") is False and c.last_reason == "internal error"
            assert c.get_or_compile(key, lambda: b"compiled", kind="native") == b"compiled"
            with c.acquire(key) as lease:
                assert lease.data is None and lease.commit(b"x") is False and lease.data == b"x"
            with c.entry_or_compile(key, lambda: b"x" * 100, attributes={"a": 1}) as entry:
                assert bytes(entry) == b"x" * 100 and entry.attributes == {"a": 1}
                assert open(entry.path, "rb").read() == b"x" * 100
            assert c.remove(key) is False and len(c) == 0
            c.trim(); c.clear(); c.flush(); c.verify(); c.stats(); c.explain(key); repr(c)
    assert len(jitcache.Key(n=3).hex) == 64 and list(jitcache.Key(a=1).components) == ["a"]
    try:
        cache.get_or_compile(known, lambda: 1 / 0)
    except ZeroDivisionError:
        pass
    cache.close()
"""


def panicking() -> dict[str, str]:
    return {"JITCACHE_LIBRARY": str(builds.control("panic", control="panic"))}


PANICKING_CALLS = {
    "acquire": 'assert cache.get_or_compile(bad, lambda: b"compiled") == b"compiled"',
    "put": 'assert cache.put(bad, b"x") is False',
    "explain": "cache.explain(bad)",
}


@pytest.mark.parametrize("call", PANICKING_CALLS)
def test_host_lives_and_every_lookup_misses(tmp_path: Path, call: str) -> None:
    code = f"{PANICS}\n    {PANICKING_CALLS[call]}\n{ALWAYS_MISSES}\n    print('alive')"
    out = check(code, tmp_path / "cache", env=panicking())
    assert out.endswith("alive\n")


def test_what_is_in_memory_is_still_found(tmp_path: Path) -> None:
    """The tier in memory is the front's, in C: no panic has touched it."""
    code = f"""{PANICS}
    kept = jitcache.Cache(folder)
    assert kept.get(known) == b"known"
    cache.put(bad, b"x")
    def fail():
        raise AssertionError
    for c in (kept, cache):
        found = [c.get(known), c.view(known), c.entry(known)]
        assert [f is not None for f in found] == [c is kept] * 3, found
    assert kept.get_or_compile(known, fail) == b"known"
    assert kept.get(jitcache.Key(n=3)) is None and kept.last_miss == "internal error"
    assert kept.put(known, b"other", replace=True) is False and kept.remove(known) is False
    assert kept.get(known) == b"known"
    """
    check(code, tmp_path / "cache", env=panicking())


def test_status_and_text_say_what_happened(tmp_path: Path) -> None:
    code = """
        import ctypes, os, sys, jitcache
        lib = ctypes.CDLL(os.environ["JITCACHE_LIBRARY"])
        lib.jitcache_last_error.restype = ctypes.c_char_p
        cache, key, blob, report = (ctypes.c_void_p() for _ in range(4))
        def call(name, *args):
            status = getattr(lib, "jitcache_" + name)(*args)
            return status, lib.jitcache_last_error().decode()
        assert lib.jitcache_open(None, ctypes.byref(cache)) == 0
        assert lib.jitcache_key_new(ctypes.byref(key)) == 0
        assert lib.jitcache_key_set_name(key, b"control panic") == 0
        assert lib.jitcache_key_add(key, b"a", b"b", ctypes.c_size_t(1)) == 0
        for status, text in (
            call("put", cache, key, b"x", ctypes.c_size_t(1), None, 0),
            call("get", cache, key, ctypes.byref(blob)),
            call("trim", cache),
            call("stats", cache, ctypes.byref(report)),
            call("open", None, ctypes.byref(report)),
            call("remove", cache, key),
        ):
            assert status == -12, status
            assert "internal error: injected; at goroutine" in text and "\\n" not in text, text
            assert not blob.value and not report.value
        assert lib.jitcache_last_miss() == 23
        lib.jitcache_key_free(key)
        print("closed", lib.jitcache_close(cache))
    """
    assert check(code, env=panicking()).startswith("closed")


def next_gets_what_was_held(folder: Path, env: dict[str, str]) -> bool:
    """Have a process panic that holds a lease; say whether another gets it in time."""
    code = f"""{PANICS}
    held, lease = jitcache.Key(n=9), None
    lease = cache.acquire(held)
    assert lease.data is None
    print("held", flush=True)
    sys.stdin.readline()
    waiting = []
    t = threading.Thread(target=lambda: waiting.append(cache.get_or_compile(held, lambda: b"alone")))
    t.start()
    assert cache.put(bad, b"x") is False
    t.join(timeout=60)
    assert waiting == [b"alone"], waiting  # the thread that waited is let go
    print("panicked", flush=True)
    sys.stdin.readline()
    assert lease.commit(b"late") is False
    """
    p = start(code, folder / "cache", env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert p.stdout.readline() == "held\n"
    assert locks(folder) == 1
    p.stdin.write("go\n")
    p.stdin.flush()
    assert p.stdout.readline() == "panicked\n"
    other = """
        import sys, time, jitcache
        start = time.monotonic()
        assert jitcache.Cache(sys.argv[1]).get_or_compile(jitcache.Key(n=9), lambda: b"next", timeout=6) == b"next"
        print(time.monotonic() - start < 5)
    """
    waited = check(other, folder / "cache", env={"JITCACHE_LIBRARY": str(builds.plain())})
    p.communicate("go\n", timeout=60)
    assert p.returncode == 0
    return waited == "True\n"


def test_what_the_panicked_process_held_comes_free(tmp_path: Path) -> None:
    """It lives on, so the kernel frees no lock of its own accord."""
    assert next_gets_what_was_held(tmp_path, panicking())


def test_control_locks_that_are_kept_are_seen(tmp_path: Path) -> None:
    library = builds.control("keeplocks", control="panic,keeplocks")
    assert not next_gets_what_was_held(tmp_path, {"JITCACHE_LIBRARY": str(library)})


def test_forked_child_of_a_panicked_process_has_a_cache(tmp_path: Path) -> None:
    """Its core is another one, which has not panicked."""
    code = f"""{PANICS}
    cache.put(bad, b"x")
    assert cache.get(known) is None
    late = jitcache.Key(n=1)  # made without a core: no key of any other
    pid = os.fork()
    if pid == 0:
        assert cache.get(known) == b"known" and cache.get(jitcache.Key(n=1)) == b"known"
        try:
            cache.get(late)
        except jitcache.Error as e:
            os._exit(-e.status)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    """
    assert check(code, tmp_path / "cache", env=panicking()) == "4\n"


def test_control_panic_that_leaves_the_core_kills_the_host(tmp_path: Path) -> None:
    """With recover taken out the same call ends the process."""
    library = builds.control("norecover", control="panic,norecover")
    code = f"{PANICS}\n    {PANICKING_CALLS['put']}\n    print('alive')"
    p = run(code, tmp_path / "cache", env={"JITCACHE_LIBRARY": str(library)})
    assert p.returncode in (-signal.SIGABRT, 2), p
    assert "panic: injected" in p.stderr and "alive" not in p.stdout
