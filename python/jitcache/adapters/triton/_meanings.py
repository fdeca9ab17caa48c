"""What the names in a kernel mean, and which types its constants have, where Triton's key does not tell.

Triton's key has the text of a kernel and of what it calls, and globals that are Triton's constants. It does not have
attributes of modules, such as ``settings.SIZE``. And it has the str of a constant, so 1 and "1" are the same to it. So
everything that a kernel can look up is looked up here, by the same names, before the entry is.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
import struct
import sys
import types
from typing import TYPE_CHECKING, Any, NamedTuple

import triton
from triton.compiler.compiler import IRSource
from triton.language import core, standard
from triton.runtime import jit

from jitcache._code import Unkeyable, code_of

from ._changed import note_changes
from ._reads import reads
from ._settings import note_settings

if TYPE_CHECKING:
    import ast

_PLAIN = (type(None), bool, int, float, complex, str, bytes)
_MISSING = object()
_ANY_GLOBALS = "TRITON_ALLOW_NON_CONSTEXPR_GLOBALS"

# Functions that Python runs while a kernel is compiled; not every version of Triton has them.
_RUN: Any = getattr(jit, "ConstexprFunction", ())

# The attributes that every function of Triton's kind has, taken from one of Triton's own.
_OF_FUNCTIONS = frozenset(vars(standard.cdiv)) | {"__func__"}

# Those that a function has after it was launched: functions and classes of Triton's.
_OF_LAUNCHES = ("ASTSource", "CompiledKernel", "compile")

_FOLDER = os.path.dirname(os.path.abspath(triton.__file__)) + os.sep


class _Given(NamedTuple):
    """The argument that Triton passes to a program's function that names a kernel."""

    constants: dict[str, Any]
    signature: dict[str, Any]


def meanings(source: Any, backend: Any = None) -> list[str]:
    """Return what a source of Triton's looks up and is given, in a fixed order. A text looks nothing up.

    What the program has set and changed in Triton comes first. Raises Unkeyable if that is not known.
    """
    walk = _Walk()
    note_settings(walk.note)
    note_changes(backend, walk.note)
    if isinstance(source, IRSource):
        return walk.notes
    if not hasattr(source, "fn"):
        raise Unkeyable("source not seen", type(source).__name__)
    walk.function(source.fn)
    walk.note("name", _name_of(source))
    for path, value in sorted(source.constants.items()):
        walk.note(f"constant {path}", value)
    return walk.notes


class _Walk:
    """A walk over the functions that a kernel reaches, each once."""

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
        scope = dict(f.fn.__globals__)
        scope.update(zip(f.fn.__code__.co_freevars, (_content(cell) for cell in f.fn.__closure__ or ())))
        self.note(f"{f.fn.__name__}(", (f.fn.__defaults__, f.fn.__kwdefaults__))
        if not _is_tritons(type(f)):  # it may be read in another way
            self.note(f"{f.fn.__name__} is", type(f))
        for name, held in _added(f):
            if hasattr(type(f), name):
                self.note(f"{f.fn.__name__}.{name}", held)
        if isinstance(f, _RUN):
            self._run(f.fn, scope)
        else:
            self._kernel(f.parse(), scope)

    def _kernel(self, tree: ast.Module, scope: dict[str, Any]) -> None:
        """Note what Triton looks up when it reads a function, by its own rules."""
        for chain, local in reads(tree).items():
            value = scope.get(chain[0], _MISSING)
            if value is not _MISSING and (not local or _may_be_read(value)):
                self._chain(chain, value)

    def _run(self, fn: types.FunctionType, scope: dict[str, Any]) -> None:
        """Note what Python looks up when it runs a function. Raises Unkeyable if not all of that is seen."""
        from ._meanwhile import looked_up, python  # seldom

        for chain in looked_up(fn, scope):
            self._chain(chain, scope[chain[0]])
        self.notes.append(f"code = {hashlib.sha256(code_of(fn.__code__)[0]).hexdigest()}")
        self.notes.append(f"python = {python()}")

    def _chain(self, chain: tuple[str, ...], value: Any) -> None:
        """Note the value of ``a.b.c``, or of the first part that is described with all of its attributes."""
        length = 1
        while length < len(chain) and not _is_whole(value):
            value = getattr(value, chain[length], _MISSING)
            length += 1
        # A module that is passed on, or given another name, may be asked for anything;
        # a module of Triton's, for something that a program has put there.
        if _is_module_of_triton(value):
            raise Unkeyable("passes a module of Triton's on", ".".join(chain))
        if value is not _MISSING:
            self.note(".".join(chain[:length]), value)

    def _text(self, value: Any) -> str:
        kind = type(value)
        if kind in _PLAIN:
            return f"{kind.__name__} {_bits(value) if kind in (float, complex) else repr(value)}"
        if isinstance(value, core.constexpr):
            return f"constexpr {self._text(value.value)}"
        if kind in (tuple, list):
            return f"{kind.__name__} [{', '.join(map(self._text, value))}]"
        if kind is dict:
            return f"dict {self._text(list(value.items()))}"
        if _is_jit(value):
            if not _is_tritons(value):
                self.function(value)
            return f"{value.cache_key} {[f'{name} {self._text(held)}' for name, held in _added(value)]}"
        return self._of_triton(value) or _by_reach(value)

    def _of_triton(self, value: Any) -> str:
        """Describe a type, function, layout or aggregate of Triton's; "" for anything else."""
        kind = type(value)
        if isinstance(value, core.dtype):
            return f"dtype {value} {_held_by(self, value)}"
        if getattr(value, "__triton_aggregate__", False) and isinstance(value, type):
            return f"{value.__qualname__} {self._text(_of_aggregate(value))}"
        if _is_tritons(value):
            return f"{value.__module__}.{value.__qualname__}"
        if _is_tritons(kind) and dataclasses.is_dataclass(kind):  # a layout
            held = [(field.name, getattr(value, field.name)) for field in dataclasses.fields(kind)]
            return f"{kind.__qualname__} {self._text(held)}"
        return ""


