"""Visibility: what a function could see while the DSL traces it, and whose what it sees is."""

from __future__ import annotations

import ast
import dis
import functools
import os
import re
import struct
import sys
import types as pytypes
import weakref
from typing import TYPE_CHECKING, Any

from jitcache._code import PLAIN, Unkeyable, content_of, folders, is_installed, is_standard
from jitcache._dependency_walk import hides_state

from ._tools import packages

if TYPE_CHECKING:
    from collections.abc import Iterable

# Of Python's own modules, those whose functions say the same in every process. The rest may read the world.
_PURE = frozenset(
    [
        *(
            "_operator",
            "__future__",
            "abc",
            "ast",
            "builtins",
            "collections",
            "contextlib",
            "copy",
            "dataclasses",
            "decimal",
            "enum",
        ),
        *(
            "fractions",
            "functools",
            "itertools",
            "logging",
            "math",
            "numbers",
            "operator",
            "reprlib",
            "string",
            "struct",
        ),
        *("textwrap", "types", "typing", "typing_extensions", "warnings"),
    ]
)

# Builtins that see what has no name here.
UNDESCRIBABLE = frozenset(
    [
        *("__import__", "breakpoint", "compile", "dir", "eval", "exec", "globals", "hash", "id", "input", "locals"),
        "open",
    ]
)

# Those that see by a name that is made while running; of objects and classes all is described, of modules not.
BY_NAME = frozenset(["getattr", "hasattr", "vars"])
_BY_NAME_ATTRIBUTES = frozenset(["__dict__", "__getattribute__", "attrgetter", "format", "format_map", "methodcaller"])

#: Builtins that a function is asked about by name. A variable of such a name is none.
TELLING = UNDESCRIBABLE | BY_NAME

# Attributes that lead to everything.
_LEAD_ANYWHERE = frozenset(
    [
        *("__annotations__", "__builtins__", "__code__", "__doc__", "__globals__", "__subclasses__", "f_back"),
        *("f_globals", "f_locals", "gi_frame", "modules"),
    ]
)

# Of the DSL's own: what asks the device that is in the machine.
DEVICE = frozenset(
    [
        *("HardwareInfo", "detect_gpu_arch", "get_compute_capability_major_minor", "get_device_attribute"),
        "get_max_active_clusters",
    ]
)

# What the DSL keeps at functions for itself; what else is there counts.
BOOKKEEPING = re.compile(
    "_dsl_|_preprocessed|_original_code|_decorator_location|__pyir_rewritten|__wrapped__|set_name_prefix"
)


#: Where the DSL keeps how a function's symbol is named, and what sets it: host functions do that for their kernels.
PREFIX, SETS_PREFIX = "_cute_dsl_name_options", "set_name_prefix"


# What a class has that says nothing about it, or is described with what it belongs to.
OF_EVERY_CLASS = frozenset(
    [
        *("__abstractmethods__", "__dict__", "__doc__", "__firstlineno__", "__module__", "__qualname__"),
        *("__static_attributes__", "__weakref__", "_abc_impl"),
    ]
)


@functools.lru_cache(maxsize=1)
def _packages() -> tuple[str, ...]:
    import cuda.bindings

    return folders(*packages(), os.path.dirname(os.path.abspath(str(cuda.bindings.__file__))))


@functools.cache
def is_dsl(path: str) -> bool:
    """Return whether a file belongs to the DSL or what it is made of, whose content or version is in every key."""
    return path.startswith(_packages())


def module_of(path: str | None, name: str) -> str:
    """Say whose a module is: "dsl", "python", "" for others. Raises Unkeyable for one that reads the world."""
    if path is not None and is_dsl(path):
        return "dsl"
    if path is None and name not in sys.builtin_module_names and name != "builtins":
        return ""
    if path is None or is_standard(path):
        if name.partition(".")[0] not in _PURE:
            raise Unkeyable("reads the world", name)
        return "python"
    return ""


def owner_of(name: str | None) -> str:
    """Say whose what is in a module is, by the module's name."""
    module = sys.modules.get(name or "")
    if module is None or name == "__main__":
        return ""
    return module_of(getattr(module, "__file__", None), str(name))


def is_added(value: Any, owner: str) -> bool:
    """Return whether a program may have put a value into a module of the DSL's or Python's, or among the builtins.

    Nobody notes who has set an attribute. What plainly has a value counts by it, whoever has; else it
    is the program's if what it is made of is.
    """
    if isinstance(value, pytypes.FunctionType):
        path = value.__code__.co_filename
        return not is_dsl(path) and not is_standard(path)
    if type(value) in PLAIN:
        return True
    if isinstance(value, (tuple, list)):
        return all(type(v) in PLAIN for v in value)
    cls = value if isinstance(value, type) else type(value)
    try:
        if isinstance(value, pytypes.ModuleType):
            if owner == "builtins" or owner_of(value.__name__):
                return True
            # The DSL imports packages of others itself.
            return owner == "python" or not is_installed(str(getattr(value, "__file__", "")))
        return owner_of(cls.__module__) not in {"python", owner}
    except Unkeyable:  # it is of a part of Python that reads the world, and so was not put there by a program
        return False


