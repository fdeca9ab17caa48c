"""Names that callers invent: folders of their own making, random files, temp folders."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import Any, NamedTuple

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
        assert "contains the generated path {BUILD}; set JITCACHE_MAP=-ffile-prefix-map" in said
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


class Invented(NamedTuple):
    """A rule, and a command in which # stands for a number that the caller makes up."""

    rule: str
    command: str
    leaves: str = ""  # the output's name, relative to the folder
    env: tuple[str, str] = ("UNUSED", "")  # a variable


#: The script looks at its output first, as a caller may.
KEPT = {
    "relative output": Invented("T={D}/.*.tmp", "random .#.tmp", ".#.tmp"),
    "rule that is relative": Invented("T=./.*.tmp", "random .#.tmp", ".#.tmp"),
    "relative to this folder": Invented("T=./.*.tmp", "random ./.#.tmp", ".#.tmp"),
    "glued to an option": Invented("T=./.*.tmp", "gcc -flto -c a.c -o.#.tmp", ".#.tmp"),
    "below a folder": Invented("T={D}/obj-*", "random obj-#/x", "obj-#/x"),
    "in a shell's words": Invented("T=./.*.tmp", "sh -c 'random>.#.tmp'", ".#.tmp"),
    "with an output of another name": Invented("T=./.*.tmp", "sh -c 'random .#.tmp kept'", "kept"),
    "compiler's": Invented("T=./t*.o", "gcc -flto -c a.c -o t#.o", "t#.o"),
    "variable": Invented("T={D}/obj-*", """sh -c 'random "$OUT"/x'""", "obj-#/x", ("OUT", "{D}/obj-#")),
    "variable that is relative": Invented("T=./obj-*", """sh -c 'random "$OUT"/x'""", "obj-#/x", ("OUT", "obj-#")),
    "variable with several": Invented(
        "T={D}/obj-*", """sh -c 'random "${OUT#*:}"/x'""", "obj-#/x", ("OUT", "/usr/include:{D}/obj-#")
    ),
}


@pytest.mark.control(
    "nomore",
    rows=[
        "relative output",
        "rule that is relative",
        "relative to this folder",
        "glued to an option",
        "below a folder",
        "in a shell's words",
        "with an output of another name",
        "compiler's",
        "variable",
        "variable that is relative",
        "variable with several",
    ],
)
@pytest.mark.parametrize("row", KEPT.values(), ids=KEPT.keys())
def test_invented_name_wherever_it_is(place: Any, gcc: str, row: Invented) -> None:
    place.write(a_c="int f(void) { return 1; }\n")
    made = []
    for number in ("12", "7345"):
        (place.folder / f"obj-{number}").mkdir()
        (place.folder / "kept").unlink(missing_ok=True)  # where one stands, the script may do something else

        def said(text: str, number: str = number) -> str:
            return text.replace("#", number).replace("{D}", str(place.folder))

        name, value = row.env
        command = shlex.split(row.command.replace("#*", "%")) if "#*" in row.command else shlex.split(row.command)
        words = [said(w).replace("%", "#*") for w in command]
        p = place.run("--placeholder", said(row.rule), *words, env={name: said(value)})
        assert p.returncode == 0, p.stderr
        made.append((place.folder / said(row.leaves)).read_bytes())
    assert made[0] == made[1]


#: What must not be taken for a name that means nothing.
TOLD_APART = {
    "another folder's": Invented("T={D}/t/*", "cat foo{D}/t/#", env=("UNUSED", "")),
    "option": Invented("T={D}/*", "random -#", ""),
    "name that is longer": Invented("T=./.*.tmp", "random a.#.tmp", "a.#.tmp"),
    "name in another folder": Invented("T=./.*.tmp", "random obj-12/.#.tmp", "obj-12/.#.tmp"),
}


@pytest.mark.control("nobegin", rows=["another folder's"])
@pytest.mark.parametrize("row", TOLD_APART.values(), ids=TOLD_APART.keys())
def test_what_only_looks_like_an_invented_name_counts(place: Any, row: Invented) -> None:
    (place.folder / "obj-12").mkdir()
    inner = Path(f"{place.folder}/foo{place.folder}/t")
    inner.mkdir(parents=True)
    said = []
    for number in ("12", "7345"):
        (inner / number).write_text(number)
        words = [w.replace("#", number).replace("{D}", str(place.folder)) for w in shlex.split(row.command)]
        said.append(place.run("--placeholder", row.rule.replace("{D}", str(place.folder)), *words).stdout)
        if row.leaves:
            assert (place.folder / row.leaves.replace("#", number)).exists()
    assert said[0] != said[1]


@pytest.mark.control("noderived", rows=["object", "dependencies", "symbol"])
@pytest.mark.parametrize(
    ("command", "leaves"),
    [("-c {D}/x#.c", "x#.o"), ("-c a.c -MD -o {D}/x#.o", "x#.d"), ("-r -b binary {D}/x#.c -o all.o", "all.o")],
    ids=["object", "dependencies", "symbol"],
)
def test_output_that_is_named_after_an_invented_file(place: Any, gcc: str, command: str, leaves: str) -> None:
    """The caller says that the name means nothing, and it is in what is made: nothing is kept."""
    place.write(a_c="int f(void) { return 1; }\n")
    for number in ("12", "7345"):
        (place.folder / f"x{number}.c").write_text("int f(void) { return 1; }\n")
        words = command.replace("#", number).replace("{D}", str(place.folder)).split()
        rule = f"T={place.folder}/x*"
        program = ["ld"] if "binary" in command else ["--map=-ffile-prefix-map", gcc, "-flto"]
        assert place.run("--placeholder", rule, *program, *words).returncode == 0
        made = place.folder / leaves.replace("#", number)
        assert made.exists()
        if "binary" in command:
            assert f"x{number}_c_start".encode() in made.read_bytes()


@pytest.mark.parametrize("rule", ["B=./*", "B=relative", "=/abs", "B", "B=/", "a{b=/x", "B=/x/[", "a/b=/x"])
def test_rules_that_cannot_be(place: Any, rule: str) -> None:
    p = place.run("--placeholder", rule, "true")
    assert p.returncode == 2
    assert b"jitcache" in p.stderr
