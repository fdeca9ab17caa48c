"""Compile a C function while running, once for all runs: CC=gcc python minimal.py."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import jitcache

SOURCE = "double f(double x) { return x * x + 1; }\n"
FLAGS = ["-O2", "-fPIC", "-shared"]
COMPILER = shutil.which(os.environ.get("CC", "cc")) or sys.exit("minimal: no C compiler; set CC")

with tempfile.TemporaryDirectory() as folder:
    out = Path(folder, "f.so")

    def run_compiler() -> bytes:
        """Return the bytes of the shared library that the compiler makes from the source."""
        subprocess.run([COMPILER, *FLAGS, "-x", "c", "-o", out, "-"], input=SOURCE.encode(), check=True)
        return out.read_bytes()

    cache = jitcache.default_cache()
    key = jitcache.Key(source=SOURCE, flags=FLAGS, compiler=jitcache.Tool(COMPILER)).named("f")
    # There is an entry even if nothing could be stored: on a full disk, or with JITCACHE=0.
    entry = cache.entry_or_compile(key, run_compiler, kind="native")
    f = ctypes.CDLL(entry.path).f

f.argtypes, f.restype = [ctypes.c_double], ctypes.c_double
print(f"f(3) = {f(3)}")
