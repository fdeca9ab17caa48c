"""A solver's functions, written from a formula and compiled by the machine's C compiler.

Two ways that solvers use: a plain shared library with one function per formula,
for dlopen, and a Cython module with the inner loop of the solver, for import.
"""

from __future__ import annotations

import ctypes
import importlib.machinery
import importlib.util
import os
import subprocess
import sys
import sysconfig
import tempfile
from array import array
from functools import cached_property
from pathlib import Path
from typing import Any

import jitcache
from expression import FUNCTIONS, Expression
from job import Job, Wrong

# Reaction minus source at each point x, which the solution makes zero.
RESIDUAL = Expression("u + 0.1*u**3 + 0.5*exp(u) - 2*sin(3*x)*sqrt(1 + x**2)")
JACOBIAN = RESIDUAL.derivative("u")
_POINTS = [i / 1000 - 1 for i in range(2001)]

# The source declares the functions of libm itself: without an include no header
# needs to be keyed.
_C = "\n".join([f"double {f}(double);" for f in FUNCTIONS] + ["double pow(double, double);"]) + "".join(
    f"""

void {name}(long n, const double *us, const double *xs, double *out)
{{
	for (long i = 0; i < n; i++) {{
		double u = us[i], x = xs[i];
		(void)x;
		out[i] = {formula.c()};
	}}
}}"""
    for name, formula in (("residual", RESIDUAL), ("jacobian", JACOBIAN))
)

_CYTHON = f"""# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
from libc.math cimport {", ".join(FUNCTIONS)}, fabs, pow

cdef inline double residual(double u, double x) noexcept nogil:
    return {RESIDUAL.c()}

cdef inline double jacobian(double u, double x) noexcept nogil:
    return {JACOBIAN.c()}

def solve(double[::1] us, const double[::1] xs, double tolerance):
    cdef Py_ssize_t i
    cdef int step, steps = 0
    cdef double r
    for i in range(us.shape[0]):
        for step in range(100):
            r = residual(us[i], xs[i])
            if fabs(r) < tolerance:
                break
            us[i] -= r / jacobian(us[i], xs[i])
            steps += 1
    return steps
"""


class _Native(Job):
    source: str
    flags: tuple[str, ...] = ("-O2", "-fPIC", "-shared")

    def _flags(self) -> list[str]:
        return [*self.flags, *self.toolchain.cc_flags]

    @cached_property
    def _key(self) -> jitcache.Key:
        return jitcache.Key(self.components()).named(self.name)

    def key(self) -> jitcache.Key:
        # Made once: a program that asks again still has its key.
        return self._key

    def components(self) -> dict[str, Any]:
        """Return everything that the result depends on: never a path, never a time."""
        return {
            "source": self.source,
            "flags": self._flags(),
            "cc": self.toolchain.cc_version,
            **{f"cc {i}": jitcache.Tool(file) for i, file in enumerate(self.toolchain.cc_files)},
        }

    def _write(self, folder: Path) -> list[str]:
        """Write the C source into the folder; return further flags."""
        (folder / self.file_name).write_text(self.source)
        return []

    def compile(self) -> bytes:
        self.compiled = True
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            # Bare file names, in a folder of their own: the result must not contain its path.
            more = self._write(folder)
            command = [self.toolchain.cc, *self._flags(), *more, "-o", "out.so", self.file_name, "-lm"]
            subprocess.run(command, cwd=folder, check=True)
            return (folder / "out.so").read_bytes()

    def obtain(self, cache: jitcache.Cache) -> Any:
        self.compiled = False
        return cache.entry_or_compile(self._key, self.compile, kind="native")


class Residual(_Native):
    """Residual and Jacobian at many points, as a shared library."""

    name = "residual"
    title = "residual, C"
    file_name = "residual.c"
    source = _C

    def check(self, code: jitcache.Entry) -> str:
        """Compare both functions with Python's values."""
        library = ctypes.CDLL(code.path)
        us, xs = array("d", (x * x for x in _POINTS)), array("d", _POINTS)
        for name, formula in (("residual", RESIDUAL), ("jacobian", JACOBIAN)):
            out = array("d", bytes(8 * len(xs)))
            arrays = [ctypes.c_void_p(a.buffer_info()[0]) for a in (us, xs, out)]
            getattr(library, name)(ctypes.c_long(len(xs)), *arrays)
            want = [formula.value(u=u, x=x) for u, x in zip(us, xs)]
            if max(abs(a - b) for a, b in zip(out, want)) > 1e-12:
                raise Wrong(f"{name}: the library's result is not Python's")
        return "equal to Python's"


class Newton(_Native):
    """Newton's method at many points, as a Cython module."""

    name = "newton"
    title = "newton, Cython"
    file_name = "newton.c"
    source = _CYTHON

    def components(self) -> dict[str, Any]:
        """Return the components of any C source, and those for a module of this Python."""
        return {
            **super().components(),
            "cython": self.toolchain.cython,
            # The headers of the C library are not in this key; jitcache.native would
            # record them.
            "soabi": sysconfig.get_config_var("SOABI"),
            "python headers": self.toolchain.python_headers,
            "libc": os.confstr("CS_GNU_LIBC_VERSION"),
        }

    def _write(self, folder: Path) -> list[str]:
        (folder / "newton.pyx").write_text(self.source)
        subprocess.run([sys.executable, "-m", "cython", "newton.pyx", "-o", self.file_name], cwd=folder, check=True)
        return [f"-I{sysconfig.get_path(which)}" for which in ("include", "platinclude")]

    def check(self, code: jitcache.Entry) -> str:
        """Solve, and check the residual."""
        loader = importlib.machinery.ExtensionFileLoader(self.name, code.path)
        spec = importlib.util.spec_from_loader(self.name, loader)
        assert spec is not None
        module = importlib.util.module_from_spec(spec)
        loader.exec_module(module)
        xs = array("d", _POINTS)
        us = array("d", bytes(8 * len(xs)))
        module.solve(us, xs, 1e-10)
        worst = max(abs(RESIDUAL.value(u=u, x=x)) for u, x in zip(us, xs))
        if not worst < 1e-9:
            raise Wrong(f"newton: a residual of {worst} is left")
        return "solved, residual < 1e-9"
