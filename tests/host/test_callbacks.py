"""What a compile function does on its way out: the cache stays usable and the lease comes free.

That a lease is free is seen from outside: its lock file is gone. tests/c/unwind.cpp
has the exceptions of C++, and longjmp.
"""

from __future__ import annotations

import ctypes
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import builds
import jitcache
import programs
import pytest
from jitcache import _ffi, _lease
from processes import start

KEY = jitcache.Key(n=1)


def locks(folder: Path) -> int:
    """Count the leases that are held."""
    return len(list(folder.rglob("*.jclock")))


def leave_by(cache: jitcache.Cache, folder: Path, error: BaseException) -> None:
    """Have a compile function raise, and check that its lease was held until then, and is not any more."""

    def compile() -> bytes:
        assert locks(folder) == 1
        raise error

    with pytest.raises(type(error)) as caught:
        cache.get_or_compile(KEY, compile)
    assert caught.value is error
    assert locks(folder) == 0


ERRORS = [ValueError("no"), MemoryError(), SystemExit(3), KeyboardInterrupt(), GeneratorExit()]


@pytest.mark.parametrize("error", ERRORS, ids=lambda e: type(e).__name__)
def test_exception_of_the_compiler_frees_the_lease(tmp_path: Path, error: BaseException) -> None:
    cache = jitcache.Cache(tmp_path / "cache")
    for _ in range(3):
        leave_by(cache, tmp_path, error)
    assert cache.get_or_compile(KEY, lambda: b"code") == b"code"


