"""Keys of programs: JAX's key, and what JAX leaves out of it."""

from __future__ import annotations

import functools

from jitcache import Key

from ._build import build
from ._cpu import description


@functools.lru_cache(maxsize=1)
def _form() -> str:
    """Return the first bytes of an entry, which tell how it is compressed.

    JAX's key has the name of a compressor, which is not always the one that JAX uses.
    """
    from jax._src import compilation_cache

    return bytes(compilation_cache.compress_executable(b"")[:4]).hex()


def key_of(name: str) -> Key | None:
    """Return the key of a program that JAX calls ``jit_f-0f3a…``, None if the processor or jaxlib is not known.

    JAX's key covers the program, the options, the versions, and on some platforms the
    processor. Here the host's processor counts on all platforms.
    """
    cpu = description()
    if cpu is None:
        return None
    try:
        jaxlib = build()
    except OSError:
        return None
    return Key(jax=name, cpu=cpu, jaxlib=jaxlib, form=_form()).named(name.rpartition("-")[0])
