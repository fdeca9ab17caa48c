"""The key of a module of underworld3: its own hash, and what that leaves out."""

from __future__ import annotations

import functools
import hashlib
import importlib.machinery
import importlib.metadata
import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from typing import TYPE_CHECKING, Any

from jitcache import File, Key, Tool

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

#: What compilers, linkers and setuptools read.
_OBEYED = (
    "ARCHFLAGS", "CFLAGS", "CPATH", "CPPFLAGS", "C_INCLUDE_PATH", "COMPILER_PATH", "GCC_EXEC_PREFIX", "LDFLAGS",
    "LDSHARED", "LIBRARY_PATH", "MACOSX_DEPLOYMENT_TARGET", "OPT", "SOURCE_DATE_EPOCH", "UW3_JIT_CFLAGS",
)  # fmt: skip

#: What the compilers' wrappers of MPI libraries read: OMPI_CC, MPICH_CFLAGS, I_MPI_CXX …
_WRAPPERS = ("OMPI_", "MPICH_", "I_MPI_")

#: And what they do not, for it names a job, a rank or a way to communicate.
_OF_A_RANK = (
    "OMPI_COMM_WORLD_", "OMPI_MCA_", "OMPI_UNIVERSE_SIZE", "OMPI_FILE_LOCATION", "OMPI_APP_", "OMPI_FIRST_RANKS",
    "OMPI_COMMAND", "OMPI_ARGV", "OMPI_NUM_APP_CTX", "MPICH_INTERFACE_HOSTNAME", "I_MPI_HYDRA_", "I_MPI_PIN",
    "I_MPI_MPIRUN",
)  # fmt: skip


def _obeyed(variables: Mapping[str, str]) -> dict[str, str]:
    """Return what of an environment compilers obey."""
    return {
        name: value
        for name, value in variables.items()
        if name in _OBEYED or (name.startswith(_WRAPPERS) and not name.startswith(_OF_A_RANK))
    }


def key_of(source_hash: str, modname: str, variables: Mapping[str, str]) -> Key:
    """Return the key of a module; ``variables`` is the environment of its build."""
    components: dict[str, Any] = {
        "source_hash": source_hash,
        "modname": modname,
        "soabi": sysconfig.get_config_var("SOABI") or sys.implementation.cache_tag,
        "cython": _version("Cython"),
        "setuptools": _version("setuptools"),
        "environment": _obeyed(variables),
        "cpu": _cpu() if _is_native(variables) else "",
        **dict(_compiler(variables)),
        **dict(_petsc()),
        **dict(_container()),
    }
    return Key(components).named(modname)


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


def _compiler(variables: Mapping[str, str]) -> Iterator[tuple[str, Any]]:
    """Yield the compiler that setuptools will run, by what it is."""
    command = shlex.split(variables.get("CC") or sysconfig.get_config_var("CC") or "cc")
    program = shutil.which(command[0], path=variables.get("PATH"))
    yield "compiler options", command[1:]
    if program is None:
        yield "compiler", command[0]
        return
    status = os.stat(program)
    yield "compiler", Tool(program)
    # Of a wrapper such as mpicc the version is that of what it runs.
    yield "compiler version", _says(program, status.st_ino, status.st_mtime_ns, variables.get("PATH", ""))


@functools.lru_cache(maxsize=16)
def _says(program: str, _inode: int, _changed: int, path: str) -> str:
    environment = {**os.environ, "PATH": path, "LC_ALL": "C"}
    try:
        p = subprocess.run(  # noqa: S603  it is about to compile
            [program, "--version"],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=30,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return p.stdout.decode("utf-8", "replace")


def _petsc() -> Iterator[tuple[str, Any]]:
    """Yield how PETSc was configured: precision, width of integers, compilers, packages."""
    loaded = sys.modules.get("petsc4py")
    where = loaded.get_config() if loaded is not None else os.environ
    root, arch = where.get("PETSC_DIR") or "", where.get("PETSC_ARCH") or ""
    yield "petsc arch", arch
    binding = sys.modules.get("petsc4py.PETSc")
    if binding is not None:
        yield "petsc4py", Tool(str(binding.__file__))
        yield "petsc types", [getattr(binding, name).__name__ for name in ("IntType", "RealType", "ScalarType")]
    for label, name in (
        ("petsc configuration", "lib/petsc/conf/petscvariables"),
        ("petsc header", "include/petscconf.h"),
    ):
        for place in (os.path.join(root, arch, name), os.path.join(root, name)):
            if root and os.path.isfile(place):
                yield label, File(place)
                break


def _container() -> Iterator[tuple[str, Any]]:
    """Yield the module that defines the layout of what ``getptrobj`` returns."""
    try:
        spec = importlib.util.find_spec("underworld3.cython.petsc_types")
    except ImportError:
        return
    if spec is not None and spec.origin is not None and os.path.isfile(spec.origin):
        yield "petsc_types", Tool(spec.origin)


def _is_native(variables: Mapping[str, str]) -> bool:
    """Return whether the compiler is told to make code for the very CPU it runs on."""
    flags = [variables.get("CC", ""), *_obeyed(variables).values()]
    flags += [str(sysconfig.get_config_var(name) or "") for name in ("CC", "CFLAGS")]
    return any("native" in text for text in flags)


@functools.cache
def _cpu() -> str:
    """Return a digest of what the first CPU says of itself: model and features."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as f:
            first = f.read().partition("\n\n")[0].splitlines()
    except OSError:
        return os.uname().machine
    telling = (
        "vendor",
        "cpu family",
        "model",
        "stepping",
        "flags",
        "Features",
        "CPU impl",
        "CPU arch",
        "CPU var",
        "CPU part",
    )
    return hashlib.sha256("\n".join(line for line in first if line.startswith(telling)).encode()).hexdigest()
