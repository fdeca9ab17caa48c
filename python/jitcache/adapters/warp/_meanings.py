"""Meanings of the names in a module's functions, where Warp's hash does not tell them.

The hash has 32 bits of a constant, and not its type: 1.0 and 1065353216 are the same to it, and so are 3 and 2**32 + 3.
It leaves out functions of Warp's own that have another name in the program, functions handed to others, such as
``wp.tile_map``, and the defaults of parameters; and two types may have one text. So while Warp hashes a function, notes
are taken. What its names mean is looked up when a key is made, because a program may have changed it since.
"""

from __future__ import annotations

import ast
import builtins
import functools
import threading
import types as pytypes
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

import warp
from warp._src import codegen, context, types

if TYPE_CHECKING:
    from collections.abc import Callable

_METHODS = ("hash_adjoint", "get_constant_bytes")

# The attribute of a hasher that has its notes, one for each function or kernel that it has hashed.
_NOTES = "_jitcache_notes"

# Warp's own methods, while ours replace them.
_originals: dict[str, Callable[..., bytes]] = {}

_thread = threading.local()


def unfit() -> str:
    """Return the parts of this Warp that are not as expected, "" if there is none."""
    missing = [name for name in _METHODS if not callable(getattr(context.ModuleHasher, name, None))]
    called = {
        "hash_function": context.ModuleHasher,
        "resolve_external_reference": codegen.Adjoint,
        "constant_str": codegen,
        "get_type_code": types,
    }
    missing += [name for name, room in called.items() if not callable(getattr(room, name, None))]
    return ", ".join(missing)


def attach() -> None:
    """Replace Warp's methods by ones that take notes."""
    for name, make in zip(_METHODS, (_noting, _noted)):
        _originals[name] = getattr(context.ModuleHasher, name)
        setattr(context.ModuleHasher, name, make(_originals[name]))


def detach() -> None:
    """Put Warp's methods back."""
    for name, original in _originals.items():
        setattr(context.ModuleHasher, name, original)
    _originals.clear()


class _Note(NamedTuple):
    """What was noted of a function: Warp's hash of it, its constants in the order of the hash, and its outer names."""

    hash: str
    values: list[str]
    adj: Any
    paths: list[tuple[str, ...]]


def noted(module: Any, block_dim: int) -> bool:
    """Return whether notes were taken when Warp hashed a module."""
    return getattr(module.hashers.get(block_dim), _NOTES, None) is not None


def meanings(module: Any, block_dim: int, *, lines: bool) -> list[str]:
    """Return what the functions of a module that was noted mean. ``lines``: with their places, which the code shows.

    Raises an exception, which may be any, if something cannot be looked up.
    """
    hasher = module.hashers[block_dim]
    notes: dict[int, _Note | Exception] = getattr(hasher, _NOTES, {})
    return sorted(_meaning(hasher, note, lines) for note in notes.values())


def _meaning(hasher: Any, note: _Note | Exception, lines: bool) -> str:
    if isinstance(note, Exception):
        raise note
    adj = note.adj
    names = {path: _text_of_value(_value(adj, path), hasher) for path in note.paths}
    arguments = [(name, _type(type_)) for name, type_ in adj.arg_types.items()]
    defaults = [_text_of_value(value, hasher) for value in _defaults(adj)]
    tree = ast.dump(adj.tree) if getattr(adj, "transformers", None) else ""  # not what the source says
    place = (adj.filename, adj.fun_lineno) if lines else ()
    return f"{note.hash} {note.values} {sorted(names.items())} {arguments} {defaults} {tree} {place}"


def _noting(original: Callable[..., bytes]) -> Callable[..., bytes]:
    @functools.wraps(original)
    def hash_adjoint(self: Any, adj: Any) -> bytes:
        outer = getattr(_thread, "values", None)
        values = _thread.values = []
        try:
            found = original(self, adj)
        finally:
            _thread.values = outer
        note: _Note | Exception
        progress = set(getattr(self, "functions_in_progress", ()))
        try:
            note = _Note(found.hex(), values, adj, _outer_names(adj))
            _hash_named(self, note)
        except Exception as e:  # noqa: BLE001 - the program may never use what cannot be hashed
            self.functions_in_progress = progress
            note = e
        vars(self).setdefault(_NOTES, {})[id(adj)] = note
        return found

    return hash_adjoint


def _hash_named(hasher: Any, note: _Note) -> None:
    """Have Warp hash the functions that a function names, and so take notes: Warp hashes only those that it calls."""
    for value in [*(_value(note.adj, path) for path in note.paths), *_defaults(note.adj)]:
        if isinstance(value, context.Function) and not value.is_builtin() and value not in hasher.functions_in_progress:
            hasher.hash_function(value)


def _noted(original: Callable[..., bytes]) -> Callable[..., bytes]:
    @functools.wraps(original)
    def get_constant_bytes(self: Any, value: Any) -> bytes:
        values = getattr(_thread, "values", None)
        if values is not None:
            values.append("" if isinstance(value, context.Function) else _text_of_value(value, self))
        return original(self, value)

    return get_constant_bytes


