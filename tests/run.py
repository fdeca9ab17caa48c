"""Run the tests, area by area, and say how many of each ran.

    python tests/run.py test | test-all | AREA...

Each area prints one line: run, skipped, failed. An area that ran fewer tests
than tests/expected.txt says has failed: a test that silently stopped running is
a defect. What an area printed is in build/test/AREA.log.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Callable, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
LOGS = ROOT / "build" / "test"
sys.path.insert(0, str(ROOT))

import build_library  # noqa: E402


class Count(NamedTuple):
    run: int
    skipped: int
    failed: int


Area = Callable[[], Count]
AREAS: dict[str, Area] = {}


def area(name: str) -> Callable[[Area], Area]:
    def register(f: Area) -> Area:
        AREAS[name] = f
        return f

    return register


def go() -> str:
    found = build_library.find_go()
    if found is None:
        sys.exit("tests: Go 1.26 is missing; run make venv")
    return found


def environment() -> dict[str, str]:
    """An environment in which no test sees the user's own cache or settings."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("JITCACHE")}
    env["JITCACHE_DIR"] = str(ROOT / "build" / "test" / "cache")
    env["PATH"] = os.path.dirname(go()) + os.pathsep + env["PATH"]
    cc = build_library.find_cc()
    if cc is not None:
        env["CC"] = " ".join(cc)
    return env


def logged(name: str, command: list[str], *, env: dict[str, str] | None = None) -> tuple[int, str]:
    """Run a command, keep what it prints, and return status and text."""
    LOGS.mkdir(parents=True, exist_ok=True)
    p = subprocess.run(
        command, cwd=ROOT, env=env or environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        errors="replace", check=False,
    )
    with open(LOGS / f"{name}.log", "a") as log:
        log.write(f"$ {' '.join(command)}\n{p.stdout}\n[{p.returncode}]\n")
    return p.returncode, p.stdout


def go_test(name: str, *args: str) -> Count:
    """Count the top-level tests of a go test run."""
    status, text = logged(name, [go(), "test", "-json", *args])
    run = skipped = failed = 0
    for line in text.splitlines():
        try:
            event = json.loads(line)
        except ValueError:
            continue
        test = event.get("Test")
        if not test or "/" in test:
            continue
        action = event["Action"]
        run += action in ("pass", "fail")
        skipped += action == "skip"
        failed += action == "fail"
    if status != 0 and failed == 0:
        failed = 1  # it did not build
    return Count(run, skipped, failed)


def pytest(name: str, python: str, *args: str, env: dict[str, str] | None = None) -> Count:
    """Count the tests of a pytest run by its last line."""
    status, text = logged(name, [python, "-m", "pytest", "-q", *args], env=env)
    totals = dict.fromkeys(("passed", "failed", "error", "errors", "skipped", "xfailed"), 0)
    for n, what in re.findall(r"(\d+) (passed|failed|errors?|skipped|xfailed)", text.splitlines()[-1] if text else ""):
        totals[what] += int(n)
    failed = totals["failed"] + totals["error"] + totals["errors"]
    if status not in (0, 5) and failed == 0:
        failed = 1
    return Count(totals["passed"] + totals["failed"] + totals["xfailed"], totals["skipped"], failed)


@area("go")
def _go() -> Count:
    return go_test("go", "./...")


@area("python")
def _python() -> Count:
    return pytest("python", sys.executable, "-m", "not root")


TEST = ["go", "python"]
TEST_ALL = [*TEST]


def expected() -> dict[str, int]:
    table = {}
    for line in (ROOT / "tests" / "expected.txt").read_text().splitlines():
        line = line.partition("#")[0].strip()
        if line:
            name, count = line.split()
            table[name] = int(count)
    return table


def run(names: list[str]) -> int:
    want = expected()
    bad = []
    print(f"{'area':16}{'run':>6}{'skipped':>9}{'failed':>8}{'seconds':>9}")
    for name in names:
        (LOGS / f"{name}.log").unlink(missing_ok=True)
        start = time.monotonic()
        count = AREAS[name]()
        print(f"{name:16}{count.run:>6}{count.skipped:>9}{count.failed:>8}{time.monotonic() - start:>9.0f}", flush=True)
        if count.failed:
            bad.append(f"{name}: {count.failed} failed, see build/test/{name}.log")
        elif count.run < want.get(name, 0):
            bad.append(f"{name}: {count.run} ran, tests/expected.txt says {want[name]}")
    for line in bad:
        print(line)
        log = LOGS / f"{line.partition(':')[0]}.log"
        if log.exists():
            print("\n".join(log.read_text().splitlines()[-60:]))
    return 1 if bad else 0


def main() -> int:
    names = []
    for arg in sys.argv[1:]:
        names += {"test": TEST, "test-all": TEST_ALL}.get(arg, [arg])
    unknown = [n for n in names if n not in AREAS]
    if unknown or not names:
        print(f"tests: want test, test-all or of {', '.join(AREAS)}; not {unknown}", file=sys.stderr)
        return 2
    return run(names)


if __name__ == "__main__":
    sys.exit(main())
