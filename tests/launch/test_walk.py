"""Random walks through a closed little world, launched: no outcome is another than that of a run without the launcher.

The world has sources, headers, libraries, options, data, scripts and variables, and
commands that use them. Each step edits, adds, removes, retargets or replaces one of
them, or what stands where the commands write; then some of the commands are run,
plain and launched from the same state. The walk goes on until nothing new has
happened for a while: a command, what was done to what, and what came of it.
"""

from __future__ import annotations

import os
import random
import shutil
import stat
import time
from collections import Counter
from pathlib import Path

import pytest
from conftest import need
from launched import Launched

pytestmark = pytest.mark.rest

#: How long a walk may take, and how many steps without anything new end it.
SECONDS = float(os.environ.get("LAUNCH_WALK_SECONDS") or 60)
STEPS_WITHOUT_NEWS = int(os.environ.get("LAUNCH_WALK_STEPS") or 60)

#: gfortran reads a folder as a source, or as what one includes, until there is no memory left
#: on the machine (of 12: 22 GB, and its parent's end is not its own).
ENDLESS = (".f90", ".inc")

FOLDERS = ("inc0", "inc1", "lib0", "lib1", "in", "bin")
VARIABLES = ("SITE", "CPATH", "LIBRARY_PATH", "UNRELATED", "SHLVL", "TERM")

#: What is run: the words, of a shell where they are one string with quotes.
COMMANDS = {
    "compile": "gcc -c a.c -Iinc0 -Iinc1 @flags -o out/a.o",
    "clang": "clang -c a.c -Iinc0 -Iinc1 @flags -o out/a.o",
    "C++": "g++ -x c++ -c a.c -Iinc0 -Iinc1 @flags -o out/a.o",
    "dependencies": "gcc -MD -c a.c -Iinc0 -Iinc1 @flags -o out/a.o",
    "compile and link": "gcc -shared -fPIC a.c -Iinc0 -Iinc1 @flags -Llib0 -Llib1 -lv -Wl,--version-script,v.map -o out/a.so",
    "another linker": "gcc -fuse-ld=mold -shared -fPIC a.c -Iinc0 -Iinc1 @flags -Llib0 -Llib1 -lv -o out/a.so",
    "preprocess": "gcc -E a.c -Iinc0 -Iinc1 @flags",
    "wrapper": "./wrapper -c a.c -Iinc0 -Iinc1 -o out/a.o",
    "wrapper in PATH": "cc-site -c a.c -Iinc0 -Iinc1 -o out/a.o",
    "assemble": "as -Iinc0 -Iinc1 a.s -o out/as.o",
    "link": "ld -shared parts/1.o -Llib0 -Llib1 -lv -o out/ld.so",
    "archive": "ar rcD out/a.a parts/1.o parts/2.o",
    "Fortran": "gfortran -c a.f90 -Iinc0 -Iinc1 -J out -o out/f.o",
    "generate": "sh gen",
    "make": "make -s -f rules",
    "copy": "cp -p conf out/conf",
    "tree": "./tree",
}

SOURCE = """#include <h0.h>
#include "h1.h"
#if __has_include(<h2.h>)
#define HAS 1
#else
#define HAS 0
#endif
#ifndef W
#define W 0
#endif
int value(void);
int f(void) { int unused; return V0 + 100 * V1 + 10000 * HAS + F + W; }
int g(void) { return 1; }
"""


