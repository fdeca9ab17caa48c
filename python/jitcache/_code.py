"""Code: a Python function's code object as bytes, without what it reaches, for keys of functions."""

from __future__ import annotations

import functools
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


@functools.lru_cache(maxsize=1)
def _places() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the folders of Python's own library, and those of packages."""
    paths = sysconfig.get_paths()  # which takes a millisecond
    standard = folders(paths["stdlib"], paths["platstdlib"])
    # A virtual environment's packages, and those of the interpreter that it was made from, which it may see too.
    made_from = (p + name for p in standard for name in ("site-packages", "dist-packages"))
    return standard, folders(paths["purelib"], paths["platlib"], *made_from)


def is_standard(path: str) -> bool:
    """Return whether a file belongs to Python itself."""
    standard, site = _places()
    return path.startswith("<frozen ") or (path.startswith(standard) and not path.startswith(site))


def is_installed(path: str) -> bool:
    """Return whether a file belongs to a package that is installed beside Python's own library."""
    return path.startswith(_places()[1])


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
