"""The dependency walk of adapters, with rules that need no framework."""

from __future__ import annotations

import builtins
import enum
import functools
import gc
import math
import types
from typing import Any

import pytest
from jitcache._code import Unkeyable, code_of
from jitcache._dependency_walk import DependencyWalker


class Walker(DependencyWalker):
    """Follows functions, lists and the attributes of modules that code mentions."""

    def _module(self, module: types.ModuleType, names: tuple[str, ...] | None) -> None:
        self._put("module", module.__name__.encode())
        for name in names or ():
            self._attribute(module, name, names or ())

    def _unknown(self, value: Any) -> None:
        raise Unkeyable("unknown", type(value).__name__)

    def _function(self, function: types.FunctionType) -> None:
        if not self._again(function):
            code, names, texts = code_of(function.__code__)
            self._put("code", code)
            self._surroundings(function, names, texts)

    def _list(self, value: list[Any]) -> None:
        if not self._again(value):
            self._put("list", str(len(value)).encode())
            for item in value:
                self._value(item)

    def _tuple(self, value: tuple[Any, ...]) -> None:
        self._put("tuple", str(len(value)).encode())
        for item in value:
            self._value(item)

    def _is_added(self, value: Any, owner: str) -> bool:
        return type(value) is int and owner in ("python", "builtins")

    kinds = {
        types.FunctionType: _function,
        list: _list,
        tuple: _tuple,
        staticmethod: DependencyWalker._method,
        types.MethodType: DependencyWalker._method,
        property: DependencyWalker._property,
        functools.partial: DependencyWalker._partial,
        slice: DependencyWalker._slice,
        type: DependencyWalker._members,
        dict: lambda self, value: self._tuple((*value.items(),)),
    }


def described(value: Any, walker: Walker | None = None) -> bytes:
    walker = walker or Walker()
    return walker._within(walker._value, value)


def test_equal_values_give_equal_bytes() -> None:
    assert described([1, "a", [2.5]]) == described([1, "a", [2.5]])
    for other in ([1, "a", [2.0]], [1, b"a", [2.5]], [True, "a", [2.5]], [1, "a", 2.5], [1, "a", [2.5], None]):
        assert described(other) != described([1, "a", [2.5]])


def test_cycles_end() -> None:
    one: list[Any] = [1]
    one.append(one)
    other: list[Any] = [1]
    other.append(other)
    assert described(one) == described(other) != described([1, [1]])


def test_one_object_twice_is_not_two_that_are_equal() -> None:
    shared = [1]
    assert described([shared, shared]) != described([[1], [1]])


def test_what_was_met_stays_alive_so_that_an_id_is_one_object() -> None:
    walker = Walker()
    first = described([1], walker)
    gc.collect()
    assert described([1], walker) == first, "a new list at the old one's address"


def make(source: str, **space: Any) -> Any:
    exec(source, space)
    return space["f"]


def test_globals_and_cells_and_defaults_of_a_function_count() -> None:
    for source in (
        "def f(): return G",
        "def make(x):\n    def f(): return x\n    return f\nf = make(G)",
        "def f(x=G): pass",
    ):
        one, same, other = (described(make(source, G=g)) for g in (1, 1, 2))
        assert one == same != other


def test_functions_that_are_called_count_by_what_they_reach() -> None:
    texts = [f"def g(): return {n}\ndef f(): return g()" for n in (1, 1, 2)]
    one, same, other = (described(make(text)) for text in texts)
    assert one == same != other


def test_recursion_ends() -> None:
    assert described(make("def f(): return f()"))


def test_of_a_module_only_what_the_code_mentions_counts() -> None:
    module = types.ModuleType("settings")
    module.used, module.unused = 1, 1
    f = make("def f(): return settings.used", settings=module)
    before = described(f)
    module.unused = 2
    assert described(f) == before
    module.used = 2
    assert described(f) != before


def test_what_a_program_adds_to_builtins_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    f = make("def f(): return added + len(())")
    plain = described(f)
    found = set()
    for value in (1, 2, "not by these rules"):
        monkeypatch.setattr(builtins, "added", value, raising=False)
        found.add(described(f))
    assert len(found) == 3
    assert plain in found, "no builtin of Python's, and no text"


def test_what_a_program_adds_to_a_module_of_others_counts_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(math, "added", 1, raising=False)
    walker = Walker()
    first = walker._within(walker._additions, math, ("added", "sin", "none"), "python")
    assert b"added" in first
    assert b"sin" not in first
    assert walker._within(walker._additions, math, ("added",), "python") == b""
    monkeypatch.setattr(math, "added", 2)
    walker = Walker()
    assert walker._within(walker._additions, math, ("added", "sin", "none"), "python") != first


@pytest.mark.parametrize("made", ["staticmethod(f)", "property(f)", "functools.partial(f, G)", "slice(G)", "C().m"])
def test_what_is_made_of_other_values_counts_by_them(made: str) -> None:
    text = f"class C(list):\n    def m(self): return G\ndef f(): return G\nf = {made}"
    one, same, other = (described(make(text, G=g, __name__="m", functools=functools)) for g in (1, 1, 2))
    assert one == same != other


def test_members_of_an_enumeration_and_what_its_author_wrote_count() -> None:
    text = "class f(enum.Enum):\n    A = {}\n    def _priv(self): return {}"
    found = [described(make(text.format(*pair), enum=enum, __name__="m")) for pair in ((1, 1), (1, 1), (2, 1), (1, 2))]
    assert found[0] == found[1]
    assert len(set(found)) == 3


def test_what_the_rules_do_not_know_is_refused_wherever_it_is() -> None:
    for value in (object(), [object()], make("def f(): return G", G=object())):
        with pytest.raises(Unkeyable, match="unknown: object"):
            described(value)


def test_rules_without_rules_refuse() -> None:
    with pytest.raises(NotImplementedError):
        DependencyWalker()._value(object())
    with pytest.raises(NotImplementedError):
        DependencyWalker()._value(math)


def test_too_deep_is_refused_and_no_recursion_error() -> None:
    deep: list[Any] = []
    for _ in range(5000):
        deep = [deep]
    with pytest.raises(Unkeyable, match="too deep"):
        described(deep)


def test_after_a_refusal_the_walk_is_where_it_was() -> None:
    walker = Walker()
    with pytest.raises(Unkeyable):
        described([[object()]], walker)
    assert walker._depth == 0
    assert walker._out == []
