"""Files that a kernel's options and Triton's variables name: libraries to link, plugins of the compiler.

Triton's key has their names, or their content when the process first asked.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import triton

from jitcache._code import Unkeyable
from jitcache._module_files import content

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

#: Where Triton is installed.
FOLDER = os.path.dirname(os.path.abspath(triton.__file__)) + os.sep


def named_files(seen: Mapping[str, Any]) -> list[str]:
    """Return the files that the options and variables of a compile name, with digests of their content.

    ``seen``: local variables of Triton's function. Raises Unkeyable if they are not as
    expected, OSError if a file cannot be read.
    """
    options, variables = seen.get("options"), seen.get("env_vars")
    if not hasattr(options, "__dict__") or not isinstance(variables, dict):
        raise Unkeyable("options not seen", type(options).__name__)
    paths = [*_named_in(vars(options)), *_named_in(variables)]
    return [f"file {path} = {content(path).hex()}" for path in dict.fromkeys(paths) if not path.startswith(FOLDER)]


def _named_in(value: Any) -> Iterator[str]:
    """Yield the files that texts name. A text may name several, with a separator between them."""
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, (tuple, list)):
        for inner in value:
            yield from _named_in(inner)
    elif isinstance(value, (str, os.PathLike)):
        text = os.fspath(value)
        found = (text, *text.split(os.pathsep), *text.split(";")) if isinstance(text, str) and text else ()
        yield from (path for path in found if os.path.isfile(path))
