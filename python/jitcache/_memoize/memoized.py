"""``memoize``: functions whose results are kept, by their arguments and by their code."""

from __future__ import annotations

import functools
import inspect
import sys
import threading
import types
from typing import TYPE_CHECKING, Any, Callable, Generic, TypeVar

from jitcache import _log
from jitcache._code import Unkeyable
from jitcache._default import cache_of
from jitcache._errors import RefusedError
from jitcache._key import Key

from .audit import Unwatched, Watched
from .reach import Reach
from .settings import python_version, settings

if TYPE_CHECKING or sys.version_info >= (3, 10):
    from typing import ParamSpec

    P = ParamSpec("P")
else:
    P = TypeVar("P")

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Protocol

    from jitcache._cache import Cache

    class Codec(Protocol):
        """Turns results into bytes and back: ``pickle``, ``json``, or an object like them."""

        def dumps(self, value: Any, /) -> bytes | str: ...
        def loads(self, data: bytes, /) -> Any: ...

    Depends = Mapping[str, Any] | Callable[..., Mapping[str, Any]]

R = TypeVar("R")
#: Modules of Python that are codecs, or that codecs use. Beside the value they look only at its classes.
CODECS = frozenset(("_json", "_pickle", "json", "marshal", "pickle"))
_ABSENT = object()
# The attributes of a memoized function on which no result depends, or that are described elsewhere.
_PARTS = frozenset(("_cache", "_codec", "_depends", "_function", "_kind", "_name", "_reasons", "_signature", "_warned"))


class Memoized(Generic[P, R]):
    """A function whose results are kept. ``memoize`` makes it; call it as the function.

    ``__wrapped__`` is the function itself.
    """

    __wrapped__: Callable[P, R]

    def __init__(
        self,
        function: Callable[P, R],
        cache: Cache | bool | None,
        codec: Codec | None,
        depends: Depends | None,
        kind: str,
    ) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        self._cache = cache
        self._codec = codec
        self._depends = depends
        self._kind = kind
        self._signature = _signature_of(function)
        self._name = f"{function.__module__}.{function.__qualname__}"
        self._reasons = threading.local()
        self._warned: set[str] = set()

    # -- calls

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Return the function's result for these arguments, from the cache if it was computed before."""
        self._reasons.last = ""
        cache = cache_of(self._cache)
        if cache is None:
            return self._plainly(args, kwargs)
        with Unwatched():
            try:
                key, components = self._keyed(args, kwargs)
            except RefusedError as e:
                self._refuse(str(e))
                key, components = None, {}
            if key is not None:
                lease = cache.acquire(key, kind=self._kind)
        if key is None:
            return self._plainly(args, kwargs)
        with lease:
            if lease.data is not None:
                found = self._decoded(lease.data)
                if found is not _ABSENT:
                    return found  # type: ignore[no-any-return]
                cache.remove(key)
            with Watched() as calls:
                value = self._function(*args, **kwargs)
            with Unwatched():
                data = self._encoded(value)
                why = self._why_not(calls.seen, args, kwargs, components)
                if data is None or why:
                    if why:
                        self._refuse(why)
                elif lease.data is None and not lease.commit(data):
                    self._reasons.last = cache.last_reason
                return value if data is None else self._as_kept(data, value)

    def _plainly(self, args: Any, kwargs: Any) -> R:
        value = self._function(*args, **kwargs)
        data = self._encoded(value)
        return value if data is None else self._as_kept(data, value)

    def _why_not(self, seen: list[str], args: Any, kwargs: Any, components: dict[str, Any]) -> str:
        """Return why a result that was just computed cannot be kept, "" if it can."""
        if seen and self._depends is None:
            return f"looks outside: {seen[0]}"
        try:
            now = self._described(args, kwargs).components
        except Unkeyable as e:
            return str(e)
        changed = sorted(label for label in {*now, *components} if now.get(label) != components.get(label))
        # The first walk could not see modules that the call has imported.
        return f"changed during the call: {', '.join(changed)}" if changed else ""

    # -- results

    def _encoded(self, value: Any) -> bytes | None:
        """Return a result as bytes, None if the codec cannot. Raises TypeError for what is no bytes without a codec."""
        if self._codec is None:
            if not isinstance(value, bytes):
                raise TypeError(f"{self._name}: returned {type(value).__qualname__}, want bytes; or give a codec")
            return value
        try:
            data = self._codec.dumps(value)
        except Exception as e:  # noqa: BLE001 - of a codec of the user's, for whose sake no call fails
            self._refuse(f"the codec cannot take the result: {e!r}")
            return None
        return data.encode() if isinstance(data, str) else bytes(data)

    def _decoded(self, data: bytes) -> Any:
        if self._codec is None:
            return data
        try:
            return self._codec.loads(data)
        except Exception as e:  # noqa: BLE001 - bytes that it does not take are a miss
            self._refuse(f"the codec cannot read what was kept: {e!r}")
            return _ABSENT

    def _as_kept(self, data: bytes, value: Any) -> Any:
        """Return what a hit will return: a tuple may come back from JSON as a list."""
        found = self._decoded(data)
        return value if found is _ABSENT else found

    # -- keys

    def key(self, *args: P.args, **kwargs: P.kwargs) -> Key:
        """Return the key of the result for these arguments.

        Raises RefusedError if it cannot be kept; the message names what is in the way.
        """
        return self._keyed(args, kwargs)[0]

    @property
    def last_reason(self) -> str:
        """Why this thread's last result was not kept; "" if it was."""
        return str(getattr(self._reasons, "last", ""))

    def _keyed(self, args: Any, kwargs: Any) -> tuple[Key, dict[str, Any]]:
        try:
            reach = self._described(args, kwargs)
        except Unkeyable as e:
            raise RefusedError(f"{self._name}: {e}", -21) from None
        for memory in reach.memories:
            if memory.cache_info().currsize:
                name = f"{memory.__module__}.{memory.__qualname__}"
                raise RefusedError(f"{self._name}: {name} remembers earlier results; see its cache_clear", -21)
        components: dict[str, Any] = dict(reach.components)
        try:
            key = Key({**components, **self._outside(args, kwargs)})
        except OSError as e:  # a file in depends is missing: the function says what that means
            raise RefusedError(f"{self._name}: depends: {e}", -21) from e
        return key.named(self._name), components

    def _described(self, args: Any, kwargs: Any) -> Reach:
        reach = Reach(vouched=self._depends is not None)
        try:
            arguments = self._bound(args, kwargs)
        except TypeError as e:
            raise Unkeyable("arguments that do not fit", e) from None
        try:
            reach.components["python"] = python_version()
            reach.components["interpreter"] = settings()
            reach.describe("function", self._function)
            reach.components.update(_codec_of(self))
            for name, value in arguments.items():
                reach.describe(f"argument {name}", value)
        except Unkeyable:
            raise
        except RecursionError:
            raise Unkeyable("too deep") from None
        except Exception as e:  # a value's own code, a file that cannot be read
            raise Unkeyable("cannot be described", repr(e)) from e
        return reach

    def _bound(self, args: Any, kwargs: Any) -> Mapping[str, Any]:
        """Return the arguments by their names, as the function sees them."""
        if self._signature is None:
            return {"positions": args, "keywords": kwargs}
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return bound.arguments

    def _outside(self, args: Any, kwargs: Any) -> dict[str, Any]:
        """Return the components that ``depends`` gives."""
        if self._depends is None:
            return {}
        said = self._depends(*args, **kwargs) if callable(self._depends) else self._depends
        return {f"depends {label}": value for label, value in said.items()}

    def _refuse(self, why: str) -> None:
        """Note why a result is not kept, and warn once."""
        self._reasons.last = why
        if why not in self._warned and len(self._warned) < 100:
            self._warned.add(why)
            _log.warn(f"not kept: {why}" if why.startswith(self._name) else f"not kept: {self._name}: {why}")

    # -- as the function

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """As a function's: in a class it is a method."""
        return self if instance is None else types.MethodType(self, instance)

    def __reduce__(self) -> str:
        """As a function's: it is pickled by its name, so that a pool of processes takes it, and copied as itself."""
        return self._function.__qualname__

    def __repr__(self) -> str:
        return f"<jitcache.memoize of {self._name}>"


