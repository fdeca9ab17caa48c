"""torch_key: PyTorch's digest of its own sources, computed once per installation and not once per process.

It is in every key of a graph, and reads the 2,000 files of ``torch``. While none of them has changed, so is the answer.
"""

from __future__ import annotations

import inspect
import sys
from typing import TYPE_CHECKING, Any

from jitcache import Key
from jitcache._location import machine
from jitcache.adapters._file_memo import remembered

from . import _cache

if TYPE_CHECKING:
    from collections.abc import Callable

#: The kind of the entry that has the answer.
KIND = "_torch-key"


def computes(torch_key: Any) -> Callable[[], bytes] | None:
    """Return the function that computes the answer, which PyTorch's decorator has wrapped; None if it is not there."""
    try:
        function = inspect.getclosurevars(torch_key).nonlocals.get("func")
    except TypeError:
        return None
    code = getattr(function, "__code__", None)
    return function if code is not None and code.co_argcount == code.co_kwonlyargcount == 0 else None


def remembering(original: Any) -> Any:
    """Return PyTorch's function with the same interface, which asks the cache first."""
    from torch._inductor import codecache

    function = computes(original)
    assert function is not None  # unfit() has asked

    def func() -> bytes:
        # Inodes and times are valid on one machine only.
        key = Key({"torch key of": function.__code__.co_filename}, machine=machine(), python=sys.version)
        return bytes.fromhex(remembered(_cache(), key.named("torch_key"), lambda: function().hex(), KIND))

    return codecache.torch_key_cache(func)
