"""cuda.core's programs in a jitcache.

    from jitcache.adapters.cuda_core import ProgramCache

    cache = ProgramCache()
    code = Program(source, "c++", options).compile("cubin", cache=cache)

A ``ProgramCache`` can be passed where cuda.core takes a ``FileStreamProgramCache``.
cuda.core tells it only a digest and the code, and refuses to cache some programs;
``compile_program`` caches those too:

    from jitcache.adapters.cuda_core import compile_program

    code = compile_program(source, options=options, name_expressions=["axpy<float>"])
    code.get_kernel("axpy<float>")

``link`` keeps what ``Linker`` makes of several objects:

    from jitcache.adapters.cuda_core import link

    code = link(objects, LinkerOptions(arch="sm_90", link_time_optimization=True))

docs/cuda_core.md says what is in a key, and how both differ from cuda.core's own
caches. For cuda.core 1.0 to 1.2. Importing this module does not import cuda.core; the
first use of ``ProgramCache`` does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jitcache import Cache

    from ._program_cache import ProgramCache

__all__ = ["KIND", "ProgramCache", "compile_program", "link", "uncached"]

#: The kind of the entries of ``ProgramCache``, of ``link``, and of those that
#: ``compile_program`` makes from PTX and NVVM IR. Those that it makes from C++ have the kinds of
#: ``jitcache.cuda``: "cubin", "ptx" and "ltoir".
KIND = "cuda.core"

# The functions that compile and link, once they are imported: an import statement in a function costs a fifth of a hit.
_compile: Any = None
_link: Any = None


def __getattr__(name: str) -> Any:
    """Define ``ProgramCache`` at its first use: its base class is cuda.core's."""
    if name != "ProgramCache":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from ._program_cache import ProgramCache

    globals()[name] = ProgramCache
    return ProgramCache


def compile_program(  # noqa: PLR0917  as cuda.core has them
    source: str | bytes,
    code_type: str = "c++",
    options: Any = None,
    target: str = "cubin",
    name_expressions: Sequence[str | bytes] = (),
    logs: Any = None,
    cache: Cache | ProgramCache | bool | None = None,
) -> Any:
    """Return what ``Program(source, code_type, options).compile(target, …)`` returns, from the cache.

    ``options`` is a ``cuda.core.ProgramOptions``, a dict of its fields, or None for
    its defaults; without an architecture cuda.core asks the current device.
    ``target`` is "cubin", "ptx" or "ltoir". ``name_expressions`` are templates to
    instantiate: ``get_kernel`` finds them by these names, on a hit too. ``logs``
    has a method ``write``, which gets what the compiler printed when it compiled the
    code, on a hit too. ``cache`` is a ``jitcache.Cache``, a ``ProgramCache``, None for
    the default cache, or False to leave everything to cuda.core.

    Headers count by their content, whatever folder they are in. However many threads
    and processes ask for the same at once, one compiles. A hit of C++ loads no
    compiler. May be called from any thread.

    Returns an ``ObjectCode``. Raises an error that is both ``jitcache.CompileError``
    and cuda.core's ``NVRTCError`` for C++ that does not compile; one that is both
    ``jitcache.RefusedError`` and ValueError for PTX and NVVM IR that cannot be keyed;
    ``jitcache.LibraryError`` if NVRTC is not found; TypeError for a wrong ``cache``;
    in all other cases what cuda.core raises.
    """
    global _compile
    if _compile is None:
        from ._program import compile_any

        _compile = compile_any
    return _compile(source, code_type, options, target, name_expressions, logs, cache)


def link(
    objects: Sequence[Any],
    options: Any = None,
    target: str = "cubin",
    logs: Any = None,
    cache: Cache | ProgramCache | bool | None = None,
) -> Any:
    """Return what ``Linker(*objects, options=options).link(target)`` returns, from the cache.

    ``objects`` are ``ObjectCode`` of any kind, LTO-IR among them; one that names a file
    counts by the file's content. ``options`` is a ``cuda.core.LinkerOptions``, a dict of
    its fields, or None for its defaults; without an architecture cuda.core asks the
    current device. With a dict, a hit does not load nvJitLink. ``target`` is "cubin" or
    "ptx". ``logs`` has a method ``write``, which gets the linker's info log, on a hit
    too. ``cache`` is as for ``compile_program``.

    However many threads and processes ask for the same at once, one links. What cannot
    be keyed is linked each time; ``uncached`` says why. May be called from any thread.

    Returns an ``ObjectCode``. Raises what cuda.core raises, and TypeError for a wrong
    ``cache``.
    """
    global _link
    if _link is None:
        from ._linker import link_any

        _link = link_any
    return _link(objects, options, target, logs, cache)


def uncached() -> dict[str, int]:
    """Return why links, PTX and NVVM IR of this process were left to cuda.core or not kept, and how often.

    For example ``{"option that may name a file": 2}``.
    """
    from ._job import REASONS

    return dict(REASONS)
