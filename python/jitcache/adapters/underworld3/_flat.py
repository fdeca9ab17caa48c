"""The flat layout: the files that underworld3's own cache would have made, beside the entries."""

from __future__ import annotations

import errno
import json
import os
import tempfile
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

#: Pairs of an index and an object with a ``name``.
Constants = Sequence[tuple[int, Any]]

_VERSION = 1


def module_path(directory: Path, source_hash: str) -> Path:
    """Return the path of a module's shared object."""
    return directory / f"{source_hash}.so"


def write(  # noqa: PLR0917
    directory: Path, source_hash: str, modname: str, constants: Constants, module: bytes | memoryview, path: str = ""
) -> None:
    """Write the three files of a module, the first one as a hard link of ``path`` if possible. Raises OSError."""
    about = {
        "version": _VERSION,
        "modname": modname,
        "constants": [{"index": index, "name": expression.name} for index, expression in constants],
    }
    (directory / f".{source_hash}.lock").touch(mode=0o600)
    _replace(module_path(directory, source_hash), module, path)
    _replace(directory / f"{source_hash}.manifest.json", json.dumps(about).encode())


def _replace(path: Path, data: bytes | memoryview, same: str = "") -> None:
    with tempfile.TemporaryDirectory(prefix=".inprogress_", dir=path.parent) as folder:
        new = os.path.join(folder, path.name)
        if not same or not _linked(same, new):
            with open(new, "wb") as f:
                f.write(data)
        os.replace(new, path)


def _linked(path: str, new: str) -> bool:
    """Make a hard link; return False if that is not possible, for example on another file system."""
    try:
        os.link(path, new)
    except OSError as e:
        if e.errno in (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES):
            raise
        return False
    return True
