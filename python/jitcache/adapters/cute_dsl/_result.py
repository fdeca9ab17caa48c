"""Results: what compile returns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._object import ObjectFile

# Attributes that a loaded function cannot have, because it has no module.
_OF_COMPILES = frozenset({"artifacts", "dump_to_object", "export_to_c", "ir_module"})


class Compiled:
    """A compiled function. It is called like what ``cute.compile`` returns, also with arguments by name.

    It is the same whether it was compiled or found: even after a compile, it is loaded
    from the bytes that are stored. Any thread may call it, if the DSL allows that of its
    own results. Attributes that are not listed here are those of ``function``. Only a
    compile has ``export_to_c``, ``dump_to_object``, ``ir_module`` and ``artifacts``, so
    these raise AttributeError: use ``cute.compile`` for files, or ``object``.
    """

    def __init__(self, function: Any, call: Any, made: ObjectFile | None, how: str, reason: str, *, hit: bool) -> None:
        self._call = call
        self._made = made  # None if the function cannot be cached
        #: The DSL's object: a JitCompiledFunction, or a tvm_ffi.Function with ``--enable-tvm-ffi``.
        self.function = function
        #: The object file, an ELF relocatable whose symbols begin with ``jitcache``; b"" if it cannot be cached.
        self.object = b"" if made is None else made.data
        #: Whether nothing was compiled.
        self.hit = hit
        #: The kind of key under which it was found or stored: "source", "traced", or "" if it was neither.
        self.how = how
        #: Why it is not cached, or not under the kind of key that was asked for; "" if it is.
        self.reason = reason

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call it. Raises what the DSL raises."""
        return self._call(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "_call" not in self.__dict__:
            raise AttributeError(name)
        if name in _OF_COMPILES and self.object:
            raise AttributeError(f"{name}: a cached result has none; use cute.compile")
        return getattr(self.function, name)

    def __tvm_ffi_object__(self) -> Any:
        """Return what TVM FFI passes to a function if this is its argument."""
        inner = getattr(self.function, "__tvm_ffi_object__", None)
        return self.function if inner is None else inner()

    def __repr__(self) -> str:
        how, reason = f", {self.how}" * bool(self.how), f": {self.reason}" * bool(self.reason)
        return f"<jitcache cute-dsl {'hit' if self.hit else 'compiled'}{how}{reason}>"
