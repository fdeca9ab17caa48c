"""Random walks through a closed little world: no answer is ever another than that of a build without the cache.

The world has headers, libraries, a wrapper, tools, files of options and variables.
Each step edits, adds, removes, retargets or replaces one of them, or nothing, and
asks. The walk goes on until nothing new has happened for a while: a file of a kind,
what was done to it, what the cache noticed, and what came of it.
"""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jitcache
import pytest
from conftest import COMPILERS, in_process, need
from coverage_of_walks import Coverage, fact, kind
from world import World

#: How long a walk may take in CI, and how many steps without anything new end it anywhere.
SECONDS = float(os.environ.get("NATIVE_WALK_SECONDS") or 20)
STEPS_WITHOUT_NEWS = 150

#: Now and then another process is asked, which knows what is stored and nothing else.
ELSEWHERE = 20

FOLDERS = ("inc0", "inc1", "inc2", "lib0", "lib1", "bin", "many")

SOURCE = """#include <h0.h>
#include "h1.h"
#if __has_include(<h2.h>)
#define HAS 1
#else
#define HAS 0
#endif
int value(void);
int f(void) { return value() + V0 + 100 * V1 + 10000 * HAS + F + W; }
int g(void) { return 1; }
"""


class Walk:
    """The world, and what can be done to it."""

    def __init__(self, folder: Path, compiler: str, seed: int, patch: pytest.MonkeyPatch) -> None:
        self.random = random.Random(seed)
        self.world = World(folder, compiler)
        self.compiler, self.patch = need(compiler), patch
        self.variants: dict[str, list[Callable[[Path], None]]] = {}
        (folder / "parts").mkdir()
        for name in FOLDERS:
            (folder / f"{name}-real").mkdir()
            (folder / name).symlink_to(f"{name}-real")
        self._libraries()
        self._texts()
        self._tools()
        self.repair()
        patch.setenv("PATH", f"{folder}/bin{os.pathsep}{os.environ['PATH']}")
        self.world.asked = {
            "sources": {"f.c": SOURCE},
            "compiler": str(folder / "wrapper"),
            "flags": [
                *(f"-I{folder}/inc{i}" for i in range(3)), f"@{folder}/flags",
                f"-L{folder}/lib0", f"-L{folder}/lib1", f"-Wl,--version-script,{folder}/v.map",
            ],
            "libraries": ["v"],
        }  # fmt: skip

    def repair(self) -> tuple[str, str]:
        """Make what is needed as it was in the beginning."""
        for name in FOLDERS:
            (self.world.folder / name).unlink(missing_ok=True)
            (self.world.folder / name).symlink_to(f"{name}-real")
        for path in ("inc1/h0.h", "inc2/h1.h", "lib1/libv.a", "flags", "conf", "v.map", "wrapper"):
            (self.world.folder / path).unlink(missing_ok=True)
            self.variants[path][0](self.world.folder / path)
        for name in ("SITE", "CPATH", "LIBRARY_PATH", "C_INCLUDE_PATH"):
            self.patch.delenv(name, raising=False)
        for path in ("lib0/libv.so", "lib1/libv.so", "inc0/h0.h", "inc0/h1.h"):
            (self.world.folder / path).unlink(missing_ok=True)
        return "", "repaired"

    def _text(self, path: str, *texts: str, mode: int = 0o644) -> None:
        def write(text: str) -> Callable[[Path], None]:
            def put(at: Path) -> None:
                at.write_text(text)
                at.chmod(mode)

            return put

        self.variants[path] = [write(t) for t in texts]

    def _texts(self) -> None:
        for i in range(3):
            other = "#undef V0\n#if __has_include_next(<h0.h>)\n#include_next <h0.h>\n#endif\n#ifndef V0\n#define V0 7\n#endif\n"
            self._text(f"inc{i}/h0.h", f"#define V0 {i + 1}\n", f"#define V0 {i + 4}\n", other)
            self._text(f"inc{i}/h1.h", f"#define V1 {i + 1}\n", f"#include <h3.h>\n#define V1 {i + 4}\n")
            self._text(f"inc{i}/h2.h", "#define UNUSED 1\n", "#error never read\n")
            self._text(f"inc{i}/h3.h", f"#define V3 {i}\n", "")
        self._text("flags", "-DF=1\n", "-DF=2\n", "-DF=1 -O1\n", "@more\n")
        self._text("conf", "1\n", "2\n", "3\n")
        self._text("v.map", "{ global: f; local: *; };\n", "{ global: f; g; local: *; };\n")
        self._text("mark", "", "x")
        for i in range(2):
            self._text(f"many/{i}", "")

    def _libraries(self) -> None:
        parts = self.world.folder / "parts"
        for v in (1, 2):
            self.world.archive(f"parts/{v}.a", v)
            self.world.shared(f"parts/{v}.so", v)
            self.world.object(f"parts/{v}.o", v)

        def copy(name: str) -> Callable[[Path], None]:
            return lambda at: void(shutil.copy(parts / name, at))

        def script(v: int) -> Callable[[Path], None]:
            return lambda at: void(at.write_text(f"INPUT({parts}/{v}.o)\n"))

        for i in range(2):
            self.variants[f"lib{i}/libv.a"] = [copy("1.a"), copy("2.a")]
            self.variants[f"lib{i}/libv.so"] = [copy("1.so"), script(1), script(2)]
        self.variants["parts/1.o"] = [lambda at: void(self.world.object(f"parts/{at.name}", 3))]

    def _tools(self) -> None:
        here = self.world.folder
        for name in ("as", "ld"):
            real = need(name)
            self._text(f"bin/{name}", *(f'#!/bin/sh\nexec {real} --defsym X={v} "$@"\n' for v in (7, 8)), mode=0o755)
        self._text(
            "wrapper",
            f'#!/bin/sh\nread w < {here}/conf\n[ -e {here}/mark ] && w=9\nexec {self.compiler} -DW=$w "$@"\n',
            f'#!/bin/sh\nw=$(ls {here}/many | wc -l)\nexec {self.compiler} -DW=$w$SITE "$@"\n',
            f'#!/bin/sh\nw=1; [ {here}/mark -nt {here}/conf ] && w=2\nexec {self.compiler} -DW=$w "$@"\n',
            mode=0o755,
        )

    def step(self) -> tuple[str, str]:
        """Do something; return to what kind of thing, and what."""
        folder = self.world.folder
        if self.random.random() < 0.25:
            return "", "nothing"
        if self.random.random() < 0.15:
            name = self.random.choice(["SITE", "CPATH", "LIBRARY_PATH", "C_INCLUDE_PATH", "UNRELATED", "SHLVL"])
            value = self.random.choice(["", "1", f"{folder}/inc0", f"{folder}/lib0"])
            self.patch.delenv(name, raising=False) if not value else self.patch.setenv(name, value)
            return name, "set" if value else "unset"
        if self.random.random() < 0.15:
            return self._folder(folder / self.random.choice(FOLDERS))
        path = self.random.choice(list(self.variants))
        return path, self._file(folder / path, self.random.choice(self.variants[path]))

    def _folder(self, link: Path) -> tuple[str, str]:
        """Retarget a folder's link, or put another folder in its place."""
        what = self.random.choice(["copied", "emptied", "back", "gone"])
        link.unlink(missing_ok=True)
        other = link.parent / f"{link.name}-{what}"
        if what == "copied":
            shutil.rmtree(other, ignore_errors=True)
            shutil.copytree(link.parent / f"{link.name}-real", other, symlinks=True)
        elif what == "emptied":
            other.mkdir(exist_ok=True)
        elif what == "back":
            other = link.parent / f"{link.name}-real"
        link.symlink_to(other.name)
        return link.name, what

    def _file(self, path: Path, put: Callable[[Path], None]) -> str:
        if not path.parent.is_dir():
            return "nothing"
        what = self.random.choice(["edited", "removed", "replaced", "touched", "closed", "linked", "same time"])
        there = path.is_file()
        before = os.stat(path) if there else None
        if what == "removed" and path.name != "wrapper":
            path.unlink(missing_ok=True)
        elif what == "touched" and there:
            when = self.random.randrange(10**9, 2 * 10**9)
            os.utime(path, (when, when))
        elif what == "closed" and there:
            path.chmod(self.random.choice([0o644, 0o755, 0o700]) | (0o111 if path.name == "wrapper" else 0))
        elif what == "linked" and there and not path.is_symlink():
            target = path.with_name(f"{path.name}-target")
            path.rename(target)
            path.symlink_to(target.name)
        elif what == "edited" and there:
            put(path)
        else:
            path.unlink(missing_ok=True)
            put(path)
            if before is not None and what == "same time":
                os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        return what