def test_control_lease_that_is_kept_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the release on the way out the tests above fail."""
    cache = jitcache.Cache(tmp_path / "cache")
    monkeypatch.setattr(_lease.Lease, "release", lambda self: None)
    with pytest.raises(AssertionError):
        leave_by(cache, tmp_path, ValueError("no"))


COMPILE = """
    import os, sys, threading, time, jitcache
    folder, fail = sys.argv[1], int(sys.argv[2])

    def append(word):
        fd = os.open(folder + "/compiles", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(fd, f"{word} {os.getpid()} {threading.get_ident()}\\n".encode())
        os.close(fd)

    def compile():
        append("begin")
        time.sleep(0.02)
        begun = open(folder + "/compiles").read().count("begin")
        append("end")
        if begun <= fail:
            raise ValueError(f"compile {begun}")
        return b"code"

    cache = jitcache.Cache(folder + "/cache")

    def ask():
        try:
            assert cache.get_or_compile(jitcache.Key(n=1), compile) == b"code"
            os.write(1, b"got\\n")
        except ValueError:
            os.write(1, b"failed\\n")

    print("ready", flush=True)
    sys.stdin.readline()
    threads = [threading.Thread(target=ask) for _ in range(int(sys.argv[3]))]
    for t in threads: t.start()
    for t in threads: t.join()
"""


@pytest.mark.parametrize(("processes", "threads"), [(1, 8), (6, 1), (4, 4)])
def test_failing_compilers_hand_the_lease_on(tmp_path: Path, processes: int, threads: int) -> None:
    """All who ask but one fail, one after the other, and the last one's result is everybody's."""
    askers = processes * threads
    fail = askers // 2
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    running = [start(COMPILE, tmp_path, fail, threads, **pipes) for _ in range(processes)]
    for p in running:
        assert p.stdout.readline() == "ready\n"
    for p in running:
        p.stdin.write("go\n")
        p.stdin.flush()
    answers = [line for p in running for line in p.communicate(timeout=120)[0].split()]
    assert sorted(answers) == ["failed"] * fail + ["got"] * (askers - fail)
    # One at a time, and one more than failed.
    words = [line.split() for line in (tmp_path / "compiles").read_text().splitlines()]
    assert [w[0] for w in words] == ["begin", "end"] * (fail + 1)
    assert all(a[1:] == b[1:] for a, b in zip(words[::2], words[1::2]))


def test_ctrl_c_in_a_compiler_frees_the_lease(tmp_path: Path) -> None:
    code = """
        import sys, time, jitcache
        cache = jitcache.Cache(sys.argv[1])
        key = jitcache.Key(n=1)
        def compile():
            print("compiling", flush=True)
            time.sleep(60)
        try:
            cache.get_or_compile(key, compile)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        sys.stdin.readline()
        print(cache.get_or_compile(key, lambda: b"mine").decode(), flush=True)
    """
    p = start(code, tmp_path / "cache", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert p.stdout.readline() == "compiling\n"
    assert locks(tmp_path) == 1
    time.sleep(0.05)  # into the sleep
    p.send_signal(signal.SIGINT)
    assert p.stdout.readline() == "interrupted\n"
    assert locks(tmp_path) == 0
    # Another process compiles, and the one that was interrupted takes the result.
    assert jitcache.Cache(tmp_path / "cache").get_or_compile(KEY, lambda: b"theirs") == b"theirs"
    assert p.communicate("go\n", timeout=60)[0] == "theirs\n"
    assert p.returncode == 0


def test_exception_in_a_c_callback_of_ctypes_frees_the_lease(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """ctypes swallows it and returns anything; without a commit that is no result."""
    lib = ctypes.CDLL(str(builds.plain()))
    swallowed: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda u: swallowed.append(u.exc_type))
    compile_fn = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p)

    @compile_fn
    def fail(user: int, lease: int) -> int:
        assert locks(tmp_path) == 1
        raise OverflowError

    @compile_fn
    def succeed(user: int, lease: int) -> int:
        status: int = lib.jitcache_commit(ctypes.c_void_p(lease), b"code", ctypes.c_size_t(4), None, None)
        return status

    options, cache, key, blob = (ctypes.c_void_p() for _ in range(4))
    assert lib.jitcache_options_new(ctypes.byref(options)) == _ffi.OK
    lib.jitcache_options_set(options, b"directory", str(tmp_path / "cache").encode())
    assert lib.jitcache_open(options, ctypes.byref(cache)) == _ffi.OK
    assert lib.jitcache_key_from_digest(bytes(range(32)), ctypes.byref(key)) == _ffi.OK
    lib.jitcache_options_free(options)

    def ask(fn: object) -> int:
        status: int = lib.jitcache_get_or_compile(cache, key, ctypes.c_int64(-1), fn, None, ctypes.byref(blob))
        return status

    for _ in range(3):
        assert ask(fail) != _ffi.OK
        assert not blob.value
        assert locks(tmp_path) == 0
    assert swallowed == [OverflowError] * 3
    # Nor does the thread hold anything that another would wait for.
    got: list[int] = []
    t = threading.Thread(target=lambda: got.append(ask(succeed)))
    t.start()
    t.join(timeout=60)
    assert got == [_ffi.OK]
    lib.jitcache_blob_release(blob)
    lib.jitcache_key_free(key)
    assert lib.jitcache_close(cache) == _ffi.OK


# Which tests of unwind.cpp fail without what.
UNWIND = {
    "JC_NO_UNWIND": {  # giving the lease up
        "exception_reaches_the_caller_and_the_lease_is_free",
        "longjmp_frees_the_lease_at_the_next_call",
        "longjmp_frees_the_lease_at_the_threads_end",
        "exception_through_two_callbacks_frees_both_leases",
        "longjmp_over_two_callbacks_frees_both_leases",
        "threads_that_fail_hand_the_lease_on",
    },
    "JC_NO_FRAMES": {"nested_calls_keep_the_outer_lease"},  # telling who called from where
    "JC_LATE_STORE": {"exception_after_the_commit_keeps_the_result"},  # storing at the commit
}


@pytest.mark.parametrize("control", UNWIND)
def test_control_of_callbacks_that_leave_is_seen(tmp_path: Path, control: str) -> None:
    """With a mechanism taken out of the front, its tests of tests/c/unwind.cpp fail and no other."""
    library = builds.control(control, front=control)
    program = programs.compile(tmp_path / "unwind", [programs.ROOT / "tests" / "c" / "unwind.cpp"], library=library)
    _, text = programs.run(program, tmp_path)
    assert set(re.findall(r"^FAILED (\w+)$", text, re.MULTILINE)) == UNWIND[control], text
