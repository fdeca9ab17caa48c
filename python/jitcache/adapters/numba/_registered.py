"""What others than Numba have registered to extend it: typing, lowering, models of data, boxes.

A compile asks Numba's contexts for functions, attributes and types by name. What
others have registered for a name that was asked for counts, in its order; what is
registered for other names does not.
"""

from __future__ import annotations

import sys
import types as pytypes
import weakref
from typing import TYPE_CHECKING, Any, NamedTuple

from numba.core import datamodel, pythonapi, types
from numba.core.registry import cpu_target
from numba.core.target_extension import target_registry
from numba.core.typing.asnumbatype import as_numba_type
from numba.core.typing.templates import AttributeTemplate, FunctionTemplate
from numba.core.utils import order_by_target_specificity

from jitcache._code import content_of
from jitcache._fork import ForkLock

from ._code import pack, versioned

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from ._walk import Walker

#: What a compile asked for, by name; and what about it: the winners of calls, attributes, classes of arguments.
Asked = dict[str, set[str]]

# Modules of Numba's whose functions make something of what others give them.
_MAKERS = ("numba.core.extending", "numba.experimental.structref")
# A module of Numba's that registers again, when it is used, what is registered.
_AGAIN = "numba.core.typing.templates"
_UNSURE = (*_MAKERS, _AGAIN, "numba.tests.")


class _Sure(dict[str, bool]):
    """Whether what a module has written is Numba's own, by its name; a process asks for thousands of things."""

    def __missing__(self, module: str) -> bool:
        self[module] = module.startswith("numba.") and not module.startswith(_UNSURE)
        return self[module]


_sure = _Sure()


def name_of(key: Any) -> str:
    """Return what is registered, or what it is registered for, as text."""
    if isinstance(key, str):
        return key
    if isinstance(key, tuple):
        return " ".join(map(name_of, key))
    if isinstance(key, types.Type):
        key = type(key)
    name = getattr(key, "__qualname__", None) or getattr(key, "__name__", None)
    if name is None:
        return f"{type(key).__module__}.{type(key).__qualname__} {getattr(key, '_name', '')}"
    return f"{getattr(key, '__module__', '')}.{name}"


_names: dict[type, tuple[str, ...]] = {}


def names_of(cls: type) -> tuple[str, ...]:
    """Return a class and its bases as texts."""
    found = _names.get(cls)
    if found is None:
        found = _names[cls] = tuple(map(name_of, cls.__mro__[:-1]))
    return found


def written(template: Any) -> Any:
    """Return the function that a template is made of, None if it is a class that somebody wrote."""
    members = template.__dict__
    found = members.get("_overload_func") or members.get("_definition_func")
    return getattr(found, "__func__", found)


def name_of_template(template: Any) -> str:
    """Return a template as text."""
    return name_of(written(template) or template)


def _is_foreign_function(function: Any, *keys: Any) -> bool:
    module = str(function.__module__)
    if not module.startswith("numba.") or module.startswith("numba.tests."):
        code = getattr(getattr(function, "__wrapped__", function), "__code__", None)
        return code is None or not versioned(code.co_filename)
    if module not in _MAKERS:
        return False
    for value in (*keys, *map(content_of, getattr(function, "__closure__", None) or ())):
        if isinstance(value, pytypes.FunctionType):
            if not _sure[value.__module__ or ""] and _is_foreign_function(value):
                return True
        elif isinstance(value, type) and _is_foreign_class(value):
            return True
    return False


def _is_foreign_class(cls: Any) -> bool:
    module: str = cls.__module__
    return not module.startswith("numba.") or module.startswith("numba.tests.")


def _find_foreign(template: Any) -> bool:
    function = written(template)
    if function is not None:
        return _is_foreign_function(function)
    for cls in template.__mro__[:-1]:  # Numba makes some of a class that somebody has written, or with a key
        if cls.__module__ not in (*_MAKERS, _AGAIN, "abc"):
            return _is_foreign_class(cls)
        functions = (v for v in vars(cls).values() if isinstance(v, pytypes.FunctionType))
        if cls.__module__ != _AGAIN and any(_is_foreign_function(f, vars(cls).get("key")) for f in functions):
            return True
    return False


_foreign: weakref.WeakKeyDictionary[Any, bool] = weakref.WeakKeyDictionary()


def is_foreign_template(template: Any) -> bool:
    """Return whether others than Numba have written a template."""
    found = _foreign.get(template)
    if found is None:
        found = _foreign[template] = _find_foreign(template)
    return found


