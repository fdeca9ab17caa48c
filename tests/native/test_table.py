"""Every change of what is read, in every form of reading: a hit if and only if a fresh compile is what it was."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any, Callable

import pytest
from conftest import in_process, need, rest
from jitcache import native

# What the source says, and the flags; {b} is the folder with h.h, {a} one that is
# searched before it, {c} one after, which has another h.h.
FORMS: dict[str, tuple[str, list[str]]] = {
    "quote": ('#include "h.h"\n', ["-I{a}", "-I{b}", "-I{c}"]),
    "angle": ("#include <h.h>\n", ["-I{a}", "-I", "{b}", "-I{c}"]),
    "nested": ('#include "outer.h"\n', ["-I{a}", "-I{b}", "-I{c}"]),
    "folder": ("#include <sub/h.h>\n", ["-I{a}", "-I{b}", "-I{c}"]),
    "has present": ("#if __has_include(<h.h>)\n#define V 5\n#else\n#define V 6\n#endif\n", ["-I{a}", "-I{b}"]),
    "has absent": ("#if __has_include(<none.h>)\n#define V 5\n#else\n#define V 6\n#endif\n", ["-I{a}", "-I{b}"]),
    "computed": ("#define WHICH <h.h>\n#include WHICH\n", ["-I{a}", "-I{b}", "-I{c}"]),
    "computed by a flag": ("#include WHICH\n", ["-DWHICH=<h.h>", "-I{a}", "-I{b}", "-I{c}"]),
    "guarded": ("#ifdef USE\n#include <h.h>\n#endif\n", ["-DUSE", "-I{a}", "-I{b}", "-I{c}"]),
    "-include": ("", ["-include", "h.h", "-I{a}", "-I{b}", "-I{c}"]),
    "-isystem": ("#include <h.h>\n", ["-isystem", "{a}", "-isystem", "{b}", "-isystem", "{c}"]),
    "-iquote": ('#include "h.h"\n', ["-iquote", "{a}", "-iquote", "{b}", "-I{c}"]),
    "-idirafter": ("#include <h.h>\n", ["-I{a}", "-idirafter", "{b}", "-idirafter", "{c}"]),
    "beside": ('#include "beside.h"\n', ["-I{a}"]),
    "comment": ("#/**/include <h.h>\n", ["-I{a}", "-I{b}", "-I{c}"]),
    "continued": ("#incl\\\nude \\\n<h.h>\n", ["-I{a}", "-I{b}", "-I{c}"]),
    "next": ("#include <next.h>\n", ["-I{a}", "-I{b}", "-I{c}"]),
    "has next": ("#include <hasnext.h>\n", ["-I{a}", "-I{b}"]),
    "defined first": ("#define BEFORE 1\n#include <h.h>\n", ["-I{a}", "-I{b}", "-I{c}"]),
}

# What C++ has besides. A raw string with a directive in it is none.
FORMS_OF_CPP: dict[str, tuple[str, list[str]]] = {
    "no extension": ("#include <plain>\n", ["-I{a}", "-I{b}", "-I{c}"]),
    "raw string": ('const char *s = R"(\n#include <c.h>\n)";\n#include <h.h>\n', ["-I{a}", "-I{b}", "-I{c}"]),
    "has in C++17": (
        '#if __has_include("h.h") && __has_include(<vector>)\n#include "h.h"\n#endif\n',
        ["-std=c++17", "-I{a}", "-I{b}"],
    ),
    "behind the library": ("#include <cstddef>\n#include <h.h>\n", ["-I{a}", "-I{b}", "-I{c}"]),
}

# Where a result is compiled again although it is the same: gcc and clang open a
# header to say whether there is one, and gcc one that is precompiled and comes too
# late to be taken. What was opened counts.
CAUTIOUS = {
    *(
        (form, change)
        for form in ("has present", "has next")
        for change in (
            "edit",
            "edit same size",
            "add in front",
            "retarget",
            "replace folder",
            "remove",
            "precompile",
            "precompile in front",
        )
    ),
    *(
        (form, change)
        for form in ("raw string", "behind the library")
        for change in ("precompile", "precompile in front")
    ),
    # clang asks for the real names of headers, and reads the links on the way; and it
    # looks whether the folder of one is there before it looks for the header.
    ("next", "retarget"),
    ("folder", "precompile in front"),
}

#: Compiler, and ending of the source.
LANGUAGES = [
    pytest.param(("gcc", ".c"), id="gcc"),
    pytest.param(("g++", ".cpp"), id="g++"),
    pytest.param(("clang", ".c"), id="clang", marks=rest),
    pytest.param(("clang++", ".cpp"), id="clang++", marks=rest),
]


class Tree:
    """A source, and folders of headers."""

    def __init__(self, folder: Path, form: str, ending: str = ".c") -> None:
        self.folder = folder
        text, flags = {**FORMS, **FORMS_OF_CPP}[form]
        self.source = folder / f"main{ending}"
        for name, value in (("b-real", 1), ("c", 2), ("b-other", 3)):
            self.headers(folder / name, value)
        (folder / "a").mkdir()
        (folder / "b").symlink_to("b-real")
        self.source.write_text(text + "int f(void) { return V; }\n")
        (folder / "beside.h").write_text("#define V 1\n")
        self.flags = [f.format(a=folder / "a", b=folder / "b", c=folder / "c") for f in flags]
        self.header = folder / ("beside.h" if form == "beside" else "b/h.h")
        if form == "folder":
            self.header = folder / "b" / "sub" / "h.h"
        if form == "no extension":
            self.header = folder / "b" / "plain"
        if form == "next":
            self.header = folder / "c" / "next.h"

    def headers(self, folder: Path, value: int) -> None:
        (folder / "sub").mkdir(parents=True)
        for name in ("h.h", "sub/h.h", "plain"):
            (folder / name).write_text(f"#define V {value}\n")
        (folder / "outer.h").write_text("#include <h.h>\n")
        last = folder.name == "c"
        (folder / "next.h").write_text(f"#define V {value}\n" if last else "#include_next <next.h>\n")
        has = "#if __has_include_next(<h.h>)\n#define V 5\n#else\n#define V 6\n#endif\n"
        (folder / "hasnext.h").write_text(has)


def edit(t: Tree) -> None:
    t.header.write_text("#define V 1000\n")


def edit_same_size(t: Tree) -> None:
    st = os.stat(t.header)
    t.header.write_text("#define V 9\n")
    os.utime(t.header, ns=(st.st_atime_ns, st.st_mtime_ns))


def add_in_front(t: Tree) -> None:
    (t.folder / "a" / "sub").mkdir()
    for name in ("h.h", "sub/h.h", "none.h", "beside.h", "plain", "next.h"):
        (t.folder / "a" / name).write_text("#define V 7\n")


def add_beside(t: Tree) -> None:
    (t.folder / "h.h").write_text("#define V 8\n")


def remove(t: Tree) -> None:
    t.header.unlink()


def retarget(t: Tree) -> None:
    (t.folder / "b").unlink()
    (t.folder / "b").symlink_to("b-other")


def touch(t: Tree) -> None:
    os.utime(t.header)


def replace_folder(t: Tree) -> None:
    (t.folder / "b-real").rename(t.folder / "gone")
    t.headers(t.folder / "b-real", 4)


def same_again(t: Tree) -> None:
    text = t.header.read_text()
    t.header.unlink()
    t.header.write_text(text)


def edit_source(t: Tree) -> None:
    with open(t.source, "a") as f:
        f.write("int g;\n")


def precompile(t: Tree) -> None:
    """A precompiled header of what the header once said: gcc takes it, and does not look at the header; clang does."""
    _precompile(t, t.header)


def precompile_in_front(t: Tree) -> None:
    """The same in a folder that has no header, which is searched before: gcc takes it too."""
    _precompile(t, t.folder / "a" / t.header.relative_to(t.folder / t.header.relative_to(t.folder).parts[0]))


def _precompile(t: Tree, place: Path) -> None:
    place.parent.mkdir(exist_ok=True)
    old = t.folder / "old.h"
    old.write_text("#define V 4242\n")
    compiler, kind = ("gcc", "c-header") if t.source.suffix == ".c" else ("g++", "c++-header")
    standard = [f for f in t.flags if f.startswith("-std")]
    out = f"{place}.gch"
    subprocess.run([need(compiler), "-O1", *standard, "-x", kind, old, "-o", out], check=True)
    old.unlink()


CHANGES: dict[str, Callable[[Tree], None]] = {
    c.__name__.replace("_", " "): c
    for c in (
        edit,
        edit_same_size,
        add_in_front,
        add_beside,
        remove,
        retarget,
        touch,
        replace_folder,
        same_again,
        edit_source,
        precompile,
        precompile_in_front,
    )
}
CHANGES["nothing"] = lambda _: None


def asked(t: Tree, compiler: str) -> dict[str, Any]:
    return {"sources": [str(t.source)], "kind": "object", "flags": ["-O1", *t.flags], "compiler": compiler}


def fresh(t: Tree, compiler: str) -> bytes | None:
    try:
        return bytes(native.build(cache=False, **asked(t, compiler)))
    except native.CompileError:
        return None


@pytest.mark.control("noabsent", rows=["quote-add in front-gcc"])
@pytest.mark.control("nochildren", rows=["quote-edit-gcc"])
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("form", [*FORMS, *FORMS_OF_CPP])
def test_hit_if_and_only_if_a_fresh_compile_is_the_same(
    tmp_path: Path, cache: Any, form: str, change: str, language: tuple[str, str]
) -> None:
    compiler, ending = language
    need(compiler)
    if form in FORMS_OF_CPP and ending == ".c":
        pytest.skip("C++ only")
    tree = Tree(tmp_path / "tree", form, ending)
    before = native.build(cache=cache, **asked(tree, compiler))
    assert not before.refused
    assert native.build(cache=cache, **asked(tree, compiler)).hit
    CHANGES[change](tree)
    want = fresh(tree, compiler)
    if want is None:
        with pytest.raises(native.CompileError):
            native.build(cache=cache, **asked(tree, compiler))
        return
    after = native.build(cache=cache, **asked(tree, compiler))
    assert bytes(after) == want
    if after.hit or (form, change) not in CAUTIOUS:
        assert after.hit == (want == bytes(before)), after.missed
    assert native.build(cache=cache, **asked(tree, compiler)).hit


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("form", ["quote", "nested", "has absent"])
def test_the_same_in_the_next_process(tmp_path: Path, form: str, change: str) -> None:
    need("gcc")
    tree = Tree(tmp_path / "tree", form)
    before = in_process(tmp_path / "cache", **asked(tree, "gcc"))
    CHANGES[change](tree)
    want = fresh(tree, "gcc")
    if want is None:
        return
    after = in_process(tmp_path / "cache", **asked(tree, "gcc"))
    assert after["bytes"] == want.hex()
    assert after["hit"] == (after["bytes"] == before["bytes"])


def test_folder_that_appears_on_the_path(tmp_path: Path, cache: Any) -> None:
    need("gcc")
    tree = Tree(tmp_path / "tree", "angle")
    more = {**asked(tree, "gcc"), "flags": [f"-I{tmp_path}/late", *tree.flags]}
    before = bytes(native.build(cache=cache, **more))
    tree.headers(tmp_path / "late", 77)
    after = native.build(cache=cache, **more)
    assert not after.hit
    assert bytes(after) != before


def test_header_that_changes_while_it_is_compiled_is_not_kept(tmp_path: Path, cache: Any) -> None:
    tree = Tree(tmp_path / "tree", "quote")
    wrapper, once = tmp_path / "late-gcc", tmp_path / "once"
    # Between the key and the compile, once.
    wrapper.write_text(
        f"#!/bin/sh\ncase \"$*\" in *' -o '*) mkdir {once} 2>/dev/null && echo '#define V 50' > {tree.header};; esac\n"
        f'exec {need("gcc")} "$@"\n'
    )
    wrapper.chmod(0o755)
    first = native.build(cache=cache, **asked(tree, str(wrapper)))
    assert bytes(first) == fresh(tree, "gcc")  # with 50, and the key says 1
    tree.header.write_text("#define V 1\n")
    second = native.build(cache=cache, **asked(tree, str(wrapper)))
    assert not second.hit
    assert bytes(second) == fresh(tree, "gcc") != bytes(first)
