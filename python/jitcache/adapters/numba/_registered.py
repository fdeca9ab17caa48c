"""What programs and packages have registered to extend Numba: typing, lowering, data models, boxing.

A compile asks Numba's contexts for functions, attributes and types by name. Foreign
registrations (those that are not Numba's own) for a name that was asked for count, in
their order. Registrations for other names do not.
"""

from __future__ import annotations

import types as pytypes
import weakref
from typing import TYPE_CHECKING, Any, NamedTuple

from numba.core import datamodel, pythonapi, types
from numba.core.registry import cpu_target
from numba.core.target_extension import target_registry
from numba.core.typing.asnumbatype import as_numba_type
from numba.core.utils import order_by_target_specificity

from jitcache._code import content_of
from jitcache._fork import ForkLock

from ._code import pack, versioned, versioned_class

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from ._walk import Walker

#: What a compile asked for, by name, with details: the templates that won calls, attributes, classes of arguments.
Asked = dict[str, set[str]]

# Modules of Numba that make templates and implementations of functions that others give them.
_MAKERS = ("numba.core.extending", "numba.experimental.structref")
# A module of Numba that registers some things again when they are used.
_AGAIN = "numba.core.typing.templates"
_UNSURE = (*_MAKERS, _AGAIN, "numba.tests.")
# Modules of Numba whose functions may close over functions of others.
_OF_OTHERS = (*_MAKERS, _AGAIN)


class _Sure(dict[str, bool]):
    """Whether the code of a module is surely Numba's own, by the module's name. A process asks thousands of times."""

    def __missing__(self, module: str) -> bool:
        self[module] = module.startswith("numba.") and not module.startswith(_UNSURE)
        return self[module]


_sure = _Sure()


def name_of(key: Any) -> str:
    """Return the name of something that is registered, or of what it is registered for."""
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
    """Return the names of a class and its bases."""
    found = _names.get(cls)
    if found is None:
        found = _names[cls] = tuple(map(name_of, cls.__mro__[:-1]))
    return found


def written(template: Any) -> Any:
    """Return the function from which Numba made a template, None if the template was written as a class."""
    members = template.__dict__
    found = members.get("_overload_func") or members.get("_definition_func")
    return getattr(found, "__func__", found)


def name_of_template(template: Any) -> str:
    """Return the name of a template, or of the function or the class from which it was made."""
    function = written(template)
    if function is None and template.__module__ == _AGAIN:
        template = template.__mro__[1]  # all that Numba derives have one name
    return name_of(function or template)


def _is_foreign_function(function: Any, *keys: Any) -> bool:
    module = str(function.__module__)
    if not module.startswith("numba.") or module.startswith("numba.tests."):
        code = getattr(getattr(function, "__wrapped__", function), "__code__", None)
        return code is None or not versioned(code.co_filename)
    if module not in _OF_OTHERS:
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
    for cls in template.__mro__[:-1]:  # Numba derives some templates from a written class, or makes them with a key
        if cls.__module__ not in (*_MAKERS, _AGAIN, "abc"):
            return _is_foreign_class(cls)
        functions = (v for v in vars(cls).values() if isinstance(v, pytypes.FunctionType))
        if cls.__module__ != _AGAIN and any(_is_foreign_function(f, vars(cls).get("key")) for f in functions):
            return True
    return False


def _is_of_signatures(template: Any) -> bool:
    """Whether a template that is registered was made of signatures alone. Numba registers none of its own."""
    return "cases" in template.__dict__ and {c.__module__ for c in template.__mro__[:-1]} <= {_AGAIN, "abc"}


_foreign: weakref.WeakKeyDictionary[Any, bool] = weakref.WeakKeyDictionary()


def is_foreign_template(template: Any) -> bool:
    """Return whether a template is not Numba's own."""
    found = _foreign.get(template)
    if found is None:
        found = _foreign[template] = _find_foreign(template)
    return found


# What Numba calls of a template beside what it calls within the methods that are observed (``_uses``).
_BESIDE = frozenset(("__init__", "__new__", "apply", "get_impl_key", "prefer_literal", "resolve"))
_unseen: weakref.WeakKeyDictionary[Any, bool] = weakref.WeakKeyDictionary()


def runs_unseen(template: Any) -> bool:
    """Return whether a template has code of others that is not Python's, or that Numba calls where nobody looks."""
    found = _unseen.get(template)
    if found is None:
        function = written(template)
        own = [vars(cls) for cls in template.__mro__[:-1] if not cls.__module__.startswith("numba.")]
        found = function is not None and not isinstance(function, pytypes.FunctionType)
        found = found or any(map(_is_unseen, (item for members in own for item in members.items())))
        _unseen[template] = found
    return found


def _is_unseen(member: tuple[str, Any]) -> bool:
    name, value = member
    if name in _BESIDE:
        return hasattr(type(value), "__get__")
    value = getattr(value, "__func__", value)
    return callable(value) and not isinstance(value, (type, types.Type, pytypes.FunctionType)) and name != "key"


def is_foreign(implementation: Any, *keys: Any) -> bool:
    """Return whether an implementation, or something of which or for which it was made, is not Numba's own."""
    if isinstance(implementation, type):
        return _is_foreign_class(implementation)
    return _is_foreign_function(implementation, *keys)


class Registration(NamedTuple):
    """One registration: its name, whether it counts for what was asked, and the parts that describe it."""

    name: str
    counts: Callable[[Mapping[str, set[str]]], bool]
    parts: tuple[Any, ...]