def void(_: object) -> None:
    """Drop a value."""


@pytest.mark.control("noabsent", rows=["gcc"])
@pytest.mark.parametrize("compiler", COMPILERS)
def test_walk_leaves_no_wrong_hit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compiler: str) -> None:
    seed = int(os.environ.get("NATIVE_WALK_SEED") or random.randrange(10**6))
    print(f"NATIVE_WALK_SEED={seed}")
    walk = Walk(tmp_path / "world", compiler, seed, monkeypatch)
    coverage = Coverage(STEPS_WITHOUT_NEWS, SECONDS)
    results: set[bytes | None] = set()
    n = unchanged = hits = back = failures = 0
    with jitcache.Cache(tmp_path / "cache", memory_size=0) as cache:
        while not coverage.over:
            path, what = walk.repair() if failures == 3 else walk.step() if n else ("", "begun")
            fresh = walk.world.fresh()
            failures = 0 if fresh is not None else failures + 1
            got, hit, refused = ask(walk.world, cache, tmp_path, fresh is not None and n % ELSEWHERE == ELSEWHERE - 1)
            assert got == fresh, f"seed {seed}, step {n}, {path} {what}: {'a wrong hit' if hit else 'a wrong answer'}"
            assert not refused, f"seed {seed}, step {n}, {path} {what}: {refused}"
            came = "failed" if fresh is None else "hit" if hit else "made"
            coverage.step(kind(path), what, fact(walk.world.missed), came)
            back += hit and fresh in results and what != "nothing"
            results.add(fresh)
            if what == "nothing" and fresh is not None:
                unchanged += 1
                hits += hit
            n += 1
    print(
        f"figure walk_with_{compiler} {coverage}; {len(results)} results, {unchanged} steps unchanged, {hits} of those hits, {back} other hits"
    )
    assert len(results) >= min(n, 1000) // 20  # something new at every twentieth step, on a slow machine too
    assert unchanged >= n // 12
    assert hits >= 0.8 * unchanged


def ask(world: World, cache: Any, tmp_path: Path, elsewhere: bool) -> tuple[bytes | None, bool, str]:
    if not elsewhere:
        return world.cached(cache)
    found = in_process(tmp_path / "cache", **world.asked)
    world.missed = found["missed"]
    return bytes.fromhex(found["bytes"]), found["hit"], found["refused"]
