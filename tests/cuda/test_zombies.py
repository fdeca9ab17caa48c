"""A process that compiles leaves nothing to process 1, which in a container often waits for nobody."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Compiler
from processes import check
from sources import OPTIONS, kernel

# Stands for process 1: it gets the children of processes that end, and waits only for the one that it has started. It
# prints who is left.
PROCESS_1 = """
    import ctypes, os, subprocess, sys, textwrap, time
    from pathlib import Path
    PR_SET_CHILD_SUBREAPER = 36
    assert ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0
    code, *words = sys.argv[1:]
    p = subprocess.run([sys.executable, "-c", textwrap.dedent(code), *words], capture_output=True, text=True)
    print(p.returncode, p.stdout.split(), p.stderr)

    def alive():
        # Whether a process that has come to this one has not ended yet.
        found = {}
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                state, parent = stat.read_text().rpartition(")")[2].split()[:2]
            except OSError:
                continue
            found[int(stat.parent.name)] = int(parent), state
        def is_below(pid):
            return pid in found and (found[pid][0] == os.getpid() or is_below(found[pid][0]))
        return any(state != "Z" and is_below(pid) for pid, (_, state) in found.items())

    end = time.monotonic() + 30
    while alive() and time.monotonic() < end:
        time.sleep(0.01)
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = stat.read_text().rpartition(")")
        except OSError:
            continue
        if int(rest.split()[1]) == os.getpid():
            print(name.partition("(")[2], rest.split()[0])
"""

COMPILE = """
    import os, sys, jitcache
    from jitcache import cuda
    directory, how, source, *options = sys.argv[1:]
    cache = jitcache.Cache(directory, memory_size=0)
    def compile(n):
        return cuda.compile(f"#define N {n}\\n{source}", options=options, cache=cache).refused or "kept"
    print(compile(1), flush=True)  # a forked child would print it again
    if how == "replaced":  # another worker takes the place of the one whose NVRTC has changed
        library = os.environ["JITCACHE_NVRTC"]
        os.utime(library)
        print(compile(2), flush=True)
    if how == "forked":
        if os.fork() == 0:
            print(compile(2), flush=True)
            sys.exit()
        assert os.wait()[1] == 0
        try:
            print("has a child", os.wait())
        except ChildProcessError:
            pass
    if how == "closed":
        cache.close()
"""


@pytest.mark.control("noendatexit", rows=["stub-once-1"])
@pytest.mark.control("noorderlyend", rows=["stub-once-1", "stub-replaced-2"])
@pytest.mark.parametrize(("how", "compiles"), [("once", 1), ("replaced", 2), ("forked", 2), ("closed", 1)])
def test_process_that_compiles_leaves_process_1_nobody_to_wait_for(
    compiler: Compiler, tmp_path: Path, how: str, compiles: int
) -> None:
    """Controls noendatexit and noorderlyend must fail this."""
    said = check(PROCESS_1, COMPILE, tmp_path / "cache", how, kernel(), *OPTIONS)
    assert said == f"0 {['kept'] * compiles} \n"
