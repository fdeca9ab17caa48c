"""`jitcache run --json`: what became of each command, for a program that reads it; the command's own output stays as it is."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest


def lines(text: bytes | str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def events(path: Path) -> list[str]:
    return [line["event"] for line in lines(path.read_bytes())]


def entries(place: Any) -> list[Path]:
    return [path for path in place.cache.rglob("*") if "entries" in path.parts and path.is_file()]


def known(place: Any, key: str) -> bool:
    """Whether the command finds an entry."""
    return place.plain(place.program, "path", key).returncode == 0


@pytest.fixture(autouse=True)
def program(place: Any) -> None:
    from conftest import PROGRAM

    place.program = PROGRAM


def test_miss_what_was_kept_and_the_hit_are_told_on_standard_error(place: Any) -> None:
    first, second = (place.run("--json", "random", "out") for _ in range(2))
    third = place.run("--json", "random", "out")
    assert third.stdout == place.read("out"), "the output is the command's"
    assert second.stdout == third.stdout
    missed, kept = lines(first.stderr)
    assert (missed["event"], kept["event"]) == ("miss", "kept")
    assert missed["why"]
    assert missed["process"] == kept["process"]
    (hit,) = lines(third.stderr)
    assert hit["event"] == "hit" and known(place, hit["key"])
    assert hit["command"] == missed["command"] == ["random", "out"]
    assert hit["folder"] == str(place.folder)
    assert 0 < hit["seconds"] < kept["seconds"]


def test_hit_has_the_key_of_what_was_kept(place: Any) -> None:
    kept = lines(place.run("--json", "random").stderr)[1]
    hit = lines(place.run("--json", "random").stderr)[0]
    assert hit["key"] == kept["key"]


def test_flag_is_no_part_of_what_is_looked_up(place: Any, tmp_path: Path) -> None:
    told = tmp_path / "told"
    made = {
        place.run(*flags, "random", env=env).stdout
        for flags, env in (
            ((), {}), (("--json",), {}), ((f"-json={told}",), {}), ((), {"JITCACHE_RUN_JSON": str(told)}),
            ((), {"JITCACHE_RUN_JSON": "-"}),
        )
    }  # fmt: skip
    assert len(made) == 1
    assert events(told) == ["hit", "hit"]


def test_file_gets_all_and_standard_error_nothing(place: Any, tmp_path: Path) -> None:
    told = tmp_path / "told"
    place.tool("both", "#!/bin/sh\necho out; echo err >&2\n")
    for _ in range(2):
        p = place.run(f"--json={told}", "both")
        assert (p.stdout, p.stderr) == (b"out\n", b"err\n")
    assert events(told) == ["miss", "kept", "hit"]


def test_why_says_what_has_changed(place: Any, gcc: str) -> None:
    place.write(a_c='#include "a.h"\n', a_h="int a;\n")
    command = ["--json", gcc, "-c", "a.c", "-o", "a.o"]
    place.run(*command)
    place.write(a_h="int abc;\n")
    assert "a.h" in lines(place.run(*command).stderr)[0]["why"]


def test_what_cannot_be_kept_says_why_each_time(place: Any) -> None:
    place.tool("asks", "#!/bin/sh\ncat\n")
    stderr = [place.run("--json", "asks", stdin=subprocess.PIPE).stderr for _ in range(2)]
    assert [line["event"] for line in lines(stderr[0])] == ["miss", "not kept"]
    (plain,) = lines(stderr[1])
    assert plain["event"] == "plain"
    assert plain["why"].startswith(lines(stderr[0])[1]["why"])


@pytest.mark.parametrize(
    ("ends", "status", "why"),
    [("exit 7", 7, "status 7"), ("kill -SEGV $$", 128 + signal.SIGSEGV, "segmentation fault")],
)
def test_failure_tells_its_status_and_that_nothing_is_kept(
    place: Any, tmp_path: Path, ends: str, status: int, why: str
) -> None:
    place.tool("fails", f"#!/bin/sh\necho out\n{ends}\n")
    for _ in range(2):
        p = place.run(f"--json={tmp_path / 'told'}", "fails")
        assert p.returncode == (status if status < 128 else 128 - status)
        assert p.stdout == b"out\n"
    assert events(tmp_path / "told") == ["miss", "not kept"] * 2
    for missed, failed in zip(*[iter(lines((tmp_path / "told").read_bytes()))] * 2):
        assert (failed["status"], failed["process"]) == (status, missed["process"])
        assert why in failed["why"] and failed["seconds"] > 0
        assert "status" not in missed
    assert entries(place) == []
    place.run("random")
    assert entries(place) != []


@pytest.mark.parametrize("off", [{"JITCACHE": "0"}, {"JITCACHE": "readonly"}])
def test_cache_that_is_off_says_so(place: Any, off: dict[str, str]) -> None:
    (plain,) = lines(place.run("--json", "random", env=off).stderr)
    assert plain["event"] == "plain" and "seconds" not in plain and "key" not in plain
    assert plain["why"]


def test_link_tells_by_the_variable(place: Any, gcc: str, tmp_path: Path) -> None:
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "gcc").symlink_to(place.program)
    place.write(a_c="int a;\n")
    env = {"JITCACHE_RUN_JSON": str(tmp_path / "told"), "PATH": f"{tmp_path / 'links'}:{place.env['PATH']}"}
    for _ in range(2):
        p = place.plain(tmp_path / "links" / "gcc", "-c", "a.c", "-o", "a.o", env=env)
        assert p.returncode == 0, p.stderr
    assert events(tmp_path / "told") == ["miss", "kept", "hit"]


def test_descriptor_gets_the_lines(place: Any) -> None:
    hears, tells = os.pipe()
    try:
        for _ in range(2):
            place.run(f"--json=/dev/fd/{tells}", "random", pass_fds=[tells])
    finally:
        os.close(tells)
    with open(hears, "rb") as f:
        assert [line["event"] for line in lines(f.read())][-1] == "hit"


@pytest.mark.parametrize("what", ["folder", "pipe that nobody reads"])
def test_what_cannot_be_written_to_is_said_and_the_command_runs(place: Any, tmp_path: Path, what: str) -> None:
    told = tmp_path / "told"
    told.mkdir() if what == "folder" else os.mkfifo(told)
    made = [place.run(f"--json={told}", "random", timeout=20) for _ in range(2)]
    assert made[0].stdout == made[1].stdout != b""
    for p in made:
        assert p.returncode == 0
        assert p.stderr.decode().count(str(told)) == 1


def test_lines_of_many_processes_do_not_mix(place: Any, tmp_path: Path) -> None:
    told = tmp_path / "told"
    # Long ones: a command with an argument of 20,000 bytes.
    running = [place.start(f"--json={told}", "echo", f"{i}" * 20000) for i in range(8)]
    for p in running:
        p.communicate()
    found = lines(told.read_bytes())
    assert sorted(line["event"] for line in found) == ["kept"] * 8 + ["miss"] * 8


def test_command_inside_an_observed_one_tells_nothing(place: Any, tmp_path: Path) -> None:
    """What it would write were an output of the command outside."""
    told = tmp_path / "told"
    place.tool("outer", f"#!/bin/sh\n{place.program} run --json={told} echo inner\n")
    made = [place.run("outer").stdout for _ in range(2)]
    assert made == [b"inner\n"] * 2
    assert not told.exists()


def test_odd_words_are_one_line_of_json(place: Any) -> None:
    p = place.run("--json", "printf", 'a"b\\n\n\x1b[31m<&>')
    first = lines(p.stderr)[0]
    assert first["command"][1] == 'a"b\\n\n\x1b[31m<&>'
    assert b"\x1b" not in p.stderr
