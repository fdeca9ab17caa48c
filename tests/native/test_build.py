"""What is compiled, loaded, kept and said."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import jitcache
import pytest
from conftest import CountedCompiler, in_process, need
from jitcache import native
from jitcache._native_job import Command, Source
from jitcache._native_request import built

TEXT = "int f(int x) { return 3 * x; }\n"


def call(entry: Any, name: str = "f") -> int:
    return int(native.load_shared(entry)[name](14))


def test_shared_library_is_compiled_once_and_loaded(cache: Any, counted: CountedCompiler) -> None:
    for hit in (False, True):
        entry = native.build({"f.c": TEXT}, compiler=counted.path, cache=cache)
        assert entry.hit is hit
        assert call(entry) == 42
    assert counted.compiles() == 1


def test_hit_runs_nothing(tmp_path: Path, counted: CountedCompiler) -> None:
    asked: Any = {
        "sources": {"f.c": "#include <stdio.h>\n" + TEXT},
        "compiler": str(counted.path),
        "flags": ["-O2", "-march=native"],
    }
    assert not in_process(tmp_path / "cache", **asked)["hit"]
    assert counted.compiles() == 1
    assert in_process(tmp_path / "cache", **asked)["hit"]
    assert counted.compiles() == 1


def test_cache_that_is_off_observes_nothing_and_refuses_nothing(
    tmp_path: Path, counted: CountedCompiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JITCACHE", "0")
    with jitcache.Cache(tmp_path / "cache") as cache:
        for n in (1, 2):
            entry = native.build("#include <stdio.h>\n" + TEXT, compiler=counted.path, cache=cache)
            assert (entry.hit, entry.refused, call(entry)) == (False, "", 42)
            assert counted.compiles() == n


def test_hit_starts_no_process(tmp_path: Path) -> None:
    if shutil.which("strace") is None:
        pytest.skip("no strace")
    need("gcc")
    asked: Any = {"sources": {"f.c": TEXT}, "flags": ["-march=native"]}
    in_process(tmp_path / "cache", **asked)
    log = tmp_path / "strace"
    wrapper = tmp_path / "python"
    wrapper.write_text(f'#!/bin/sh\nexec strace -f -e trace=execve,fork,vfork -o {log} {sys.executable} "$@"\n')
    wrapper.chmod(0o755)
    assert in_process(tmp_path / "cache", python=str(wrapper), **asked)["hit"]
    started = [line for line in log.read_text().splitlines() if "execve(" in line and "ENOENT" not in line]
    assert len(started) == 1, started  # Python itself


@pytest.mark.parametrize(
    ("names", "kind"),
    [
        (["a.c"], "shared"),
        (["a.cpp"], "shared"),
        (["a.c", "b.c"], "shared"),
        (["a.c", "b.cpp"], "shared"),
        (["a.c"], "object"),
    ],
)
def test_kinds_and_languages(cache: Any, names: list[str], kind: str) -> None:
    need("g++")
    linkage = {n: 'extern "C" ' if n.endswith("cpp") else "" for n in names}
    sources = {n: f"{linkage[n]}int {n[0]}(int x) {{ return 3 * x; }}\n" for n in names}
    for hit in (False, True):
        entry = native.build(sources, kind=kind, cache=cache)
        assert entry.hit is hit
        if kind == "shared":
            assert {n[0]: call(entry, n[0]) for n in names} == {n[0]: 42 for n in names}
    assert bytes(entry)[:4] == b"\x7fELF"


def test_text_path_and_paths_are_sources(tmp_path: Path, cache: Any) -> None:
    path = tmp_path / "f.c"
    path.write_text(TEXT)
    for sources in (TEXT, path, str(path), [path], {"f.c": TEXT}, {"f.c": TEXT.encode()}):
        assert call(native.build(sources, cache=cache)) == 42  # type: ignore[arg-type]


def test_relative_paths_are_those_of_the_caller(tmp_path: Path, cache: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("one", 1), ("two", 2)):
        (tmp_path / name / "inc").mkdir(parents=True)
        (tmp_path / name / "inc" / "v.h").write_text(f"#define V {value}\n")
    for name, value in (("one", 1), ("two", 2), ("one", 1)):
        monkeypatch.chdir(tmp_path / name)
        entry = native.build('#include "v.h"\nint f(int x) { return V; }\n', flags=["-Iinc"], cache=cache)
        assert call(entry) == value


def test_equal_texts_in_other_folders_are_two_requests(tmp_path: Path, cache: Any) -> None:
    """What they come to is in the result, where it shows the path."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "f.c").write_text("const char *f(void) { return __FILE__; }\n")
        entry = native.build([tmp_path / name / "f.c"], cache=cache)
        assert not entry.hit
        lib = native.load_shared(entry)
        lib.f.restype = ctypes.c_char_p
        assert lib.f() == str(tmp_path / name / "f.c").encode()


