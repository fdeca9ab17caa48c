"""The wheel for aarch64, built here and tested with qemu, as far as that goes without such a machine.

qemu emulates a single process. It has no ptrace, no seccomp and no openat2, and the
kernel refuses to start other aarch64 programs. So these run: the programs in C, the
tests in Python that start no process, and the command. The observer, the launcher's
cache, NVRTC's worker and remotes are built but not run: they need a real machine.
"""

from __future__ import annotations

import shutil
import sys
import sysconfig
import tempfile
import zipfile
from pathlib import Path

from .c import STRICT
from .common import BUILD, ROOT, Count, build_library, counted, environment, pytest, run, skipped, total

AREA = "aarch64"
HERE = BUILD / AREA
QEMU = HERE / "qemu" / "usr" / "bin" / "qemu-aarch64-static"
SYSTEM = HERE / "system"  # Debian's, unpacked and not installed
SITE = HERE / "site"  # the wheel, unpacked
LIBRARY = SITE / "jitcache" / build_library.SONAME

#: The programs of tests/c, without signals.c, which needs signals that qemu uses itself.
SOURCES = [("api.c", "gnu99"), ("misuse.c", "gnu99"), ("golden.c", "gnu99"), ("forks.c", "gnu99")]

PYTHON = ["test_key.py", "test_mapping.py", "test_cache.py", "test_lease.py"]

#: The tests of these files that start another Python.
STARTS = [
    "test_cache.py::test_what_is_freed_after_the_modules_ends_in_silence_and_is_counted",
    "test_lease.py::test_one_of_many_processes_compiles",
    "test_lease.py::test_waiter_that_was_stopped_waits_on",
    "test_lease.py::test_ctrl_c_works_in_a_wait",
    "test_lease.py::test_lease_of_a_killed_process_is_free",
]


def _apt(machine: str, *packages: str, into: Path) -> bool:
    """Unpack Debian's packages for a machine, with their dependencies. apt gets lists of its own, and installs nothing."""
    state = HERE / f"apt-{machine}"
    for folder in ("state/lists/partial", "cache/archives/partial"):
        (state / folder).mkdir(parents=True, exist_ok=True)
    (state / "status").touch()
    own = {"APT::Architecture": machine, "APT::Architectures": machine, "Dir::State": state / "state",
           "Dir::State::status": state / "status", "Dir::Cache": state / "cache", "APT::Sandbox::User": "root"}  # fmt: skip
    apt = ["apt-get", "-q", *(word for name, value in own.items() for word in ("-o", f"{name}={value}"))]
    install = [*apt, "install", "-y", "--download-only", "--no-install-recommends", *packages]
    if any(run(AREA, command)[0] != 0 for command in ([*apt, "update"], install)):
        return False
    archives = sorted((state / "cache" / "archives").glob("*.deb"))
    return all(run(AREA, ["dpkg", "-x", str(deb), str(into)])[0] == 0 for deb in archives)


def _system() -> bool:
    """Get qemu and a Python of aarch64, unless they are there."""
    ready = HERE / "ready"
    if not ready.exists():
        if not _apt("amd64", "qemu-user-static", into=HERE / "qemu"):
            return False
        if not _apt("arm64", "python3", "libgcc-s1", into=SYSTEM):
            return False
        ready.touch()
    return True


def _emulated(program: Path) -> list[str]:
    """Return the command that runs a program. It names the loader, because qemu's -L would show another root."""
    folders = [SYSTEM / "lib" / "aarch64-linux-gnu", SYSTEM / "usr" / "lib" / "aarch64-linux-gnu"]
    loader = SYSTEM / "lib" / "ld-linux-aarch64.so.1"
    path = ":".join(map(str, folders))
    return [str(QEMU), str(loader), "--library-path", path, str(program)]


