"""The examples, built and run as their first lines say, and the demo without what it downloads."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
EXAMPLES = ROOT / "examples"
import compilers
import processes

CC = compilers.c()
STRICT = ["-Wall", "-Wextra", "-pedantic", "-Werror"]
LINK = [f"-L{ROOT}/build/lib", f"-Wl,-rpath,{ROOT}/build/lib", "-ljitcache", "-ldl"]


class LoggedCompiler:
    """Stands in for the compiler and counts how often it runs."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "cc"
        self._file = folder / "logged"
        self.path.write_text(
            f'#!/bin/sh\necho run >> {shlex.quote(str(self._file))}\nunset CC\nexec {shlex.join(CC)} "$@"\n'
        )
        self.path.chmod(0o755)

    def runs(self) -> int:
        return len(self._file.read_text().splitlines()) if self._file.exists() else 0


@pytest.fixture
def logged(tmp_path: Path) -> LoggedCompiler:
    return LoggedCompiler(tmp_path)


def run(command: list[str | Path], **more: str) -> str:
    # A warning that the cache cannot be used must not be counted as a compile.
    env = {**os.environ, **more}
    p = subprocess.run(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    assert p.returncode == 0, p.stdout
    return p.stdout


def build(compiler: list[str], standard: str, source: Path, output: Path) -> Path:
    run(
        [
            *compiler,
            "-O1",
            f"-std={standard}",
            *STRICT,
            f"-I{ROOT}/build/include",
            str(source),
            "-o",
            str(output),
            *LINK,
        ]
    )
    return output


def check_twice(logged: LoggedCompiler, command: list[str | Path], **env: str) -> None:
    for _ in range(2):
        assert re.fullmatch(r"f\(3\) = 10(\.0)?\n", run(command, **env))
        assert logged.runs() == 1
    # Without a cache the program works, and compiles each time.
    assert "= 10" in run(command, JITCACHE="0", **env)
    assert logged.runs() == 2


def test_c(tmp_path: Path, logged: LoggedCompiler) -> None:
    program = build(CC, "c99", EXAMPLES / "c" / "minimal.c", tmp_path / "minimal")
    check_twice(logged, [program, logged.path])


@pytest.mark.cpp
def test_cpp(tmp_path: Path, logged: LoggedCompiler) -> None:
    program = build(compilers.cpp(), "c++11", EXAMPLES / "cpp" / "minimal.cpp", tmp_path / "minimal")
    check_twice(logged, [program, logged.path])


def check_reports_compiler_that_fails(program: Path, folder: Path) -> None:
    refuses = folder / "refuses"
    refuses.write_text("#!/bin/sh\nexit 1\n")
    refuses.chmod(0o755)
    for compiler in (refuses, folder / "absent"):
        p = subprocess.run([program, compiler], stderr=subprocess.PIPE, text=True, check=False)
        assert p.returncode == 1
        assert p.stderr.startswith("minimal: ")


def test_c_reports_a_compiler_that_fails(tmp_path: Path) -> None:
    check_reports_compiler_that_fails(build(CC, "c99", EXAMPLES / "c" / "minimal.c", tmp_path / "minimal"), tmp_path)


@pytest.mark.cpp
def test_cpp_reports_a_compiler_that_fails(tmp_path: Path) -> None:
    program = build(compilers.cpp(), "c++11", EXAMPLES / "cpp" / "minimal.cpp", tmp_path / "minimal")
    check_reports_compiler_that_fails(program, tmp_path)


def test_python(logged: LoggedCompiler) -> None:
    command = [sys.executable, EXAMPLES / "python" / "minimal.py"]
    check_twice(logged, command, CC=str(logged.path), PYTHONPATH=str(ROOT / "python"))


@pytest.mark.slow  # a push runs it as make demo (tests/areas/table.py)
def test_demo(tmp_path: Path) -> None:
    """The part of the demo that installs nothing; make demo also has CUDA."""
    names = ["residual"]
    launcher = ["launcher"] if shutil.which("gcc") else []
    if find_spec("Cython") and Path(sysconfig.get_path("include"), "Python.h").exists():
        names.append("newton")
    folder = tmp_path / "demo"
    # A setting of the user's that would break it, which the demo must ignore.
    command = [
        sys.executable,
        EXAMPLES / "demo" / "demo.py",
        "--only",
        ",".join([*names, *launcher, "machines"]),
        "--folder",
        folder,
    ]
    text = run(command, JITCACHE="0")
    assert text.endswith("Each was compiled once, every result is right.\n")
    assert "native" in text
    assert re.search(r"^  second  0 compiles", text, re.MULTILINE), text
    assert not launcher or re.search(r"^  second  .*, the same file$", text, re.MULTILINE), text
    (typed,) = re.findall(r"^\$ (.*)$", text, re.MULTILINE)
    stats = subprocess.run(
        ["/bin/sh", "-c", typed], env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True, check=False
    )
    assert stats.returncode == 0, f"{typed}: {stats.stderr}"
    assert "native" in stats.stdout
    compiled = (folder / "compiles.log").read_text().splitlines()
    for name in names:
        # Once in the first process, once in four at the same time, and once on the first of two machines.
        assert sum(f"{name}.c" in line.split() for line in compiled) == 2 + (name == "residual"), compiled
        assert re.search(rf"^{name}, .* 1\+0\+1 ", text, re.MULTILINE), text


class ChangingCompiler:
    """Stands in for the compiler and says that it assembles with a file of ours, which changes during its first compiles."""

    def __init__(self, folder: Path, changes: int) -> None:
        self.assembler, left, self.path = folder / "as", folder / "left", folder / "cc"
        self.assembler.write_text("#!/bin/sh\n")
        left.write_text(f"{changes}\n")
        self.path.write_text(f"""#!/bin/sh
case $* in
-print-prog-name=as) echo {self.assembler}; exit ;;
*residual.c*)
	read -r left <{left}
	[ "$left" -eq 0 ] || {{ echo $((left - 1)) >{left}; echo : >>{self.assembler}; }} ;;
esac
unset CC
exec {shlex.join(CC)} "$@"
""")
        for file in (self.assembler, self.path):
            file.chmod(0o755)


def demo_with(compiler: ChangingCompiler, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, EXAMPLES / "demo" / "demo.py", "--only", "residual", "--folder", folder]
    env = {**os.environ, "CC": str(compiler.path)}
    return subprocess.run(command, env=env, stdout=subprocess.PIPE, text=True, check=False)


def test_demo_says_which_input_changed_and_tries_once_more(tmp_path: Path) -> None:
    compiler = ChangingCompiler(tmp_path, 1)
    p = demo_with(compiler, tmp_path / "demo")
    assert p.returncode == 0, p.stdout
    assert re.search(rf"^not kept: residual: {compiler.assembler}: changed ", p.stdout, re.MULTILINE), p.stdout
    assert p.stdout.count("tried once more") == 1
    assert re.search(r"^residual, C .* 1\+0\+1 ", p.stdout, re.MULTILINE), p.stdout
    assert "FAILED" not in p.stdout


def test_demo_fails_and_names_the_input_that_changes_each_time(tmp_path: Path) -> None:
    compiler = ChangingCompiler(tmp_path, 1000)
    p = demo_with(compiler, tmp_path / "demo")
    assert p.returncode == 1, p.stdout
    assert p.stdout.count("tried once more") == 1
    reasons = [line for line in p.stdout.splitlines() if line.startswith("FAILED: not kept: ")]
    assert len(reasons) == 1, p.stdout
    assert reasons[0].startswith(f"FAILED: not kept: residual: {compiler.assembler}: changed ")


def test_only_a_changed_input_is_a_reason_to_try_the_demo_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("JITCACHE_LOG", "JITCACHE_LOG_FILE"):
        monkeypatch.setenv(name, "")  # write_down sets them
    monkeypatch.syspath_prepend(str(EXAMPLES / "demo"))
    import refusals

    seen = refusals.Refusals(str(tmp_path / "cache"))
    refusals.write_down(str(tmp_path / "cache"))
    source = tmp_path / "source"

    def refuse(size: int, change: bool) -> None:
        """Have a process, as a warning is given once in each, refuse an entry."""
        processes.check(
            """
            import sys, jitcache
            cache, source, size, change = sys.argv[1:]
            open(source, "w").write("a")
            with jitcache.Cache(cache, max_size=1 << 20) as cache:
                key = jitcache.Key({"source": jitcache.File(source), "size": size}).named("result")
                if change:
                    open(source, "w").write("changed")
                assert not cache.put(key, bytes(int(size)))
            """,
            tmp_path / "cache", source, size, "change" if change else "",
        )  # fmt: skip

    refuse(1, change=True)
    reasons, changed = seen.new()
    assert changed
    assert len(reasons) == 1
    assert reasons[0].startswith(f"result: {source}: changed ")
    refuse(2, change=True)
    refuse(2 << 20, change=False)
    reasons, changed = seen.new()
    assert not changed
    assert len(reasons) == 2
    assert seen.new() == ([], False)
