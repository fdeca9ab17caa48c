"""The C half of the library under ThreadSanitizer. Go's half is the area race."""

from __future__ import annotations

import re
from pathlib import Path

import programs
import pytest

TSAN = "-fsanitize=thread"
HERE = Path(__file__).parent
# All of the front but the table of Go's functions: race.c has another core.
FRONT = [p for p in sorted(programs.ROOT.glob("capi/*.c")) if p.name != "table.c"]
BELOW = [
    programs.ROOT / "core" / p
    for p in ("blob/blob.c", "lockfile/held.c", "memory/hits.c", "memory/memory.c", "mutex/mutex.c")
]

pytestmark = pytest.mark.skipif(not programs.understood(TSAN), reason="this compiler has no ThreadSanitizer")


def race(folder: Path, rounds: int, *flags: str, **instead: str) -> tuple[int, str]:
    """Run race.c over the front, with some of its files replaced by others of this folder."""
    sources = [HERE / instead.get(p.stem, p) for p in (*FRONT, *BELOW)]
    flags = (*flags, "-fexceptions", "-D_GNU_SOURCE")
    program = programs.compile(folder / "race", [HERE / "race.c", *sources], *flags)
    # The sanitizer wants its memory where a random layout may not have it.
    return programs.run(Path("setarch"), "-R", program, rounds, timeout=900, TSAN_OPTIONS="halt_on_error=1")


def test_front_and_memory_have_no_races(tmp_path: Path, soak: bool) -> None:
    status, text = race(tmp_path, 3000 if soak else 100, TSAN)
    assert status == 0, text
    done, stale, live = map(int, re.findall(r"^done (\d+) stale (\d+) live (\d+)$", text, re.MULTILINE)[0])
    # Handles were closed under the hands of others, and none is left.
    assert done > 100_000 and stale > 0 and live == 0, text
    print(f"figure calls_under_tsan {done} calls")


@pytest.mark.parametrize(
    ("instead", "where"),
    [({"memory": "unlocked.c"}, "memory.c"), ({"handles": "unordered.c"}, "handles.c|blob.c|cache.c|memory.c")],
)
def test_control_planted_race_is_reported(tmp_path: Path, instead: dict[str, str], where: str) -> None:
    status, text = race(tmp_path, 100, TSAN, **instead)
    assert status != 0 and re.search(rf"SUMMARY: ThreadSanitizer: data race .*({where})", text), f"{status}: {text}"


def test_front_takes_its_locks_in_order(tmp_path: Path) -> None:
    """Without the sanitizer, in a build that aborts where the order is broken."""
    status, text = race(tmp_path, 100, "-DJC_RANKS")
    assert status == 0, text
