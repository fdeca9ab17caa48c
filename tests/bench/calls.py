"""Counting system calls with strace."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from runs import BenchError, Contender, Series
from workplace import Workplace

COUNT = 100
_COMMANDS = {"get": "hit", "into": "hit_into", "miss": "miss", "put": "put", "lease": "lease", "opens": "open"}
_LINE = re.compile(r"^(\d+) +(?:<\.\.\. )?(\w+)")
_MARK = re.compile(r'access\("/bench-mark/(\w+)"')


def count_calls(log: str) -> dict[str, tuple[Counter[str], int]]:
    """Count the calls between marks, of the thread that made the marks; and all others'."""
    found: dict[str, tuple[Counter[str], int]] = {}
    inside, thread = "", ""
    for line in log.splitlines():
        m, marked = _LINE.match(line), _MARK.search(line)
        if m is None:
            continue
        if marked:
            inside, thread = ("", "") if marked[1] == "end" else (marked[1], m[1])
            continue
        if not inside or " resumed>" in line:
            continue
        calls, others = found.setdefault(inside, (Counter(), 0))
        if m[1] == thread:
            calls[m[2]] += 1
        else:
            found[inside] = (calls, others + 1)
    return found


def system_calls(w: Workplace) -> Iterator[Series]:
    """One series without times: system calls per hit, miss, put, lease and open."""
    if shutil.which("strace") is None:
        w.notes.setdefault("not measured", {})["strace"] = "strace is not installed"
        return
    folder = w.entries("64k")
    large = w.small_entries(list(w.scale.caches)[-1])
    put = w.ready("put-calls")
    script = [
        f"open 0 {folder} 0 -", f"corpus 0 64k {w.count('64k')} {64 << 10}", "warm 0",
        f"get 0 {COUNT}", f"into 0 {COUNT}", f"miss 0 {COUNT}", f"opens {large} {COUNT}",
        f"open 1 {put} 0 -", f"put 1 {COUNT} 65536 65536 -", f"lease 1 {COUNT} 65536",
    ]  # fmt: skip
    found = count_calls(_trace(w.folder("strace") / "log", w.ground.bench, script))
    contenders = []
    for command, name in _COMMANDS.items():
        if command not in found:
            raise BenchError(f"strace: no system calls of {command} are to be seen")
        calls, others = found[command]
        per = {call: n / COUNT for call, n in calls.items()}
        w.notes.setdefault("system calls", {})[name] = {"calls": per, "other threads": others / COUNT}
        # Whole calls: under strace all is so slow that the runtime's threads meet
        # each other now and then, which shows as a fraction of a futex.
        contenders.append(Contender(name, lambda per=per: sum(map(round, per.values()))))  # type: ignore[misc]
        if name == "open":
            opens = sum(n for call, n in per.items() if call in ("open", "openat", "openat2"))
            contenders.append(Contender("open_opens", lambda opens=opens: opens))  # type: ignore[misc]
    yield Series("calls", contenders, 1, warm=False)


def _trace(log: Path, program: Path, script: list[str]) -> str:
    command = ["strace", "-f", "-qq", "-o", str(log), str(program)]
    p = subprocess.run(
        command,
        input="\n".join(script) + "\n",
        env={**os.environ, "BENCH_MARK": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    if p.returncode != 0:
        raise BenchError(f"strace: status {p.returncode}: {p.stderr.strip()[-300:]}")
    return log.read_text()
