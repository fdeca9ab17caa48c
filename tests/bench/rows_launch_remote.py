"""Rows about launchers that share a Redis: a compile that another machine has made, a process each."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import ground
from rows_launch import each, said, tool
from rows_native import STL, C
from rows_remotes import redis
from runs import BenchError, Contender, Series
from workplace import Workplace

#: Processes of a round, one after the other, each a machine that has nothing yet.
_TOGETHER = 10


class _Launcher(NamedTuple):
    """A launcher, and the variable that names its own directory; sccache has none beside its Redis."""

    words: list[str]
    env: dict[str, str]
    own: str
    folder: Path

    def machine(self, number: int) -> dict[str, str]:
        """The environment on a machine of a number."""
        return {**self.env, self.own: str(self.folder / f"{self.own}-{number}")} if self.own else self.env

    def machines(self) -> Iterator[dict[str, str]]:
        """One after the other, and the one that compiles first."""
        return map(self.machine, itertools.count())

    def last(self, command: list[str]) -> str:
        """What the launcher says of the machine that came last."""
        numbers = [int(p.name.rpartition("-")[2]) for p in self.folder.glob(f"{self.own}-*")] if self.own else []
        return said([self.words[0], *command], self.machine(max(numbers, default=0)))


def _launchers(w: Workplace, folder: Path, port: int) -> dict[str, _Launcher]:
    """Those that are there: each with the same Redis, ccache with our helper."""
    jitcache, links = str(ground.ROOT / "build" / "lib" / "jitcache"), folder / "links"
    place = os.environ["XDG_RUNTIME_DIR"]  # of sockets, whose helpers end with it
    links.mkdir()
    subprocess.run([jitcache, "remote", "ccache-link", str(links)], stdout=subprocess.DEVNULL, check=True)
    of = {
        "ccache": (["ccache"], {"CCACHE_REMOTE_STORAGE": f"redis://127.0.0.1:{port}", "CCACHE_TEMPDIR": f"{place}/c",
                                "PATH": f"{links}{os.pathsep}{os.environ['PATH']}"}, "CCACHE_DIR"),
        "sccache": (["sccache"], {"SCCACHE_REDIS_ENDPOINT": f"redis://127.0.0.1:{port}/1", "SCCACHE_SERVER_UDS": f"{place}/s"}, ""),
        "jitcache": ([jitcache, "run"], {"JITCACHE_REMOTE": f"redis://127.0.0.1:{port}/2|trust=unsigned"}, "JITCACHE_DIR"),
    }  # fmt: skip
    found = {}
    for name, (words, env, own) in of.items():
        program = tool(words[0])
        if program is None:
            w.notes["not measured"][name] = f"{name} is not installed"
            continue
        found[name] = _Launcher([program, *words[1:]], {**os.environ, **env}, own, folder)
    return found


def _hit(name: str, launcher: _Launcher) -> bool:
    """Whether the last process of a launcher got its object from Redis."""
    if name == "ccache":
        said = launcher.last(["--print-stats"])
        return "remote_storage_hit\t1\n" in said and "cache_miss\t0\n" in said
    if name == "sccache":
        said = json.loads(launcher.last(["--show-stats", "--stats-format=json"]))["stats"]
        return bool(sum(said["cache_misses"]["counts"].values()) == 1)
    total = json.loads(launcher.last(["stats", "-json"]))["total"]
    return bool(total["hits_remote"] > 0 and total["compiles"] == 0)


def launch_remote(w: Workplace) -> Iterator[Series]:
    """An object that a Redis on loopback has, on a machine that has nothing: by ccache with our helper, sccache and jitcache run."""
    if shutil.which("gcc") is None or shutil.which("redis-server") is None:
        w.notes["not measured"]["launchers that share a Redis"] = "there is no gcc, or no redis-server"
        return
    for at, name, text in (("c", "f.c", C), ("stl", "f.cpp", STL)):
        with redis(w) as port:
            folder = w.folder(f"launch-remote-{at}")
            (folder / name).write_text(text)
            compiler = shutil.which("g++" if name.endswith(".cpp") else "gcc") or ""
            command = [compiler, "-O2", "-c", name, "-o"]
            time.sleep(0.1)  # or ccache finds the source too new
            launchers = _launchers(w, folder, port)
            found = [Contender("compiler", each([*command, "f.o"], dict(os.environ), folder, _TOGETHER))]
            for rival, launcher in launchers.items():
                # A file of its own for each: they leave it with other permissions.
                words, machines = [*launcher.words, *command, f"{rival}.o"], launcher.machines()
                each(words, machines, folder, times=1)()  # the machine that compiles it
                if rival == "jitcache":
                    launcher.last(["remote", "-timeout", "60s", "flush"])
                found.append(Contender(rival, each(words, machines, folder, _TOGETHER)))
            yield Series(at, found, w.scale.slow)
            missed = [rival for rival, launcher in launchers.items() if not _hit(rival, launcher)]
            if "sccache" in launchers:
                launchers["sccache"].last(["--stop-server"])
            if missed:
                raise BenchError(f"{at}: {', '.join(missed)} did not hit in Redis")