def uses_computed_names(function: pytypes.FunctionType, names: Iterable[str], attributes: Iterable[str]) -> bool:
    """Return whether a function may see attributes by names that it makes while it runs.

    Raises Unkeyable if it may see what is not described at all.
    """
    own = {name for name in names if name not in function.__globals__}
    if function.__name__ == "__hash__":
        own.discard("hash")  # that of a dataclass
    anywhere = [*own.intersection(UNDESCRIBABLE), *_LEAD_ANYWHERE.intersection(attributes)]
    if anywhere:
        raise Unkeyable("sees what has no name", f"{min(anywhere)} in {function.__qualname__}")
    if not DEVICE.isdisjoint(names) or not DEVICE.isdisjoint(attributes):
        raise Unkeyable("asks the device", function.__qualname__)
    return not own.isdisjoint(BY_NAME) or not _BY_NAME_ATTRIBUTES.isdisjoint(attributes)


def names_in(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names in an expression that is text, and those of attributes."""
    try:
        nodes = list(ast.walk(ast.parse(text, mode="eval")))
    except SyntaxError:
        return (), ()
    return tuple(n.id for n in nodes if isinstance(n, ast.Name)), tuple(
        n.attr for n in nodes if isinstance(n, ast.Attribute)
    )


def is_importable(cls: type) -> bool:
    """Return whether a class is what its name says."""
    found: Any = sys.modules.get(cls.__module__)
    for part in cls.__qualname__.split("."):
        found = getattr(found, part, None)
    return found is cls


def is_opaque(cls: type) -> bool:
    """Return whether objects of a class have memory that Python does not show: a class of an extension."""
    if cls.__base__ is None:
        return False
    own = sum(isinstance(v, pytypes.MemberDescriptorType) for v in vars(cls).values())
    own += ("__dict__" in vars(cls)) + ("__weakref__" in vars(cls))
    return cls.__basicsize__ - cls.__base__.__basicsize__ > own * struct.calcsize("P")


# Their content is described by those who have them.
_CONTAINERS = frozenset({tuple, list, dict, object})


def state_of(value: Any) -> dict[str, Any] | None:
    """Return all that an object consists of, None if that cannot be known."""
    if any(base not in _CONTAINERS and is_opaque(base) for base in type(value).__mro__):
        return None
    if hides_state(type(value)):
        return None
    state = dict(getattr(value, "__dict__", {}))
    for base in type(value).__mro__:
        slots = vars(base).get("__slots__", ())
        for slot in (slots,) if isinstance(slots, str) else slots:
            private = slot.startswith("__") and not slot.endswith("__")
            name = f"_{base.__name__.lstrip('_')}{slot}" if private else slot
            if slot not in ("__dict__", "__weakref__") and hasattr(value, name):
                state[name] = getattr(value, name)
    return state


def python_owner(function: pytypes.FunctionType) -> str:
    """Say whether a function is Python's own. Raises Unkeyable for one that reads the world."""
    if not is_standard(function.__code__.co_filename):
        return ""
    # Of a wrapper by functools, say, the code is Python's and the name the wrapped function's.
    return module_of(function.__code__.co_filename, str(function.__globals__.get("__name__")))


def behind(wrapper: pytypes.FunctionType) -> list[pytypes.FunctionType]:
    """Return the functions of the DSL that a decorated function is behind, and last the function."""
    found = [wrapper]
    while is_dsl(found[-1].__code__.co_filename):
        cells = map(content_of, found[-1].__closure__ or ())
        inner = [c for c in cells if isinstance(c, pytypes.FunctionType) and c is not found[-1]]
        if len(inner) != 1:
            raise Unkeyable("unknown version", f"decorator of {wrapper.__qualname__}")
        found += inner
    if len(found) == 1:
        raise Unkeyable("not decorated", wrapper.__qualname__)
    return found


_global: weakref.WeakKeyDictionary[pytypes.CodeType, tuple[str, ...]] = weakref.WeakKeyDictionary()


def global_names(code: pytypes.CodeType) -> tuple[str, ...]:
    """Return the names that code looks up as globals or builtins. Raises Unkeyable if it imports."""
    found = _global.get(code)
    if found is None:
        names: dict[str, None] = {}
        for instruction in dis.get_instructions(code):
            if instruction.opname == "IMPORT_NAME" and str(instruction.argval).partition(".")[0] != "cutlass":
                raise Unkeyable("import in a function", instruction.argval)
            if "GLOBAL" in instruction.opname or instruction.opname == "LOAD_NAME":
                names[instruction.argval] = None
        for const in code.co_consts:
            if isinstance(const, pytypes.CodeType):
                names.update(dict.fromkeys(global_names(const)))
        found = _global[code] = tuple(names)
    return found
