"""Trees of headers, one of which decides what a source compiles to: by what form it is reached, and how it changes."""

from __future__ import annotations

import os
import shutil
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable

from sources import KERNEL


def text(value: int) -> str:
    """Return the header's text, of one size for all values of one digit."""
    return f"#define VALUE {value}\n"


@dataclass(frozen=True)
class Form:
    """How a source reaches a.h."""

    source: str = ""
    target: str = "inc/a.h"  # where a.h is
    front: str = "front/a.h"  # where it would be found before that one, "" for nowhere
    behind: str = "behind/a.h"  # where it is found after that one, "" for nowhere
    path: tuple[str, ...] = ("front", "inc", "behind")
    name: str = "kernel.cu"
    options: tuple[str, ...] = ()
    memory: str = ""  # the name of a header in memory
    memory_text: str = text(4)
    more: tuple[tuple[str, str], ...] = ()  # other files
    there: bool = True  # whether a.h is, before the change


ASK = "#if __has_include(<a.h>)\n{}\n#else\n#define VALUE 0\n#endif"

FORMS = {
    "quote": Form('#include "a.h"'),
    "angle": Form("#include <a.h>"),
    "nested": Form("#include <outer.h>", "inc/deep/a.h", "front/deep/a.h", "behind/deep/a.h", more=(("inc/outer.h", "#include <deep/a.h>\n"),)),
    "has_include-present": Form(ASK.format("#include <a.h>"), behind=""),
    "has_include-absent": Form(ASK.format("#define VALUE 1"), behind="", there=False),
    "computed": Form("#define HEADER <a.h>\n#include HEADER"),
    "function-like": Form("#define HEADER(name) <name.h>\n#include HEADER(a)"),
    "macro-guarded": Form("#if FEATURE > 1\n#include <a.h>\n#else\n#define VALUE 0\n#endif", options=("-DFEATURE=2",)),
    "in-memory": Form("#include <a.h>", memory="a.h"),
    "through-memory": Form("#include <outer.h>", memory="outer.h", memory_text="#include <a.h>\n"),
    "pre-include": Form(options=("--pre-include=a.h",)),
    "beside-the-source": Form('#include "a.h"', "src/a.h", "src/a.h", name="src/kernel.cu"),
    "beside-a-relative-source": Form('#include "a.h"', "src/a.h", "src/a.h", name="../src/kernel.cu"),
    "relative-path": Form("#include <a.h>", front="", path=("../inc", "behind")),
    "beside-the-working-directory": Form('#include "a.h"', "work/a.h", "work/a.h"),
}  # fmt: skip


@dataclass
class Tree:
    """A form on disk. ``value`` is what a.h says before the change; it says 2 after it."""

    root: Path
    form: Form
    headers: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for folder in ("front", "inc", "behind", "src", "work"):
            (self.root / folder).mkdir(parents=True)
        if self.form.memory:
            self.headers[self.form.memory] = self.form.memory_text
        if self.form.there:
            self.write(self.form.target, text(1))
        if self.form.behind:
            self.write(self.form.behind, text(3))
        for path, body in self.form.more:
            self.write(path, body)

    def write(self, path: str, body: str) -> Path:
        full = self.root / path
        full.parent.mkdir(parents=True, exist_ok=True)
        full.write_text(body)
        return full

    @property
    def target(self) -> Path:
        return self.root / self.form.target

    @property
    def folder(self) -> Path:
        """The folder of a.h."""
        return self.target.parent

    @property
    def working_directory(self) -> Path:
        return self.root / "work"

    def request(self) -> dict[str, Any]:
        """Return the arguments of a compile."""
        return {
            "source": f"// {self.root.name}, which no other tree hits\n{self.form.source}\n{KERNEL}",
            "name": self.form.name if self.form.name == "kernel.cu" else self.spelled(self.form.name),
            "target": "ptx",
            "headers": self.headers,
            "options": ["-arch=compute_80", *(f"-I{self.spelled(p)}" for p in self.form.path), *self.form.options],
        }

    def spelled(self, path: str) -> str:
        """Return a path as the request has it: one that begins with dots starts in the working directory."""
        return path if path.startswith("..") else str(self.root / path)


@dataclass(frozen=True)
class Change:
    """What happens to a.h, with what must be set up for it before the first compile."""

    apply: Callable[[Tree], None]
    before: Callable[[Tree], None] = lambda tree: None
    same: bool = False  # the code stays the same, and is to be found


def edit(tree: Tree) -> None:
    if tree.form.memory == "a.h":
        tree.headers["a.h"] = text(2)
    else:
        tree.target.write_text("/* edited */\n" + text(2))


