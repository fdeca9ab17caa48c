"""What the names in a kernel mean, and of which type its constants are, where Triton's key leaves it open.

Triton's key has the text of a kernel and of what it calls, and globals that are constants of its own. It has not what
is an attribute of a module, ``settings.SIZE``; and of a constant it has what str says, so that 1 is "1" to it. So all
that a kernel can look up is looked up here, by the same names, before the entry is.
"""

from __future__ import annotations

import ast
import builtins
import dataclasses
import hashlib
import types
from typing import TYPE_CHECKING, Any

from triton.compiler.compiler import IRSource
from triton.language import core
from triton.runtime import jit

from jitcache._code import Unkeyable

if TYPE_CHECKING:
    from collections.abc import Iterator

_PLAIN = (type(None), bool, int, float, complex, str, bytes)
_MISSING = object()

# Functions that run as Python's own while a kernel is compiled, where Triton has them.
_RUN: Any = getattr(jit, "ConstexprFunction", ())


def meanings(source: Any) -> list[str]:
    """Return what a source of Triton's looks up and is given, in an order; nothing for one that is a text.

    Raises Unkeyable if nobody can say.
    """
    if isinstance(source, IRSource):
        return []
    if not hasattr(source, "fn"):
        raise Unkeyable("source not seen", type(source).__name__)
    walk = _Walk()
    walk.function(source.fn)
    for path, value in sorted(source.constants.items()):
        walk.note(f"constant {path}", value)
    return walk.notes


class _Walk:
    """Over the functions that a kernel reaches, each once."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self._met: set[int] = set()

    def note(self, name: str, value: Any) -> None:
        self.notes.append(f"{name} = {self._text(value)}")

    def function(self, f: Any) -> None:
        """Note what a function of Triton's looks up."""
        f = getattr(f, "__func__", f)
        if id(f) in self._met:
            return
        self._met.add(id(f))
        fn, tree = f.fn, f.parse()
        scope = dict(fn.__globals__)
        scope.update(zip(fn.__code__.co_freevars, (_content(cell) for cell in fn.__closure__ or ())))
        self.note(f"{fn.__name__}(", (fn.__defaults__, fn.__kwdefaults__))
        given, assigned = _own_names(tree)
        for chain in _chains(tree):
            value = scope.get(chain[0], _MISSING)
            if chain[0] in given or (chain[0] in assigned and type(value) not in (*_PLAIN, core.constexpr)):
                continue
            if value is not _MISSING:
                self._chain(chain, value)
            elif isinstance(f, _RUN):
                _by_python(chain[0])
        if isinstance(f, _RUN) and any(isinstance(n, (ast.Import, ast.ImportFrom)) for n in ast.walk(tree)):
            raise Unkeyable("imports", fn.__qualname__)

    def _chain(self, chain: list[str], value: Any) -> None:
        """Note what ``a.b.c`` is: the last that is no part of Triton's own values."""
        length = 1
        while length < len(chain) and not _is_whole(value):
            value = getattr(value, chain[length], _MISSING)
            length += 1
        if value is not _MISSING and not isinstance(value, types.ModuleType):
            self.note(".".join(chain[:length]), value)

    def _text(self, value: Any) -> str:
        kind = type(value)
        if kind in _PLAIN:
            return f"{kind.__name__} {value!r}"
        if isinstance(value, core.constexpr):
            return f"constexpr {self._text(value.value)}"
        if kind in (tuple, list):
            return f"{kind.__name__} [{', '.join(map(self._text, value))}]"
        if kind is dict:
            return f"dict {self._text(list(value.items()))}"
        if _is_jit(value):
            if not _is_tritons(value):
                self.function(value)
            return str(value.cache_key)
        return self._of_triton(value) or _by_reach(value)

    def _of_triton(self, value: Any) -> str:
        """Describe a type, a function or a layout of Triton's, and what has its functions; "" for anything else."""
        kind = type(value)
        if isinstance(value, core.dtype):
            return f"dtype {value}"
        if getattr(value, "__triton_aggregate__", False) and isinstance(value, type):
            attributes: Any = getattr(value, "hash_attrs")  # noqa: B009  its functions, as Triton has them
            return f"{value.__qualname__} {self._text(list(attributes))}"
        if _is_tritons(value):
            return f"{value.__module__}.{value.__qualname__}"
        if _is_tritons(kind) and dataclasses.is_dataclass(kind):  # a layout
            held = [(field.name, getattr(value, field.name)) for field in dataclasses.fields(kind)]
            return f"{kind.__qualname__} {self._text(held)}"
        return ""


def _by_reach(value: Any) -> str:
    from jitcache._memoize.reach import Reach  # seldom

    reach = Reach(vouched=False)
    reach.describe("", value)
    return hashlib.sha256(repr(sorted(reach.components.items())).encode()).hexdigest()


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # a name that is given a value later
        return _MISSING


def _is_jit(value: Any) -> bool:
    if isinstance(value, type) or not hasattr(value, "cache_key"):
        return False
    return hasattr(getattr(value, "__func__", value), "parse")


def _is_tritons(value: Any) -> bool:
    """Whether something is a function or a class of Triton's, whose files are in Triton's key."""
    return hasattr(value, "__qualname__") and str(getattr(value, "__module__", "")).partition(".")[0] == "triton"


def _is_whole(value: Any) -> bool:
    """Whether a value is described with all that is asked of it."""
    return type(value) in _PLAIN or isinstance(value, (core.constexpr, core.dtype)) or _is_jit(value)


def _by_python(name: str) -> None:
    """Raise Unkeyable if a function of Python's looks at what nobody sees."""
    from jitcache._memoize.outside import is_inside

    value = getattr(builtins, name, None)
    if value is not None and not isinstance(value, type) and not is_inside("builtins", name):
        raise Unkeyable("looks outside", name)


def _own_names(tree: ast.AST) -> tuple[set[str], set[str]]:
    """Return the names of arguments, and those that are assigned."""
    given = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    assigned = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    return given, assigned


def _chains(tree: ast.AST) -> Iterator[list[str]]:
    """Yield each name that is read, with the attributes that are asked of it: ``a.b.c``, and not ``a.b`` again."""
    inner: set[int] = set()
    for node in ast.walk(tree):  # from the outside to the inside
        if id(node) in inner or not isinstance(node, (ast.Name, ast.Attribute)):
            continue
        chain: list[str] = []
        at: ast.AST = node
        while isinstance(at, ast.Attribute):
            chain.insert(0, at.attr)
            at = at.value
            inner.add(id(at))
        if isinstance(at, ast.Name) and isinstance(at.ctx, ast.Load):
            yield [at.id, *chain]
