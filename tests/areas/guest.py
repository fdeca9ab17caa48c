"""A good guest in its host: fork, signals and exits; and the controls of these tests."""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path

from . import c, control, cpp
from .common import BUILD, Count, build_library, counted, environment, log_of, pytest, total

FOLDER = "tests/guest"

# Source, standard, and the arguments after the folder, for the short and the long variant:
# numbers of children, rounds or seconds.
PROGRAMS = [
    ("masks.c", "gnu99", [], []),
    ("signal_storm.c", "gnu99", ["2"], ["60"]),
    ("fork_threads.c", "gnu99", ["20"], ["120"]),
    ("fork_exits.c", "gnu99", ["20"], ["200"]),
    ("fork_loads.c", "gnu99", ["20"], ["100"]),
    ("fork_cost.c", "gnu99", ["20"], ["100"]),
    ("fork_refused.c", "gnu99", [], []),
    ("fork_replaced.c", "gnu99", [], []),
    ("limits.c", "gnu99", [], []),
    ("exits.cpp", "c++11", ["20"], ["200"]),
]

# Together with those of the area c, and of fork_cost.c and fork_refused.c.
FORKS = 500


def tests() -> Count:
    """The short variant, of at most 60 seconds."""
    return _all("guest", 2, 20)


def soak() -> Count:
    """The long variant; prints its figures."""
    count = _all("guest-soak", 3, 200)
    text = log_of("guest-soak").read_text()
    for line in re.findall(r"^figure (?!forks_).*$", text, re.MULTILINE):
        print(line)
    forks = sum(int(n) for n in re.findall(r"^figure forks_\w+ (\d+) forks$", text, re.MULTILINE))
    print(f"figure forks_in_all {forks} forks")
    return total([count, Count(1, 0, int(forks < FORKS))])


def controls() -> Count:
    """Each mechanism is taken out, and the tests of its promise must fail."""
    log_of("guest-controls").unlink(missing_ok=True)
    return control.of_area("guest-controls", threads=4, GUEST_TIMES="3")


def ranks() -> Count:
    """The C programs, and forks from Python, in a build that aborts if the order of locks is broken."""
    area, folder = "ranks", BUILD / "ranks"
    library = build_library.build(folder, ranks=True)
    # This build has the check, and the released one has not.
    looks = [b"takes lock" in file.read_bytes() for file in (library, BUILD / "lib" / "libjitcache.so")]
    counts = [Count(1, 0, int(looks != [True, False]))]
    for source, standard in (*c.SOURCES, *cpp.SOURCES):
        program = c.build(area, source, standard, library=folder, out=folder)
        counts.append(c.execute(area, program, folder) if program else Count(0, 0, 1))
    for source, standard, short, _ in PROGRAMS:
        program = c.build(area, source, standard, library=folder, out=folder)
        counts.append(counted(*c.run_in_folder(area, program, short)) if program else Count(0, 0, 1))
    env = environment(JITCACHE_LIBRARY=str(library), GUEST_TIMES="5")
    counts.append(pytest(area, sys.executable, FOLDER, env=env))
    counts.append(pytest(area, sys.executable, "tests/python/test_fork.py", "tests/python/test_lease.py", env=env))
    return total(counts)


def _all(area: str, arguments: int, times: int) -> Count:
    log_of(area).unlink(missing_ok=True)
    counts = []
    for row in PROGRAMS:
        program = c.build(area, row[0], row[1])
        counts.append(counted(*c.run_in_folder(area, program, row[arguments])) if program else Count(0, 0, 1))
    with tempfile.TemporaryDirectory() as folder:
        figures = Path(folder) / "figures"
        env = environment(GUEST_TIMES=str(times), GUEST_FIGURES=str(figures))
        counts.append(pytest(area, sys.executable, FOLDER, env=env))
        if figures.exists():
            with open(log_of(area), "a") as log:
                log.write(figures.read_text())
    return total(counts)
