"""The library keeps few descriptors open, and a child has none of its parent's to lose."""

from __future__ import annotations

from pathlib import Path

import pytest
from processes import check


def test_one_descriptor_is_kept_open(tmp_path: Path) -> None:
    """As the header says: that of the library's own file."""
    code = """
        import os, sys, time
        def descriptors():
            return {f for f in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{f}")}
        before = descriptors()
        import jitcache
        cache = jitcache.Cache(sys.argv[1])
        for n in range(50):
            cache.get_or_compile(jitcache.Key(n=n), lambda: b"x")
        lease = cache.acquire(jitcache.Key(n=-1))
        lease.release()
        time.sleep(0.2)
        print([os.path.basename(os.readlink(f"/proc/self/fd/{f}")) for f in descriptors() - before])
    """
    assert check(code, tmp_path / "cache") == "['libjitcache.so']\n"


@pytest.mark.control("go_runtime")
def test_process_that_closes_all_goes_on(tmp_path: Path) -> None:
    """The control build, of Go's own runtime, must fail this."""
    code = """
        import os, sys, threading, jitcache
        cache = jitcache.Cache(sys.argv[1], memory_size=0)
        def wait(n):
            with cache.acquire(jitcache.Key(n=n), timeout=0.3) as lease:
                assert lease.data is None
        def held(n):  # the waiters sleep in Go
            with cache.acquire(jitcache.Key(n=n)):
                threads = [threading.Thread(target=wait, args=(n,)) for _ in range(4)]
                for t in threads:
                    t.start()
                for q in range(50):
                    cache.put(jitcache.Key(q=q, n=n), b"x" * 1000)
                    assert cache.get(jitcache.Key(q=q, n=n)) == b"x" * 1000
                for t in threads:
                    t.join()
        held(1)
        os.closerange(3, 4096)
        own = [os.open(sys.argv[2] + str(n), os.O_RDWR | os.O_CREAT) for n in range(8)]
        held(2)
        pid = os.fork()
        if pid == 0:
            held(3)
            os._exit(0)
        assert os.waitpid(pid, 0)[1] == 0
        assert all(os.fstat(fd).st_size == 0 for fd in own)
    """
    check(code, tmp_path / "cache", tmp_path / "own")


@pytest.mark.control("JC_NO_PATH")
def test_child_of_a_process_that_closes_all_has_a_cache(tmp_path: Path) -> None:
    """A daemon closes all descriptors in its child, and the child's children do again."""
    code = """
        import os, sys, jitcache
        cache = jitcache.Cache(sys.argv[1], memory_size=0)
        known = jitcache.Key(n=1)
        cache.put(known, b"known")
        for depth in range(4):
            pid = os.fork()
            if pid != 0:
                status = os.waitpid(pid, 0)[1]
                os._exit(os.waitstatus_to_exitcode(status))
            os.closerange(3, 4096)
            own = os.open(sys.argv[1] + f".{depth}", os.O_RDWR | os.O_CREAT)  # takes the number of one of the library's
            assert cache.get(known) == b"known"
            assert cache.get_or_compile(jitcache.Key(depth=depth), lambda: b"x") == b"x"
            assert os.fstat(own).st_size == 0
        os._exit(0)
    """
    check(code, tmp_path / "cache")
