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
from conftest import LoggedCompiler, in_process, need
from jitcache import native

TEXT = "int f(int x) { return 3 * x; }\n"


def call(entry: Any, name: str = "f") -> int:
    return int(native.load_shared(entry)[name](14))


def test_shared_library_is_compiled_once_and_loaded(cache: Any, logged: LoggedCompiler) -> None:
    for hit in (False, True):
        entry = native.build({"f.c": TEXT}, compiler=logged.path, cache=cache)
        assert entry.hit is hit
        assert call(entry) == 42
    assert logged.compiles() == 1


def test_hit_runs_nothing(tmp_path: Path, logged: LoggedCompiler) -> None:
    asked: Any = {
        "sources": {"f.c": "#include <stdio.h>\n" + TEXT},
        "compiler": str(logged.path),
        "flags": ["-O2", "-march=native"],
    }
    assert not in_process(tmp_path / "cache", **asked)["hit"]
    before = logged.calls()
    # Not even if there were a compiler in PATH no more.
    assert in_process(tmp_path / "cache", **asked)["hit"]
    assert logged.calls() == before


def test_cache_that_is_off_asks_the_compiler_nothing(
    tmp_path: Path, logged: LoggedCompiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JITCACHE", "0")
    with jitcache.Cache(tmp_path / "cache") as cache:
        for n in (1, 2):
            entry = native.build("#include <stdio.h>\n" + TEXT, compiler=logged.path, cache=cache)
            assert (entry.hit, entry.refused, call(entry)) == (False, "", 42)
            assert len(logged.calls()) == logged.compiles() == n


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


def test_equal_texts_in_other_folders_are_one_entry(tmp_path: Path, cache: Any) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "f.c").write_text(TEXT)
        entry = native.build([tmp_path / name / "f.c"], cache=cache)
    assert entry.hit
    for name in ("one", "two"):  # unless the path is in the result
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


def test_processes_compile_once(tmp_path: Path, logged: LoggedCompiler) -> None:
    asked: Any = {"sources": {"f.c": TEXT * 1}, "compiler": str(logged.path)}
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: in_process(tmp_path / "cache", **asked), range(4)))
    assert len({f["bytes"] for f in found}) == 1
    assert logged.compiles() == 1
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
    ("text", "flags"),
    [
        ("const char *f(void) { return __DATE__; }\n", []),
        ("const char *f(void) { return __TIMESTAMP__; }\n", []),
        ('__asm__(".section x\\n.incbin \\"/etc/hostname\\"\\n.text");\nint f;\n', []),
        ('__asm__(".include \\"/dev/null\\"");\nint f;\n', []),
        ('#define S(x) #x\n__asm__(".include  " S("/dev/null"));\nint f;\n', []),
        (TEXT, ["-save-temps=obj"]),
        (TEXT, ["-fstack-usage"]),
    ],
)
def test_what_cannot_be_keyed_is_compiled_each_time(cache: Any, text: str, flags: list[str]) -> None:
    for _ in range(2):
        entry = native.build(text, flags=flags, cache=cache)
        assert not entry.hit
        assert entry.refused
    with pytest.raises(jitcache.RefusedError):
        native.key(text, flags=flags, cache=cache)


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
    changed = native.key(TEXT, name="triple", flags=["-DX"], cache=cache)
    assert cache.explain(changed)["changed"] == ["flags"]
    assert cache.remove(key)
    assert not native.build(TEXT, name="triple", cache=cache).hit


@pytest.mark.parametrize(
    "wrong",
    [
        {"sources": []}, {"sources": ["x.txt"]}, {"sources": {"a/b.c": ""}}, {"kind": "program"},
        {"sources": {"../x.c": TEXT}}, {"compiler": []},
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
