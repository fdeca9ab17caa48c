"""Run the tests, area by area, and say how many of each ran.

    python tests/run.py [--affected] [--explain] [--opened] test | push | test-all | soak | AREA...
    python tests/run.py whole

``test`` is make test, ``push`` what .ci/run adds to it, ``test-all`` both and all that a
push leaves out. With --affected, areas that no change since .ci/base reaches run a tenth
of their tests (tests/reach); --explain says why each area runs, and runs nothing. With --opened,
an area fails that opens a file of the checkout which its declaration does not cover; who is
not root is told that this is not seen. ``whole`` writes .ci/whole.json, for a commit that everything runs for.

Each area prints a line: what ran of it, its tests, their seconds. An area fails if it runs
fewer tests than tests/expected.txt says, because a test that silently stopped running is a
defect. The output of an area is in build/test/AREA.log.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from areas import AREAS, SOAK, failures, log_of, names, schedule, skips, table
from areas.area import Area, When
from areas.common import CHOICES, LEFT, OBSERVED, Count
from reach import changes, choice, machine, opened

EXPECTED = Path(__file__).resolve().parent / "expected.txt"

#: The line of expected.txt for all areas together that run a tenth, and how many such areas a run has to have for it.
TENTHS, MANY = "tenths", 20

#: Set by whoever runs make test for a change, and not for all tests.
AFFECTED = "JITCACHE_TEST_AFFECTED"


def expected() -> dict[str, int]:
    """Return the smallest number of tests that each area must run."""
    table = {}
    for line in EXPECTED.read_text().splitlines():
        line = line.partition("#")[0].strip()
        if line:
            name, count = line.split()
            table[name] = int(count)
    return table


def groups() -> dict[str, list[str]]:
    """Return the areas that each word stands for."""
    test, push, later = names(When.TEST), names(When.PUSH), names(When.ALL)
    with_gcc = [name for name in test if AREAS[name].with_gcc]
    return {"test": test, "push": [*with_gcc, *push], "test-all": [*test, *push, *later], "soak": SOAK}


def areas_named(file: str, lines: list[str]) -> list[str]:
    """Return the areas that lines of expected.txt or skips.txt are about."""
    at = {"tests/expected.txt": 0, "tests/skips.txt": 1}[file]
    rows = [line.split() for line in lines if not line.startswith("#")]
    return [name for row in rows if len(row) > at for name in row[at].split(",")]


def chosen(asked: list[str]) -> dict[str, choice.Choice]:
    """Choose what runs of each area for the changes of this checkout."""
    areas = list(AREAS.values())
    try:
        found = changes.since_base()
        if different := machine.differences(machine.recorded(), machine.now()):
            raise changes.Unknown(f"this machine is not that of {changes.WHOLE}: {'; '.join(different[:3])}")
        lists = {f: areas_named(f, changes.changed_lines(found.base, f)) for f in choice.LISTS if f in found.files}
    except changes.Unknown as e:
        return choice.everything(areas, str(e))
    files = {file: lists.get(file, []) for file in found.files}
    return choice.choose(areas, choice.Reach.of_checkout(), files, found.head, asked)


def run(asked: list[str], choices: dict[str, choice.Choice], *, observe: bool = False) -> int:
    """Run areas, print a line for each, and return the exit status."""
    started = time.monotonic()
    for name, why in skips.left_out().items():
        if name in asked:
            print(f"{name} is left out: {why}")
    asked = [n for n in asked if n not in skips.left_out()]
    CHOICES.update(choices)
    skips.SOME.update(name for name, c in choices.items() if c.whole is not None)
    LEFT.update(table.LEFT)
    print(f"{'area':22}{'':11}{'run':>6}{'skipped':>9}{'failed':>8}{'seconds':>9}{'of them processor':>19}")
    runs = [n for n in asked if CHOICES.get(n, choice.ALL).kind != "inherited"]
    for name in (n for n in asked if n not in runs):
        print(f"{name:22}inherited")
    for name in runs:
        log_of(name).unlink(missing_ok=True)
    if observe and (why := opened.refused()):
        print(f"which files areas open is not seen: {why}")
        observe = False
    counts = observed(runs) if observe else schedule.run([AREAS[name] for name in runs])
    bad = [(name, why) for name in runs if (why := problem(name, counts[name]))]
    bad += [(TENTHS, why) for why in [problem_of_tenths(counts)] if why]
    for name, what in bad:
        print(f"\n{name}: {what}; see build/test/{name}.log\n{failures.report(name) or log_end(name)}")
    print(
        f"\n{'FAILED: ' + ', '.join(n for n, _ in bad) if bad else 'passed'}, {time.monotonic() - started:.0f} seconds"
    )
    if not bad:
        schedule.record(counts)
    return 1 if bad else 0


def not_covered(area: Area, reach: choice.Reach, reads: dict[str, str]) -> list[str]:
    """Return what was opened while an area ran that its declaration does not cover."""
    covered = reach.covered(area)
    rooms = {path: room or reach.rooms.room_of(path) for path, room in reads.items()}
    # What no area alone stands on is a change of everything.
    known = frozenset().union(*(reach.covered(a) for a in AREAS.values() if not a.always))
    return sorted(f"{path} is in {room}" for path, room in rooms.items() if room in known and room not in covered)


def observed(asked: list[str]) -> dict[str, Count]:
    """Run areas one after the other, and see which files of the checkout are opened meanwhile."""
    reach, counts = choice.Reach.of_checkout(), {}
    OBSERVED.update(asked)
    for name in asked:
        with opened.Opened() as seen:
            counts |= schedule.run([AREAS[name]])
        reads_all = AREAS[name].always or any(
            r == frozenset(choice.EVERY_FILE) for r in reach.parts(AREAS[name]).values()
        )
        wrong = [] if reads_all else not_covered(AREAS[name], reach, opened.reads(seen.paths, frozenset(reach.paths)))
        for line in wrong:
            failures.note(name, f"tests/areas/table.py: {name} opens what it does not name: {line}")
        counts[name] = counts[name]._replace(failed=counts[name].failed + len(wrong))
    return counts


def log_end(name: str) -> str:
    """Return the end of an area's log, for a failure that has no test's name."""
    log = log_of(name)
    return "\n".join(log.read_text(errors="replace").splitlines()[-60:]) if log.exists() else ""


def problem(name: str, count: Count) -> str:
    """Return what is wrong with an area's count, "" if nothing is."""
    if count.failed:
        return f"{count.failed} failed"
    if wrong := skips.problems(name, count.skipped):
        return "; ".join(wrong[:20])
    if CHOICES.get(name, choice.ALL).whole is not None:
        return ""  # a part of it: see problem_of_tenths
    want = expected()
    # The file has one line for all interpreters, python-*.
    least = want.get(name, want.get(name.partition("-")[0] + "-*", 0))
    ran = count.run + skips.expected(name)
    return f"{ran} ran, tests/expected.txt says {least}" if ran < least else ""


