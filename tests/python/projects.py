"""Projects: a folder with a cache, and processes that compile with a framework in it, for tests of adapters."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from processes import printed

if TYPE_CHECKING:
    from prepared import Prepared, Started

ROOT = Path(__file__).resolve().parent.parent.parent

#: Variables that only jitcache and the code of tests read.
FREE = frozenset({
    "CACHE", "COMPILED", "JITCACHE", "JITCACHE_DIR", "JITCACHE_FS", "JITCACHE_LIBRARY", "JITCACHE_SHARED", "OWN", "WITHOUT",
    "XDG_CONFIG_HOME",
})  # fmt: skip


def environment(foreign: tuple[str, ...], **env: str) -> dict[str, str]:
    """Return what all processes have of the tester's environment: nothing of ours, or whose name begins with ``foreign``."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("JITCACHE_", *foreign))}
    library = {k: v for k, v in os.environ.items() if k == "JITCACHE_LIBRARY"}
    return {**kept, **library, "PYTHONDONTWRITEBYTECODE": "1", **env}


class Place:
    """Where the caches lie: ``cache``, and ``own`` of the framework's; and processes that run there.

    A subclass says what every process begins with and which variables of the tester's
    own it must not see. Its ``instrument`` writes a line for each compile.
    """

    BEGIN = ""
    FOREIGN: tuple[str, ...] = ()
    #: What processes are forked from, if not each imports the framework itself.
    PREPARED: Prepared | None = None

    def __init__(self, folder: Path, instrument: Path) -> None:
        folder.mkdir(parents=True)
        self.folder, self.cache, self.own, self.home = folder, folder / "cache", folder / "own", folder
        self._instrument = instrument
        self.log = folder / "compiled"

    def environment(self, **env: str) -> dict[str, str]:
        return {
            **environment(self.FOREIGN),
            "PYTHONPATH": os.pathsep.join([str(self._instrument), str(ROOT / "python"), str(self.folder)]),
            "HOME": str(self.home),
            "XDG_CONFIG_HOME": str(self.home / "settings"),
            "JITCACHE_DIR": str(self.cache),
            "OWN": str(self.own),
            "COMPILED": str(self.log),
            **env,
        }

    def start(self, code: str, *, stdin: int = subprocess.PIPE, fresh: str = "", **env: str) -> Started:
        """Start a process on a piece of code. ``fresh`` says why it must not be forked from PREPARED, if that is so."""
        text, pipe = self.BEGIN + textwrap.dedent(code), subprocess.PIPE
        env, cwd = self.environment(**env), self.folder
        if self.PREPARED is not None:
            return self.PREPARED.start(text, env=env, cwd=cwd, stdin=stdin, fresh=fresh)
        command = [sys.executable, "-c", text]
        return subprocess.Popen(command, env=env, cwd=cwd, stdin=stdin, stdout=pipe, stderr=pipe, text=True)

    def compiled(self, name: str | None = None) -> int:
        """Return how often the framework has compiled a program, or any program, since the last call."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        self.log.unlink(missing_ok=True)
        return sum(name in (None, line) for line in lines)

    def wait_for_compile(self, name: str | None = None) -> None:
        """Wait until the framework has begun to compile a program, or any program."""
        end = time.monotonic() + 600
        while not (self.log.exists() and (name is None or name in self.log.read_text().splitlines())):
            assert time.monotonic() < end, "no compile has begun"
            time.sleep(0.01)


class Project(Place):
    """A project whose processes must succeed, and print what they have found as lines of JSON."""

    def end(self, p: Started) -> list[Any]:
        """Wait for a process, which must succeed; return the values of its lines."""
        out, err = printed(p)
        assert p.returncode == 0, f"{p.returncode}: {out}{err}"
        self.errors = err
        return [json.loads(line) for line in out.splitlines() if line.startswith("{")]

    def run(self, code: str, **env: str) -> Any:
        """Run a process to its end; return the value of its last line."""
        return self.end(self.start(code, **env))[-1]

    def at_once(self, codes: list[str], **env: str) -> list[Any]:
        """Run processes that print ``ready`` and then wait; let them go on together; return the value of each last line."""
        return self.together([self.start(code, **env) for code in codes])

    def together(self, processes: list[Started]) -> list[Any]:
        """Let such processes go on together; return the value of each last line."""
        for p in processes:
            wait_for_ready(p)
        for p in processes:
            go_on(p)
        return [self.end(p)[-1] for p in processes]

    def entries(self) -> list[Path]:
        """Return the files of the entries."""
        return sorted(p for p in (self.cache / "v1" / "entries").rglob("*") if p.is_file())


def wait_for_ready(p: Started) -> None:
    """Wait until a process prints ``ready``; a framework may print other lines before."""
    for line in p.stdout:
        if line == "ready\n":
            return
    raise AssertionError(p.stderr.read())


def go_on(p: Started) -> None:
    """Let a process that has printed ``ready`` go on."""
    p.stdin.write("go\n")
    p.stdin.flush()


def kill(p: Started) -> None:
    """End a process with SIGKILL."""
    p.kill()
    p.communicate()


def damage(path: Path, how: str) -> None:
    """Damage a file: make it "empty", "cut" it in half, remove its "last byte", or flip a bit at "0.3" of its length."""
    data = bytearray(path.read_bytes())
    if how == "empty":
        data = bytearray()
    elif how == "cut":
        del data[len(data) // 2 :]
    elif how == "last byte":
        del data[-1:]
    else:
        data[int(len(data) * float(how))] ^= 0x10
    path.chmod(0o600)  # no entry may be written
    path.write_bytes(data)
