"""Keys of modules: Warp's own hash in full, and what is missing in it and in the names of Warp's files."""

from __future__ import annotations

import functools
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import warp
from warp._src import codegen, context

from jitcache import File, Key, Tool
from jitcache._module_files import is_older_than_process, stamp_of
from jitcache.adapters._named_variables import obeyed

from . import _cache
from ._meanings import meanings, noted

if TYPE_CHECKING:
    from collections.abc import Iterator


@functools.lru_cache(maxsize=1)
def _compilers() -> dict[str, File]:
    """Return Warp's libraries that compile, its Python sources, and its headers and libraries that modules use."""
    room = Path(warp.__file__).parent
    libraries = {path.name: Tool(path) for path in sorted((room / "bin").iterdir()) if path.suffix in {".so", ".dylib"}}
    found = [path for path in _below(str(room / "_src")) if path.endswith(".py")] + list(_below(str(room / "native")))
    return {**libraries, **{f"file {os.path.relpath(path, room)}": File(path) for path in found}}


def _below(folder: str) -> Iterator[str]:
    """Yield the files below a folder, in a fixed order."""
    for here, folders, names in os.walk(folder):
        folders.sort()
        yield from (os.path.join(here, name) for name in sorted(names))


# The folder of files that are read when a module is compiled, and not when Warp is imported.
_NATIVE = str(Path(warp.__file__).parent / "native") + os.sep

# The library that compiles for CUDA.
_FOR_CUDA = str(Path(warp.__file__).parent / "bin" / "warp.so")

# The stamps of Warp's files, and their digest.
_digest: tuple[list[tuple[int, ...]], str] = [], ""


def _toolchain() -> str:
    """Return the digest of Warp's files, "" if this process may have loaded older ones. Raises OSError."""
    global _digest
    found = {tool.path: os.stat(tool.path) for tool in _compilers().values()}
    if not all(is_older_than_process(s) for path, s in found.items() if not path.startswith(_NATIVE)):
        return ""
    stamps = [stamp_of(s) for s in found.values()]
    if not _digest[1] or _digest[0] != stamps:
        _digest = stamps, Key(_compilers()).hex
    return _digest[1]


def _processor() -> str:
    """Return the target of LLVM when it compiles for this machine."""
    features = ",".join(sorted(context._get_cpu_feature_set()))
    # Warp 1.18 compiles for the triple that its library was built for, and the library is in the key.
    triple = context._get_cpu_target_triple() if hasattr(context, "_get_cpu_target_triple") else "built in"
    return f"{triple} {context._get_host_cpu_name()} {features}"


# Options through which a module depends on files that are not in its hash.
_OUTSIDE = ("extra_cpu_include_dirs", "extra_cuda_include_dirs", "extra_build_dependencies")

# Flags that name no file and do not ask for the time.
_HARMLESS = re.compile(
    r"-(?:O[0-3sz]|g[0-3]?|w|W[\w-]+(?:=\d+)?|std=[\w+]+|[DU]\w+(?:=[-+.a-zA-Z0-9]*)?|m(?:arch|cpu|tune)=[\w.+-]+"
    r"|m(?!llvm)[a-z0-9.-]+(?:=\d+)?|mllvm=-+[\w-]+(?:=(?:-?\d+|true|false))?|ffp-contract=[a-z-]+|fsanitize=address"
    r"|f(?:no-)?(?:[a-z-]*(?:math|vectorize|zeros|nans|infinities)|(?:unroll|omit|strict)-[a-z-]+|exceptions|rtti|inline))"
)


def refused(module: Any, options: dict[str, Any]) -> str:
    """Return why a module is left to Warp, "" if it is served here."""
    if not warp.config.cache_kernels:
        return "cache_kernels"
    if module.options["strip_hash"]:
        return "strip_hash"
    if options.get("verify_autograd_array_access"):
        return "verify_autograd_array_access"  # Warp examines the adjoints at each build
    if any(options.get(name) for name in _OUTSIDE):
        return "build options"
    if not all(_HARMLESS.fullmatch(flag) for flag in _flags(options)):
        return "build options"
    module.get_module_hash(options["block_dim"])
    return "" if noted(module, options["block_dim"]) else "hashed before install"


def _flags(options: dict[str, Any]) -> list[str]:
    """Return the flags of Warp's compiler for the CPU."""
    return str(options.get("cpu_compiler_flags") or "").replace("-mllvm ", "-mllvm=").split()


def _meanings(module: Any, options: dict[str, Any]) -> list[str]:
    # Code shows the places of its functions if it is made for a debugger: in a failed assertion, for example.
    shown = options.get("mode") == "debug" or bool(options.get("lineinfo"))
    return meanings(module, options["block_dim"], lines=shown)


def _templates() -> list[str]:
    """Return the texts that Warp makes sources of: a program may have set them."""
    texts = {name: text for name, text in vars(codegen).items() if isinstance(text, str) and not name.startswith("__")}
    return [f"{name} {text}" for name, text in sorted(texts.items())]


def key_of(module: Any, output_name: str, output_arch: int | None, options: dict[str, Any]) -> Key | None:
    """Return the key of a module for a device, None if this process may have another Warp.

    Raises an exception, which may be any, if a file cannot be read or a name's meaning is not known.
    """
    toolchain = _toolchain()
    if not toolchain:
        return None
    cuda = output_arch is not None
    return Key(
        warp=warp.__version__,
        toolchain=toolchain,
        module=module.get_module_hash(options["block_dim"]),
        meanings=_meanings(module, options),
        templates=_templates(),
        # Warp's file name has the first digits of the hashes of module and processor.
        output=os.path.basename(output_name),
        target=f"sm_{output_arch}" if cuda else _processor(),
        variables=obeyed(_cache(), _FOR_CUDA) if cuda else [],  # on the CPU none changes the object
    ).named(module.name)