def problem_of_tenths(counts: dict[str, Count]) -> str:
    """Return what is wrong with the tenths of all areas together, "" if nothing is."""
    tenths = [count.run for name, count in counts.items() if CHOICES.get(name, choice.ALL).kind == "tenth"]
    least = expected().get(TENTHS, 0)
    return f"{sum(tenths)} ran, tests/expected.txt says {least}" if len(tenths) >= MANY and sum(tenths) < least else ""


def explain(asked: list[str], choices: dict[str, choice.Choice]) -> None:
    """Print what of each area runs, and why."""
    for name in asked:
        chosen_ = choices.get(name, choice.ALL)
        parts = f" ({', '.join(sorted(chosen_.whole))} whole)" if chosen_.kind == "ran" and chosen_.whole else ""
        print(f"{name:22}{chosen_.kind:11}{chosen_.why}{parts}")


def main() -> int:
    parser = argparse.ArgumentParser(description="Run the tests, area by area.")
    parser.add_argument(
        "--affected", action="store_true", help="what a change since .ci/base reaches, and a tenth of the rest"
    )
    parser.add_argument("--explain", action="store_true", help="say what would run, and why")
    parser.add_argument(
        "--opened",
        action="store_true",
        help="one area after the other; it fails if it opens files that it does not name",
    )
    parser.add_argument("areas", nargs="+", metavar="AREA")
    a = parser.parse_args()
    # A program that a shell starts in the background ignores Ctrl-C, and so do its children: tests of Ctrl-C would hang.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if a.areas == ["whole"]:
        machine.write()
        return 0
    known = groups()
    asked = list(dict.fromkeys(name for word in a.areas for name in known.get(word, [word])))
    if unknown := [n for n in asked if n not in AREAS]:
        print(f"tests: want {', '.join(known)} or of {', '.join(AREAS)}; not {unknown}", file=sys.stderr)
        return 2
    choices = chosen(asked) if a.affected or os.environ.get(AFFECTED) else {}
    if a.explain:
        explain(asked, choices)
        return 0
    return run(asked, choices, observe=a.opened)


if __name__ == "__main__":
    sys.exit(main())