def _held_by(walk: _Walk, value: core.dtype) -> str:
    """Return all attributes of a type: its name leaves out the address space of a pointer."""
    return str(
        [
            (
                name,
                walk._text(held)
                if type(held) in (*_PLAIN, tuple, list) or isinstance(held, core.dtype)
                else repr(held),
            )
            for name, held in sorted(vars(value).items())
        ]
    )


def _by_reach(value: Any) -> str:
    from jitcache._memoize.reach import Reach  # seldom

    reach = Reach(vouched=False)
    reach.describe("", value)
    return hashlib.sha256(repr(sorted(reach.components.items())).encode()).hexdigest()


def _name_of(source: Any) -> Any:
    """Return the name of a kernel, which a program may choose."""
    names = source.fn.arg_names
    leaves = {path if isinstance(path, tuple) else (path,): value for path, value in source.constants.items()}
    constants = {names[path[0]]: value for path, value in leaves.items() if len(path) == 1}
    return source.fn.repr(_Given(constants, source.signature))


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # the variable has no value yet
        return _MISSING


def _is_jit(value: Any) -> bool:
    if isinstance(value, type) or not hasattr(value, "cache_key"):
        return False
    return hasattr(getattr(value, "__func__", value), "parse")


def _added(f: Any) -> list[tuple[str, Any]]:
    """Return the attributes that a program has set on a function of Triton's kind."""
    return [
        (name, held)
        for name, held in sorted(getattr(f, "__dict__", {}).items())
        if name not in _OF_FUNCTIONS
        and isinstance(getattr(type(f), name, None), (type(None), types.FunctionType))
        and not (name in _OF_LAUNCHES and _is_tritons(held))
    ]


def _of_aggregate(kind: type) -> list[Any]:
    """Return the functions of an aggregate by which Triton hashes it, and what else a program has set on it."""
    hashed: list[Any] = list(getattr(kind, "hash_attrs", ()))
    made = {id(f) for f in hashed}
    return [
        *hashed,
        *(
            (name, held)
            for c in kind.__mro__
            if not _is_tritons(c) and c is not object
            for name, held in sorted(vars(c).items())
            if not name.startswith("__") and name != "hash_attrs" and id(held) not in made and not _is_of_core(held)
        ),
    ]


def _is_of_core(value: Any) -> bool:
    """Whether something in an aggregate is what Triton puts there: a function from its own file."""
    function = getattr(getattr(value, "__func__", value), "fget", None) or getattr(value, "__func__", value)
    return bool(getattr(getattr(function, "__code__", None), "co_filename", None) == core.__file__)


def _is_tritons(value: Any) -> bool:
    """Whether something is a function or a class of Triton's, whose files are in Triton's key.

    Its own name is not enough, because functools.wraps gives that to other functions too:
    it must be what Triton has under that name, and its code must be in Triton's files.
    """
    name = str(getattr(value, "__module__", ""))
    if name.partition(".")[0] != "triton":
        return False
    found: Any = sys.modules.get(name)
    for part in str(getattr(value, "__qualname__", "")).split("."):
        found = getattr(found, part, None)
    code = getattr(getattr(value, "fn", value), "__code__", None)
    return found is value and (code is None or code.co_filename.startswith(_FOLDER))


def _is_module_of_triton(value: Any) -> bool:
    return isinstance(value, types.ModuleType) and str(getattr(value, "__file__", "")).startswith(_FOLDER)


def _is_whole(value: Any) -> bool:
    """Whether the description of a value includes all of its attributes."""
    return type(value) in _PLAIN or isinstance(value, (core.constexpr, core.dtype)) or _is_jit(value)


def _bits(number: complex) -> str:
    """Return all bits of a number: its text leaves out the sign of a NaN."""
    return struct.pack("<dd", number.real, number.imag).hex()


def _may_be_read(value: Any) -> bool:
    """Whether a kernel that also assigns to the name of a global may read this global.

    Triton reads globals of other kinds only if it is told to. These are the program's own
    data, often with the name of a variable in a kernel: ``x = torch.rand(1024)``.
    """
    knobs: Any = getattr(triton, "knobs", None)
    allowed = knobs.compilation.allow_non_constexpr_globals if knobs else os.environ.get(_ANY_GLOBALS, "0") != "0"
    if allowed or type(value) in _PLAIN or callable(value) or isinstance(value, (types.ModuleType, tuple)):
        return True
    return str(getattr(value, "__module__", "")).startswith("triton") or any(
        getattr(value, claim, False) for claim in ("__triton_builtin__", "__triton_aggregate__")
    )
