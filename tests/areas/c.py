"""The public headers, and programs that use them."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

import compilers

from .common import BUILD, ROOT, Count, counted, run, skipped, total

STRICT = ["-Wall", "-Wextra", "-pedantic", "-Werror"]
PROGRAMS = BUILD / "test" / "c"
NO_EXCEPTIONS = "-fno-exceptions"

# Sources and standards. gnu99, because they use pthread and usleep.
SOURCES = [
    ("api.c", "gnu99"),
    ("misuse.c", "gnu99"),
    ("golden.c", "gnu99"),
    ("forks.c", "gnu99"),
    ("signals.c", "gnu99"),
]


def compiler(standard: str) -> list[str]:
    """The C or C++ compiler of this machine."""
    return compilers.cpp() if "++" in standard else compilers.c()


def _alone(header: Path, standard: str, *flags: str) -> Count:
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / ("alone.cpp" if "++" in standard else "alone.c")
        source.write_text(f"#include <{header.name}>\n#include <{header.name}>\nint main(void) {{ return 0; }}\n")
        command = [*compiler(standard), f"-std={standard}", *STRICT, *flags, f"-I{header.parent}", "-c", str(source)]
        status, _ = run("header", [*command, "-o", "/dev/null"])
    return Count(1, 0, int(status != 0))


def header() -> Count:
    """Every public header compiles without a warning, alone and included twice, with each standard."""
    counts = []
    folder = BUILD / "include"
    for standard in ("c99", "c11", "c17", "c++11", "c++17", "c++20"):
        counts += [_alone(path, standard) for path in sorted(folder.glob("*.h"))]
    for standard in ("c++11", "c++17", "c++20"):
        for flags in ([], [NO_EXCEPTIONS], ["-DJITCACHE_NO_EXCEPTIONS"]):
            counts += [_alone(path, standard, *flags) for path in sorted(folder.glob("*.hpp"))]
    return total(counts)


def build(area: str, source: str, standard: str, library: Path = BUILD / "lib", out: Path = PROGRAMS) -> Path | None:
    """Compile a test program; return it, or None if it does not compile."""
    out.mkdir(parents=True, exist_ok=True)
    program = out / f"{source.replace('.', '-')}-{standard}"
    command = [
        *compiler(standard), f"-std={standard}", "-O1", "-g", *STRICT, f"-I{BUILD / 'include'}",
        *([NO_EXCEPTIONS] if source == "statuses.cpp" else []),
        *(["-x", "c++"] if "++" in standard else []), str(ROOT / "tests" / "c" / source), *(["-x", "none"] if "++" in standard else []),
        "-o", str(program), f"-L{library}", f"-Wl,-rpath,{library}",
        *([] if source == "signals.c" else ["-ljitcache"]), "-lpthread", "-ldl",
    ]  # fmt: skip
    status, _ = run(area, command)
    return program if status == 0 else None


def execute(area: str, program: Path, library: Path = BUILD / "lib") -> Count:
    """Run a test program in a folder of its own."""
    argument = (
        str(library / "libjitcache.so") if "signals" in program.name else str(ROOT / "tests" / "golden" / "keys.txt")
    )
    with tempfile.TemporaryDirectory() as folder:
        return counted(*run(area, [str(program), folder, argument]))


def run_in_folder(area: str, program: Path, arguments: list[str], limit: int = 600) -> tuple[int, str]:
    """Run a program in a folder of its own. It has failed if it was killed or takes so many seconds."""
    with tempfile.TemporaryDirectory() as folder:
        return run(area, ["timeout", "-k", "5", str(limit), str(program), folder, *arguments])


def programs(area: str = "c", sources: Sequence[tuple[str, str]] = SOURCES) -> Count:
    built = [build(area, source, standard) for source, standard in sources]
    return total([execute(area, program) if program else Count(0, 0, 1) for program in built])


# The most system calls that a lookup may make.
CALLS = {
    "hit": ["openat2", "fstat", "read", "close"],
    "miss": ["openat2"],
}


def system_calls() -> Count:
    """A disk hit and a miss make only the system calls that they need."""
    if shutil.which("strace") is None:
        return skipped("calls", *CALLS)
    program = build("calls", "system_calls.c", "gnu99")
    if program is None:
        return Count(0, 0, 1)
    counts = []
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "strace"
        status, _ = run("calls", ["strace", "-f", "-o", str(log), str(program), folder])
        text = log.read_text() if log.exists() else ""
        for what, want in CALLS.items():
            between = re.search(
                rf'^(\d+) +write\(\d+, "begin {what}.*?\n(.*?)write\(\d+, "end {what}', text, re.DOTALL | re.MULTILINE
            )
            # Of the thread that looks up. Under strace a read takes so long that the
            # runtime's monitor steps in, and the thread wakes another for it.
            found = re.findall(rf"^{between[1]} +(\w+)\(", between[2], re.MULTILINE) if between else []
            found = [name for name in found if name != "futex"]
            counts.append(Count(1, 0, int(status != 0 or found != want * 10)))
            if found != want * 10:
                run("calls", ["echo", f"{what}: {found}, want {want} ten times"])
    return total(counts)
