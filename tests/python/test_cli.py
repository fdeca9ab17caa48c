"""The command, as Python finds it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import jitcache
import jitcache.__main__
import pytest


def command(*args: object, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "jitcache", *map(str, args)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **env},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.fixture
def cache(tmp_path: Path) -> jitcache.Cache:
    cache = jitcache.Cache(tmp_path / "cache")
    for n in range(3):
        cache.put(jitcache.Key(n=n).named(f"entry {n}"), b"payload %d" % n, kind="cubin")
    cache.flush()
    return cache


def test_data_on_stdout_and_the_rest_on_stderr(cache: jitcache.Cache) -> None:
    directory = cache.stats()["directory"]
    p = command("-directory", directory, "ls", "-json")
    assert (p.returncode, p.stderr) == (0, "")
    assert {e["name"] for e in json.loads(p.stdout)} == {"entry 0", "entry 1", "entry 2"}
    p = command("-directory", directory, "show", "00000000")
    assert (p.returncode, p.stdout) == (1, "")
    p = command("nonsense")
    assert (p.returncode, p.stdout) == (2, "")
    assert "nonsense" in p.stderr


def test_a_checkout_has_no_folders_for_c() -> None:
    for name in ("--cmakedir", "--includedir", "--libdir", "--pkgconfigdir"):
        p = command(name)
        assert (p.returncode, p.stdout) == (1, "")
        assert p.stderr.endswith("no wheel was installed here; see make install\n")


def test_help_lists_what_only_the_module_does() -> None:
    for word in ("--help", "-h", "help"):
        p = command(word)
        assert (p.returncode, p.stderr) == (0, "")
        listed = set(re.findall(r"^  (--\w+) ", p.stdout, re.MULTILINE))
        assert listed == {*jitcache.__main__._FOLDERS, *jitcache.__main__._FLAGS}
        assert "usage: jitcache COMMAND" in p.stdout
    assert "--cflags" not in command("help", "stats").stdout


def test_stats_are_those_of_the_package(cache: jitcache.Cache) -> None:
    mine = cache.stats()
    theirs = json.loads(command("-directory", mine["directory"], "stats", "-json").stdout)
    for field in ("directory", "entries", "bytes", "max_size"):
        assert theirs[field] == mine[field]
    assert theirs["total"] == mine["total"]


def test_export_writes_bytes(cache: jitcache.Cache, tmp_path: Path) -> None:
    key = jitcache.Key(n=1)
    directory = cache.stats()["directory"]
    assert command("-directory", directory, "export", key.hex, tmp_path / "out").returncode == 0
    assert (tmp_path / "out").read_bytes() == b"payload 1"


def test_doctor_knows_the_library(cache: jitcache.Cache) -> None:
    d = json.loads(command("doctor", "-json", JITCACHE_DIR=cache.stats()["directory"]).stdout)
    assert d["cached_on_disk"]
    assert os.path.samefile(d["library"], jitcache._library.path())
    assert d["glibc_needed"].startswith("2.")


def test_what_a_refused_put_left_is_said_by_doctor(tmp_path: Path) -> None:
    cache = jitcache.Cache(tmp_path / "cache", max_size=1000)
    assert not cache.put(jitcache.Key(a=1), bytes(2000))
    cache.close()
    p = command("doctor", JITCACHE_DIR=str(tmp_path / "cache"))
    assert "last refusal" in p.stdout
    assert "too large" in p.stdout


def test_explain_says_which_file_was_in_the_way_of_a_result(tmp_path: Path) -> None:
    source = tmp_path / "kernel.cu"
    source.write_text("before")
    cache = jitcache.Cache(tmp_path / "cache")
    key = jitcache.Key(source=jitcache.File(source)).named("m.saxpy(float64)")
    source.write_text("while it was compiled")
    assert not cache.put(key, b"x")
    assert cache.explain(key)["refused"]["why"].startswith(str(source))
    said = command("-directory", tmp_path / "cache", "explain", "saxpy")
    assert said.returncode == 0, said.stderr
    assert re.search(rf"^not stored +[-0-9]+ [:0-9]+ +input changed: {source}: ", said.stdout, re.MULTILINE), (
        said.stdout
    )


def test_reader_that_goes_away_is_no_error(cache: jitcache.Cache) -> None:
    p = subprocess.Popen(
        [sys.executable, "-m", "jitcache", "-directory", cache.stats()["directory"], "ls"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    p.stdout.close()
    err = p.stderr.read()
    p.stderr.close()
    p.wait(timeout=60)
    assert b"Traceback" not in err


def test_progress_is_drawn_for_a_terminal_only(tmp_path: Path) -> None:
    cache = jitcache.Cache(tmp_path / "cache")
    cache.put(jitcache.Key(a=1), b"x")
    cache.close()
    assert command("-directory", tmp_path / "cache", "verify").stderr == ""


def test_without_the_library_it_works_and_says_so(cache: jitcache.Cache, tmp_path: Path) -> None:
    there = {"JITCACHE_DIR": cache.stats()["directory"], "JITCACHE_LIBRARY": str(tmp_path / "missing.so")}
    assert len(json.loads(command("ls", "-json", **there).stdout)) == 3
    p = command("doctor", **there)
    assert re.search("^library +.*missing.so", p.stdout, re.MULTILINE)
    assert "libjitcache cannot be loaded" in p.stdout
    (tmp_path / "missing.so").write_bytes(b"text")
    assert "this is not libjitcache" in command("doctor", **there).stdout


def test_without_the_command_the_module_says_so(tmp_path: Path) -> None:
    package = tmp_path / "lib" / "python" / "site-packages" / "jitcache"
    shutil.copytree(
        Path(jitcache.__file__).parent, package, ignore=shutil.ignore_patterns("*.so", "jitcache-*", "__pycache__")
    )
    env = {**os.environ, "PYTHONPATH": str(package.parent)}
    env.pop("JITCACHE_LIBRARY", None)

    def ask() -> subprocess.CompletedProcess[str]:
        python = [sys.executable, "-S", "-m", "jitcache", "version"]
        return subprocess.run(python, env=env, capture_output=True, text=True, check=False)

    p = ask()
    assert (p.returncode, p.stdout) == (1, "")
    assert "the command was not found" in p.stderr
    # Where pip installs it with --target, and with any other scheme.
    for folder in (package.parent / "bin", tmp_path / "bin"):
        folder.mkdir()
        (folder / "jitcache").write_text("#!/bin/sh\necho a script that starts this module\n")
        (folder / "jitcache").chmod(0o755)
        assert ask().returncode == 1
        (folder / "jitcache").unlink()
        shutil.copy(Path(jitcache.__main__.program()), folder)
        p = ask()
        assert (p.returncode, p.stdout, p.stderr) == (0, f"jitcache {jitcache.__version__}\n", "")
        (folder / "jitcache").unlink()
