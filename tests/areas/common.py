"""What the areas share: they run commands, and count tests in their output."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Callable, NamedTuple, TypeVar

ROOT = Path(__file__).resolve().parent.parent.parent
BUILD = ROOT / "build"
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from reach import choice, rows

import build_library

from . import failures, skips


class Count(NamedTuple):
    """How many tests ran, were skipped, and failed."""

    run: int
    skipped: int
    failed: int


Row = TypeVar("Row")

#: Seconds of processor time that each area's commands have taken, by name.
PROCESSOR: dict[str, float] = {}
_noting = threading.Lock()


def total(counts: list[Count]) -> Count:
    return Count(*(sum(c) for c in zip(*counts))) if counts else Count(0, 0, 0)


def at_once(function: Callable[[Row], Count], rows: Iterable[Row], threads: int = 4) -> Count:
    """Count rows in so many threads. Tests of controls mostly wait: one after the other they use a third of a processor."""
    with ThreadPoolExecutor(threads) as pool:
        return total(list(pool.map(function, rows)))


def skipped(area: str, *names: str) -> Count:
    """Count tests that cannot run here."""
    return Count(0, skips.note(area, *names), 0)


def log_of(area: str) -> Path:
    return BUILD / "test" / f"{area}.log"


def go_command() -> str:
    try:
        return build_library.choose_go().command
    except build_library.Missing as e:
        sys.exit(f"tests: {e}; run make venv")


def environment(**more: str) -> dict[str, str]:
    """An environment in which no test sees the user's own cache or settings."""
    own = ("JITCACHE", "PYTHON")
    env = {k: v for k, v in os.environ.items() if k.startswith("JITCACHE_TEST_") or not k.startswith(own)}
    env["JITCACHE_DIR"] = str(BUILD / "test" / "cache")
    env["XDG_CONFIG_HOME"] = str(BUILD / "test" / "settings")
    env["PATH"] = os.path.dirname(go_command()) + os.pathsep + env["PATH"]
    env.update(GOTOOLCHAIN="local", GOEXPERIMENT=build_library.runtimes.EXPERIMENT)  # as the library
    cc = build_library.find_cc()
    if cc is not None:
        env["CC"] = " ".join(cc)
    return {**env, **more}


#: Held while something that areas share is installed: they run at the same time, and a file that an installer
#: replaces is an input that changes under the tests of whoever came first.
INSTALLING = threading.Lock()


def venv(area: str, name: str, packages: Iterable[str], python: str = sys.executable) -> str | None:
    """Make a virtual environment below build/venvs unless it exists; return its Python, None if that fails."""
    made = BUILD / "venvs" / name
    ready, own = made / "ready", str(made / "bin" / "python")
    install = [own, "-m", "pip", "install", "-q", "--disable-pip-version-check", *packages]
    with INSTALLING:
        if not ready.exists():
            for command in ([python, "-m", "venv", "--clear", str(made)], install):
                if run(area, command)[0] != 0:
                    return None
            ready.touch()
    return own


def install(area: str, *packages: str) -> bool:
    """Install packages beside this Python; return whether they are there now."""
    command = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", *packages]
    with INSTALLING:
        return run(area, command)[0] == 0


