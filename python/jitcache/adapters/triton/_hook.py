"""The setting that tells Triton the class of its cache managers."""

from __future__ import annotations

import os
from typing import Any

_NAME = "TRITON_CACHE_MANAGER"
_OURS = f"{__package__}:Manager"
_NOTHING = object()

_before: Any = _NOTHING  # the setting before install
_attached = False


def _said() -> tuple[dict[str, Any], str]:
    """Return the dictionary and the name of the setting: in Triton's knobs, or before 3.4 in the environment."""
    import triton

    knobs = getattr(triton, "knobs", None)
    return (os.environ, _NAME) if knobs is None else (knobs.cache.__dict__, "manager_class")  # type: ignore[return-value]


def attach() -> None:
    """Set our class."""
    global _attached, _before
    from ._manager import Manager

    where, name = _said()
    if not _attached:
        _attached, _before = True, where.get(name, _NOTHING)
    where[name] = _OURS if name == _NAME else Manager


def detach() -> None:
    """Restore the setting."""
    global _attached, _before
    if not _attached:
        return
    where, name = _said()
    if _before is not _NOTHING:
        where[name] = _before
    elif name == _NAME:
        # Without the variable, Triton before 3.4 would keep the class that it was last told.
        where[name] = "triton.runtime.cache:FileCacheManager"
    else:
        del where[name]
    _attached, _before = False, _NOTHING
