"""Run the tests, area by area, and say how many of each ran.

    python tests/run.py test | test-all | test-rest | with-gcc | soak | AREA...

Each area prints one line: run, skipped, failed. An area fails if it runs fewer tests
than tests/expected.txt says, because a test that silently stopped running is a defect.
The output of an area is in build/test/AREA.log.
"""

from __future__ import annotations

import signal
import sys
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Callable

sys.path.insert(0, str(Path(__file__).resolve().parent))

from areas import AREAS, BESIDE, LONGER, REST, SOAK, TEST, WITH_GCC, failures, log_of, skips
from areas.common import Count

#: How many more areas run at the same time. An area alone leaves two processors idle half of the time.
BESIDES = 2

EXPECTED = Path(__file__).resolve().parent / "expected.txt"


def expected() -> dict[str, int]:
    """Return the smallest number of tests that each area must run."""
    table = {}
    for line in EXPECTED.read_text().splitlines():
        line = line.partition("#")[0].strip()
        if line:
            name, count = line.split()
            table[name] = int(count)
    return table


def each(names: list[str], left: deque[str], take: Callable[[deque[str]], str]) -> Iterator[str]:
    """Yield names, and then take more from those that are left."""
    yield from names
    while True:
        try:
            yield take(left)
        except IndexError:
            return


def stream(names: Iterator[str]) -> dict[str, Count]:
    """Run areas one after the other; print a line for each."""
    counts = {}
    for name in names:
        log_of(name).unlink(missing_ok=True)
        start = time.monotonic()
        count = counts[name] = AREAS[name]()
        print(f"{name:16}{count.run:>6}{count.skipped:>9}{count.failed:>8}{time.monotonic() - start:>9.0f}", flush=True)
    return counts


def run(names: list[str]) -> int:
    """Run areas one after the other, with two of BESIDE at the same time; return the exit status."""
    started = time.monotonic()
    for name, why in skips.left_out().items():
        if name in names:
            print(f"{name} is left out: {why}")
    names = [n for n in names if n not in skips.left_out()]
    print(f"{'area':16}{'run':>6}{'skipped':>9}{'failed':>8}{'seconds':>9}")
    left = deque(n for n in names if n in BESIDE)
    with ThreadPoolExecutor(BESIDES) as pool:
        others = [pool.submit(stream, each([], left, deque.popleft)) for _ in range(BESIDES)]
        counts = stream(each([n for n in names if n not in BESIDE], left, deque.pop))
        for other in others:
            counts.update(other.result())
    bad = [(name, why) for name in names if (why := problem(name, counts[name]))]
    for name, what in bad:
        print(f"\n{name}: {what}; see build/test/{name}.log\n{failures.report(name) or log_end(name)}")
    print(
        f"\n{'FAILED: ' + ', '.join(n for n, _ in bad) if bad else 'passed'}, {time.monotonic() - started:.0f} seconds"
    )
    return 1 if bad else 0


def log_end(name: str) -> str:
    """Return the end of an area's log, for a failure that has no test's name."""
    log = log_of(name)
    return "\n".join(log.read_text(errors="replace").splitlines()[-60:]) if log.exists() else ""


def problem(name: str, count: Count) -> str:
    """Return what is wrong with an area's count, "" if nothing is."""
    want = expected()
    # The file has one line for all interpreters, python-*.
    least = want.get(name, want.get(name.partition("-")[0] + "-*", 0))
    if count.failed:
        return f"{count.failed} failed"
    if wrong := skips.problems(name, count.skipped):
        return "; ".join(wrong[:20])
    ran = count.run + skips.expected(name)
    return f"{ran} ran, tests/expected.txt says {least}" if ran < least else ""


def main() -> int:
    # A program that a shell starts in the background ignores Ctrl-C, and so do its children: tests of Ctrl-C would hang.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    names: list[str] = []
    for arg in sys.argv[1:]:
        names += {
            "test": TEST,
            "test-all": TEST + REST + LONGER,
            "test-rest": REST,
            "with-gcc": WITH_GCC,
            "soak": SOAK,
        }.get(arg, [arg])
    unknown = [n for n in names if n not in AREAS]
    if unknown or not names:
        print(f"tests: want test, test-all or of {', '.join(AREAS)}; not {unknown}", file=sys.stderr)
        return 2
    return run(names)


if __name__ == "__main__":
    sys.exit(main())