class Walk(Launched):
    """The world, and what can be done to it."""

    def __init__(self, folder: Path, seed: int, patch: pytest.MonkeyPatch) -> None:
        super().__init__(folder / "world", "gcc", folder / "cache")
        self.random, self.patch = random.Random(seed), patch
        self.texts: dict[str, list[str]] = {}
        self.saved = folder / "saved"
        patch.chdir(self.folder)
        patch.setenv("PATH", f"{self.folder}/bin:{os.environ['PATH']}")
        (self.folder / "parts").mkdir()
        for v in (1, 2):
            self.archive(f"parts/{v}.a", v)
            self.shared(f"parts/{v}.so", v)
            self.object(f"parts/{v}.o", v)
        for name in FOLDERS:
            (self.folder / f"{name}-real").mkdir()
            (self.folder / name).symlink_to(f"{name}-real")
        self._texts()
        self.repair()

    def _texts(self) -> None:
        gcc = need("gcc")
        for i in range(2):
            self.texts |= {
                f"inc{i}/h0.h": [f"#define V0 {i + 1}\n", "#include_next <h0.h>\n", f"#pragma once\n#define V0 {i + 5}\n"],
                f"inc{i}/h1.h": [f"#define V1 {i + 1}\n", f"#include <h3.h>\n#define V1 {i + 4}\n"],
                f"inc{i}/h2.h": ["#define UNUSED 1\n"],
                f"inc{i}/h3.h": [f"#define V3 {i}\n", ""],
                f"inc{i}/h.s": [f".byte {i}\n", f".byte {i + 2}\n"],
                f"inc{i}/h.inc": [f"  v = {i}\n", f"  v = {i + 2}\n"],
                f"in/{i}": ["data\n", "more\n"],
                f"bin/{'as' if i else 'ld'}": [f'#!/bin/sh\nexec {need("as" if i else "ld")} --defsym X={v} "$@"\n' for v in (7, 8)],
                f"lib{i}/libv.a": ["=1.a", "=2.a"],
                f"lib{i}/libv.so": ["=1.so", f"INPUT({self.folder}/parts/1.o)\n", f"INPUT({self.folder}/parts/2.o)\n"],
            }  # fmt: skip
        real = f"exec {gcc} -DF=1"
        self.texts |= {
            "a.c": [SOURCE, SOURCE + "int h(void) { return __LINE__; }\n"],
            "a.s": ['.include "h.s"\n', '.include "h.s"\n.byte 9\n', ".byte 1\n"],
            "a.f90": [
                "module m\ncontains\nsubroutine s(v)\n integer v\n include 'h.inc'\nend subroutine\nend module\n",
                "module m\n integer k\ncontains\nsubroutine s(v)\n integer v\n include 'h.inc'\nend subroutine\nend module\n",
            ],
            "flags": ["-DF=1\n", "-DF=2 -Wall\n", "@more\n", "-DF=1 -O1\n"],
            "more": ["-DF=3\n", "-DF=4\n"],
            "conf": ["1\n", "2\n"],
            "mark": ["", "x"],
            "v.map": ["{ global: f; local: *; };\n", "{ global: f; g; local: *; };\n"],
            "wrapper": [
                f'#!/bin/sh\nread w < conf\n[ -e mark ] && w=9\n{real} -DW=$w "$@"\n',
                f'#!/bin/sh\nw=$(ls in | wc -l)\n{real} -DW=$w$SITE "$@"\n',
                f'#!/bin/sh\nw=1; [ mark -nt conf ] && w=2\n{real} -DW=$w "$@"\n',
                f'#!/bin/sh\n. ./settings\n{real} "$@"\n',
            ],
            "settings": ["SITE=5\n", "echo said >&2\n"],
            "bin/cc-site": [f'#!/bin/sh\n{real} -DW=$(cat conf) "$@"\n', f'#!/bin/sh\n{real} -DW=3 "$@"\n'],
            "gen": [
                "cat in/* > out/gen.txt\n",
                "for f in in/*; do echo $f; done > out/gen.txt\nwc -l < conf\n",
                "set -e\n[ -e out/gen.txt ] || echo first > out/gen.txt\nsed s/1/2/ conf > out/gen.c\n",
                "rm -f out/gen.txt; cp conf out/gen.txt; chmod 600 out/gen.txt\n",
                "cat conf >> out/gen.log; echo $SITE\n",
            ],
            "rules": ["out/made: conf\n\tcp conf out/made\n", "out/made: conf in/0\n\tcat conf in/0 > out/made; echo made\n"],
            "tree": [
                "#!/bin/sh\nmkdir -p out/d/e\ncp conf out/d/e/f\nln -sf e/f out/d/l\nln -f out/d/e/f out/d/g\n",
                "#!/bin/sh\nmkdir -p out/d\nmv -f out/a.o out/d/ 2>/dev/null\ncp conf out/new && mv out/new out/d/moved\n",
            ],
        }  # fmt: skip

    def _put(self, path: Path, text: str) -> None:
        if text.startswith("="):
            shutil.copy(self.folder / "parts" / text[1:], path)
        else:
            path.write_text(text)
        name = str(path.relative_to(self.folder))
        if text.startswith("#!") or name.startswith("bin/"):
            path.chmod(0o755)

    def repair(self) -> tuple[str, str]:
        """Make what is needed as it was in the beginning."""
        for name in FOLDERS:
            (self.folder / name).unlink(missing_ok=True)
            (self.folder / name).symlink_to(f"{name}-real")
        for name, texts in self.texts.items():
            path = self.folder / name
            remove(path)
            if name not in (
                "bin/as",
                "bin/ld",
                "inc0/h0.h",
                "inc0/h1.h",
                "lib0/libv.a",
                "lib0/libv.so",
                "lib1/libv.so",
                "mark",
            ):
                self._put(path, texts[0])
        for name in VARIABLES:
            self.patch.delenv(name, raising=False)
        return "", "repaired"

    # ---- what is done

    def step(self) -> tuple[str, str]:
        """Do something; return to what kind of thing, and what."""
        dice = self.random.random()
        if dice < 0.15:
            return "", "nothing"
        if dice < 0.25:
            name = self.random.choice(VARIABLES)
            value = self.random.choice(["", "1", f"{self.folder}/inc0", f"{self.folder}/lib0"])
            self.patch.delenv(name, raising=False) if not value else self.patch.setenv(name, value)
            return name, "set" if value else "unset"
        if dice < 0.35:
            return self._retarget(self.folder / self.random.choice(FOLDERS))
        if dice < 0.55:
            return self._output()
        path = self.random.choice(list(self.texts))
        return path, self._file(self.folder / path, self.random.choice(self.texts[path]))

    def _retarget(self, link: Path) -> tuple[str, str]:
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

    def _file(self, path: Path, text: str) -> str:
        if not path.parent.is_dir():
            return "nothing"
        kinds = ["edited", "removed", "replaced", "touched", "closed", "linked", "same time", "a folder"]
        what = self.random.choice(kinds[:-1] if path.suffix in ENDLESS else kinds)
        there = path.is_file()
        before = os.stat(path) if there else None
        if path.is_dir() and not path.is_symlink():
            path.rmdir()
        if what == "removed":
            path.unlink(missing_ok=True)
        elif what == "touched" and there:
            when = self.random.randrange(10**9, 2 * 10**9)
            os.utime(path, (when, when))
        elif what == "closed" and there:
            path.chmod(self.random.choice([0o644, 0o755, 0o700]) | (before.st_mode & 0o111 if before else 0))
        elif what == "linked" and there and not path.is_symlink():
            target = path.with_name(f"{path.name}-target")
            path.rename(target)
            path.symlink_to(target.name)
        elif what == "edited" and there:
            self._put(path, text)
        elif what == "a folder" and self.random.random() < 0.3:
            path.unlink(missing_ok=True)
            path.mkdir()
        else:
            path.unlink(missing_ok=True)
            self._put(path, text)
            if before is not None and what == "same time":
                os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        return what

    def _output(self) -> tuple[str, str]:
        """Do something to what stands where commands write."""
        files = [f for f in sorted(self.out.rglob("*")) if f.is_file() and not f.is_symlink()]
        what = self.random.choice(
            ["all gone", "gone", "older", "another", "closed", "another name", "a link", "a folder"]
        )
        if what == "all gone" or not files:
            self._clear()
            return "output", "all gone"
        path = self.random.choice(files)
        if what == "older":
            os.utime(path, (10**9, 10**9))
        elif what == "closed":
            path.chmod(self.random.choice([0o600, 0o444, 0o755]))
        elif what == "another name":
            name = path.with_name(f"{path.name}.name")
            remove(name)
            os.link(path, name)
        else:
            path.unlink()
        if what == "another":
            path.write_text("another\n")
        elif what == "a link":
            path.symlink_to(self.random.choice(["nowhere", "elsewhere"]))
            if path.name != "elsewhere":  # which may be a link to itself by now
                remove(path.parent / "elsewhere")
                (path.parent / "elsewhere").write_text("elsewhere\n")
        elif what == "a folder":
            path.mkdir()
        return "output", what

    # ---- what comes of it

    def _save(self) -> None:
        shutil.rmtree(self.saved, ignore_errors=True)
        self.run("cp", "-a", self.out, self.saved)

    def _restore(self) -> None:
        self._clear()
        self.run("cp", "-a", f"{self.saved}/.", self.out)

    def compare(self, name: str) -> tuple[str, str]:
        """Run a command plain and launched, from the same state; return what came of it, and what differs."""
        self.words = COMMANDS[name].split()
        self._save()
        plain = self._run("/usr/bin/env")  # which says by its status what cannot be started, as a shell does
        self._restore()
        got, replayed, refused = self.again()
        replayed |= not self.log and "out/" not in COMMANDS[name]  # it only prints
        came = "replayed" if replayed else "failed" if got.status != 0 else "refused" if refused else "made"
        return came, difference(plain, got)


