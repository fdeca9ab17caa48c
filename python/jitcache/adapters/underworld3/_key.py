"""Labels of a module's request: underworld3's own hash, and what a module depends on that its build does not read."""

from __future__ import annotations

import importlib.util
import os
import sys
from typing import TYPE_CHECKING, Any

from jitcache import File, Key, Tool

if TYPE_CHECKING:
    from collections.abc import Iterator


def labels_of(source_hash: str, modname: str) -> list[tuple[str, str]]:
    """Return the labels of a module's request, which count beside the command that builds it."""
    found = [("source_hash", source_hash), ("modname", modname)]
    return found + [(label, Key(value=value).hex) for label, value in (*_petsc(), *_container())]


def _petsc() -> Iterator[tuple[str, Any]]:
    """Yield labels and values for the configuration of PETSc: precision, width of integers, compilers, packages."""
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
    """Yield a label and value for the module that defines the layout of what ``getptrobj`` returns."""
    try:
        spec = importlib.util.find_spec("underworld3.cython.petsc_types")
    except ImportError:
        return
    if spec is not None and spec.origin is not None and os.path.isfile(spec.origin):
        yield "petsc_types", Tool(spec.origin)
