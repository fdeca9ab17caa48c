"""Probes: what PyTorch asks of the compiler and the processor in each process before it compiles anything."""

from __future__ import annotations

import functools
import os
import shlex
from typing import TYPE_CHECKING, Any

from jitcache import Error, Key, Tool, _processor
from jitcache._native_job import Command
from jitcache._native_request import built

from . import _cache
from ._compiler import environment_of, left_to_torch
from ._details import library

if TYPE_CHECKING:
    from collections.abc import Callable

#: The kinds of the entries: answers of compilers, and vector ISAs that work.
ASKED, ISA = "_torch-asked", "_torch-isa"

#: Writes what a compiler prints into the file that the build makes: its standard output, or both streams.
_OUT, _BOTH = 'exec "$@" >answer 2>/dev/null', 'exec "$@" >answer 2>&1'


def _answer(compiler: str, asked: str, shell: str) -> str | None:
    """Return what a compiler prints, from an observed run; None if that cannot be had so."""
    try:
        program, *more = shlex.split(compiler)
        words, name = ("sh", "-c", shell, "sh", program, *more, asked), f"{compiler} {asked}"
        wish = Command(words, (), "answer", None, (), ASKED, name, environment=environment_of(program))
        return bytes(built(wish, _cache(), None).view).decode()
    except (Error, OSError, ValueError):
        return None


def searching(original: Any) -> Any:
    """Return PyTorch's search for a compiler: the first that says its version."""

    @functools.lru_cache(1)
    def cpp_compiler_search(search: Any) -> str:
        for compiler in search:
            if compiler is None:
                if os.getenv("TORCH_INDUCTOR_INSTALL_GXX"):
                    break
            elif _answer(compiler, "--version", _OUT) is None:
                break
            else:
                return str(compiler)
        return str(original(search))

    return cpp_compiler_search


def saying_version(original: Any) -> Any:
    """Return PyTorch's function that returns what ``--version`` prints."""

    @functools.cache
    def _compiler_version_string(cpp_compiler: str) -> str:
        said = _answer(cpp_compiler, "--version", _OUT)
        return str(original(cpp_compiler)) if said is None else said.strip()

    return _compiler_version_string


def describing(original: Any) -> Any:
    """Return PyTorch's function that returns what ``-v`` prints, in one line and not localized."""

    @functools.cache
    def get_compiler_version_info(compiler: str) -> str:
        said = _answer(compiler, "-v", f"LC_ALL=C; export LC_ALL; {_BOTH}")
        return str(original(compiler)) if said is None else said.replace("\r", "_").replace("\n", "_")

    return get_compiler_version_info


def recognising(original: Any) -> Any:
    """Return the function of PyTorch 2.11 that asks whether a compiler is Intel's, which then has to be new enough."""

    @functools.cache
    def _is_intel_compiler(cpp_compiler: str) -> bool:
        said = _answer(cpp_compiler, "--version", _OUT)
        is_another = said is not None and "Intel" not in said.strip().partition("\n")[0]
        return not is_another and bool(original(cpp_compiler))

    return _is_intel_compiler


def checking(original: Any) -> Any:
    """Return PyTorch's check that code for a vector ISA can be compiled and loaded; an ISA that works is kept."""

    @functools.wraps(original)
    def check_build(self: Any, code: str) -> bool:
        try:
            key = _isa_key(self, code)
        except Exception:  # noqa: BLE001 - without a compiler, for one: PyTorch says so
            key = None
        if key is None:
            return bool(original(self, code))
        return _checked(key, functools.partial(original, self, code))

    return check_build


def _isa_key(isa: Any, code: str) -> Key | None:
    """Return what the answer depends on; None if the kernel does not describe the processor."""
    import torch
    from torch._inductor import cpp_builder

    processor, compiler = _processor.description(), cpp_builder.get_cpp_compiler()
    said = cpp_builder.get_compiler_version_info(compiler)
    if processor is None or not said:
        return None
    return Key(
        flags=isa.build_arch_flags(), macros=isa.build_macro(), code=code, compiler=[compiler, said],
        torch=torch.__version__, library=Tool(library("libtorch_cpu.so")), processor=processor,
    ).named(f"{isa} {isa.build_arch_flags()}")  # fmt: skip


def _checked(key: Key, check: Callable[[], Any]) -> bool:
    """Return the answer. One process finds it out; that an ISA does not work is not kept, as the reason may pass."""
    with _cache().acquire(key, kind=ISA) as lease:
        if lease.hit:
            return True
        with left_to_torch():
            works = bool(check())
        if works:
            lease.commit(b"works")
        return works