def remove(path: Path) -> None:
    shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink(missing_ok=True)


def difference(plain: object, got: object) -> str:
    """Say in what two outcomes differ, "" if in nothing."""
    if plain == got or (plain.status == got.status >= 126 and plain.files == got.files):  # type: ignore[attr-defined]
        return ""
    for field in ("status", "out", "err"):
        if getattr(plain, field) != getattr(got, field):
            return f"{field}: {getattr(plain, field)!r} plain, {getattr(got, field)!r} launched"
    files, others = plain.files, got.files  # type: ignore[attr-defined]
    return ", ".join(
        f"{n}: {summary(files.get(n))} plain, {summary(others.get(n))} launched"
        for n in sorted({*files, *others})
        if files.get(n) != others.get(n)
    )


def summary(entry: tuple[int, int, bytes] | None) -> str:
    return "absent" if entry is None else f"{stat.filemode(entry[0])} {entry[1]} {entry[2][:60]!r}"


@pytest.mark.control("noabsent")
def test_walk_leaves_no_wrong_replay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seed = int(os.environ.get("LAUNCH_WALK_SEED") or random.randrange(10**6))
    print(f"LAUNCH_WALK_SEED={seed}")
    walk = Walk(tmp_path, seed, monkeypatch)
    forms = [name for name, words in COMMANDS.items() if "/" in words.split()[0] or shutil.which(words.split()[0])]
    seen: set[tuple[str, str, str, str]] = set()
    came: Counter[str] = Counter()
    n = news = again = replayed = failures = 0
    start = time.monotonic()
    while n - news < STEPS_WITHOUT_NEWS and time.monotonic() - start < SECONDS:
        kind, what = walk.repair() if failures > 6 else walk.step() if n else ("", "begun")
        failures = 0 if what == "repaired" else failures
        for name in walk.random.sample(forms, 3):
            was, wrong = walk.compare(name)
            assert not wrong, f"seed {seed}, step {n}, {kind} {what}, {name} {was}: {wrong}"
            failures += was == "failed"
            came[was] += 1
            if (name, kind, what, was) not in seen:
                seen.add((name, kind, what, was))
                news = n
            if was == "made":  # at once again, from where it began
                walk._restore()
                was, wrong = walk.compare(name)
                assert not wrong, f"seed {seed}, step {n}, {kind} {what}, {name} again, {was}: {wrong}"
                again += 1
                replayed += was == "replayed"
        n += 1
    took = time.monotonic() - start
    print(
        f"figure walk_of_the_launcher {n} steps in {took:.0f} s, {len(seen)} things seen, {dict(came)}, {replayed} of {again} replayed at once"
    )
    assert came["replayed"] > n / 10
    assert replayed >= 0.8 * again
