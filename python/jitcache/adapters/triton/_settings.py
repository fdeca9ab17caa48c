"""Triton's settings, as its compiler sees them, whichever way a program has set them.

Triton's key has those that are in a list of variables. It has neither what a program sets with
``triton.knobs.propagate_env = False``, nor functions that are set there, nor the programs that a setting names.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import triton

from jitcache._module_files import content

from ._named_files import FOLDER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: Groups and names of settings that change no kernel. This is an allow-list: all others count.
_APART = ("autotuning", "build", "cache", "proton", "redis")
_HARMLESS = frozenset(
    (
        "always_compile", "dump_amdgcn", "dump_ir", "dump_nvptx", "dump_ptxas_log", "front_end_debugging", "interpret",
        "jit_cache_hook", "jit_post_compile_hook", "kernel_load_end_hook", "kernel_load_start_hook",
        "kernel_unload_hook", "launch_enter_hook", "launch_exit_hook", "libcuda_path", "libhip_path", "listener",
        "override", "store_binary_only", "use_ir_loc",
    )
)  # fmt: skip

_MISSING = object()


def note_settings(note: Callable[[str, Any], None]) -> None:
    """Call ``note`` with the name and the value of each setting that may change a kernel."""
    for name, value in _settings():
        # Where a program is may differ between machines, if it is the same.
        is_file = isinstance(value, str) and os.path.isfile(value)
        note(f"setting {name}", _digest(value) if is_file else value)


def _settings() -> Iterator[tuple[str, Any]]:
    knobs: Any = getattr(triton, "knobs", None)  # since Triton 3.4; before it, there are only variables
    base = getattr(knobs, "base_knobs", ())
    for group_name, group in sorted(vars(knobs).items()) if base else ():
        if not isinstance(group, base) or group_name in _APART:
            continue
        for name in sorted({*vars(type(group)), *vars(group)}):
            if not name.startswith("_") and name not in _HARMLESS:
                value = _value(group, name)
                if value is not _MISSING:
                    yield f"{group_name}.{name}", value


def _value(group: Any, name: str) -> Any:
    said = vars(group).get(name, _MISSING)
    kind = vars(type(group)).get(name)
    if said is not _MISSING:
        return said
    if hasattr(type(kind), "transform") and "tool" in type(kind).__name__:
        return os.environ.get(kind.key, _MISSING)  # to ask for the program would run it
    if isinstance(kind, property) or callable(kind):
        return _MISSING  # Triton's own, made of the others
    return getattr(group, name)


def _digest(path: str) -> str:
    return "Triton's" if path.startswith(FOLDER) else content(path).hex()
