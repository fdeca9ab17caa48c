"""Types of NumPy's arrays, for keys of functions."""

from __future__ import annotations

from typing import Any


def parts_of(dtype: Any) -> tuple[Any, ...]:
    """Return all that a type of elements is, and what somebody has attached to it, in values of Python's own."""
    return (
        dtype.str,
        dtype.type.__qualname__,
        dtype.itemsize,
        dtype.isalignedstruct,
        dtype.shape,
        dict(dtype.metadata or {}),
        None if dtype.subdtype is None else parts_of(dtype.base),
        tuple((name, dtype.fields[name][1:], parts_of(dtype.fields[name][0])) for name in dtype.names or ()),
    )
