"""Dtypes: the types of NumPy's arrays, for keys of functions."""

from __future__ import annotations

from typing import Any


def parts_of(dtype: Any) -> tuple[Any, ...]:
    """Return everything that makes up a dtype, also its metadata, as values of Python's own types."""
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