def is_foreign(implementation: Any, *keys: Any) -> bool:
    """Return whether others than Numba have written a function or class that it calls, or what it made them for."""
    if isinstance(implementation, type):
        return _is_foreign_class(implementation)
    return _is_foreign_function(implementation, *keys)


class Registration(NamedTuple):
    """One thing that is registered: for what, for whom it counts, and of what it is made."""

    name: str
    counts: Callable[[Mapping[str, set[str]]], bool]
    parts: tuple[Any, ...]


class _Container(NamedTuple):
    """A list or dictionary of Numba's that only grows, and what makes registrations of its items."""

    items: Any
    read: Callable[[list[Any]], Iterable[Registration]]


def _for_call(template: Any) -> Registration:
    name = name_of(template.key)

    def counts(asked: Mapping[str, set[str]]) -> bool:
        winners = asked.get(f"call {name}")
        return winners is not None and not _comes_after(template, winners)

    return Registration(f"call {name}", counts, (template,))


def _comes_after(template: Any, winners: set[str]) -> bool:
    """Whether Numba found all that it called for a key before it would have come to a template."""
    if "" in winners:  # it found nothing
        return False
    context = cpu_target.typing_context
    function = context._lookup_global(template.key)
    candidates = list(getattr(function, "templates", ()) or context._functions.get(template.key, ()))
    order = order_by_target_specificity(target_registry["CPU"], candidates)
    if template not in order:
        return False
    before = {name_of_template(t) for t in order[: order.index(template)]}
    return winners <= before


def _for_attribute(template: Any) -> Registration:
    name, attribute = f"attribute {name_of(template.key)}", template.__dict__.get("_attr")

    def counts(asked: Mapping[str, set[str]]) -> bool:
        return name in asked and (attribute is None or attribute in asked[name])

    return Registration(name, counts, (template,))


def _for_arguments(name: str, formal: tuple[Any, ...], implementation: Any) -> Registration:
    classes = [name_of(t) for t in formal if t is not types.Any and not isinstance(t, types.VarArg)]

    def counts(asked: Mapping[str, set[str]]) -> bool:
        return name in asked and asked[name].issuperset(classes)

    return Registration(name, counts, (name, formal, implementation))


def _for_class(kind: str, cls: type, implementation: Any) -> Registration:
    name = name_of(cls)
    return Registration(f"{kind} {name}", lambda asked: name in asked.get(kind, ()), (kind, cls, implementation))


# Templates; Numba keeps them, many in two lists.
_looked_at: set[Any] = set()


def _others(templates: Iterable[Any]) -> Iterator[Any]:
    # A process looks at some 3,000 once, nearly all of Numba's own; with a call for each it would take twice as long.
    new = [t for t in dict.fromkeys(templates) if t not in _looked_at]
    _looked_at.update(new)
    for template in new:
        members = template.__dict__
        function = members.get("_overload_func") or members.get("_definition_func")
        if function is not None:
            function = function.__func__
            module = function.__module__
        elif (module := template.__module__) == _AGAIN:  # made of another
            module = template.__mro__[1].__module__
        if _sure[module or ""] or (module in _MAKERS and function is not None and _is_of_sure(function)):
            continue
        if _find_foreign(template):
            yield template


def _is_of_sure(function: Any) -> bool:
    """Whether all that a function of a maker's was made of are functions of Numba's own."""
    try:
        for cell in function.__closure__ or ():
            value = cell.cell_contents
            if type(value) is not pytypes.FunctionType or not _sure[value.__module__ or ""]:
                return False
    except ValueError:  # of an empty cell
        return False
    return True


def _calls(templates: list[Any]) -> Iterator[Registration]:
    return (_for_call(t) for t in _others(templates))


def _globals(rows: list[Any]) -> Iterator[Registration]:
    return _calls([t for row in rows for t in getattr(row[1], "templates", ())])


def _attributes(templates: list[Any]) -> Iterator[Registration]:
    return (_for_attribute(t) for t in _others(templates))


def _lowering(kind: str) -> Callable[[list[Any]], Iterator[Registration]]:
    def read(rows: list[Any]) -> Iterator[Registration]:
        for row in rows:
            implementation, formal = row[0], row[-1]
            module = implementation.__module__
            # An intrinsic's is registered when it is used.
            if module == _AGAIN or _sure[module or ""] or implementation is row[1]:
                continue
            if is_foreign(implementation, *formal):
                yield _for_arguments(kind if len(row) == 2 else f"{kind} {name_of(row[1])}", formal, implementation)

    return read


