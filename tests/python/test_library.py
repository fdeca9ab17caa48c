"""A library that cannot be used: every lookup misses, and one warning says why."""

from __future__ import annotations

import os
import shutil
import struct
from pathlib import Path

import pytest
from jitcache import _ffi, _library
from processes import check, run

LIBRARY = Path(os.path.realpath(_library.path() or ""))

EVERYTHING = """
    import ctypes, logging, os, pickle, sys, jitcache
    logging.basicConfig(format="%(levelname)s %(name)s %(message)s", stream=sys.stdout)
    key = jitcache.Key(a=1, f=jitcache.File(__import__("jitcache").__file__)).named("n")
    other = jitcache.Key(a=2)
    assert key != other and len(key.hex) == 64 and list(key.components) == ["a", "f"]
    assert pickle.loads(pickle.dumps(key)) == key
    for cache in (jitcache.default_cache(), jitcache.Cache(max_size="5G")):
        assert cache.get(key, b"d") == b"d" and cache.view(key) is None and cache.entry(key) is None
        assert cache.last_miss == "unavailable"
        assert cache.put(key, b"x") is False and cache.last_reason == "unavailable"
        assert cache.get_or_compile(key, lambda: b"compiled") == b"compiled"
        with cache.acquire(key) as lease:
            assert lease.data is None and lease.commit(b"x") is False and lease.data == b"x"
        with cache.entry_or_compile(key, lambda: b"x" * 100, attributes={"a": 1}, kind="native") as entry:
            assert bytes(entry) == b"x" * 100 and len(entry) == 100 and entry.address % 64 == 0
            assert ctypes.string_at(entry.address) == b"x" * 100
            assert (entry.attributes, entry.kind, entry.name) == ({"a": 1}, "native", "n")
            path = entry.path
            assert open(path, "rb").read() == b"x" * 100
        assert not os.path.exists(path)
        try:
            cache.get_or_compile(key, lambda: 1 / 0)
        except ZeroDivisionError:
            pass
        assert cache.remove(key) is False and len(cache) == 0 and cache
        cache.trim(); cache.clear(); cache.flush()
        assert cache.verify()["entries"] == 0 and cache.stats() == {}
        assert cache.explain(key)["reason"] == "unavailable"
        repr(cache), cache.close(), cache.close()
    ok, why = jitcache.available()
    assert not ok
    print("WHY", why)
"""


def always_misses(library: Path) -> str:
    out = check(EVERYTHING, env={"JITCACHE_LIBRARY": str(library)})
    warnings = [line for line in out.splitlines() if line.startswith("WARNING jitcache")]
    assert len(warnings) == 1, out
    why = out.partition("WHY ")[2].strip()
    assert why in warnings[0]
    assert "\n" not in why
    return why


def test_missing(tmp_path: Path) -> None:
    assert "No such file" in always_misses(tmp_path / "libjitcache.so")


@pytest.mark.parametrize("part", [0, 1, 40, 63, 64, 1000, 0.1, 0.5, 0.9, -1])
def test_truncated(tmp_path: Path, part: float) -> None:
    data = LIBRARY.read_bytes()
    n = int(len(data) * part) if isinstance(part, float) else part
    library = tmp_path / "libjitcache.so"
    library.write_bytes(data[:n])
    always_misses(library)


def test_foreign_symbol_version(tmp_path: Path) -> None:
    """A library that was built against a later glibc than the system has."""
    data = LIBRARY.read_bytes()
    # The newest version that it needs is renamed to one that no system has: in
    # the string table, and by its hash in the version table.
    old = max((v for v in versions(data)), key=lambda v: [int(x) for x in v[6:].split(b".")])
    new = b"GLIBC_9" + old[7:-1] + b"9"
    assert len(new) == len(old)
    data = data.replace(old + b"\0", new + b"\0").replace(
        struct.pack("<I", elf_hash(old)), struct.pack("<I", elf_hash(new))
    )
    library = tmp_path / "libjitcache.so"
    library.write_bytes(data)
    assert new.decode() in always_misses(library)


def versions(data: bytes) -> set[bytes]:
    import re

    return set(re.findall(rb"GLIBC_2\.[0-9]+(?:\.[0-9]+)?(?=\0)", data))


def elf_hash(name: bytes) -> int:
    h = 0
    for c in name:
        h = (h << 4) + c
        g = h & 0xF0000000
        h ^= g >> 24
        h &= ~g
    return h & 0xFFFFFFFF


def test_another_library(tmp_path: Path) -> None:
    import ctypes.util
    import sysconfig

    libc = Path(sysconfig.get_config_var("LIBDIR") or "/usr/lib")
    other = next((p for p in Path("/proc/self/maps").read_text().split() if p.endswith("libc.so.6")), None)
    if other is None:
        pytest.skip(f"no libc found, nor anything in {libc}, {ctypes.util}")
    assert "not libjitcache" in always_misses(Path(other))