def _outer_names(adj: Any) -> list[tuple[str, ...]]:
    """Return the names in a function that it may have from outside, with the attributes that it reads of them.

    Its own are its parameters, and the variables that it has set, for certain, before anything reads them.
    """
    own = set(adj.arg_types) - set(getattr(adj, "callable_arg_values", None) or {})
    found: set[tuple[str, ...]] = set()
    definition = adj.tree.body[0]
    for part in (definition.args, definition.returns, *definition.decorator_list, *definition.body):
        stored = _variables(part.targets) if isinstance(part, ast.Assign) else []
        read = _paths(part, stored)
        found |= read
        own |= {node.id for node in stored} - {path[0] for path in found}
    return sorted(path for path in found if path[0] not in own)


def _variables(targets: list[Any]) -> list[ast.Name]:
    """Return the variables among the targets of an assignment."""
    flat = [inner for target in targets for inner in getattr(target, "elts", (target,))]
    return [target for target in flat if isinstance(target, ast.Name)]


def _paths(root: ast.AST | None, leave: list[ast.Name]) -> set[tuple[str, ...]]:
    """Return the names below a node, but for some, and each chain of attributes of a name."""
    found: set[tuple[str, ...]] = set()
    left = set(map(id, leave))
    nodes: list[Any] = [root]
    while nodes:
        node = nodes.pop()
        kind = type(node)
        if kind is list:
            nodes += node
        elif kind is ast.Name:
            if id(node) not in left:
                found.add((node.id,))
        elif hasattr(node, "_fields"):
            if kind is ast.Attribute:
                attributes, inner = [node.attr], node.value
                while type(inner) is ast.Attribute:
                    attributes.append(inner.attr)
                    inner = inner.value
                if type(inner) is ast.Name:
                    found.add((inner.id, *reversed(attributes)))
            nodes += [getattr(node, field, None) for field in node._fields]
    return found


def _value(adj: Any, path: tuple[str, ...]) -> Any:
    """Return what a name of a function means, as Warp looks it up."""
    value = (getattr(adj, "callable_arg_values", None) or {}).get(path[0])
    if value is None:
        value = adj.resolve_external_reference(path[0])
    if value is None:
        value = getattr(warp, path[0], getattr(builtins, path[0], None))
    for name in path[1:]:
        value = getattr(value, name, None)
    return value


def _defaults(adj: Any) -> list[Any]:
    """Return the defaults of a function's parameters, which Python has looked up where it was defined."""
    by_name = getattr(adj.func, "__kwdefaults__", None) or {}
    return [*(getattr(adj.func, "__defaults__", None) or ()), *by_name.values()]


def _text_of_value(value: Any, hasher: Any) -> str:
    """Return a constant's type and its text in Warp's source; for anything else, a text that identifies it.

    Raises KeyError for a function that was not hashed.
    """
    kind = type(value)
    if isinstance(value, context.Function):
        more = value.native_func if value.is_builtin() else _hash_of(value, hasher)
        text = f"{value.key} {more}"
    elif isinstance(value, (pytypes.FunctionType, pytypes.BuiltinFunctionType)):
        text = f"{value.__module__}.{value.__qualname__}"
    elif isinstance(value, pytypes.ModuleType):
        text = value.__name__
    elif isinstance(value, (type, codegen.Struct)) or types.is_array(value):
        text = _type(value)
    else:
        try:
            text = codegen.constant_str(value)
        except Exception:  # noqa: BLE001 - a structure: all its bytes are in Warp's hash; or what no function can use
            text = _type(value._cls) if types.is_struct(value) else ""
    return f"{kind.__module__}.{kind.__qualname__} {text}"


def _hash_of(function: Any, hasher: Any) -> str:
    return str(hasher.function_hashes[function].hex())


def _type(value: Any) -> str:
    """Return a text that identifies a type; for Warp, a matrix of 1 by 23 is one of 12 by 3."""
    if isinstance(value, codegen.Struct):
        return f"{value.key} {[(name, _type(var.type)) for name, var in value.vars.items()]}"
    if types.is_array(value):
        return f"{type(value).__qualname__} {value.ndim} {_type(value.dtype)}"
    shape = getattr(value, "_shape_", None) or getattr(value, "shape", "")
    if not isinstance(value, type) and hasattr(value, "dtype"):
        # A tile. Warp changes its storage when it generates code; the hash has what it was before.
        return f"{type(value).__qualname__} {shape} {_type(value.dtype)}"
    try:
        code = types.get_type_code(value)
    except Exception:  # noqa: BLE001 - not a type of Warp's
        code = ""
    name = f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', '')}"
    inner = get_args(value) or getattr(value, "types", ())
    parts = [_type(part) for part in inner] if isinstance(inner, tuple) else []
    return f"{name} {code} {shape if isinstance(shape, tuple) else ''} {parts}"
