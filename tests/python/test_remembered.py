"""What functions memoised by functools remember is seen, whatever it is, without running any of its code."""

from __future__ import annotations

import functools

import pytest
from jitcache._code import Unkeyable
from jitcache._remembered import remembered


class _Odd:
    """A result whose code must not run."""

    def __getattr__(self, name: str) -> object:
        raise AssertionError(name)

    def __eq__(self, other: object) -> bool:
        raise AssertionError

    __hash__ = None  # type: ignore[assignment]


RESULTS = [{}, {"a": 1}, int, functools.lru_cache, None, _Odd(), [1, 2], type("_lru_list_elem", (), {})]


@pytest.mark.parametrize("bound", [None, 1, 3, 100])
@pytest.mark.parametrize("calls", [0, 1, 2, len(RESULTS)])
def test_results_that_a_function_remembers_are_seen(bound: int | None, calls: int) -> None:
    memoised = functools.lru_cache(bound)(RESULTS.__getitem__)
    for n in range(calls):
        memoised(n)
    kept = calls if bound is None else min(calls, bound)
    found = remembered(memoised)
    assert [argument for argument, _ in found] == list(range(calls - kept, calls))
    assert all(result is RESULTS[argument] for argument, result in found)


def test_results_by_name_are_seen() -> None:
    memoised = functools.lru_cache(maxsize=None)(lambda a, b=2: (a, b))
    memoised(1)
    memoised(1, b=3)
    assert sorted(result for _, result in remembered(memoised)) == [(1, 2), (1, 3)]


def test_results_that_are_not_where_they_are_expected_are_told() -> None:
    class Other:
        def __init__(self) -> None:
            self.__qualname__ = "other"

        def cache_info(self) -> object:
            return functools.lru_cache(maxsize=None)(int).cache_info()._replace(currsize=1)

    with pytest.raises(Unkeyable, match="memoised function: other"):
        remembered(Other())
