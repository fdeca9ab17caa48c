"""From expressions to C to a module: three generated files, a hash of them, three tiers."""

from __future__ import annotations

import ctypes
import hashlib
import importlib.machinery
import os
import random
import subprocess
import sys
import time
from importlib._bootstrap import _load
from typing import Any, NamedTuple

import underworld3.mpi


class Constant:
    """A constant of a solver; code refers to it by its place, so name and value may change."""

    def __init__(self, name: str, value: float) -> None:
        self.name = name
        self.value = value


class Result(NamedTuple):
    """What getext returns."""

    ptrobj: Any
    constants_manifest: list[tuple[int, Constant]]
    cache_key: str

    def call(self, which: int, u: list[float]) -> float:
        """Call one of the functions by its pointer."""
        function = ctypes.CFUNCTYPE(None, ctypes.c_int, *[ctypes.POINTER(ctypes.c_double)] * 3)(self.ptrobj[which])
        values = [constant.value for _, constant in self.constants_manifest]
        out = ctypes.c_double()
        function(len(u), (ctypes.c_double * len(u))(*u), (ctypes.c_double * len(values))(*values), ctypes.byref(out))
        return out.value


_ext_dict: dict[str, Any] = {}

_SETUP = """from setuptools import Extension, setup
from Cython.Build import cythonize

setup(name="MODNAME", ext_modules=cythonize([Extension(
    "MODNAME", ["cy_ext.pyx"], extra_compile_args=FLAGS)], language_level=3))
"""

_PYX = """from libc.stdlib cimport malloc, free

ctypedef void (*equation)(int, const double *, const double *, double *) noexcept nogil

cdef extern from "cy_ext.h" nogil:
DECLARATIONS

cdef class PtrContainer:
    cdef equation *fns

    def __cinit__(self):
        self.fns = <equation *>malloc(COUNT * sizeof(equation))

    def __dealloc__(self):
        free(self.fns)

    def __len__(self):
        return COUNT

    def __getitem__(self, int which):
        return <size_t>self.fns[which]

cpdef PtrContainer getptrobj():
    cdef PtrContainer made = PtrContainer()
ASSIGNMENTS
    return made
"""


def generate_c_source(modname: str, prefix: str, callbacks: list[str]) -> list[list[str]]:
    """Return setup.py, a header with one function for each expression, and a .pyx that hands out their pointers."""
    names = [f"{prefix}_petsc_eqn_{i}" for i in range(len(callbacks))]
    arguments = "(int n, const double u[], const double constants[], double out[])"
    functions = [f"void {n}{arguments} {{ (void)n; out[0] = {c}; }}" for n, c in zip(names, callbacks)]
    pyx = _PYX.replace("COUNT", str(len(names)))
    pyx = pyx.replace("DECLARATIONS", "\n".join(f"    void {n}{arguments}" for n in names))
    pyx = pyx.replace("ASSIGNMENTS", "\n".join(f"    made.fns[{i}] = {n}" for i, n in enumerate(names)))
    flags = ["-std=c99", *os.environ.get("UW3_JIT_CFLAGS", "-O3").split()]
    return [
        ["setup.py", _SETUP.replace("MODNAME", modname).replace("FLAGS", repr(flags))],
        ["cy_ext.h", "#include <math.h>\n" + "\n".join(functions) + "\n"],
        ["cy_ext.pyx", pyx],
    ]


def _abi_salt() -> str:
    return f"petsc={os.environ.get('STANDIN_PETSC', '3.18.5')}|uw={os.environ.get('STANDIN_VERSION', '0.0.0')}"


def _petsc_build_env() -> dict[str, str]:
    return dict(os.environ)


def _named(callbacks: list[str]) -> tuple[str, str, list[list[str]]]:
    """Return hash, module name and final texts."""
    texts = generate_c_source("STANDIN_MODULE", "STANDIN_PREFIX", callbacks)
    whole = "\n".join(text for _, text in texts) + "\n---\n" + _abi_salt()
    source_hash = hashlib.sha256(whole.encode()).hexdigest()[:16]
    modname = f"fn_ptr_ext_{source_hash}"
    prefix = "UW" + source_hash[:8].upper()
    texts = [[n, t.replace("STANDIN_MODULE", modname).replace("STANDIN_PREFIX", prefix)] for n, t in texts]
    return source_hash, modname, texts


def _needed(module: Any, on_disk: bool) -> tuple[bool, bool]:
    """Return whether to compile, and whether the directory is there to share it: this rank's view, or that of all."""
    if not os.environ.get("STANDIN_AGREES") or underworld3.mpi.size == 1:
        return module is None, on_disk
    from mpi4py import MPI  # later versions ask each other

    comm = underworld3.mpi.comm
    return comm.allreduce(module is None, MPI.LOR), comm.allreduce(on_disk, MPI.LAND)


def getext(callbacks: list[str], constants: list[Constant], cache: bool = True, verbose: bool = False) -> Result:  # noqa: C901
    """Return the compiled functions. All ranks call it."""
    comm, rank, size = underworld3.mpi.comm, underworld3.mpi.rank, underworld3.mpi.size
    manifest = list(enumerate(constants))
    source_hash, modname, texts = _named(callbacks)
    if size > 1 and len(set(comm.allgather(source_hash))) > 1:
        raise RuntimeError("the sources differ between ranks")

    if cache and source_hash in _ext_dict:
        module = _ext_dict[source_hash]
    else:
        from underworld3.utilities import _jit_cache as _jc

        module = _jc.load_module(source_hash, modname, manifest) if cache else None
        needed, on_disk = _needed(module, cache and _jc.get_cache_dir() is not None)
        if needed and size > 1 and on_disk:
            if rank == 0:
                module, folder = compile_and_load(modname, texts, verbose=verbose)
                _jc.store_module(source_hash, modname, folder, manifest)
            comm.Barrier()
            if rank != 0:
                module = _jc.load_module(source_hash, modname, manifest)
                if module is None:
                    module, _ = compile_and_load(modname, texts, verbose=verbose)
        elif needed:
            module, folder = compile_and_load(modname, texts, verbose=verbose)
            if verbose and rank == 0:
                print(f"Location of compiled module: {folder}", flush=True)
            if cache:
                _jc.store_module(source_hash, modname, folder, manifest)
        if cache:
            _ext_dict[source_hash] = module
    return Result(module.getptrobj(), manifest, source_hash)


def compile_and_load(modname: str, codeguys: list[list[str]], verbose: bool = False) -> tuple[Any, str]:
    """Build in a folder under /tmp, which stays, and load from there."""
    folder = f"/tmp/{modname}_{os.getpid()}_{int(time.time() * 1000)}_{random.randint(1000, 9999)}"
    os.makedirs(folder, exist_ok=True)
    for name, text in codeguys:
        with open(os.path.join(folder, name), "w") as f:
            f.write(text)
    command = [sys.executable, "setup.py", "build_ext", "--inplace"]
    p = subprocess.run(command, cwd=folder, env=_petsc_build_env(), capture_output=True, text=True, check=False)
    if p.returncode != 0 and verbose:
        print(p.stdout, p.stderr)
    for name in os.listdir(folder):
        if name.endswith(".so"):
            path = os.path.join(folder, name)
            loader = importlib.machinery.ExtensionFileLoader(modname, path)
            return _load(importlib.machinery.ModuleSpec(modname, loader, origin=path)), folder
    raise RuntimeError(f"the module was not built; see {folder}")