def edit_unseen(tree: Tree) -> None:
    """Keep size and time of modification."""
    old = tree.target.stat()
    tree.target.write_text(text(2))
    os.utime(tree.target, ns=(old.st_atime_ns, old.st_mtime_ns))


def replace(tree: Tree) -> None:
    """Put another file of the same size and time in its place."""
    old = tree.target.stat()
    new = tree.write("new.h", text(2))
    os.utime(new, ns=(old.st_atime_ns, old.st_mtime_ns))
    new.rename(tree.target)


def make_room_in_front(tree: Tree) -> None:
    """What nothing lies in front of comes to lie in front of the one behind."""
    if tree.form.front == tree.form.target:
        tree.target.unlink()


def add_in_front(tree: Tree) -> None:
    tree.write(tree.form.front, text(2))


def add_folder_in_front(tree: Tree) -> None:
    """A folder of that name is no header."""
    (tree.root / tree.form.front).mkdir(parents=True)


def make_dangling_link(tree: Tree) -> None:
    make_room_in_front(tree)
    front = tree.root / tree.form.front
    front.parent.mkdir(exist_ok=True)
    front.symlink_to(tree.root / "late.h")


def give_the_link_a_target(tree: Tree) -> None:
    tree.write("late.h", text(2))


def make_future(tree: Tree) -> None:
    later = time.time_ns() + 10**12
    os.utime(tree.target, ns=(later, later))


def remove(tree: Tree) -> None:
    if tree.form.memory == "a.h":
        del tree.headers["a.h"]
    else:
        tree.target.unlink()


def make_link(tree: Tree) -> None:
    one = tree.root / "one.h"
    if tree.form.there:
        tree.target.rename(one)
    tree.target.symlink_to(one)
    tree.write("two.h", text(2))


def retarget(tree: Tree) -> None:
    tree.target.unlink()
    tree.target.symlink_to(tree.root / "two.h")


def make_other_folder(tree: Tree) -> None:
    """Copy the folder, with all its times, but for what a.h says."""
    new = tree.root / "new"
    shutil.copytree(tree.folder, new)
    (new / "a.h").write_text(text(2))
    if tree.form.there:
        shutil.copystat(tree.target, new / "a.h")


def make_folder_link(tree: Tree) -> None:
    make_other_folder(tree)
    tree.folder.rename(tree.root / "old")
    tree.folder.symlink_to(tree.root / "old")


def retarget_folder(tree: Tree) -> None:
    tree.folder.unlink()
    tree.folder.symlink_to(tree.root / "new")


def replace_folder(tree: Tree) -> None:
    tree.folder.rename(tree.root / "gone")
    (tree.root / "new").rename(tree.folder)


def touch(tree: Tree) -> None:
    os.utime(tree.target if tree.form.there else tree.folder)


CHANGES = {
    "nothing": Change(lambda tree: None, same=True),
    "touch": Change(touch, same=True),
    "folder-in-front": Change(add_folder_in_front, make_room_in_front, same=True),
    "edit": Change(edit),
    "unseen-edit": Change(edit_unseen),
    "edit-in-the-future": Change(edit_unseen, make_future),
    "replace": Change(replace),
    "add-in-front": Change(add_in_front, make_room_in_front),
    "link-comes-alive": Change(give_the_link_a_target, make_dangling_link),
    "remove": Change(remove),
    "retarget": Change(retarget, make_link),
    "retarget-the-folder": Change(retarget_folder, make_folder_link),
    "replace-the-folder": Change(replace_folder, make_other_folder),
}


# What happens in front of a.h, and what happens to a.h itself.
IN_FRONT = ("folder-in-front", "add-in-front", "link-comes-alive")
TO_THE_FILE = ("edit", "unseen-edit", "edit-in-the-future", "replace", "remove")


def stays(form: str, change: str) -> bool:
    """Say whether the code is the same after the change. A header in memory is found before any file."""
    return CHANGES[change].same or (form == "in-memory" and change in IN_FRONT)


def is_found(form: str, change: str) -> bool:
    """Say whether the code is found after the change: a name in front that is no longer absent is looked at again."""
    return stays(form, change) and (form == "in-memory" or change != "folder-in-front")


def left_out(form: str, change: str, compiler: str) -> str:
    """Say why a combination makes no sense, "" if it does."""
    if form == "in-memory" and change not in ("nothing", "edit", "remove", *IN_FRONT):
        return "what is in memory is no file"
    if form == "has_include-absent" and change in TO_THE_FILE:
        return "there is no file yet"
    if not FORMS[form].front and change in IN_FRONT:
        return "nothing is in front of it"
    if form == "function-like" and compiler == "stub":
        return "the fake expands no macros with parameters"
    return ""
