"""Check the interface of libjitcache.so as a linker and a loader see it.

    python tests/abi/check.py [--portable] [--types] [--write] LIBRARY

Prints a line per check that fails and, last, how many ran and failed. --types
compares the types too, with abidw and abidiff, against libjitcache.abi; LIBRARY
must then have debugging information. --write records the present state instead, where it is another.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent))

from capi.overlay import elf, readback

SYMBOLS = HERE / "symbols.txt"
TYPES = HERE / "libjitcache.abi"
PRIVATE = HERE / "private.abignore"
INCLUDE = HERE.parent.parent / "include"

SONAME = "libjitcache.so.1"
NEEDED = {"libc.so.6", "libpthread.so.0", "libdl.so.2"}
MAX_TLS = 8  # Go's own word; more does not survive a chain of forks (capi/thread.c)
MAX_SIZE = 5_000_000  # a forked child holds a copy of it, and is to need 6 MB at most (tests/c/fork_cost.c)
OLDEST_GLIBC = (2, 17)


def checks(path: Path, portable: bool, stripped: bool) -> Iterator[tuple[str, bool, str]]:
    """Yield what each check demands, whether it holds, and what was found."""
    lib = elf.Library(path)
    dynamic = lib.dynamic()
    symbols = lib.symbols()
    exported = sorted(s.name for s in symbols if s.defined and s.visible)
    want = SYMBOLS.read_text().split()
    yield "exports are those of tests/abi/symbols.txt", exported == want, str(set(exported) ^ set(want))
    public = [s for s in want if s != "jitcache_private_core"]
    text = "".join(header.read_text() for header in INCLUDE.glob("*.h"))
    declared = sorted(set(re.findall(r"\b(jitcache_\w+)\(", re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL))))
    yield "exports are what the headers declare", public == declared, str(set(public) ^ set(declared))
    yield f"soname is {SONAME}", (elf.DT_SONAME, SONAME) in dynamic, str(dynamic)
    needed = {value for tag, value in dynamic if tag == elf.DT_NEEDED}
    yield "it needs nothing but glibc", needed <= NEEDED, str(needed)
    yield f"at most {MAX_TLS} bytes of static TLS", lib.tls_size() <= MAX_TLS, str(lib.tls_size())
    flags = sum(int(value) for tag, value in dynamic if tag == elf.DT_FLAGS_1)
    yield "dlclose does not unload it", bool(flags & elf.DF_1_NODELETE), hex(flags)
    found = lib.build_id()
    yield "a build id, by which a forked child knows its copy (capi/second_runtime.c)", len(found) == 20, found.hex()
    yield "no text relocations", not any(tag == elf.DT_TEXTREL for tag, _ in dynamic), ""
    yield "no executable stack", not lib.stack_executable(), ""
    unwinder = [
        s.name for s in symbols if not s.defined and not s.weak and ("_Unwind" in s.name or "personality" in s.name)
    ]
    yield "no unwinder is needed", not unwinder, str(unwinder)
    yield "the runtime in it is the changed one", not (wrong := readback.problems(path)), "; ".join(wrong)
    if stripped:
        yield f"under {MAX_SIZE} bytes", path.stat().st_size < MAX_SIZE, str(path.stat().st_size)
    if portable:
        newest = max(tuple(int(n) for n in v[6:].split(".")) for v in lib.versions_needed() if v.startswith("GLIBC_2"))
        yield f"loads on glibc {OLDEST_GLIBC}", newest <= OLDEST_GLIBC, str(newest)


def types(path: Path, recorded: Path, write: bool) -> tuple[bool, str]:
    """Compare the types of the public functions with those on record; write them down if they have changed."""
    dump = [
        "abidw",
        "--headers-dir",
        str(INCLUDE),
        "--drop-private-types",
        "--no-show-locs",
        "--no-corpus-path",
        "--no-comp-dir-path",
        "--suppressions",
        str(PRIVATE),
    ]
    with tempfile.TemporaryDirectory() as folder:
        now = Path(folder) / "now.abi"
        subprocess.run([*dump, "--out-file", str(now), str(path)], check=True)
        compare = ["abidiff", "--suppressions", str(PRIVATE), str(recorded), str(now)]
        p = subprocess.run(compare, capture_output=True, text=True, check=False)
        # Two dumps of the same types differ in a thousand lines, by their numbers: what is on record stays then.
        if write and p.returncode != 0:
            shutil.copy(now, recorded)
            return True, ""
        return p.returncode == 0, p.stdout


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("library", type=Path)
    parser.add_argument("--portable", action="store_true")
    parser.add_argument("--types", action="store_true")
    parser.add_argument("--write", action="store_true")
    a = parser.parse_args()
    if a.write:
        names = sorted(s.name for s in elf.Library(a.library).symbols() if s.defined and s.visible)
        SYMBOLS.write_text("\n".join(names) + "\n")
    results = list(checks(a.library, a.portable, stripped=not a.types))
    if a.types:
        results.append(("types are those of tests/abi/libjitcache.abi", *types(a.library, TYPES, a.write)))
    failed = [(what, found) for what, ok, found in results if not ok]
    for what, found in failed:
        print(f"not so: {what}: {found}")
    print(f"{len(results)} run, {len(failed)} failed")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
