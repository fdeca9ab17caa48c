"""Loaded results: a function from the cache is compiled after all if a program inspects it.

An entry has only the code of a function. A program may also ask for the function's LLVM
or assembler code, control flow, types, or the diagnostics of its parallel loops. For a
function from its own cache, Numba warns and returns nothing. A program that never asked
for a cache must not notice one, so here the function is compiled, for the inspection alone.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import llvmlite.binding as ll
from numba.core import event
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompileResult
from numba.core.compiler_lock import global_compiler_lock

from ._addresses import moved_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

# Where a function's descriptor has the symbols that native code, Python, and C call.
_NAMES = ("llvm_func_name", "llvm_cpython_wrapper_name", "llvm_cfunc_wrapper_name")


class Source:
    """Compiles a function again when that is needed, and keeps the result."""

    def __init__(self, compile_again: Callable[[], Any]) -> None:
        self._compile = compile_again
        self._result: Any = None

    @property
    def result(self) -> Any:
        """The CompileResult. It is inspected only, never called."""
        if self._result is None:
            timers: dict[str, float] = {}
            with (
                event.install_timer("numba:compiler_lock", partial(timers.__setitem__, "compiler_lock")),
                event.install_timer("numba:llvm_lock", partial(timers.__setitem__, "llvm_lock")),
                global_compiler_lock,
            ):
                self._result = self._compile()
            if self._result.metadata is not None:
                self._result.metadata.setdefault("timers", timers)
        return self._result


class LoadedLibrary(JITCodeLibrary):  # type: ignore[misc]
    """A code library from the cache."""

    source: Source | None = None
    descriptor: Any = None
    bitcode = b""  # the module for linking
    moves: Mapping[int, int] = {}  # this process's addresses, by those in bitcode
    used: Any = ()  # the functions at these addresses, to keep them alive
    _shared_module: Any

    def linkable(self) -> Any:
        """Return the module that other libraries link. It is parsed at the first request; most are never requested."""
        if self._shared_module is None:
            self._shared_module, self.bitcode = ll.parse_bitcode(self.bitcode), b""
            if self.moves:
                self._shared_module = ll.parse_assembly(moved_text(str(self._shared_module), self.moves))
        return self._shared_module

    def _get_module_for_linking(self) -> Any:
        self.linkable()
        return super()._get_module_for_linking()

    def _made_again(self) -> Any:
        """Return the library of the second compile, which has other symbols; None if the function has no source."""
        return None if self.source is None else self.source.result.library

    def get_function(self, name: str) -> Any:
        """Return a function of the module that others link. The loops of parallel functions ask for its type."""
        return self.linkable().get_function(name)

    def get_llvm_str(self) -> str:
        """Return the LLVM of the function."""
        again = self._made_again()
        return self._as_here(super().get_llvm_str() if again is None else again.get_llvm_str())

    def get_asm_str(self) -> str:
        """Return the assembler code of the function."""
        again = self._made_again()
        return self._as_here(super().get_asm_str() if again is None else again.get_asm_str())

    def get_function_cfg(self, name: str, py_func: Any = None, **how: Any) -> Any:
        """Return the control flow of a function of the library."""
        again = self._made_again()
        if again is None:
            return super().get_function_cfg(name, py_func, **how)
        return again.get_function_cfg(self._name_there(name), py_func, **how)

    def get_disasm_cfg(self, mangled_name: str) -> Any:
        """Return the control flow of a function's machine code."""
        again = self._made_again()
        if again is None:
            return super().get_disasm_cfg(mangled_name)
        return again.get_disasm_cfg(self._name_there(mangled_name))

    def _as_here(self, text: str) -> str:
        """Return text of the second compile with the symbols of this library."""
        if self.source is not None:
            there = self.source.result.fndesc
            for kind in _NAMES:
                text = text.replace(getattr(there, kind), getattr(self.descriptor, kind))
        return text

    def _name_there(self, name: str) -> str:
        """Return the symbol of the second compile for one of this library."""
        assert self.source is not None
        for kind in _NAMES:
            if getattr(self.descriptor, kind, None) == name:
                return str(getattr(self.source.result.fndesc, kind))
        return name


class LoadedResult(CompileResult):  # type: ignore[misc]
    """A CompileResult from the cache."""

    def open(self, compile_again: Callable[[], Any]) -> None:
        """Set how to compile the function again. Until then, attributes have the values in the entry."""
        self.library.source = self.source = Source(compile_again)

    def _field(self, name: str) -> Any:
        source = getattr(self, "source", None)
        return self[self._fields.index(name)] if source is None else getattr(source.result, name)

    @property
    def metadata(self) -> Any:
        """What the passes of the compiler have noted."""
        return self._field("metadata")

    @property
    def type_annotation(self) -> Any:
        """The types of the variables, by line."""
        return self._field("type_annotation")