def _classes(kind: str) -> Callable[[list[Any]], Iterator[Registration]]:
    def read(items: list[Any]) -> Iterator[Registration]:
        return (_for_class(kind, cls, made) for cls, made in items if is_foreign(made) or is_foreign(cls))

    return read


_own_meanings = type(as_numba_type)().lookup


def _meanings(items: list[Any]) -> Iterator[Registration]:
    """Which types of Numba's classes of Python's stand for, in annotations and in isinstance."""
    return (_for_class("meaning", cls, t) for cls, t in items if _own_meanings.get(cls) is not t)


def _meaning_functions(functions: list[Any]) -> Iterator[Registration]:
    for f in functions:
        if is_foreign(f):
            yield Registration("meaning", lambda asked: "meaning" in asked, ("meaning", f))


def _containers() -> Iterator[_Container]:
    for registry in cpu_target.typing_context._registries:
        yield _Container(registry.functions, _calls)
        yield _Container(registry.globals, _globals)
        yield _Container(registry.attributes, _attributes)
    for registry in cpu_target.target_context._registries:
        yield _Container(registry.functions, _lowering("lower"))
        yield _Container(registry.getattrs, _lowering("getattr"))
        yield _Container(registry.setattrs, _lowering("setattr"))
        yield _Container(registry.casts, _lowering("cast"))
        yield _Container(registry.constants, _lowering("constant"))
    yield _Container(datamodel.default_manager._handlers, _classes("model"))
    yield _Container(pythonapi._boxers.functions, _classes("box"))
    yield _Container(pythonapi._unboxers.functions, _classes("box"))
    yield _Container(pythonapi._reflectors.functions, _classes("box"))
    yield _Container(as_numba_type.lookup, _meanings)
    yield _Container(as_numba_type.functions, _meaning_functions)


_lock = ForkLock()


class Registrations:
    """What others have registered, in its order. Numba's lists only grow: each item is looked at once.

    Of its dictionaries the values may be replaced; what replaces one comes beside it.
    """

    def __init__(self) -> None:
        self._pairs: list[tuple[dict[Any, Any], dict[Any, Any], _Container]] = []  # dictionaries, as they were
        self._registries = 0
        self._containers: list[_Container] = []
        self._items: list[Any] = []  # of the containers
        self._total = 0  # in all of them
        self._examined: dict[int, int] = {}  # how much of each container
        self._found: list[Registration] = []

    def note_put(self, kind: str, args: tuple[Any, ...]) -> None:
        """Note what others have put into one of Numba's contexts, beside its registries: it counts for everything."""
        self._found.append(Registration(f"put {kind}", lambda _: True, ("put", kind, *map(_parts_of, args))))

    def note_earlier(self) -> None:
        """Note what others have put there before anybody could see it."""
        made = vars(cpu_target)
        if "_toplevel_typing_context" in made:
            typing = cpu_target.typing_context
            own = {t for r in typing._registries for t in (*r.functions, *r.attributes)}
            own.update(t for r in typing._registries for _, kind in r.globals for t in getattr(kind, "templates", ()))
            put = [type(t) for kept in (typing._functions, typing._attributes) for many in kept.values() for t in many]
            put += [t for kind in typing._globals.values() for t in getattr(kind, "templates", ())]
            for template in dict.fromkeys(put):
                if template not in own and is_foreign_template(template):
                    self.note_put("template", (template,))
        if "_toplevel_target_context" in made:
            target = cpu_target.target_context
            rows = (r for registry in target._registries for many in _lowered(registry) for r in many)
            known = {id(row[0]) for row in rows}
            for selector in (
                *target._defns.values(),
                *target._getattrs.values(),
                *target._setattrs.values(),
                target._casts,
            ):
                for signature, implementation in selector.versions:
                    if id(implementation) not in known and is_foreign(implementation, *signature):
                        self.note_put("lowering", (tuple(signature), implementation))

    def all(self) -> list[Registration]:
        """Return it; what is new comes last."""
        registries = len(cpu_target.typing_context._registries) + len(cpu_target.target_context._registries)
        # Asked several times for each hit: what only grows is the same as long as there is as much of it.
        if registries != self._registries or sum(map(len, self._items)) != self._total:
            self._look(registries)
        return self._found

    def _look(self, registries: int) -> None:
        with _lock():
            self._look_for_replaced()
            if registries != self._registries:
                self._containers = list(_containers())
                self._items = [items for items, _ in self._containers]
            total = 0
            for items, read in self._containers:
                start = self._examined.get(id(items), 0)
                if start == len(items):
                    new = []
                elif isinstance(items, dict):
                    new = list(items.items())[start:]
                else:
                    new = items[start:]
                self._found += read(new)
                self._examined[id(items)] = start + len(new)
                total += start + len(new)
            self._registries, self._total = registries, total
            self._pairs = [(c.items, dict(c.items), c) for c in self._containers if isinstance(c.items, dict)]

    def _look_for_replaced(self) -> None:
        for items, known, container in self._pairs:
            if items != known:
                new = [(key, value) for key, value in items.items() if known.get(key, value) is not value]
                self._found += container.read(new)
                known.update(new)

    def counting(self, asked: Mapping[str, set[str]], since: int = 0) -> list[Registration]:
        """Return those that count for what was asked, of those from a number on."""
        found = self.all()
        if not since:
            self._look_for_replaced()
        return [r for r in found[since:] if r.counts(asked)] if since < len(found) else []


