"""An entry that one process uses from memory only, in a directory that another fills."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from crowd import ask
from test_cap import CAP, entry_file, fill

from build_library import find_cc

HERE = Path(__file__).resolve().parent
HOUR = 3600
LARGER = 4000

#: Uses the entry whenever it is told to, a few hundred times: Python answers hits itself
#: and tells the library every so often.
USER = """
import sys, jitcache
cache = jitcache.Cache(sys.argv[1])
key = jitcache.Key(n="hot")
assert cache.put(key, b"hot" * 1000)
for line in sys.stdin:
    for _ in range(1000):
        assert cache.get(key) == b"hot" * 1000
    print("used", cache.stats()["total"]["hits_disk"], flush=True)
"""


@pytest.fixture(scope="module")
def later(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The clock that can be put forward."""
    path = tmp_path_factory.mktemp("later") / "later.so"
    subprocess.run([*(find_cc() or ["cc"]), "-shared", "-fPIC", "-o", str(path), str(HERE / "later.c")], check=True)
    return path


def is_first_to_go(folder: Path, later: Path, hours: float) -> bool:
    """Put a hot entry, then others; let time pass, use it from memory, fill the directory.

    Report whether it was gone while entries that are younger and unused were there.
    """
    clock = folder / "clock"
    clock.touch()
    env = {**os.environ, "LD_PRELOAD": str(later), "LATER": str(clock), "PYTHONPATH": os.pathsep.join(sys.path)}
    cache = folder / "cache"
    with subprocess.Popen(
        [sys.executable, "-c", USER, str(cache)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env
    ) as user:
        assert user.stdin is not None
        assert user.stdout is not None

        def use() -> None:
            user.stdin.write("use\n")  # type: ignore[union-attr]
            user.stdin.flush()  # type: ignore[union-attr]
            assert user.stdout.readline() == "used 0\n"  # type: ignore[union-attr]

        use()
        count = CAP // LARGER // 2
        ask(folder, lambda: fill(cache, 0, count, LARGER))
        os.truncate(clock, int(hours * HOUR))
        use()
        return ask(folder, lambda: goes_first(cache, count)) == "True"


def goes_first(cache: Path, count: int) -> bool:
    """Fill the directory until half of the others have gone, or the hot one has; report whether it went first."""
    for turn in range(100):
        fill(cache, count + 10 * turn, 10, LARGER)
        left = sum(entry_file(cache, n).exists() for n in range(count))
        if not entry_file(cache, "hot").exists():
            return left > count // 2
        if left < count // 2:
            return False
    raise AssertionError("nothing was ever evicted")


def test_entry_that_is_used_from_memory_is_not_the_first_to_go(tmp_path: Path, later: Path) -> None:
    assert not is_first_to_go(tmp_path, later, hours=1.1)


def test_control_entry_whose_use_was_not_reported_goes_first(tmp_path: Path, later: Path) -> None:
    """Recency is renewed hourly; within the hour the directory knows nothing of hits in memory."""
    assert is_first_to_go(tmp_path, later, hours=0.1)
