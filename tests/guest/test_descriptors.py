"""The library keeps few descriptors open, and a child has none of its parent's to lose."""

from __future__ import annotations

from pathlib import Path

from processes import check


def test_three_descriptors_are_kept_open(tmp_path: Path) -> None:
    """As the header says: its own file, and two of the runtime's."""
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
        print(len(descriptors()) - len(before))
    """
    assert 1 <= int(check(code, tmp_path / "cache")) <= 3


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