def _wheel() -> bool:
    """Build the wheel, and unpack it."""
    with tempfile.TemporaryDirectory() as name:
        command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", name]
        status, _ = run(AREA, command, env=environment(JITCACHE_PORTABLE="aarch64"))
        wheels = list(Path(name).glob("*-manylinux_2_17_aarch64.manylinux2014_aarch64.whl"))
        if status != 0 or len(wheels) != 1:
            return False
        shutil.rmtree(SITE, ignore_errors=True)
        with zipfile.ZipFile(wheels[0]) as z:
            z.extractall(SITE)
    for program in (SITE / "jitcache").glob("jitcache-*"):
        program.chmod(0o755)
    (SITE / "jitcache" / "libjitcache.so").unlink()  # the linker script; C programs link the library itself
    (SITE / "jitcache" / "libjitcache.so").symlink_to(build_library.SONAME)
    return True


def _programs() -> Count:
    counts = []
    cc = build_library.choose_cc("aarch64")
    for source, standard in SOURCES:
        program = HERE / source.replace(".", "-")
        link = [f"-L{LIBRARY.parent}", f"-Wl,-rpath,{LIBRARY.parent}", "-ljitcache", "-lpthread", "-ldl"]
        command = [*cc, f"-std={standard}", "-O1", *STRICT, f"-I{ROOT / 'include'}", str(ROOT / "tests" / "c" / source)]
        if run(AREA, [*command, "-o", str(program), *link])[0] != 0:
            counts.append(Count(0, 0, 1))
            continue
        with tempfile.TemporaryDirectory() as folder:
            keys = str(ROOT / "tests" / "golden" / "keys.txt")
            counts.append(counted(*run(AREA, [*_emulated(program), folder, keys])))
    return total(counts)


def _python() -> Path:
    """Make a program that runs the emulated Python."""
    (own,) = [p for p in (SYSTEM / "usr" / "bin").glob("python3.*") if p.name.count(".") == 1 and not p.is_symlink()]
    script = HERE / "python"
    script.write_text(f'#!/bin/sh\nPYTHONHOME={SYSTEM / "usr"} exec {" ".join(_emulated(own))} "$@"\n')
    script.chmod(0o755)
    return script


HIT = """
import jitcache, platform
key = jitcache.Key(source="a", flags=["-O2"])
print(platform.machine(), jitcache.default_cache().get_or_compile(key, lambda: print("compiling") or b"code"))
"""


def _package(python: Path) -> Count:
    """Test the wheel's package, whose second process must find what the first has compiled, and its command."""
    with tempfile.TemporaryDirectory() as folder:
        env = environment(PYTHONPATH=str(SITE), JITCACHE_DIR=folder)
        said = [run(AREA, [str(python), "-c", HIT], env=env) for _ in range(2)]
        (scripts,) = SITE.glob("*.data/scripts")
        command = [str(QEMU), str(scripts / build_library.COMMAND)]  # it needs no loader
        (scripts / build_library.COMMAND).chmod(0o755)
        library = {"JITCACHE_LIBRARY": str(LIBRARY)}
        passed = [
            said[0] == (0, "compiling\naarch64 b'code'\n"),
            said[1] == (0, "aarch64 b'code'\n"),
            run(AREA, [*command, "verify"], env=env)[0] == 0,
            build_library.CHANGED in run(AREA, [*command, "doctor"], env={**env, **library})[1],
            build_library.readback.problems(LIBRARY) == [],
        ]
    return Count(len(passed), 0, passed.count(False))


def tests() -> Count:
    """Build the wheel, and run the tests that can run."""
    if shutil.which("apt-get") is None:
        return skipped(AREA, "apt-get")
    zig = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "ziglang>=0.15"]
    if run(AREA, zig)[0] != 0 or not _wheel() or not _system():
        return Count(0, 0, 1)
    python = _python()
    env = environment(PYTHONPATH=sysconfig.get_path("purelib"), JITCACHE_LIBRARY=str(LIBRARY))
    folder = "tests/python"
    chosen = [*(f"{folder}/{name}" for name in PYTHON), *(f"--deselect={folder}/{name}" for name in STARTS)]
    counts = [_programs(), _package(python), pytest(AREA, str(python), "-m", "not root", *chosen, env=env)]
    return total(counts)
