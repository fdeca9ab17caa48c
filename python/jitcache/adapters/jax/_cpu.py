"""The processor that code is compiled for, as XLA sees it."""

from __future__ import annotations

import functools
import re

from jitcache import _processor

_TEXT = re.compile(rb"[ -~]{4,}")
_FEATURES = re.compile(rb"[+-][a-z0-9.]+,[+-][a-z0-9.]+")


def _said_by_xla() -> str | None:
    """Return the triple, CPU name and features for which XLA compiles on this machine, None if they are not known.

    They are the texts in XLA's description of its CPU devices. The numbers in it are
    those of devices and processes, which code does not depend on.
    """
    try:
        import jax
        from jax._src.lib import xla_client

        described = xla_client.get_topology_for_devices(jax.local_devices(backend="cpu")).serialize()
    except Exception:  # noqa: BLE001 - private, and the CPU may be switched off
        return None
    texts = _TEXT.findall(described)
    return b"\n".join(texts).decode() if any(map(_FEATURES.match, texts)) else None


@functools.lru_cache(maxsize=1)
def description() -> str | None:
    """Return a description of this processor from XLA, else from the kernel; None if neither gives one."""
    return _said_by_xla() or _processor.description()