def test_warnings_are_kept(cache: Any) -> None:
    for hit in (False, True):
        entry = native.build("int f(void) { int unused; return 1; }\n", flags=["-Wall"], cache=cache)
        assert entry.hit is hit
        assert "unused" in entry.log


@pytest.mark.parametrize("text", ["int f(void) { return missing; }\n", '#include "nowhere.h"\n', "#error no\n"])
@pytest.mark.parametrize("cached", [True, False])
def test_error_has_log_and_command(cache: Any, text: str, cached: bool) -> None:
    with pytest.raises(jitcache.CompileError) as e:
        native.build(text, flags=["-DTHIS"], cache=cache if cached else False)
    assert "source.c" in e.value.log
    assert e.value.command is not None
    assert "-DTHIS" in e.value.command
    # Nobody who waits is kept waiting, and the next one is compiled.
    assert call(native.build(TEXT, cache=cache)) == 42


def test_missing_compiler_says_so(cache: Any) -> None:
    with pytest.raises(jitcache.CompileError, match="no-such-compiler"):
        native.build(TEXT, compiler="no-such-compiler", cache=cache)


def test_nothing_stays_in_the_temp_folder(tmp_path: Path, cache: Any) -> None:
    native.build(TEXT, cache=cache).close()
    with pytest.raises(jitcache.CompileError):
        native.build("#error\n\n", cache=cache)
    assert os.listdir(tmp_path / "tmp") == []


@pytest.mark.control("nolease")
def test_processes_compile_once(tmp_path: Path, counted: CountedCompiler) -> None:
    asked: Any = {"sources": {"f.c": TEXT * 1}, "compiler": str(counted.path)}
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: in_process(tmp_path / "cache", **asked), range(4)))
    assert len({f["bytes"] for f in found}) == 1
    assert counted.compiles() == 1
    assert sum(not f["hit"] for f in found) == 1


def test_read_only_cache_serves_and_compiles(tmp_path: Path) -> None:
    with jitcache.Cache(tmp_path / "cache") as cache:
        native.build(TEXT, cache=cache)
    with jitcache.Cache(tmp_path / "cache", readonly=True, memory_size=0) as cache:
        assert native.build(TEXT, cache=cache).hit
        for _ in range(2):
            entry = native.build(TEXT + "int g;\n", cache=cache)
            assert not entry.hit
            assert call(entry) == 42


