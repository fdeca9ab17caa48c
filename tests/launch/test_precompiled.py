"""Precompiled headers of gcc: what is compiled with one is found while it is the work of the same command, and is never wrong."""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from launched import Names

MB = 1 << 20
USES = ("gcc", "-O1", "-Iinc", "-include", "p.h", "-c", "a.c", "-o", "out/a.o")
MAKES = ("gcc", "-O1", "-x", "c-header", "inc/p.h", "-o", "inc/p.h.gch")


@pytest.fixture
def place(place: Any) -> Any:
    for folder in ("inc", "out"):
        (place.folder / folder).mkdir()
    (place.folder / "a.c").write_text("int f(void) { return V + v; }\n")
    put(place, 1)
    return place


def put(place: Any, value: int, more: str = "") -> None:
    (place.folder / "inc/p.h").write_text(f"#define V {value}\nstatic int v = {value};\n{more}")


def header(place: Any) -> Path:
    return place.folder / "inc/p.h.gch"


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def launch(place: Any, *words: str, **more: Any) -> bool:
    """Launch a command that leaves a file; return whether it was a replay: only that makes drafts (the kernel tells)."""
    out = place.folder / words[words.index("-o") + 1]
    out.unlink(missing_ok=True)
    names = Names(out.parent)
    p = place.run(*words, **more)
    assert p.returncode == 0, p.stderr
    return any(name.startswith(".jitcache-") for name in names.read())


def make_anew(place: Any, *words: str) -> None:
    """Have the command run again, until what it makes has other bytes."""
    path = place.folder / words[words.index("-o") + 1]
    before = digest(path)
    while digest(path) == before:
        launch(place, *words, env={"JITCACHE": "refresh"})


def used(place: Any, *words: str) -> bool:
    """Compile with the launcher, and without; return whether it was a replay. Both must come to the same."""
    words = words or USES
    replayed = launch(place, *words)
    got = digest(place.folder / "out/a.o")
    p = place.plain(*words)
    assert p.returncode == 0, p.stderr
    assert got == digest(place.folder / "out/a.o")
    return replayed


@pytest.mark.control("nomakers", rows=["made again", "with its text edited since"])
@pytest.mark.parametrize("how", ["made again", "put back", "with its text edited since"])
def test_header_of_the_same_command_is_the_same(place: Any, how: str) -> None:
    """Its bytes are others."""
    launch(place, *MAKES)
    if how == "with its text edited since":  # gcc does not look at it
        (place.folder / "inc/later").write_text("#define V 3\nstatic int v = 3;\n")
    assert [used(place), used(place)] == [False, True]
    if how == "put back":
        assert launch(place, *MAKES)
    else:
        make_anew(place, *MAKES)
    if how == "with its text edited since":
        (place.folder / "inc/later").replace(place.folder / "inc/p.h")
    assert used(place)


def test_header_of_another_text_is_another(place: Any) -> None:
    launch(place, *MAKES)
    assert [used(place), used(place)] == [False, True]
    put(place, 2)
    assert used(place)  # gcc takes what is precompiled, and does not look at the text
    assert not launch(place, *MAKES)
    assert [used(place), used(place)] == [False, True]


def _touch(place: Any) -> None:
    os.utime(header(place))


def _copy(place: Any) -> None:
    shutil.copy2(header(place), place.folder / "copy")
    (place.folder / "copy").replace(header(place))


def _link(place: Any) -> None:
    os.link(header(place), place.folder / "other")


def _replace(place: Any) -> None:
    put(place, 2)
    place.plain(*MAKES)


def _write_into(place: Any) -> None:
    put(place, 2)
    place.plain(*MAKES[:-1], "new")
    header(place).write_bytes((place.folder / "new").read_bytes())


def _date_back(place: Any) -> None:
    st = header(place).stat()
    _write_into(place)
    os.utime(header(place), ns=(st.st_atime_ns, st.st_mtime_ns))


@pytest.mark.control("nomakerstamps", rows=["_write_into", "_date_back"])
@pytest.mark.parametrize("change", [_touch, _copy, _link, _replace, _write_into, _date_back])
def test_header_that_may_be_another_counts_by_its_bytes(place: Any, change: Any) -> None:
    launch(place, *MAKES)
    assert [used(place), used(place)] == [False, True]
    change(place)
    assert [used(place), used(place)] == [False, True]


def test_header_that_nobody_has_observed_counts_by_its_bytes(place: Any) -> None:
    for value in (1, 2):
        put(place, value)
        place.plain(*MAKES)
        assert [used(place), used(place)] == [False, True]


