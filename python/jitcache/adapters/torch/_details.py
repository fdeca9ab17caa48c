"""Details: what a graph depends on that is not in PyTorch's key.

Inductor's loops step by the width of the vector ISA that it has picked, which its key
leaves out: a graph that was made with AVX-512 and is used with AVX2 gives wrong
numbers. The name of the ISA is not enough, since three of ARM's are "asimd".
"""

from __future__ import annotations

import functools
import logging
import os
from typing import TYPE_CHECKING, Any

from jitcache import Key, Tool

from . import _cache

if TYPE_CHECKING:
    from collections.abc import Callable


def completed(original: Any) -> Any:
    """Return the constructor of PyTorch's details, whose attributes are its key, with one more attribute."""
    counts_threads = "cpp_runtime_thread_count" in original.__code__.co_names

    @functools.wraps(original)
    def init(self: Any, gm: Any, example_inputs: Any, *args: Any, **more: Any) -> None:
        original(self, gm, example_inputs, *args, **more)
        self.jitcache = _lacking(getattr(self, "_may_generate_cpu_cpp_code", None), counts_threads, gm, example_inputs)

    return init


def _lacking(is_for_cpu: Callable[..., bool] | None, counts_threads: bool, *graph: Any) -> tuple[str, ...]:
    try:
        if is_for_cpu is not None and not is_for_cpu(*graph):
            return ("", build())
        return (vec_isa(), build(), "" if counts_threads else _threads())
    except Exception as e:  # noqa: BLE001 - without a compiler, for one; a key that nobody has finds nothing
        _cache.reasons["key not known"] += 1
        logging.getLogger("jitcache").info("torch: a graph is not kept: %s: %s", type(e).__name__, e)
        return (os.urandom(16).hex(),)


def vec_isa() -> str:
    """Return the vector ISA that Inductor picks now: its name, its width, the compiler's flags and macros for it."""
    from torch._inductor import cpu_vec_isa

    isa = cpu_vec_isa.pick_vec_isa()
    return f"{isa} {isa.bit_width()} {isa.build_arch_flags()} {isa.build_macro()}"


@functools.lru_cache(maxsize=1)
def build() -> str:
    """Return a digest of the build of PyTorch's libraries; its version alone does not identify them."""
    return Key({name: Tool(library(name)) for name in ("libtorch_cpu.so", "libtorch_python.so")}).hex


def library(name: str) -> str:
    """Return the path of one of PyTorch's libraries."""
    import torch

    return os.path.join(os.path.dirname(torch.__file__), "lib", name)


def _threads() -> str:
    import torch

    return f"{torch.get_num_threads()} threads"