def run(area: str, command: list[str], *, env: dict[str, str] | None = None, cwd: Path = ROOT) -> tuple[int, str]:
    """Run a command, add what it prints to the area's log, and return status and text."""
    log_of(area).parent.mkdir(parents=True, exist_ok=True)
    try:
        p = subprocess.Popen(
            command,
            cwd=cwd,
            env=env or environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        text = p.stdout.read() if p.stdout else ""
        _, ended, usage = os.wait4(p.pid, 0)  # with the times of what it has started and waited for
        status = p.returncode = os.waitstatus_to_exitcode(ended)
        with _noting:
            PROCESSOR[area] = PROCESSOR.get(area, 0.0) + usage.ru_utime + usage.ru_stime
    except OSError as e:
        status, text = 127, str(e)
    with open(log_of(area), "a") as log:
        log.write(f"$ {' '.join(command)}\n{text}\n[{status}]\n")
    return status, text


def print_figures(area: str) -> None:
    """Print the figures in an area's log. pytest may have written dots before them."""
    for line in re.findall(r"^\.*(figure .*)$", log_of(area).read_text(errors="replace"), re.MULTILINE):
        print(line)


def counted(status: int, text: str) -> Count:
    """Count by the lines "N run, M failed" that our own programs end with."""
    found = re.findall(r"^(\d+) run, (\d+) failed$", text, re.MULTILINE)
    ran, failed = (sum(int(n[i]) for n in found) for i in (0, 1))
    if (status != 0 or not found) and failed == 0:
        failed = 1
    return Count(ran, 0, failed)


#: What of each area runs, by name; of one that is not here, everything.
CHOICES: dict[str, choice.Choice] = {}


#: What each area leaves to another, by name (table.py).
LEFT: dict[str, Mapping[str, int]] = {}


#: The areas whose opened files are noted. The package is not compiled first there: that opens all of it.
OBSERVED: set[str] = set()


class _Shard(threading.local):
    """Which part of its area this thread runs: part n of m, counted from 1."""

    part: tuple[int, int] = (1, 1)


SHARD = _Shard()


def takes(area: str, part: str) -> bool:
    """Whether a part of an area runs that is no file of pytest's."""
    return CHOICES.get(area, choice.ALL).takes(part)


def _rows(area: str) -> rows.Wanted:
    """Return which rows pytest runs of an area.

    Areas NAME-push and NAME-rest have those that make test and a push leave of NAME.
    """
    chosen, later = CHOICES.get(area, choice.ALL), LEFT.get(area, {})
    return rows.Wanted(
        later=dict(later),
        which="all" if not later else "rest" if area.endswith(("-push", "-rest")) else "push",
        whole=None if chosen.whole is None else sorted(chosen.whole),
        share=chosen.share,
        seed=chosen.seed,
        shard=SHARD.part,
    )


def pytest(area: str, python: str, *args: str, env: dict[str, str] | None = None) -> Count:
    """Run pytest, and count by its last line. The rows are those that were chosen of the area (tests/reach)."""
    # The tests' processes write no bytecode, so each would compile the package again: of one with Numba it is a seventh.
    if area not in OBSERVED:
        run(area, [python, "-m", "compileall", "-q", "python/jitcache"])
    want = _rows(area)
    if want.which != "all":
        skips.PARTS.add(area)
    command = [python, "-m", "pytest", "-q", "-rfEs", "--no-fold-skipped", "--durations=15", "--durations-min=2"]
    # pytest closes the folder that all runs of a user share to other users, and some tests run as other users.
    folder = tempfile.mkdtemp(prefix="j")
    os.chmod(folder, 0o755)
    env = {**(env or environment()), "PYTEST_DEBUG_TEMPROOT": folder, rows.VARIABLE: want.text()}
    status, text = run(area, [*command, "-p", "no:cacheprovider", *args], env=env)
    if folder not in Path("/proc/mounts").read_text():
        shutil.rmtree(folder, ignore_errors=True)
    skips.note(area, *re.findall(r"^SKIPPED (\S.*?) - ", text, re.MULTILINE))
    for name, what in failures.of_pytest(text):
        failures.note(area, name, what)
    n = dict.fromkeys(("passed", "failed", "error", "errors", "skipped", "xfailed", "xpassed"), 0)
    lines = text.strip().splitlines()
    for number, what in re.findall(r"(\d+) (\w+)", lines[-1] if lines else ""):
        if what in n:
            n[what] += int(number)
    failed = n["failed"] + n["error"] + n["errors"]
    if status not in (0, 5) and failed == 0:
        failed = 1
    return Count(n["passed"] + n["failed"] + n["xfailed"], n["skipped"], failed)
