"""``jitcache gcc -c a.c``: a first word that is a program, and no command of jitcache, is launched."""

from __future__ import annotations

from typing import Any

import conftest
import pytest


def jitcache(place: Any, *words: str, **more: Any) -> Any:
    return place.plain(conftest.PROGRAM, *words, **more)


@pytest.mark.parametrize("word", ["random", "../tools/random", "PATH"])
def test_program_is_launched_as_run_does_it(place: Any, word: str) -> None:
    word = str(place.random) if word == "PATH" else word

    def made(run: Any) -> tuple[bytes, ...]:
        for name in ("-json", "made"):
            (place.folder / name).unlink(missing_ok=True)
        p = run(word, "-json", "made")
        assert (p.returncode, p.stderr) == (0, b"")
        return p.stdout, place.read("-json"), place.read("made")

    first = made(lambda *words: jitcache(place, *words))
    assert first == made(lambda *words: jitcache(place, *words)) == made(place.run)


def test_commands_of_jitcache_are_not_taken_for_programs(place: Any) -> None:
    for name in ("ls", "dir", "stats", "help", "trim"):
        place.tool(name, "#!/bin/sh\necho a program\n")
        assert b"a program" not in jitcache(place, name).stdout
        assert jitcache(place, str(place.tools / name)).stdout == place.run(name).stdout == b"a program\n"


@pytest.mark.parametrize("folder", [False, True])
def test_word_that_is_neither_is_wrong_use(place: Any, folder: bool) -> None:
    if folder:
        (place.tools / "nosuch").mkdir()
    p = jitcache(place, "nosuch", "-c")
    assert (p.returncode, p.stdout) == (2, b"")
    assert b'"nosuch": no such command, and no program in PATH' in p.stderr


def test_path_that_is_no_program_ends_as_in_a_shell(place: Any) -> None:
    place.write(a_c="int a;\n")
    assert jitcache(place, "./nosuch").returncode == 127
    assert jitcache(place, "./a.c").returncode == 126


def test_flag_before_the_program_says_what_to_do(place: Any) -> None:
    p = jitcache(place, "-directory", str(place.folder), "random")
    assert (p.returncode, p.stdout) == (2, b"")
    assert b"a program to run stands first, and JITCACHE_DIR names another cache" in p.stderr


def test_flag_with_a_path_is_no_program(place: Any) -> None:
    p = jitcache(place, f"-directory={place.folder}", "dir")
    assert p.stdout.decode().strip() == str(place.folder)


def test_variables_of_run_are_obeyed(place: Any) -> None:
    place.tool("shows", "#!/bin/sh\necho ${LAB-not given}\n")
    env = {"LAB": "1", "JITCACHE_WITHHOLD": "LAB", "JITCACHE_RUN_JSON": "-"}
    p = jitcache(place, "shows", env=env)
    assert p.stdout == b"not given\n"
    assert b'"event":"kept"' in p.stderr
