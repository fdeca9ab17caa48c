"""Code: a Python function's code object as bytes, without what it reaches, for keys of functions."""

from __future__ import annotations

import os
import struct
import sysconfig
import types as pytypes
import weakref
from typing import Any, Callable


class Unkeyable(Exception):
    """A function depends on something that cannot be described: ``reason`` says why, the text also names it."""

    def __init__(self, reason: str, what: object = "") -> None:
        super().__init__(f"{reason}: {what}"[:300] if what else reason)
        self.reason = reason


def folders(*paths: str) -> tuple[str, ...]:
    """Return folders as prefixes of the paths in them."""
    return tuple(path + os.sep for path in paths)


_PATHS = sysconfig.get_paths()
_STDLIB = folders(_PATHS["stdlib"], _PATHS["platstdlib"])
# The packages of a virtual environment, and those of its base interpreter, which it may see too.
_SITE = folders(
    _PATHS["purelib"], _PATHS["platlib"], *(p + name for p in _STDLIB for name in ("site-packages", "dist-packages"))
)


def is_standard(path: str) -> bool:
    """Return whether a file belongs to Python itself."""
    return path.startswith("<frozen ") or (path.startswith(_STDLIB) and not path.startswith(_SITE))


def is_installed(path: str) -> bool:
    """Return whether a file belongs to a package that is installed beside Python's own library."""
    return path.startswith(_SITE)


_codes: weakref.WeakKeyDictionary[pytypes.CodeType, tuple[bytes, tuple[str, ...], tuple[str, ...]]]
_codes = weakref.WeakKeyDictionary()


def pack(*parts: bytes) -> bytes:
    """Join parts so that no other parts give the same bytes."""
    return b"".join(struct.pack("<I", len(p)) + p for p in parts)


def code_of(code: pytypes.CodeType) -> tuple[bytes, tuple[str, ...], tuple[str, ...]]:
    """Return a code object as bytes, the names in it, and its string constants, those of nested code included."""
    found = _codes.get(code)
    if found is None:
        found = _codes[code] = _describe_code(code)
    return found


def _describe_code(code: pytypes.CodeType) -> tuple[bytes, tuple[str, ...], tuple[str, ...]]:
    counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
    tables = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    parts = [
        code.co_code,
        getattr(code, "co_exceptiontable", b""),
        code.co_name.encode(),
        repr((counts, tables)).encode(),
    ]
    names = dict.fromkeys(code.co_names)
    texts: dict[str, None] = {}
    for const in code.co_consts:
        if isinstance(const, pytypes.CodeType):
            described, inner_names, inner_texts = code_of(const)
            parts.append(described)
            names.update(dict.fromkeys(inner_names))
            texts.update(dict.fromkeys(inner_texts))
        else:
            # The order of a frozenset differs from process to process.
            text = repr(sorted(map(repr, const))) if isinstance(const, frozenset) else repr(const)
            parts.append(f"{type(const).__name__} {text}".encode())
            if isinstance(const, str):
                texts[const] = None
    return pack(*parts), tuple(names), tuple(texts)


def content_of(cell: Any) -> Any:
    """Return the content of a closure's cell, ``...`` for an empty one."""
    try:
        return cell.cell_contents
    except ValueError:
        return ...


#: Encoders of values by their exact types, the most frequent first. A float counts by its bits: -0.0 is not 0.0.
PLAIN: dict[type, Callable[[Any], bytes]] = {
    int: lambda v: str(v).encode(),
    float: lambda v: struct.pack("<d", v),
    str: lambda v: v.encode("utf-8", "surrogatepass"),
    bool: lambda v: str(v).encode(),
    type(None): lambda _: b"",
    bytes: bytes,
    complex: lambda v: struct.pack("<dd", v.real, v.imag),
    type(...): lambda _: b"",
    type(NotImplemented): lambda _: b"",
    range: lambda v: repr(v).encode(),
}