def test_without_a_cache_it_compiles(cache: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert call(native.build(TEXT, cache=False)) == 42
    monkeypatch.setenv("JITCACHE", "0")
    with jitcache.Cache(tmp_path / "off") as off:
        for _ in range(2):
            entry = native.build(TEXT, cache=off)
            assert not entry.hit
            assert call(entry) == 42


def test_without_the_library_it_compiles(tmp_path: Path) -> None:
    result = in_process(tmp_path / "cache", env={"JITCACHE_LIBRARY": str(tmp_path / "none.so")}, sources={"f.c": TEXT})
    assert not result["hit"]
    assert bytes.fromhex(result["bytes"])[:4] == b"\x7fELF"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("const char *f(void) { return __DATE__; }\n", "time of day"),
        ("const char *f(void) { return __TIME__; }\n", "time of day"),
        (
            "#define A __TI\n#define P(a, b) a##b\n#define Q(a, b) P(a, b)\nconst char *f(void) { return Q(__TI, ME__); }\n",
            "time of day",
        ),
    ],
)
def test_what_cannot_be_repeated_is_compiled_each_time_and_says_why(cache: Any, text: str, why: str) -> None:
    for _ in range(2):
        entry = native.build(text, cache=cache)
        assert not entry.hit
        assert why in entry.refused
    assert native.key(text, cache=cache) is None


@pytest.mark.parametrize("flag", ["-save-temps=cwd", "-fstack-usage", "--coverage", "-MD", "-gsplit-dwarf"])
def test_file_that_is_made_beside_the_result_is_gone_with_the_folder(
    tmp_path: Path, cache: Any, monkeypatch: pytest.MonkeyPatch, flag: str
) -> None:
    """It is the compiler's, in the private folder: nobody could have asked for it."""
    (tmp_path / "cwd").mkdir()
    monkeypatch.chdir(tmp_path / "cwd")
    for hit in (False, True):
        entry = native.build(TEXT, kind="object", flags=[flag], cache=cache)
        assert (entry.hit, entry.refused) == (hit, "")
    assert os.listdir(tmp_path / "cwd") == []
    # Where it is left behind, the result is handed out and not kept.
    for _ in range(2):
        entry = native.build(TEXT, kind="object", flags=["-MD", f"-MF{tmp_path}/f.d"], cache=cache)
        assert not entry.hit
        assert "f.d: was left behind by the command" in entry.refused
    assert "source.c" in (tmp_path / "f.d").read_text()


@pytest.mark.control("noprivatename")
def test_debug_information_does_not_name_the_private_folder(cache: Any) -> None:
    """It has another name each time, so two results would differ."""
    words = (need("gcc"), "-c", "-g1", "f.c", "-o", "f.o")
    entry = built(Command(words, (Source("f.c", TEXT.encode()),), "f.o", None, (), "native", "f.o"), cache, None)
    assert b"f.c" in bytes(entry)
    assert b"jitcache-run-" not in bytes(entry)
    assert not entry.refused


@pytest.mark.control("nodates")
def test_modification_time_counts_where_it_shows(tmp_path: Path, cache: Any) -> None:
    source = tmp_path / "f.c"
    source.write_text("const char *f(void) { return __TIMESTAMP__; }\n")
    found = set()
    for when, hit in ((100_000_000, False), (100_000_000, True), (200_000_000, False)):
        os.utime(source, (when, when))
        entry = native.build([source], cache=cache)
        assert entry.hit is hit, entry.missed
        assert bytes(entry) == bytes(native.build([source], cache=False))
        found.add(bytes(entry))
    assert len(found) == 2
    # A text has one time, and a file of which no time shows has any.
    for hit in (False, True):
        assert native.build(source.read_text(), cache=cache).hit is hit
    source.write_text("int f(void) { return 1; }\n")
    for when in (100_000_000, 200_000_000):
        os.utime(source, (when, when))
        entry = native.build([source], cache=cache)
    assert entry.hit


