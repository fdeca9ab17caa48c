"""Settings: what the environment, the options and the machine tell the DSL."""

from __future__ import annotations

import os
import re
from typing import Any, NamedTuple

from jitcache._code import Unkeyable

# The settings of the DSL that say only where to write, what to print and whether to cache.
_IRRELEVANT = re.compile(
    "prefix|jit_time_profiling|log_|print_|show_stacktrace|filter_stacktrace|no_cache|jit_cache_max_elems|dump_dir"
    "|cache_dir|keep_|disable_file_caching|_arch$|shared_libs|_pid|verbose"
)

# The same among environment variables. The others with the prefixes below count, whether Python or the compiler's
# C++ code reads them.
_SILENT = re.compile(
    "CUTE_(EXPERIMENTAL_)?DSL_("
    "LOG_|PRINT_|SHOW_STACKTRACE|FILTER_STACKTRACE|NO_CACHE|JIT_CACHE_MAX_ELEMS|JIT_TIME_PROFILING|DUMP_DIR|CACHE_DIR"
    "|DISABLE_FILE_CACHING|LIBS$|ARCH$)"
)
_VARIABLES = (
    "CUTE_",
    "CUTLASS_",
    "CUDA_HOME",
    "CUDA_PATH",
    "CUDA_ROOT",
    "CUDA_TOOLKIT_PATH",
    "MLIR_",
    "LLVM_",
    "NVVM_",
)

# Options that make files, or whose result cannot be called here. Only a compile does what they ask for.
_MAKES_FILES = ("KeepCUBIN", "KeepPTX", "KeepSASS", "FlattenLocsOutputJsonPath", "RemarkOutput")
_NOT_FOR_HERE = ("DeviceTarget", "HostTarget")
# Results of the other frontend look at Python's state at each call. A loaded result cannot.
_FRONTENDS = ("EnablePYIR", "FrontendNext")
_PLACES = ("DumpDir",)

_PLAIN = (str, int, bool, float, type(None))


class Settings(NamedTuple):
    """The settings of the DSL as text, and those that this adapter uses itself."""

    text: str
    architecture: str
    libraries: tuple[str, ...]  # with which code is run


def environment() -> list[str]:
    """Return the variables that code may depend on."""
    return sorted(
        f"{name}={value}"
        for name, value in os.environ.items()
        if name.startswith(_VARIABLES) and not _SILENT.match(name)
    )


def settings_of(owner: Any) -> Settings:
    """Return the settings of a DSL object. Raises Unkeyable for those under which nothing can be cached.

    They include what the object read when it was made, and the present environment:
    some variables are read late.
    """
    manager = getattr(owner, "envar", None)
    if manager is None or not hasattr(manager, "arch"):
        raise Unkeyable("unknown settings", type(owner).__qualname__)
    if getattr(manager, "dryrun", False):
        raise Unkeyable("dry run")
    if getattr(manager, "enable_pyir", False):
        raise Unkeyable("other frontend", "enable_pyir")
    if getattr(manager, "keep_tokens", None) or any("_DSL_KEEP" in name for name in os.environ):
        raise Unkeyable("makes files", "CUTE_DSL_KEEP")
    compiler = getattr(owner, "compiler_provider", None)
    if getattr(compiler, "_post_compile_hook", None) is not None:
        raise Unkeyable("post-compile hook")
    lines = environment()
    for name, value in sorted(vars(manager).items()):
        if not _IRRELEVANT.match(name):
            lines.append(f"{name} {_plain(value)}")
    mode: Any = getattr(owner, "_preprocess_mode", None)
    if hasattr(mode, "current_signature"):
        lines.append(f"preprocessor {getattr(owner, 'enable_preprocessor', None)} {mode.current_signature()}")
    libraries = getattr(manager, "shared_libs", None) or ""
    return Settings(
        "\n".join(lines), _architecture(manager), tuple(filter(os.path.isfile, libraries.split(os.pathsep)))
    )


def _plain(value: Any) -> str:
    if isinstance(value, (set, frozenset)):
        return repr(sorted(map(_plain, value)))
    if isinstance(value, (list, tuple)):
        return repr([_plain(v) for v in value])
    if isinstance(value, _PLAIN):
        return repr(value)
    raise Unkeyable("unknown settings", type(value).__qualname__)


def _has_device() -> bool:
    """Whether the driver has a device. The DSL cannot be asked: without a device it takes a default architecture."""
    try:
        from cuda.bindings import driver

        if driver.cuInit(0)[0] != driver.CUresult.CUDA_SUCCESS:
            return False
        error, count = driver.cuDeviceGetCount()
    except Exception:  # noqa: BLE001 - no driver, no bindings: no device
        return False
    return bool(error == driver.CUresult.CUDA_SUCCESS and count > 0)


def _architecture(manager: Any) -> str:
    """Return the architecture for which code is traced.

    Without a device and without CUTE_DSL_ARCH, the DSL silently takes a default. Its
    result is then not cached. Nor is it if the variable was set after the DSL was
    imported, so that the DSL has not seen it.
    """
    said = os.environ.get("CUTE_DSL_ARCH")
    found = str(manager.arch)
    if said is None and not _has_device():
        raise Unkeyable("no architecture", "there is no device, and CUTE_DSL_ARCH is not set")
    if said is not None and said != found:
        raise Unkeyable("architecture set too late", f"CUTE_DSL_ARCH is {said}, the DSL has {found}")
    return found


class Options(NamedTuple):
    """The options of one compile."""

    text: str
    tvm_ffi: bool
    locations: bool  # whether the result contains places in the source
    linked: tuple[str, ...]  # paths of bitcode


def options_of(given: Any) -> Options:
    """Return the DSL's compile options, to which it has applied those of the environment. Raises Unkeyable."""
    values = getattr(given, "options", None)
    if not isinstance(values, dict):
        raise Unkeyable("unknown options", type(given).__qualname__)
    named = {cls.__name__: option for cls, option in values.items()}
    for names, reason in (
        (_MAKES_FILES, "makes files"),
        (_NOT_FOR_HERE, "for another target"),
        (_FRONTENDS, "other frontend"),
    ):
        for name in names:
            if name in named and named[name].value:
                raise Unkeyable(reason, name)
    lines = [f"{name} {_plain(option.value)}" for name, option in sorted(named.items()) if name not in _PLACES]
    lines += [f"{name} {_plain(value)}" for name, value in sorted(vars(given).items()) if name != "options"]

    def on(name: str) -> bool:
        return name in named and bool(named[name].value)

    linked = str(named["LinkLibraries"].value) if on("LinkLibraries") else ""
    return Options(
        "\n".join(lines),
        on("EnableTVMFFI"),
        on("GenerateLineInfo") or on("EnableAssertions") or on("CollectCompilerDiagnostics"),
        tuple(filter(None, linked.strip("'").split(","))),
    )
