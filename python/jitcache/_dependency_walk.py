"""Dependencies: a walk over all that a function reaches, as bytes for a key.

What is described how is a matter of the framework that compiles the function: an
adapter has a subclass with its rules.
"""

from __future__ import annotations

import types as pytypes
from typing import TYPE_CHECKING, Any, Callable, ClassVar

from ._code import PLAIN, Unkeyable, content_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_DEEPEST = 100


class DependencyWalker:
    """A walk over all that some values reach. One serves one key.

    Values that are equal to the rules give equal bytes in every process: what is
    met again is described by its number in the walk, so that cycles end, and no
    address, file or line is in it. What the rules do not know raises
    ``Unkeyable``; nothing is left out. Too much in a key is a compile more, too
    little is a wrong result.
    """

    #: How values of just these types are described.
    plain: ClassVar[Mapping[type, Callable[[Any], bytes]]] = PLAIN
    #: How others are: a method of the walker, looked up by the bases of the value's class.
    kinds: ClassVar[Mapping[type, Callable[[Any, Any], None]]] = {}

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}  # of what was met, by id
        self._alive: list[Any] = []  # what was met, so that an id is one object
        self._attributes: set[tuple[int, str]] = set()  # of modules, that are described already
        self._out: list[bytes] = []
        self._depth = 0

    # -- the rules

    def _module(self, module: pytypes.ModuleType, names: tuple[str, ...] | None) -> None:
        """Put what counts of a module. ``names`` are those that the code mentions, None if no code does."""
        raise NotImplementedError

    def _unknown(self, value: Any) -> None:
        """Put a value of none of the ``kinds``, or raise Unkeyable."""
        raise NotImplementedError

    # -- the walk

    def _within(self, describe: Callable[..., None], *args: Any) -> bytes:
        """Return what a method puts, and put nothing."""
        outer, self._out = self._out, []
        try:
            describe(*args)
            return b"".join(self._out)
        finally:
            self._out = outer

    def _put(self, tag: str, data: bytes = b"") -> None:
        self._out.append(b"%b %d:%b" % (tag.encode(), len(data), data))

    def _value(self, value: Any, names: tuple[str, ...] | None = None) -> None:
        """Put a value. ``names`` are those that count if it is a module."""
        self._depth += 1
        try:
            if self._depth > _DEEPEST:
                raise Unkeyable("too deep", type(value))
            plain = self.plain.get(type(value))
            if plain is not None:
                self._put(type(value).__name__, plain(value))
            elif isinstance(value, pytypes.ModuleType):
                self._module(value, names)
            else:
                self._by_kind(value)
        finally:
            self._depth -= 1

    def _by_kind(self, value: Any) -> None:
        # Not isinstance: abstract classes ask all their subclasses about each new class.
        for base in type(value).__mro__:
            describe = self.kinds.get(base)
            if describe is not None:
                describe(self, value)
                return
        self._unknown(value)

    def _number(self, value: Any) -> None:
        """Give a value the next number."""
        self._numbers[id(value)] = len(self._numbers)
        self._alive.append(value)

    def _again(self, value: Any) -> bool:
        """Whether a value was met before; then its number is put instead of it."""
        number = self._numbers.get(id(value))
        if number is None:
            self._number(value)
            return False
        self._put("again", str(number).encode())
        return True

    def _attribute(self, module: pytypes.ModuleType, name: str, names: tuple[str, ...]) -> None:
        """Put an attribute of a module, once: another function may use others of the same module."""
        if name in module.__dict__ and (id(module), name) not in self._attributes:
            self._attributes.add((id(module), name))
            self._put("attribute", f"{module.__name__}.{name}".encode())
            self._value(module.__dict__[name], names)

    @staticmethod
    def _around(
        function: pytypes.FunctionType, names: tuple[str, ...], attributes: tuple[str, ...]
    ) -> Iterator[tuple[str, Any, tuple[str, ...]]]:
        """Yield label and value of each cell and global of a function, with the names that count of a module.

        ``names`` are those that its code may look up as globals, ``attributes`` what
        else it mentions.
        """
        seen = (*names, *attributes)
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
            yield f"closure {name}", content_of(cell), seen
        for name in names:
            if name in function.__globals__:
                yield f"global {name}", function.__globals__[name], seen

    def _surroundings(
        self, function: pytypes.FunctionType, names: tuple[str, ...], attributes: tuple[str, ...]
    ) -> None:
        """Put a function's defaults, cells and globals."""
        self._value((function.__defaults__, function.__kwdefaults__))
        for label, value, seen in self._around(function, names, attributes):
            self._put(label)
            self._value(value, seen)