class _Container(NamedTuple):
    """A list or dictionary of Numba's that only grows, and the function that makes registrations of its items."""

    items: Any
    read: Callable[[list[Any]], Iterable[Registration]]


def _for_call(template: Any) -> Registration:
    name = name_of(template.key)

    def counts(asked: Mapping[str, set[str]]) -> bool:
        winners = asked.get(f"call {name}")
        return winners is not None and not _comes_after(template, winners)

    return Registration(f"call {name}", counts, (template,))


def _comes_after(template: Any, winners: set[str]) -> bool:
    """Whether Numba found the templates for all calls of a function before it would have tried this one."""
    if "" in winners:  # for one call Numba found none, so it tried all
        return False
    context = cpu_target.typing_context
    function = context._lookup_global(template.key)
    candidates = list(getattr(function, "templates", ()) or context._functions.get(template.key, ()))
    order = order_by_target_specificity(target_registry["CPU"], candidates)
    if template not in order:
        return False
    at = order.index(template)
    # One function may make several templates, which have one name: which of them has won is not known.
    return winners <= {name_of_template(t) for t in order[:at]} - _names_from(order[at:])


def _names_from(order: list[Any]) -> set[str]:
    return set(map(name_of_template, order))


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


# The templates that were looked at. Numba has many of them in two lists.
_looked_at: set[Any] = set()


def _others(templates: Iterable[Any]) -> Iterator[Any]:
    # A process looks at some 3,000 templates once, nearly all Numba's own. A call for each would take twice as long.
    new = [t for t in dict.fromkeys(templates) if t not in _looked_at]
    _looked_at.update(new)
    for template in [t for t in new if not _sure[t.__module__]]:
        members = template.__dict__
        function = members.get("_overload_func") or members.get("_definition_func")
        if function is not None:
            function = function.__func__
            module = function.__module__
        elif (module := template.__module__) == _AGAIN:  # derived from another template
            module = template.__mro__[1].__module__
        if _sure[module or ""] or (module in _MAKERS and function is not None and _is_of_sure(function)):
            continue
        if _find_foreign(template) or _is_of_signatures(template):
            yield template


def _is_of_sure(function: Any) -> bool:
    """Whether a function from one of ``_MAKERS`` closes over nothing but Numba's own functions."""
    try:
        for cell in function.__closure__ or ():
            value = cell.cell_contents
            if type(value) is not pytypes.FunctionType or not _sure[value.__module__ or ""]:
                return False
    except ValueError:  # an empty cell
        return False
    return True


def _calls(templates: list[Any]) -> Iterator[Registration]:
    return (_for_call(t) for t in _others(templates))


def _globals(rows: list[Any]) -> Iterator[Registration]:
    templates: list[Any] = []
    kinds = []  # of what has no templates
    for value, kind in rows:
        found = getattr(kind, "templates", None)
        if found is None:
            kinds.append((value, kind))
        else:
            templates += found
    yield from _calls(templates)
    for value, kind in kinds:
        if not (isinstance(kind, types.NumberClass) and versioned_class(value)):  # Python's and NumPy's numbers
            yield Registration("global", lambda _: True, ("global", name_of(value), kind))


def _attributes(templates: list[Any]) -> Iterator[Registration]:
    return (_for_attribute(t) for t in _others(templates))


def _lowering(kind: str) -> Callable[[list[Any]], Iterator[Registration]]:
    def read(rows: list[Any]) -> Iterator[Registration]:
        for row in rows:
            implementation, formal = row[0], row[-1]
            module = implementation.__module__
            # The implementation of an intrinsic is registered when the intrinsic is used.
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
    """Yield the Numba types that Python classes stand for, in annotations and in isinstance."""
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
    """All foreign registrations, in their order. Numba's lists only grow, so each item is looked at once.

    Values in Numba's dictionaries may be replaced. Then both the old and the new one count.
    """

    def __init__(self) -> None:
        self._pairs: list[tuple[dict[Any, Any], dict[Any, Any], _Container]] = []  # each dictionary, and a copy of it
        self._registries = 0
        self._containers: list[_Container] = []
        self._items: list[Any] = []  # of the containers
        self._total = 0  # how many items they have in all
        self._examined: dict[int, int] = {}  # how many items of each container were looked at
        self._found: list[Registration] = []
        self.put: list[str] = []  # what is in none of Numba's lists: it counts for every function

    def add(self, registration: Registration) -> None:
        """Add one that is in none of Numba's lists."""
        self._found.append(registration)
        self.put.append(registration.name)

    def has(self, container: Any) -> bool:
        """Return whether a container is one of those that are looked at here."""
        return id(container) in self._examined

    def all(self) -> list[Registration]:
        """Return the registrations, new ones last."""
        registries = len(cpu_target.typing_context._registries) + len(cpu_target.target_context._registries)
        # Each hit calls this several times. What only grows is unchanged as long as its length is.
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
        """Return those registrations that count for what was asked, from number ``since`` on."""
        found = self.all()
        if not since:
            self._look_for_replaced()
        return [r for r in found[since:] if r.counts(asked)] if since < len(found) else []


registrations = Registrations()


def describe(found: Iterable[Registration], walker: Walker) -> bytes:
    """Return registrations as bytes."""
    # Registrations of one name count in their order. The same thing is often in two of Numba's lists.
    by_name = sorted(found, key=lambda r: r.name)
    return pack(*dict.fromkeys(walker.registered(r.parts) for r in by_name))
