"""All that is linked as C++: programs with the headers, the examples, and the lines of the README.

make test leaves them to a push: on a machine without compilers, zig first builds its C++ library, for 40 s of processor time.
"""

from __future__ import annotations

import sys

from . import c, cuda
from .common import Count, environment, pytest, total

SOURCES = [
    ("unwind.cpp", "c++11"),
    ("objects.cpp", "c++11"),
    ("statuses.cpp", "c++11"),
    ("api.c", "c++17"),  # the program in C is C++ too
]

FILES = ("tests/cuda/test_cpp.py",), ("tests/python/test_examples.py", "tests/python/test_readme.py")


def tests() -> Count:
    rows = [pytest("cpp", sys.executable, "-m", "cpp", *files, env=environment()) for files in FILES]
    return total([c.programs("cpp", SOURCES), *cuda.programs("cpp", "c++17"), *rows])
