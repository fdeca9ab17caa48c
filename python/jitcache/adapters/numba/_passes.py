"""What programs and packages have registered to run in every compile: rewrites, and extensions of Numba's passes."""

from __future__ import annotations

import sys
import types as pytypes
from typing import TYPE_CHECKING, Any

from numba.core import types

from ._registered import is_foreign

if TYPE_CHECKING:
    from collections.abc import Iterator

# Where Numba's passes look up functions of others: by a class of its intermediate representation, or one by one.
_EXTENSIONS = {
    "numba.core.analysis": ("ir_extension_usedefs", "ir_extension_use_alloca"),
    "numba.core.ir_utils": (
        "visit_vars_extensions", "add_offset_to_labels_extensions", "find_max_label_extensions",
        "remove_dead_extensions",
        "alias_analysis_extensions", "alias_func_extensions", "copy_propagate_extensions", "call_table_extensions",
        "apply_copy_propagate_extensions", "tuple_table_extensions", "array_accesses_extensions",
        "build_defs_extensions", "remove_call_handlers", "is_pure_extensions",
    ),
    "numba.core.lowering": ("lower_extensions",),
    "numba.core.postproc": ("ir_extension_insert_dels",),
    "numba.core.typeinfer": ("typeinfer_extensions",),
    "numba.parfors.array_analysis": ("array_analysis_extensions",),
    "numba.parfors.parfor": ("swap_functions_map", "replace_functions_ndarray", "replace_functions_checkers_map"),
}  # fmt: skip


def _extensions() -> Iterator[Any]:
    for module, names in _EXTENSIONS.items():
        space = vars(sys.modules[module]) if module in sys.modules else {}
        for name in names:
            yield space.get(name) or {}


def _passes() -> list[Any]:
    """Return what is registered to run in every compile, including Numba's own, in its order."""
    rewrites = sys.modules.get("numba.core.rewrites.registry")
    found: list[Any] = [] if rewrites is None else [list(r) for r in rewrites.rewrite_registry.rewrites.values()]
    found.append(list(types.Literal.ctor_map.items()))  # the types of values that Numba takes as constants
    extended = (e.items() if isinstance(e, dict) else enumerate(e) for e in _extensions() if e)
    return found + [[(cls, list(v) if isinstance(v, list) else v) for cls, v in items] for items in extended]


_known_passes: tuple[list[Any], list[Any]] = ([], [])  # all of them, and the foreign ones


def passes() -> list[Any]:
    """Return what others have registered to run in every compile: rewrites, and extensions of Numba's passes."""
    global _known_passes
    known, foreign = _known_passes
    now = _passes()
    if now != known:
        foreign = [p for kind in now for p in kind if _is_foreign_value(p[1] if isinstance(p, tuple) else p)]
        _known_passes = now, foreign
    return foreign


def _is_foreign_value(value: Any) -> bool:
    parts = value if isinstance(value, (list, tuple)) else [value]
    return any(isinstance(part, (pytypes.FunctionType, type)) and is_foreign(part) for part in parts)
