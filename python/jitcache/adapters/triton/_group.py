"""Groups: all files of one kernel as the bytes of one entry, so that all are from the same compile.

The bytes are a line of JSON, ``[[name, size], …]``, and the contents in that order.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

#: The version of this format, which is a part of every key.
FORMAT = 1


def pack(files: Mapping[str, bytes]) -> bytes:
    """Return files, by name, as the bytes of an entry."""
    names = json.dumps([[name, len(data)] for name, data in files.items()], separators=(",", ":"))
    return b"".join([names.encode(), b"\n", *files.values()])


def unpack(data: bytes) -> dict[str, bytes] | None:
    """Return the files of an entry, in their order; None if the bytes have another format."""
    end = data.find(b"\n")
    try:
        names = [(str(name), int(size)) for name, size in json.loads(data[: max(end, 0)])]
    except (TypeError, ValueError):
        return None
    if not names or any(size < 0 or not is_name(name) for name, size in names):
        return None
    files, start = {}, end + 1
    for name, size in names:
        files[name] = data[start : start + size]
        start += size
    return files if start == len(data) and len(files) == len(names) else None


def is_name(name: str) -> bool:
    """Whether a text is a plain file name, which leads to no other folder."""
    return name not in ("", ".", "..") and "/" not in name and "\0" not in name