def test_not_a_library(tmp_path: Path) -> None:
    library = tmp_path / "libjitcache.so"
    library.write_text("#!/bin/sh\n" * 100)
    assert "ELF" in always_misses(library)


def test_too_old(tmp_path: Path) -> None:
    out = check(
        """
        import jitcache._ffi
        jitcache._ffi.ABI_VERSION = 99
        import jitcache
        print(jitcache.available())
        """
    )
    assert "interface 1, this package needs 99" in out


def test_every_declared_function_is_in_the_library() -> None:
    """They are looked up when they are first asked for, so nothing else would notice before a program calls one."""
    lib = _library.load_or_raise()
    assert [name for name in _ffi._FUNCTIONS if not callable(getattr(lib, name))] == []
    with pytest.raises(AttributeError, match="jitcache_no_such_function"):
        lib.jitcache_no_such_function()


def test_every_place_that_was_tried_is_named(tmp_path: Path) -> None:
    package = tmp_path / "jitcache"
    shutil.copytree(Path(_library.__file__).parent, package, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    env = {"PYTHONPATH": str(tmp_path)}
    env["JITCACHE_LIBRARY"] = ""
    p = run("import jitcache; print(jitcache.__file__, jitcache.available()[1])", env=env)
    assert str(package) in p.stdout
    assert str(package / "libjitcache.so") in p.stdout
    assert "libjitcache.so.1" in p.stdout


def test_limit_on_open_files_stays_what_it_was(tmp_path: Path) -> None:
    """Go's runtime raises it at its start; the host's select and its children would be affected."""
    check(
        f"""
        import resource
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (500, hard))
        import jitcache
        cache = jitcache.Cache({str(tmp_path)!r})
        assert cache.get_or_compile(jitcache.Key(a=1), lambda: b"x") == b"x"
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == (500, hard)
        """
    )


# Asks for the cache in the same thread, as a signal handler does, in the middle of the first call.
IN_THE_MIDST = """
    import signal, sys, jitcache
    from jitcache import _cache, _default, _library, _log
    asked, opened, closed, began = [], [], [], []

    def ask(*_):
        asked.append(jitcache.default_cache())

    signal.signal(signal.SIGUSR1, ask)

    def interrupted(f):
        def run(*args, **more):
            found = f(*args, **more)
            if not began:
                began.append(True)
                signal.raise_signal(signal.SIGUSR1)
            return found
        return run

    def counted(f, calls):
        def run(self, *args, **more):
            calls.append(self)
            return f(self, *args, **more)
        return run

    room, name = {"library": (_library, "_load"), "log": (_log, "attach"), "cache": (_cache.Cache, "__init__")}[sys.argv[1]]
    setattr(room, name, interrupted(getattr(room, name)))
    _cache.Cache.__init__ = counted(_cache.Cache.__init__, opened)
    _cache.Cache.close = counted(_cache.Cache.close, closed)
    cache = jitcache.default_cache()
    assert asked == [cache], (asked, cache)
    assert cache is jitcache.default_cache()
    # The cache that was opened beside it is closed.
    assert [c for c in opened if c is not cache] == closed, (opened, closed)
    assert jitcache.available() == (True, "")
    assert cache.get_or_compile(jitcache.Key(a=1), lambda: b"x") == cache.get(jitcache.Key(a=1)) == b"x"
"""


@pytest.mark.parametrize("place", ["library", "log", "cache"])
def test_signal_handler_may_ask_in_the_midst_of_the_first_call(place: str) -> None:
    check(IN_THE_MIDST, place)


def test_handler_of_the_log_may_ask_when_the_library_is_missing(tmp_path: Path) -> None:
    """In its own thread, and in another one, as a log handler does that has a thread."""
    check(
        """
        import logging, threading, jitcache
        class Handler(logging.Handler):
            def emit(self, record):
                asked = threading.Thread(target=jitcache.default_cache)
                asked.start()
                jitcache.default_cache()
                asked.join()
                lines.append(record.getMessage())
        lines = []
        logging.getLogger("jitcache").addHandler(Handler())
        assert jitcache.default_cache() is jitcache.default_cache()
        assert len(lines) == 1, lines
        """,
        env={"JITCACHE_LIBRARY": str(tmp_path / "libjitcache.so")},
    )


def test_threads_that_ask_at_once_have_one_cache() -> None:
    check(
        """
        import threading, jitcache
        from jitcache import _cache
        start, found, opened, closed = threading.Barrier(16), [], [], []
        original, close = _cache.Cache.__init__, _cache.Cache.close
        def __init__(self):
            original(self)
            opened.append(self)
        def counted(self):
            closed.append(self)
            close(self)
        _cache.Cache.__init__, _cache.Cache.close = __init__, counted
        def ask():
            start.wait()
            found.append(jitcache.default_cache())
        threads = [threading.Thread(target=ask) for _ in range(16)]
        for t in threads: t.start()
        for t in threads: t.join()
        assert len(found) == 16 and len(set(map(id, found))) == 1
        assert {id(c) for c in opened} - {id(c) for c in closed} == {id(found[0])}
        """
    )
