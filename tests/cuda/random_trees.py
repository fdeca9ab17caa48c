"""Random trees of headers, and random edits of them."""

from __future__ import annotations

import os
import random
import re
import shutil
from pathlib import Path

import jitcache
from jitcache import cuda
from sources import KERNEL

HEADERS = [f"h{n}.h" for n in range(8)]
SURE = HEADERS[:4]  # that there is one of these at the end of the path is certain
FOLDERS = ["one", "two", "three", "src"]  # the first three are on the path


class RandomTree:
    """Folders of headers that include each other, and a source that includes some."""

    def __init__(self, root: Path, seed: int) -> None:
        self.root = root
        self.random = random.Random(seed)
        self.value = 0
        self.did = "begun"
        for folder in FOLDERS:
            (root / folder).mkdir()
        for folder in ("last", "pool"):
            (root / folder).mkdir()
        for name in SURE:
            (root / "last" / name).write_text("")
        for name in HEADERS:
            self.write(root / self.random.choice(FOLDERS) / name)
        self.source = self.new_source()

    def request(self) -> dict:
        path = [f"-I{self.root / folder}" for folder in (*FOLDERS[:3], "last")]
        return {
            "source": self.source, "name": str(self.root / "src" / "kernel.cu"), "target": "ptx",
            "options": ["-arch=compute_80", *path],
        }  # fmt: skip

    def new_source(self) -> str:
        names = self.random.sample(HEADERS, 5)
        total = " + ".join(f"V{n}" for n in range(len(HEADERS)))
        nothing = "".join(f"#ifndef V{n}\n#define V{n} 0\n#endif\n" for n in range(len(HEADERS)))
        return "".join(map(self.directive, names)) + nothing + f"#define VALUE {total}\n" + KERNEL

    def directive(self, name: str) -> str:
        """Return one of the ways to include a header, or to ask for it."""
        quoted, macro = self.random.choice([f'"{name}"', f"<{name}>"]), f"H{self.random.randrange(10**9)}"
        includes = [
            f"#include {quoted}\n",
            f"#define {macro} {quoted}\n#include {macro}\n",
            f"#if{self.random.choice(['', 'n'])}def V{self.random.randrange(len(HEADERS))}\n#include {quoted}\n#endif\n",
        ]
        include = self.random.choice(includes)
        guarded = f"#if __has_include({quoted})\n{include}#endif\n"
        asks = f"#if __has_include({quoted})\n#undef V7\n#define V7 9\n#endif\n"
        return self.random.choice([guarded, guarded, include if name in SURE else guarded, asks])

    def text(self, name: str) -> str:
        """Return a header that is different from all before it, and includes later ones, so that there are no circles."""
        n = HEADERS.index(name)
        self.value += 1
        later = self.random.sample(HEADERS[n + 1 :], min(self.random.choice([1, 1, 2]), len(HEADERS) - n - 1))
        once = self.random.choice(["", "", "#pragma once\n"])
        return f"{once}#undef V{n}\n#define V{n} 1{self.value:06d}\n" + "".join(map(self.directive, later))

    def write(self, path: Path) -> None:
        path.write_text(self.text(path.resolve().name))

    def files(self) -> list[Path]:
        return [p for folder in FOLDERS for p in sorted((self.root / folder).iterdir()) if p.is_file()]

    # -- edits

    def rewrite(self) -> None:
        self.write(self.random.choice(self.files()))

    def rewrite_unseen(self) -> None:
        """Keep size and time of modification."""
        path = self.random.choice(self.files())
        old, text = path.stat(), path.read_text()
        self.value += 1
        path.write_text(re.sub(r" 1\d{6}\n", f" 1{self.value:06d}\n", text, count=1))
        os.utime(path, ns=(old.st_atime_ns, old.st_mtime_ns))

    def add(self) -> None:
        name = self.random.choice(HEADERS)
        path = self.root / self.random.choice(FOLDERS) / name
        path.unlink(missing_ok=True)
        self.write(path)

    def remove(self) -> None:
        files = self.files()
        if len(files) > 4:
            self.random.choice(files).unlink()

    def link(self) -> None:
        """Let a name be a link to a file that others may be links to. It is a later header, or there would be circles."""
        path = self.random.choice(self.files())
        target = self.root / "pool" / self.random.choice(HEADERS[HEADERS.index(path.name) :])
        if not target.exists():
            self.write(target)
        path.unlink()
        path.symlink_to(target)

    def link_hard(self) -> None:
        """Let two names be one file, which #pragma once goes by."""
        path, target = sorted(self.random.sample(self.files(), 2), key=lambda path: path.name)
        if path.name == target.name and not target.is_symlink():
            path.unlink()
            os.link(target, path)

    def swap_folders(self) -> None:
        one, two = (self.root / f for f in self.random.sample(FOLDERS, 2))
        one.rename(self.root / "gone")
        two.rename(one)
        (self.root / "gone").rename(two)

    def copy_folder(self) -> None:
        """Put a copy in a folder's place, with all its times."""
        folder = self.root / self.random.choice(FOLDERS)
        shutil.copytree(folder, self.root / "copy", symlinks=True)
        shutil.rmtree(folder)
        (self.root / "copy").rename(folder)

    def edit_source(self) -> None:
        self.source = self.new_source()

    def touch(self) -> None:
        os.utime(self.random.choice(self.files()))

    def nothing(self) -> None:
        pass

    def step(self) -> bool:
        """Change something; return whether anything may have changed."""
        unchanging = [self.nothing, self.nothing, self.touch, self.copy_folder]
        changing = [
            self.rewrite, self.rewrite, self.rewrite_unseen, self.add, self.add, self.remove, self.link,
            self.link_hard, self.swap_folders, self.edit_source,
        ]  # fmt: skip
        change = self.random.choice(self.random.choice([unchanging, changing]))
        self.did = change.__name__
        change()
        return change in changing


def ask(request: dict, cache: jitcache.Cache | bool) -> tuple[bool, str]:
    """Return whether it was a hit, and the code."""
    code = cuda.compile(**request, cache=cache)
    return code.hit, code.code.decode()