@pytest.mark.parametrize("macro", ["__TIME__", "__DATE__"])
def test_header_with_a_date_counts_by_its_bytes(place: Any, macro: str) -> None:
    put(place, 1, f"static const char date[] = {macro};\n")
    assert "time of day" in place.why(*MAKES)
    first = digest(header(place))
    assert [used(place), used(place)] == [False, True]
    while digest(header(place)) == first:
        place.run(*MAKES)
    assert not used(place)


@pytest.mark.control("nomakers", rows=["ours"])
@pytest.mark.parametrize("whose", ["ours", "somebody's"])
def test_of_a_folder_of_headers_each_counts_as_it_was_made(place: Any, whose: str) -> None:
    header(place).mkdir()
    one, two = ((*MAKES[:1], level, *MAKES[2:-1], f"inc/p.h.gch/{level}") for level in ("-O1", "-O0"))
    launch(place, *one)
    (launch if whose == "ours" else type(place).plain)(place, *two)
    assert [used(place), used(place)] == [False, True]
    make_anew(place, *one)
    assert used(place)
    put(place, 2)
    path = header(place) / "-O0"
    before = digest(path)
    while digest(path) == before:
        place.plain(*two)  # by nobody who was observed
    used(place)
    assert used(place)


@pytest.mark.parametrize("by", ["-DV=1", "-O0", "g++"])
def test_header_that_gcc_rejects_is_read_as_a_text(place: Any, by: str) -> None:
    makes = ("g++", *MAKES[1:3], "c++-header", *MAKES[4:]) if by == "g++" else (*MAKES, by)
    (place.folder / "inc/p.h").write_text("#ifndef V\n#define V 1\n#endif\nstatic int v = 1;\n")
    launch(place, *makes)
    assert [used(place), used(place)] == [False, True]
    (place.folder / "inc/p.h").write_text("#define V 5\nstatic int v = 5;\n")
    assert [used(place), used(place)] == [False, True]


@pytest.mark.control("noembeds")
def test_header_may_be_embedded_where_a_source_has_the_word(place: Any) -> None:
    """#embed, since gcc 15, takes the bytes of any file."""
    (place.folder / "a.c").write_text("/* #em\\\nbed */ int f(void) { return V; }\n")
    launch(place, *MAKES)
    assert [used(place), used(place)] == [False, True]
    make_anew(place, *MAKES)
    assert not used(place)


@pytest.mark.parametrize("order", [("p.h", "q.h"), ("q.h", "p.h")])
def test_order_of_includes_counts(place: Any, order: tuple[str, str]) -> None:
    """gcc takes what is precompiled only for what it includes first."""
    (place.folder / "inc/q.h").write_text("static int q = 1;\n")
    launch(place, *MAKES)
    uses = ("gcc", "-O1", "-Iinc", *(word for name in order for word in ("-include", name)), *USES[5:])
    assert [used(place, *uses), used(place, *uses)] == [False, True]
    (place.folder / "inc/p.h").write_text("#define V 5\nstatic int v = 5;\n")
    assert used(place, *uses) == (order[0] == "p.h")
    (place.folder / "inc/q.h").write_text("static int q = 2;\n#define Q\n")
    used(place, *uses)
    assert used(place, *uses)


@pytest.mark.control("nobytes", rows=["gcc -c b.s -o out/b.o"])
@pytest.mark.parametrize(
    "words", ["gcc -c b.s -o out/b.o", "sha256sum inc/p.h.gch", "gcc -O1 -Iinc -include p.h -c b.c -o out/b.o"]
)
def test_bytes_of_a_header_are_what_others_get(place: Any, words: str) -> None:
    """An assembler that puts them into an object, above all."""
    (place.folder / "b.s").write_text('.incbin "inc/p.h.gch"\n')
    (place.folder / "b.c").write_text(
        'int f(void) { return V; }\n__asm__(".section a\\n.incbin \\"inc/p.h.gch\\"\\n.previous");\n'
    )
    launch(place, *MAKES)
    outs = []
    for _ in range(2):
        for run in (place.run, place.run, place.plain):
            p = run(*words.split())
            assert p.returncode == 0, p.stderr
            outs.append(p.stdout or digest(place.folder / "out/b.o"))
        assert len(set(outs[-3:])) == 1
        make_anew(place, *MAKES)
    assert len(set(outs)) == 2


@pytest.mark.control("nolargeheaders")
def test_large_header_is_not_stored_and_what_is_compiled_with_it_is(place: Any) -> None:
    put(place, 1, f'static const char long_text[] = "{"x" * 65 * MB}";\n')
    assert "more than 64 MiB" in place.why(*MAKES)
    assert header(place).stat().st_size > 64 * MB
    assert sum(p.stat().st_size for p in place.cache.rglob("*.jce")) < MB
    assert [used(place), used(place)] == [False, True]
    assert not launch(place, *MAKES)
    assert used(place)
