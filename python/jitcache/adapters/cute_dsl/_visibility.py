"""Visibility: what a function can see while the DSL traces it, and who wrote that."""

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
from jitcache._pure_stdlib import is_pure

from ._tools import packages

if TYPE_CHECKING:
    from collections.abc import Iterable

# Modules of which the walk takes the names apart by itself: see BY_NAME and UNDESCRIBABLE.
_TAKEN_APART = frozenset({"builtins", "typing", "typing_extensions"})

# Builtins through which code sees things that the walk does not describe.
UNDESCRIBABLE = frozenset(
    [
        *("__import__", "breakpoint", "compile", "dir", "eval", "exec", "globals", "hash", "id", "input", "locals"),
        "open",
    ]
)

# Builtins that look up computed names. The walk describes objects and classes completely, but not modules.
BY_NAME = frozenset(["getattr", "hasattr", "vars"])
_BY_NAME_ATTRIBUTES = frozenset(["__dict__", "__getattribute__", "attrgetter", "format", "format_map", "methodcaller"])

#: All these builtins. In a function, one of these names may also be that of a local variable.
TELLING = UNDESCRIBABLE | BY_NAME

# Attributes through which code can reach anything.
_LEAD_ANYWHERE = frozenset(
    [
        *("__annotations__", "__builtins__", "__code__", "__doc__", "__globals__", "__subclasses__", "f_back"),
        *("f_globals", "f_locals", "gi_frame", "modules"),
    ]
)

# Functions and classes of the DSL that ask the machine's device.
DEVICE = frozenset(
    [
        *("HardwareInfo", "detect_gpu_arch", "get_compute_capability_major_minor", "get_device_attribute"),
        "get_max_active_clusters",
    ]
)

# The attributes of functions that the DSL sets for itself. All others count.
BOOKKEEPING = re.compile(
    "_dsl_|_preprocessed|_original_code|_decorator_location|__pyir_rewritten|__wrapped__|set_name_prefix"
)


#: The attribute of a function that has the prefix of its symbol, and the DSL's method that sets it. Host functions call
#: that for their kernels.
PREFIX, SETS_PREFIX = "_cute_dsl_name_options", "set_name_prefix"


# Attributes of a class that say nothing about it, or that are described elsewhere.
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
    """Return whether a file belongs to the DSL or its parts, whose content or version is in every key."""
    return path.startswith(_packages())


def module_of(path: str | None, name: str) -> str:
    """Return whose a module is: "dsl", "python", "" for others. Raises Unkeyable for one that reads the world."""
    if path is not None and is_dsl(path):
        return "dsl"
    if path is None and name not in sys.builtin_module_names and name != "builtins":
        return ""
    if path is None or is_standard(path):
        if not is_pure(name) and name not in _TAKEN_APART:
            raise Unkeyable("reads the world", name)
        return "python"
    return ""


def owner_of(name: str | None) -> str:
    """Return whose the content of a module is, by the module's name."""
    module = sys.modules.get(name or "")
    if module is None or name == "__main__":
        return ""
    return module_of(getattr(module, "__file__", None), str(name))


def is_of_a_program(cls: type) -> bool:
    """Return whether a class is neither the DSL's, nor Python's, nor an installed package's."""
    module = sys.modules.get(cls.__module__)
    path = getattr(module, "__file__", None)
    if path is None:
        return cls.__module__ not in sys.builtin_module_names
    return not is_dsl(path) and not is_standard(path) and not is_installed(path)


def is_added(value: Any, owner: str) -> bool:
    """Return whether a program may have put a value into a module of the DSL's or Python's, or among the builtins.

    Python does not record who has set an attribute. So a plain value always counts. Any other value
    counts if its code, its class or its module is a program's.
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
            # The DSL itself imports installed packages of others.
            return owner == "python" or not is_installed(str(getattr(value, "__file__", "")))
        return owner_of(cls.__module__) not in {"python", owner}
    except Unkeyable:  # it belongs to a part of Python that reads the world, so no program has put it there
        return False


def uses_computed_names(function: pytypes.FunctionType, names: Iterable[str], attributes: Iterable[str]) -> bool:
    """Return whether a function may see attributes by names that it makes while it runs.

    Raises Unkeyable if it may see what is not described at all.
    """
    own = {name for name in names if name not in function.__globals__}
    if function.__name__ == "__hash__":
        own.discard("hash")  # the __hash__ of a dataclass calls it
    anywhere = [*own.intersection(UNDESCRIBABLE), *_LEAD_ANYWHERE.intersection(attributes)]
    if anywhere:
        raise Unkeyable("sees what has no name", f"{min(anywhere)} in {function.__qualname__}")
    if not DEVICE.isdisjoint(names) or not DEVICE.isdisjoint(attributes):
        raise Unkeyable("asks the device", function.__qualname__)
    return not own.isdisjoint(BY_NAME) or not _BY_NAME_ATTRIBUTES.isdisjoint(attributes)


def names_in(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names in the text of an expression, and the names of attributes in it."""
    try:
        nodes = list(ast.walk(ast.parse(text, mode="eval")))
    except SyntaxError:
        return (), ()
    return tuple(n.id for n in nodes if isinstance(n, ast.Name)), tuple(
        n.attr for n in nodes if isinstance(n, ast.Attribute)
    )


def is_importable(cls: type) -> bool:
    """Return whether a class is the one that its module has under its name."""
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


# The classes whose items the walk describes itself.
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
    """Return "" unless a function is Python's own. Raises Unkeyable for one that reads the world."""
    if not is_standard(function.__code__.co_filename):
        return ""
    # Not by __module__: a wrapper by functools, say, has Python's code and the wrapped function's name and module.
    return module_of(function.__code__.co_filename, str(function.__globals__.get("__name__")))


def behind(wrapper: pytypes.FunctionType) -> list[pytypes.FunctionType]:
    """Return the DSL's wrappers of a decorated function, the outermost first, and last the function itself."""
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
