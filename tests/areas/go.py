"""Go's own tests, the race detector, and the fuzz targets."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator

from . import failures, skips
from .common import ROOT, Count, go_command, log_of, run, total


def test(area: str, *args: str, env: dict[str, str] | None = None, go: str = "") -> Count:
    """Count the top-level tests of a run of go test, with this checkout's Go or another."""
    status, text = run(area, [go or go_command(), "test", "-json", *args], env=env)
    counts = {"pass": 0, "fail": 0, "skip": 0}
    said: dict[str, list[str]] = {}
    for event in _events(text):
        name = ".".join(filter(None, (event.get("Package") or event.get("ImportPath"), event.get("Test"))))
        action, top = event["Action"], event.get("Test") and "/" not in event["Test"]
        said.setdefault(name, []).append(event.get("Output", ""))
        if action in ("fail", "build-fail"):
            failures.note(area, name, "".join(said[name]))
        if top and action in counts:
            counts[action] += 1
        if top and action == "skip":
            skips.note(area, name)
    failed = counts["fail"] or int(status != 0)  # or it did not build
    return Count(counts["pass"] + counts["fail"], counts["skip"], failed)


def _events(text: str) -> Iterator[dict[str, str]]:
    for line in text.splitlines():
        try:
            yield json.loads(line)
        except ValueError:
            continue


#: core/cpuid is a module of its own, so `./...` does not include it. It has the name of the module that it replaces (go.mod).
CPUID = "github.com/klauspost/cpuid/v2"


def tests() -> Count:
    return test("go", "-count=1", "./...", CPUID)


#: Packages whose tests go through each place where a call can fail, or through a million members. For races a part of
#: that is enough, which is what -short runs; the area go runs all.
LONG = ("jitcache/bundle", "jitcache/core/store")


def race() -> Count:
    listed = subprocess.run([go_command(), "list", "./..."], cwd=ROOT, capture_output=True, text=True, check=False)
    others = [package for package in listed.stdout.split() if package not in LONG]
    log_of("race").unlink(missing_ok=True)
    return total(
        [
            test("race", "-count=1", "-race", *others, CPUID),
            test("race", "-count=1", "-race", "-short", *LONG),
        ]
    )


def _targets() -> list[tuple[str, str]]:
    """Return package and name of every fuzz target."""
    found = []
    command = ["git", "ls-files", "-co", "--exclude-standard", "*_test.go"]
    for file in subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split():
        for name in re.findall(r"^func (Fuzz\w+)\(", (ROOT / file).read_text(), re.MULTILINE):
            found.append((f"./{os.path.dirname(file)}", name))
    return found


def _fuzz(area: str, seconds: int) -> Count:
    counts = []
    for package, name in _targets():
        command = [go_command(), "test", package, "-run=^$", f"-fuzz=^{name}$", f"-fuzztime={seconds}s"]
        status, text = run(area, command)
        # Until Go 1.27 the end of the time is sometimes reported as a failure
        # (golang/go#75804). A real failure comes with its input.
        found = status != 0 and not ("context deadline exceeded" in text and "Failing input" not in text)
        counts.append(Count(1, 0, int(found)))
    return total(counts)


def fuzz() -> Count:
    return _fuzz("fuzz", 60)


def fuzz_short() -> Count:
    return _fuzz("fuzz-short", 5)
