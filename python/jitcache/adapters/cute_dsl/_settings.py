"""Settings: what the DSL is told by its environment, its options and the machine."""

from __future__ import annotations

import os
import re
from typing import Any, NamedTuple

from jitcache._code import Unkeyable

# Of the DSL's own settings, those that say where to write, what to print and whether to cache.
_IRRELEVANT = re.compile(
    "prefix|jit_time_profiling|log_|print_|show_stacktrace|filter_stacktrace|no_cache|jit_cache_max_elems|dump_dir"
    "|cache_dir|keep_|disable_file_caching|_arch$|shared_libs|_pid|verbose"
)

# The same of variables of the environment. The rest counts, read by Python or by the compiler's C++.
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

# Options that make files, or whose result is not to be called here: only a compile does what they ask for.
_MAKES_FILES = ("KeepCUBIN", "KeepPTX", "KeepSASS", "FlattenLocsOutputJsonPath", "RemarkOutput")
_NOT_FOR_HERE = ("DeviceTarget", "HostTarget")
# The other frontend's results look at Python's state again at each call, which a loaded one cannot.
_FRONTENDS = ("EnablePYIR", "FrontendNext")
_PLACES = ("DumpDir",)

_PLAIN = (str, int, bool, float, type(None))


class Settings(NamedTuple):
    """What the DSL is told, as text, and what adapters have to know of it."""

    text: str
    architecture: str
    libraries: tuple[str, ...]  # that code is run with


def environment() -> list[str]:
    """Return the variables that code may depend on."""
    return sorted(
        f"{name}={value}"
        for name, value in os.environ.items()
        if name.startswith(_VARIABLES) and not _SILENT.match(name)
    )


def settings_of(owner: Any) -> Settings:
    """Return the settings of a DSL object. Raises Unkeyable for those under which nothing can be cached.

    Both what it has read when it was made and what the environment says now: some
    of it is read late.
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
    """Whether the driver has a device: asked of the driver, because the DSL makes up an architecture without one."""
    try:
        from cuda.bindings import driver

        if driver.cuInit(0)[0] != driver.CUresult.CUDA_SUCCESS:
            return False
        error, count = driver.cuDeviceGetCount()
    except Exception:  # noqa: BLE001 - no driver, no bindings: no device
        return False
    return bool(error == driver.CUresult.CUDA_SUCCESS and count > 0)


def _architecture(manager: Any) -> str:
    """Return the architecture that code is traced for.

    Without a device and without a word the DSL takes one, silently: what it makes
    of that is left alone and not kept. So is what it makes when the variable was
    set after the DSL had been imported, and was not seen.
    """
    said = os.environ.get("CUTE_DSL_ARCH")
    found = str(manager.arch)
    if said is None and not _has_device():
        raise Unkeyable("no architecture", "there is no device, and CUTE_DSL_ARCH is not set")
    if said is not None and said != found:
        raise Unkeyable("architecture set too late", f"CUTE_DSL_ARCH is {said}, the DSL has {found}")
    return found


class Options(NamedTuple):
    """What is asked of one compile."""

    text: str
    tvm_ffi: bool
    locations: bool  # are in the result
    linked: tuple[str, ...]  # bitcode, by path


def options_of(given: Any) -> Options:
    """Return compile options as the DSL has them, those of the environment applied. Raises Unkeyable."""
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
