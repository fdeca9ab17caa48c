"""The decorator ``memoize``. It imports the other modules of this package when it is used."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, ParamSpec, TypeVar, overload

    from jitcache._cache import Cache

    from .memoized import Codec, Depends, Memoized

    P = ParamSpec("P")
    R = TypeVar("R")
else:
    # typing would be imported for it.
    def overload(function: Any) -> None:
        """Say nothing at run time."""


@overload
def memoize(function: Callable[P, bytes], /) -> Memoized[P, bytes]: ...
@overload
def memoize(  # noqa: F811
    *, cache: Cache | bool | None = None, codec: None = None, depends: Depends | None = None, kind: str = "python"
) -> Callable[[Callable[P, bytes]], Memoized[P, bytes]]: ...
@overload
def memoize(  # noqa: F811
    *, cache: Cache | bool | None = None, codec: Codec, depends: Depends | None = None, kind: str = "python"
) -> Callable[[Callable[P, R]], Memoized[P, R]]: ...
def memoize(  # noqa: F811
    function: Callable[..., Any] | None = None,
    /,
    *,
    cache: Cache | bool | None = None,
    codec: Codec | None = None,
    depends: Depends | None = None,
    kind: str = "python",
) -> Any:
    """Keep the results of a function, for all processes.

        @jitcache.memoize
        def generate(template: str, sizes: tuple[int, ...]) -> bytes: ...

        @jitcache.memoize(codec=pickle, depends=lambda source: {"compiler": jitcache.Tool("gcc")})
        def build(source: str) -> Result: ...

    The function returns bytes, or what ``codec`` turns into bytes: ``pickle``,
    ``json``, ``marshal``, or an object with ``dumps`` and ``loads``. The caller gets
    what ``loads`` makes of the bytes, at a miss too.

    A result is kept for its arguments and for the code: the function, and the
    functions, classes, globals, defaults and closures that it reaches, each by its
    value now and by the content of the file that it is from. Python and installed
    packages count by their version and files. docs/memoize.md has all that counts.

    The result is not kept if the function looks outside of Python, at files,
    variables, the clock or other programs; if it reaches something that cannot be
    described; or if it changes what it reaches. ``depends`` lifts the first rule: it
    says what of the outside counts, as components of a key or as a function of the
    same arguments that returns them. ``{}`` says that nothing outside counts.

    However many threads and processes ask, one computes; exceptions are not kept.
    ``cache``: None is the default one, False none. ``f.key(…)`` is the key of a call,
    or the RefusedError that says why there is none; ``f.last_reason`` says why the
    last result was not kept, and a warning says it once.
    Raises TypeError for anything but a function, and for coroutine and generator functions.
    """
    from functools import partial

    from .memoized import memoized

    if function is None:
        return partial(memoized, cache=cache, codec=codec, depends=depends, kind=kind)
    return memoized(function, cache=cache, codec=codec, depends=depends, kind=kind)
