"""The samples of docs/launcher.md, as they stand there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import conftest
import samples


def pasted(place: Any, text: str, folder: Path) -> None:
    """Run lines of a shell in a folder, with jitcache in PATH."""
    link = place.tools / "jitcache"
    if not link.exists():
        link.symlink_to(conftest.PROGRAM)
    p = place.plain("sh", "-euc", text, cwd=folder)
    assert p.returncode == 0, p.stderr


def test_line_of_the_page_is_kept(place: Any, gcc: str) -> None:
    """The compiler makes something else in each run: what is equal was not made again."""
    place.tool("gcc", '#!/bin/sh\nexec /usr/bin/gcc -DDICE=0x$(od -A n -N 4 -t x4 /dev/urandom | tr -d " ") "$@"\n')
    place.write(a_c="unsigned f(void) { return DICE; }\n")
    line = samples.under("docs/launcher.md", "The launcher")
    made = []
    for text in (line, line, line.replace("jitcache run ", "")):
        (place.folder / "a.so").unlink(missing_ok=True)
        pasted(place, text, place.folder)
        made.append(place.read("a.so"))
    assert made[0] == made[1] != made[2]


def test_settings_of_the_page_make_an_invented_folder_mean_nothing(place: Any, gcc: str, tmp_path: Path) -> None:
    settings = samples.under("docs/launcher.md", "Invented names").replace("/tmp/*", f"{place.folder}/*")
    objects: list[list[bytes]] = []
    for text in ("true\n", settings):
        objects.append([])
        for name in ("one", "two"):
            folder = place.folder / f"{name}-{len(objects)}"
            folder.mkdir()
            (folder / "a.c").write_text("int f(void) { return 1; }\n")
            pasted(place, f"{text}jitcache run gcc -flto -g -c a.c -o a.o", folder)
            objects[-1].append((folder / "a.o").read_bytes())
    # gcc never makes the same with -flto: what is equal was not made again.
    without, with_settings = objects
    assert without[0] != without[1]
    assert with_settings[0] == with_settings[1]


def test_lines_of_the_page_are_what_a_build_gets(place: Any, gcc: str) -> None:
    settings = samples.under("docs/launcher.md", "What became of each command", 0)
    text = samples.under("docs/launcher.md", "What became of each command", 1)
    shown = [json.loads(line) for line in text.splitlines()]
    command = f"jitcache run {' '.join(shown[0]['command'])}\n"
    place.write(a_c='#include "a.h"\n', a_h="int a;\n")
    pasted(place, command, place.folder)
    place.write(a_h="int other;\n")
    pasted(place, settings + command + command, place.folder)
    told = [json.loads(line) for line in place.read("jitcache.jsonl").splitlines()]
    assert [list(line) for line in told] == [list(line) for line in shown]
    for name in ("event", "command"):
        assert [line[name] for line in told] == [line[name] for line in shown]
    assert told[0]["why"] == shown[0]["why"]
    assert told[1]["key"] == told[2]["key"]


def test_variables_of_the_page_are_not_given(place: Any) -> None:
    place.tool("shows", "#!/bin/sh\nenv | grep -E '^(CI_|MY_SDK_|LAB|CC=)'\n")
    set_here = "export CI_JOB=1 MY_SDK_ROOM=1 LAB=1 CC=cc\n"
    given = []
    for line in samples.under("docs/launcher.md", "Variables of a run").splitlines():
        pasted(place, f"{set_here}{line}\njitcache run shows >shown", place.folder)
        given.append(set(place.read("shown").decode().split()))
    assert given == [{"MY_SDK_ROOM=1", "LAB=1", "CC=cc"}, {"MY_SDK_ROOM=1", "CC=cc"}]