def _signature_of(function: Callable[..., Any]) -> inspect.Signature | None:
    """Return the signature by which calls are bound; None if the function claims another one than its own."""
    if "__signature__" in vars(function):
        return None
    # Not the signature of the function that it wraps: a wrapper may tell positions from keywords.
    return inspect.signature(function, follow_wrapped=False)


def memoized(function: Any, **options: Any) -> Memoized[Any, Any]:
    """Return a function with its results kept. Raises TypeError for what cannot be that."""
    if not inspect.isfunction(function):
        raise TypeError(f"memoize: want a function, not {type(function).__qualname__}")
    if (
        inspect.iscoroutinefunction(function)
        or inspect.isgeneratorfunction(function)
        or inspect.isasyncgenfunction(function)
    ):
        raise TypeError(f"memoize: {function.__qualname__} returns before it has a result; see Cache.aget_or_compile")
    codec, cache = options["codec"], options["cache"]
    if codec is not None and not (callable(getattr(codec, "dumps", None)) and callable(getattr(codec, "loads", None))):
        raise TypeError(f"codec: want dumps and loads, as pickle has them, not {type(codec).__qualname__}")
    if cache is not None and cache is not False:
        cache_of(cache)
    return Memoized(function, **options)


class _ReachOfCodec(Reach):
    allowed = CODECS


def _codec_of(value: Memoized[Any, Any]) -> dict[str, bytes]:
    """Return the components of a codec. Those of Python are covered by its version."""
    codec = value._codec
    if codec is None:
        return {}
    if inspect.ismodule(codec) and codec.__name__ in CODECS and sys.modules.get(codec.__name__) is codec:
        reach = Reach(vouched=True)
    else:
        reach = _ReachOfCodec(vouched=value._depends is not None)
    reach.describe("codec", codec)
    return reach.components


def _describe(reach: Reach, value: Memoized[Any, Any]) -> None:
    """Put a memoized function that another one calls. Its own ``depends`` says nothing for the caller."""
    reach._put("memoized")
    if reach._again(value):
        return
    for name, found in vars(value).items():
        given = value._function if name == "__wrapped__" else getattr(value._function, name, _ABSENT)
        if name not in _PARTS and found is not given:  # a program has set it
            reach._put("set", name.encode())
            reach._value(found)
    if value._depends is not None:
        reach._look("jitcache", f"memoize of {value._name}, with depends")
        reach._value(value._depends)
    for label, found in sorted(_codec_of(value).items()):
        reach._put(label, found)
    reach._value(value._function)


Reach.kinds[Memoized] = _describe
