"""Names that callers invent: folders of their own making, random files, temp folders."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest


def folders(place: Any) -> list[Path]:
    """Two folders with the same source, as two runs of a caller invent them."""
    found = [place.folder / name for name in ("tmpab12", "tmpx_9")]
    for folder in found:
        folder.mkdir()
        (folder / "a.c").write_text("int f(void) { return 1; }\n")
    return found


def test_without_a_rule_each_is_its_own(place: Any, gcc: str) -> None:
    objects = []
    for folder in folders(place):
        place.run(gcc, "-flto", "-c", folder / "a.c", "-o", folder / "a.o")
        objects.append((folder / "a.o").read_bytes())
    assert objects[0] != objects[1]


def test_name_that_is_seen_in_the_result(place: Any, gcc: str) -> None:
    """The caller says that a name means nothing, and it is in what was made: not kept, and why."""
    for folder in folders(place):
        command = [gcc, "-g", "-c", folder / "a.c", "-o", folder / "a.o"]
        said = place.why("--placeholder", f"BUILD={place.folder}/tmp*", *command)
        assert "not stored" in said
        assert "compile with --map" in said
        assert str(folder).encode() in (folder / "a.o").read_bytes()


def test_placeholder_with_a_map(place: Any, gcc: str) -> None:
    objects = []
    rule = f"BUILD={place.folder}/tmp*"
    for folder in folders(place):
        words = [
            "--placeholder",
            rule,
            "--map=-ffile-prefix-map",
            gcc,
            "-flto",
            "-g",
            "-c",
            folder / "a.c",
            "-o",
            folder / "a.o",
        ]
        p = place.run(*words)
        assert p.returncode == 0, p.stderr
        objects.append((folder / "a.o").read_bytes())
    assert objects[0] == objects[1]
    assert b"tmpab12" not in objects[0]


@pytest.mark.parametrize("by", ["options", "variables"])
def test_base_dir(place: Any, gcc: str, by: str) -> None:
    """The folder to run in is looked at by every gcc; here it means nothing."""
    objects = []
    for folder in folders(place):
        options, env = [f"--base-dir={folder}", "--map=-ffile-prefix-map"], {}
        if by == "variables":
            options, env = [], {"JITCACHE_BASE_DIR": str(folder), "JITCACHE_MAP": "-ffile-prefix-map"}
        p = place.run(*options, gcc, "-flto", "-g", "-c", "a.c", "-o", "a.o", cwd=folder, env=env)
        assert p.returncode == 0, p.stderr
        objects.append((folder / "a.o").read_bytes())
    assert objects[0] == objects[1]


@pytest.mark.control("nomarks")
def test_text_outputs_get_the_names_of_this_run(place: Any, gcc: str) -> None:
    """A dependency file has the source's path in it."""
    for folder in folders(place):
        options = ["--placeholder", f"BUILD={place.folder}/tmp*", "--map=-ffile-prefix-map"]
        place.run(*options, gcc, "-flto", "-MD", "-MF", folder / "a.d", "-c", folder / "a.c", "-o", folder / "a.o")
    assert folder.name == "tmpx_9"
    text = (folder / "a.d").read_text()
    assert f"{folder}/a.c" in text
    assert "tmpab12" not in text


@pytest.mark.control("nomarks")
def test_printed_names_are_those_of_this_run(place: Any) -> None:
    script = place.tool("says", '#!/bin/sh\nrandom; echo "made $1/out" >&2\necho x > $1/out\n')
    said = []
    for folder in folders(place):
        said.append(place.run("--placeholder", f"B={place.folder}/tmp*", script, folder))
        assert said[-1].stderr == f"made {folder}/out\n".encode()
        assert (folder / "out").read_text() == "x\n"
    assert said[0].stdout == said[1].stdout


def test_what_is_in_an_invented_folder_counts(place: Any) -> None:
    script = place.tool("reads", "#!/bin/sh\nrandom; cat $1/a.c\n")
    one, two = folders(place)
    os.utime(two / "a.c", ns=(0, (one / "a.c").stat().st_mtime_ns))
    said = [place.run("--placeholder", f"B={place.folder}/tmp*", script, f).stdout for f in (one, two)]
    assert said[0] == said[1]
    (two / "a.c").write_text("another\n")
    assert place.run("--placeholder", f"B={place.folder}/tmp*", script, two).stdout.endswith(b"another\n")


def test_time_of_an_invented_file_counts_for_who_may_ask_for_it(place: Any) -> None:
    """A program that is not known, and has opened a file, may ask for its time too: that is not seen."""
    script = place.tool("reads", "#!/bin/sh\nrandom; cat $1/a.c\n")
    one, two = folders(place)
    os.utime(two / "a.c", (0, 0))
    said = [place.run("--placeholder", f"B={place.folder}/tmp*", script, f).stdout for f in (one, two)]
    assert said[0] != said[1]


def test_two_names_of_one_rule_are_told_apart(place: Any) -> None:
    script = place.tool("pair", "#!/bin/sh\nrandom; cat $1/a.c $2/a.c\n")
    one, two = folders(place)
    (two / "a.c").write_text("two\n")
    rule = f"B={place.folder}/tmp*"
    forth, back = (place.run("--placeholder", rule, script, *f).stdout for f in ((one, two), (two, one)))
    assert forth.endswith(b"two\n")
    assert not back.endswith(b"two\n")


def test_random_name_of_a_module(place: Any, gcc: str) -> None:
    """A rule for names of files, not folders."""
    objects = []
    for name in ("m_8f2.c", "m_01a.c"):
        (place.folder / name).write_text("int f(void) { return 1; }\n")
        rule = f"SRC={place.folder}/m_*.c"
        p = place.run(
            "--placeholder", rule, "--map=-ffile-prefix-map", gcc, "-flto", "-c", place.folder / name, "-o", "m.o"
        )
        assert p.returncode == 0, p.stderr
        objects.append(place.read("m.o"))
    assert objects[0] == objects[1]


@pytest.mark.parametrize("rule", ["B=relative", "=/abs", "B", "B=/", "a{b=/x", "B=/x/[", "a/b=/x"])
def test_rules_that_cannot_be(place: Any, rule: str) -> None:
    p = place.run("--placeholder", rule, "true")
    assert p.returncode == 2
    assert b"jitcache" in p.stderr
