"""The key of a module: Warp's own hash, whole, and what Warp leaves out of the names of its files."""

from __future__ import annotations

import functools
import os
from pathlib import Path
from typing import Any

import warp
from warp._src import context

from jitcache import File, Key, Tool


@functools.lru_cache(maxsize=1)
def _compilers() -> dict[str, Any]:
    """Return the libraries that compile, and the headers that every module includes."""
    room = Path(warp.__file__).parent
    libraries = {path.name: Tool(path) for path in sorted((room / "bin").iterdir()) if path.suffix in {".so", ".dylib"}}
    headers = {
        f"header {path.relative_to(room)}": File(path)
        for suffix in ("h", "cuh", "hpp")
        for path in sorted((room / "native").rglob(f"*.{suffix}"))
    }
    return {**libraries, **headers}


@functools.lru_cache(maxsize=1)
def _toolchain() -> str:
    """Return the digest of these."""
    return Key(_compilers()).hex


def _processor() -> str:
    """Return what LLVM compiles for where it compiles for this machine."""
    features = ",".join(sorted(context._get_cpu_feature_set()))
    # Warp 1.18 compiles for the triple that its library was built for, and the library is in the key.
    triple = context._get_cpu_target_triple() if hasattr(context, "_get_cpu_target_triple") else "built in"
    return f"{triple} {context._get_host_cpu_name()} {features}"


# Options by which a module comes to depend on files that its hash says nothing of.
_OUTSIDE = ("extra_cpu_include_dirs", "extra_cuda_include_dirs", "extra_build_dependencies")


def refused(module: Any, options: dict[str, Any]) -> str:
    """Return why a module is left to Warp, "" if it is not."""
    if not warp.config.cache_kernels:
        return "cache_kernels"
    if module.options["strip_hash"]:
        return "strip_hash"
    if options.get("verify_autograd_array_access"):
        return "verify_autograd_array_access"  # Warp looks at the adjoints of each build
    if any(options.get(name) for name in _OUTSIDE):
        return "build options"
    return ""


def key_of(module: Any, output_name: str, output_arch: int | None, options: dict[str, Any]) -> Key:
    """Return the key of a module for a device."""
    cuda = output_arch is not None
    return Key(
        warp=warp.__version__,
        toolchain=_toolchain(),
        module=module.get_module_hash(options["block_dim"]),
        # Warp's name has the first digits of hashes of the module and of the processor.
        output=os.path.basename(output_name),
        target=f"sm_{output_arch}" if cuda else _processor(),
    ).named(module.name)


def includes(source: bytes) -> set[bytes]:
    """Return what a generated source includes."""
    lines = (line.strip() for line in source.splitlines())
    found = (line[1:] for line in lines if line.startswith(b"#") and b"include" in line)
    return {line.split(None, 1)[-1].split(b"//")[0].strip() for line in found}
