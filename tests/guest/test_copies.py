"""The runtime of a forked child comes from the library's own file, or from nowhere.

Whatever has become of the file, the child runs the code that its parent runs, or
misses with the reason "fork". It never hangs and never runs another version.
"""

from __future__ import annotations

import shutil
import textwrap
from pathlib import Path

import pytest
from processes import check

# argv: what becomes of the library's file, its descriptor, and the cache.
PROGRAM = """
    import os, sys, jitcache

    library, file, descriptors, directory = sys.argv[1:]
    cache = jitcache.Cache(directory, memory_size=0)
    known = jitcache.Key(n=1)
    assert cache.put(known, b"from the parent")
    assert jitcache._library.path() == library
    if file == "deleted":
        os.unlink(library)
    if file == "replaced":
        os.rename(library + ".other", library)
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        if descriptors == "closed":
            os.closerange(3, 4096)
        found = cache.get(known)
        result = found.decode() if found else cache.last_miss
        stored = cache.put(jitcache.Key(n=2), b"from the child")
        compiled = cache.get_or_compile(jitcache.Key(n=3), lambda: b"compiled")
        print(result, stored, compiled.decode(), flush=True)
        os._exit(0)
    status = os.waitpid(pid, 0)[1]
    assert status == 0, status
    assert cache.get(known) == b"from the parent"
"""

WORKS = "from the parent True compiled\n"
MISSES = "fork False compiled\n"


def other_version(library: Path) -> bytes:
    """Return the library's bytes with another build id: a version that would run, if it were let."""
    data = library.read_bytes()
    note = data.index(b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0") + 16
    return data[:note] + bytes(b ^ 0xFF for b in data[note : note + 20]) + data[note + 20 :]


@pytest.fixture
def own_library(library: Path, tmp_path: Path) -> Path:
    """A library that a test may delete; beside it is another version."""
    copy = tmp_path / "lib" / "libjitcache.so"
    copy.parent.mkdir()
    shutil.copy(library, copy)
    Path(f"{copy}.other").write_bytes(other_version(library))
    return copy


@pytest.mark.control("JC_NO_OWN_FILE", rows=["deleted-open-from the parent True compiled\\n"])
@pytest.mark.control("JC_NO_VERSION", rows=["replaced-closed-fork False compiled\\n"])
@pytest.mark.parametrize(
    ("file", "descriptors", "want"),
    [
        ("untouched", "open", WORKS),
        ("untouched", "closed", WORKS),
        ("deleted", "open", WORKS),
        ("deleted", "closed", MISSES),
        ("replaced", "open", WORKS),
        ("replaced", "closed", MISSES),
    ],
)
def test_child_runs_its_parents_version_or_none(
    own_library: Path, tmp_path: Path, file: str, descriptors: str, want: str
) -> None:
    out = check(PROGRAM, own_library, file, descriptors, tmp_path / "cache", env={"JITCACHE_LIBRARY": str(own_library)})
    assert out == want


def test_other_version_would_run(own_library: Path, tmp_path: Path) -> None:
    """What the tests above keep a child from is no broken file."""
    other = f"{own_library}.other"
    code = "import sys, jitcache; c = jitcache.Cache(sys.argv[1]); c.put(jitcache.Key(n=1), b'x'); print(len(c))"
    assert check(code, tmp_path / "cache", env={"JITCACHE_LIBRARY": other}) == "1\n"


# Refuses memfd_create, as a seccomp profile of a container may.
NO_MEMFD = """
    import ctypes, struct

    def refuse_memfd():
        libc = ctypes.CDLL(None, use_errno=True)
        number = {"x86_64": 319, "aarch64": 279}[os.uname().machine]
        def op(code, jt, jf, k):
            return struct.pack("HBBI", code, jt, jf, k)
        program = op(0x20, 0, 0, 0) + op(0x15, 0, 1, number) + op(0x06, 0, 0, 0x00050001) + op(0x06, 0, 0, 0x7FFF0000)
        code = ctypes.create_string_buffer(program)
        filter = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(code))
        assert libc.prctl(38, 1, 0, 0, 0) == 0  # PR_SET_NO_NEW_PRIVS
        assert libc.prctl(22, 2, filter) == 0, ctypes.get_errno()  # PR_SET_SECCOMP, SECCOMP_MODE_FILTER
"""

REFUSED = """
    import os, resource, sys, time, jitcache

    directory, how = sys.argv[1:]
    cache = jitcache.Cache(directory, memory_size=0)
    known = jitcache.Key(n=1)
    assert cache.put(known, b"from the parent")
    pid = os.fork()
    if pid == 0:
        if "memfd" in how:
            refuse_memfd()
        if "temp" in how:
            os.environ["TMPDIR"] = "/proc/nowhere"
        if "size" in how:
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        if "space" in how:
            used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_AS, (used + (100 << 20), used + (100 << 20)))
        start = time.monotonic()
        found = cache.get(known)
        result = found.decode() if found else cache.last_miss
        stored = cache.put(jitcache.Key(n=2), b"from the child") if "size" not in how or not found else None
        compiled = cache.get_or_compile(jitcache.Key(n=3), lambda: b"compiled")
        again = jitcache.Cache(directory)
        print(result, stored, compiled.decode(), again.get(known), time.monotonic() - start < 5, flush=True)
        os._exit(0)
    status = os.waitpid(pid, 0)[1]
    assert status == 0, status
    assert cache.get(known) == b"from the parent"
"""


@pytest.mark.parametrize(
    ("how", "works"),
    [("nothing", True), ("memfd", True), ("temp", True), ("memfd temp", False), ("size", False), ("space", False)],
)
def test_child_that_can_make_no_copy_misses(tmp_path: Path, how: str, works: bool) -> None:
    code = textwrap.dedent(NO_MEMFD) + textwrap.dedent(REFUSED)
    out = check("import os\n" + code, tmp_path / "cache", how)
    if works:
        assert out == "from the parent True compiled b'from the parent' True\n"
    else:
        assert out == "fork False compiled None True\n"


def test_process_without_address_space_has_no_cache(tmp_path: Path) -> None:
    code = """
        import resource, sys, jitcache
        used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + (500 << 20), used + (500 << 20)))
        cache = jitcache.Cache(sys.argv[1])
        print(cache.get(jitcache.Key(n=1)), cache.get_or_compile(jitcache.Key(n=1), lambda: b"x"), cache.last_miss)
        assert "ulimit -v" in jitcache.available()[1]
    """
    assert check(code, tmp_path / "cache") == "None b'x' unavailable\n"
