"""Run the README's code unchanged.

    python tests/readme.py LOG

runs its Python lines with the jitcache of this interpreter. The compiler adds a line to
LOG at each run, and the result is used. Only the names that the README leaves open
(source, flags, compile) are defined here.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import samples

SOURCE = "double f(double x) { return x * x + 1; }\n"
FLAGS = ["-O2", "-fPIC", "-shared"]

# A program around the README's lines of C.
PROGRAM = """
#include <jitcache.h>
#include <stdio.h>
#include <string.h>

static int32_t compile(void *user, jitcache_lease *lease)
{
	puts("compiled");
	return jitcache_commit(lease, user, strlen(user), NULL, NULL);
}

static void use(const void *data, size_t size) { printf("%.*s\\n", (int)size, (const char *)data); }

int main(void)
{
	static char source[] = "the code";
	jitcache_cache *cache;
	jitcache_key *key;
	jitcache_blob *code;
	LINES
	return 0;
}
"""

# A program around the README's lines of C++.
CPP_PROGRAM = """
#include <jitcache.hpp>
#include <iostream>

static std::string compile(const std::string &source)
{
	std::cout << "compiled\\n";
	return source;
}

static void use(const char *data, size_t size) { std::cout.write(data, long(size)) << "\\n"; }

int main()
{
	const std::string source = "the code";
	LINES
}
"""


def program(language: str) -> str:
    """Return the README's lines of C or C++ as a program."""
    around, lines = {
        "c": (PROGRAM, samples.under("README.md", "Five lines", 1)),
        "cpp": (CPP_PROGRAM, samples.under("README.md", "C and C++", 0)),
    }[language]
    return around.replace("LINES", lines.replace("\n", "\n\t"))


def main() -> None:
    """Run the Python lines."""
    log = sys.argv[1]
    compiler = shutil.which("gcc") or sys.exit("readme: no gcc")

    def compile_it(source: str, flags: list[str]) -> bytes:
        with Path(log).open("a") as f:
            f.write("run\n")
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder, "out.so")
            subprocess.run([compiler, *flags, "-x", "c", "-o", out, "-"], input=source.encode(), check=True)
            return out.read_bytes()

    lines = samples.under("README.md", "Five lines", 0)
    names = {"ctypes": ctypes, "source": SOURCE, "flags": FLAGS, "compile": compile_it}
    exec(lines, names)
    f = names["solver"].f  # type: ignore[attr-defined]
    f.argtypes, f.restype = [ctypes.c_double], ctypes.c_double
    print(f(3.0), names["jitcache"].__file__)  # type: ignore[attr-defined]


if __name__ == "__main__":
    main()
