"""Commands that are shown one second as all times: they hit on another day, and where files have other times."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable
from typing import Any

import conftest
import pytest
import samples
from opens import own_program

SECOND = 1_000_000_000
SHOWN = "2001-09-09"
HERMETIC = f"-hermetic={SECOND}"


def commit(place: Any) -> None:
    who = ["-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["add", "in"], [*who, "commit", "-q", "-m", "in"]):
        assert place.plain("git", *words).returncode == 0


#: Programs that are not kept otherwise: words, what the file out has then, and what has to be there before.
PROGRAMS: dict[str, tuple[list[str], str, Callable[[Any], None] | None]] = {
    "gcc": (["-S", "in.c", "-o", "out"], "Sep  9 2001 01:46:40 Sun Sep  9 01:46:40 2001", None),
    "nasm": (["-f", "bin", "in.s", "-o", "out"], f"{SHOWN} 01:46:40", None),
    "perl": (["-e", 'open F, ">out"; print F time, (stat "in")[9], -M "in"'], f"{SECOND}{SECOND}0", None),
    "lua5.4": (["-e", "io.open('out', 'w'):write(os.time())"], f"{SECOND}", None),
    "ruby": (["-e", "File.write('out', [Time.now.to_i, File.mtime('in').to_i].join)"], f"{SECOND}{SECOND}", None),
    "re2c": (["--no-debug-info", "in.re", "-o", "out"], "Sun Sep  9 01:46:40 2001", None),
    "tar": (["cf", "out", "in"], f"{SECOND:011o}", None),
    "git": (["archive", "-o", "out", "HEAD^{tree}"], f"{SECOND:011o}", commit),
}

SOURCES = {
    "in": "1\n",
    "in.c": 'const char *a = __DATE__ " " __TIME__ " " __TIMESTAMP__;\n',
    "in.s": "db __DATE__, ' ', __TIME__\n",
    "in.re": "/*!re2c\nre2c:yyfill:enable = 0; re2c:define:YYCTYPE = char; 'a' { return 1; } * { return 0; }\n*/\n",
}


@pytest.fixture
def dated(place: Any) -> Any:
    """A folder with sources; make_older gives them other times."""
    place.env |= {"TZ": "UTC0"}
    for name, text in SOURCES.items():
        (place.folder / name).write_text(text)
    place.days = 0
    make_older(place)
    return place


def make_older(place: Any) -> None:
    place.days += 1
    for name in SOURCES:
        os.utime(place.folder / name, (place.days * 86400, place.days * 86400))


@pytest.mark.control("nohermetic", rows=["perl"])
@pytest.mark.parametrize("name", [name for name in PROGRAMS if shutil.which(name)])
def test_program_that_reads_the_clock_hits_where_files_have_other_times(dated: Any, name: str) -> None:
    words, shows, prepare = PROGRAMS[name]
    if prepare is not None:
        prepare(dated)
    opens, made = own_program(dated, name), []
    for started in (True, False, False):
        assert dated.run(HERMETIC, name, *words).returncode == 0
        made.append(dated.read("out"))
        (dated.folder / "out").unlink()
        make_older(dated)
        assert (opens.count() > 0) == started
    assert shows.encode() in made[0]
    assert made[0] == made[1] == made[2]
    opens.close()


def test_program_that_looks_at_times_is_not_kept_without_it(dated: Any) -> None:
    words, _, _ = PROGRAMS["perl"]
    made = []
    for _ in range(2):
        assert dated.run("perl", *words).returncode == 0
        made.append(dated.read("out"))
        make_older(dated)
    assert made[0] != made[1]


def test_content_counts_as_ever(dated: Any) -> None:
    script = dated.tool("script", "#!/bin/sh\ncat in; random\n")
    said = []
    for text in ("1\n", "2\n", "1\n"):
        (dated.folder / "in").write_text(text)
        said.append(dated.run(HERMETIC, script).stdout)
    assert said[0] == said[2] != said[1]


def test_script_that_compares_times_by_a_program_of_its_own_sees_one_time(dated: Any) -> None:
    words = ["perl", "-e", 'print -M "in" < -M "in.c" ? "newer" : "not newer", rand']
    said = []
    for _ in range(2):
        said.append(dated.run(HERMETIC, *words).stdout)
        make_older(dated)
        os.utime(dated.folder / "in")
    assert said[0] == said[1]
    assert said[0].startswith(b"not newer")


@pytest.mark.control("nosecond")
def test_second_is_a_part_of_the_request(dated: Any) -> None:
    words = ["perl", "-e", "print time"]
    for second in (5, 6, 5):
        assert dated.run(f"-hermetic={second}", *words).stdout == str(second).encode()
    assert dated.run(*words).stdout not in (b"5", b"6")


def test_variable_and_project_say_what_the_flag_says(dated: Any) -> None:
    words = ["perl", "-e", "print time, rand"]
    said = dated.run(HERMETIC, *words).stdout
    assert dated.run(*words, env={"JITCACHE_HERMETIC": str(SECOND)}).stdout == said
    given = {"SOURCE_DATE_EPOCH": str(SECOND)}  # which counts for what is not known
    said_too = dated.run(*words, env={"JITCACHE_HERMETIC": "1", **given}).stdout
    assert said_too.startswith(str(SECOND).encode())
    assert dated.run("-hermetic", *words, env=given).stdout == said_too
    (dated.folder / "jitcache.toml").write_text(f"hermetic = {SECOND}\n")
    assert dated.run(*words).stdout == said
    (dated.folder / "jitcache.toml").write_text("hermetic = true\n")
    assert dated.run(*words).stdout.startswith(b"315532800")
    for off in ("0", ""):
        assert not dated.run(*words, env={"JITCACHE_HERMETIC": off}).stdout.startswith(b"315532800")


@pytest.mark.parametrize("value", ["yesterday", "-1", "253402300800", "1e9"])
def test_second_that_is_none_is_said(dated: Any, value: str) -> None:
    p = dated.run(f"-hermetic={value}", "true")
    assert p.returncode == 2
    assert b"want a second since 1970" in p.stderr


@pytest.mark.control("nostrict")
def test_hermetic_command_is_given_only_what_toolchains_obey(dated: Any) -> None:
    script = dated.tool("script", "#!/bin/sh\necho ${LAB-none} ${CFLAGS-none}\nrandom\n")
    said = {dated.run(HERMETIC, script, env={"LAB": n, "CFLAGS": "c"}).stdout for n in ("1", "2")}
    assert len(said) == 1
    assert said.pop().startswith(b"none c\n")


@pytest.mark.control("nodeciders")
def test_make_sees_true_times_and_is_said_to_run_plain(dated: Any) -> None:
    """What is newer is built: to a make that is shown one time, all is up to date."""
    need = conftest.need("make")
    (dated.folder / "Makefile").write_text("out: in\n\tcp in out\n")
    for i, words in enumerate([[need], ["make"], ["sh", "-c", "make; :"], ["sh", "-c", "make; :"]]):
        (dated.folder / "in").write_text(f"{i}\n")
        os.utime(dated.folder / "in", (2_000_000_000 + i, 2_000_000_000 + i))
        p = dated.run(HERMETIC, "--json=told", *words)
        assert p.returncode == 0, p.stderr
        assert dated.read("out") == f"{i}\n".encode()
        os.utime(dated.folder / "out", (2_000_000_000 + i, 2_000_000_000 + i))
    told = [json.loads(line) for line in dated.read("told").splitlines()]
    assert [t["event"] for t in told] == ["plain", "plain", "miss", "not kept", "plain"]
    for t in told:
        assert t["event"] == "miss" or "make decides by times" in t["why"]
    assert "not stored: not repeatable" in dated.plain(conftest.PROGRAM, "stats").stdout.decode()


@pytest.mark.control("compiled")
def test_python_takes_no_compiled_file_for_that_of_a_source_of_the_same_time(dated: Any) -> None:
    words = [sys.executable, "-c", "import module; print(module.A)"]
    for a in (1, 2):
        (dated.folder / "module.py").write_text(f"A = {a}\n")
        assert dated.run(HERMETIC, *words, env={"PYTHONPATH": str(dated.folder)}).stdout == f"{a}\n".encode()
    assert not (dated.folder / "__pycache__").exists()


def test_samples_of_the_page_are_kept(dated: Any) -> None:
    (dated.folder / "generate.pl").write_text("print time, rand;\n")
    (dated.folder / "version.c").write_text("const char *date = __DATE__;\n")
    link = dated.tools / "jitcache"
    link.symlink_to(conftest.PROGRAM)
    conftest.need("gcc")
    text = samples.under("docs/launcher.md", "Hermetic runs") + "jitcache perl generate.pl\n"
    said = []
    for _ in range(2):
        p = dated.plain("sh", "-euc", text)
        assert p.returncode == 0, p.stderr
        said.append(p.stdout)
        assert b"Nov 14 2023" in dated.read("version.o")
    assert said[0] == said[1] == 2 * said[0][: len(said[0]) // 2]