def _lowered(registry: Any) -> tuple[Any, ...]:
    return registry.functions, registry.getattrs, registry.setattrs, registry.casts


def _parts_of(value: Any) -> Any:
    """Return what counts of an argument: of a template its class, of a type of functions its templates."""
    if isinstance(value, (list, tuple)):
        return tuple(map(_parts_of, value))
    if isinstance(value, (AttributeTemplate, FunctionTemplate)):
        return type(value)
    return getattr(value, "templates", value) if isinstance(value, types.Function) else value


registrations = Registrations()


def describe(found: Iterable[Registration], walker: Walker) -> bytes:
    """Return registrations as bytes."""
    # For one name the order counts; the same thing is often in two of Numba's lists.
    by_name = sorted(found, key=lambda r: r.name)
    return pack(*dict.fromkeys(walker.registered(r.parts) for r in by_name))


# Where Numba's passes look for functions of others, by a class of intermediate code.
_EXTENSIONS = {
    "numba.core.analysis": ("ir_extension_usedefs", "ir_extension_use_alloca"),
    "numba.core.ir_utils": (
        "visit_vars_extensions", "add_offset_to_labels_extensions", "find_max_label_extensions",
        "remove_dead_extensions",
        "alias_analysis_extensions", "alias_func_extensions", "copy_propagate_extensions", "call_table_extensions",
        "apply_copy_propagate_extensions", "tuple_table_extensions", "array_accesses_extensions",
        "build_defs_extensions",
    ),
    "numba.core.lowering": ("lower_extensions",),
    "numba.core.postproc": ("ir_extension_insert_dels",),
    "numba.core.typeinfer": ("typeinfer_extensions",),
    "numba.parfors.array_analysis": ("array_analysis_extensions",),
}  # fmt: skip


def _extensions() -> Iterator[Any]:
    for module, names in _EXTENSIONS.items():
        space = vars(sys.modules[module]) if module in sys.modules else {}
        for name in names:
            yield space.get(name) or {}


def _passes() -> list[Any]:
    """Return all that Numba runs in every compile, its own too, in the order in which it is registered."""
    rewrites = sys.modules.get("numba.core.rewrites.registry")
    found: list[Any] = [] if rewrites is None else [list(r) for r in rewrites.rewrite_registry.rewrites.values()]
    extended = (e.items() for e in _extensions() if e)
    return found + [[(cls, list(v) if isinstance(v, list) else v) for cls, v in items] for items in extended]


_known_passes: tuple[list[Any], list[Any]] = ([], [])  # all of them, and what others have registered of them


def passes() -> list[Any]:
    """Return what others have registered that Numba runs in every compile: rewrites, and extensions of its passes."""
    global _known_passes
    known, foreign = _known_passes
    now = _passes()
    if now != known:
        foreign = [p for kind in now for p in kind if _is_foreign_value(p[1] if isinstance(p, tuple) else p)]
        _known_passes = now, foreign
    return foreign


def _is_foreign_value(value: Any) -> bool:
    parts = value if isinstance(value, (list, tuple)) else [value]
    return any(isinstance(part, (pytypes.FunctionType, type)) and is_foreign(part) for part in parts)