def test_zone_counts_where_a_time_shows(tmp_path: Path, cache: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    dated, plain = (f"const char *f(void) {{ return {what}; }}\n" for what in ("__TIMESTAMP__", '""'))
    for zone, hit in (("UTC0", False), ("UTC0", True), ("XXX5", False), ("UTC0", True)):
        monkeypatch.setenv("TZ", zone)
        assert native.build(dated, cache=cache).hit is hit
        native.build(plain, cache=cache)
    assert native.build(plain, cache=cache).hit


def test_member_named_include_is_keyed(cache: Any) -> None:
    text = "struct s { int include; };\nint f(struct s *p) { p[0].include = 1; return p->include; }\n"
    assert not native.build(text, cache=cache).refused
    assert native.build(text, cache=cache).hit


def test_time_is_known_with_source_date_epoch(cache: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "const char *f(void) { return __DATE__; }\n"
    found = set()
    for epoch, hit in (("1", False), ("1", True), ("100000000", False)):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", epoch)
        entry = native.build(text, cache=cache)
        assert entry.hit is hit
        lib = native.load_shared(entry)
        lib.f.restype = ctypes.c_char_p
        found.add(lib.f())
    assert len(found) == 2


def test_key_is_that_of_the_entry(cache: Any) -> None:
    entry = native.build(TEXT, name="triple", cache=cache)
    key = native.key(TEXT, name="triple", cache=cache)
    assert bytes(cache.entry(key)) == bytes(entry)
    assert key.name == entry.name == "triple"
    assert native.key(TEXT, name="triple", flags=["-DX"], cache=cache) is None
    assert cache.remove(key)
    again = native.build(TEXT, name="triple", cache=cache)
    assert not again.hit
    assert again.missed == "the entry: absent"


def test_miss_says_what_has_changed(tmp_path: Path, cache: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    header = tmp_path / "v.h"
    asked: Any = {"sources": '#include "v.h"\nint f(int x) { return V; }\n', "flags": [f"-I{tmp_path}"], "cache": cache}
    header.write_text("#define V 1\n")
    first = native.build(**asked)
    assert first.missed == "absent"
    assert native.build(**asked).missed == ""
    header.write_text("#define V 22\n")
    assert native.build(**asked).missed == f"{header}: size changed"
    monkeypatch.setenv("CPATH", "/nowhere")
    assert native.build(**asked).missed == "environment: CPATH is set now"


def test_log_says_what_has_changed(tmp_path: Path) -> None:
    header, log = tmp_path / "v.h", tmp_path / "log"
    env = {"JITCACHE_LOG": "miss", "JITCACHE_LOG_FILE": str(log)}
    for text in ("#define V 1\n", "#define V 22\n"):
        header.write_text(text)
        in_process(
            tmp_path / "cache",
            env=env,
            sources={"f.c": '#include "v.h"\nint v = V;\n'},
            flags=[f"-I{tmp_path}"],
            name="vee",
        )
    lines = log.read_text().splitlines()
    assert sum("vee" in line and "absent" in line for line in lines) == 1
    assert sum("vee" in line and f"{header}: size changed" in line for line in lines) == 1


def test_keys_of_two_worlds_explain_each_other(tmp_path: Path, cache: Any) -> None:
    asked: Any = {"sources": '#include "v.h"\nint v = V;\n', "flags": [f"-I{tmp_path}"], "cache": cache, "name": "vee"}
    keys = []
    for value in (1, 22):
        (tmp_path / "v.h").write_text(f"#define V {value}\n")
        native.build(**asked)
        keys.append(native.key(**asked))
    assert cache.explain(keys[0])["changed"] == ["files"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"sources": []}, {"sources": ["x.txt"]}, {"sources": {"a/b.c": ""}}, {"kind": "program"},
        {"sources": {"../x.c": TEXT}}, {"sources": {"-x.c": TEXT}}, {"compiler": []},
    ],
)  # fmt: skip
def test_wrong_use_is_an_error(cache: Any, wrong: dict[str, Any]) -> None:
    with pytest.raises(jitcache.Error):
        native.build(**{"sources": {"f.c": TEXT}, "cache": cache, **wrong})


def test_flags_in_one_word_are_a_type_error(cache: Any) -> None:
    with pytest.raises(TypeError):
        native.build(TEXT, flags="-O2", cache=cache)


def test_path_is_found_by_other_processes(tmp_path: Path, cache: Any) -> None:
    need("readelf")
    entry = native.build(TEXT, cache=cache)
    assert b"DYN" in subprocess.run(["readelf", "-h", entry.path], capture_output=True, check=True).stdout
