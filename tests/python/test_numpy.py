"""NumPy's numbers in keys, and its arrays as arguments of memoized functions."""

from __future__ import annotations

from pathlib import Path

import jitcache
import numpy as np
import pytest


def test_numbers_of_numpy_are_their_values() -> None:
    Key = jitcache.Key  # noqa: N806
    for scalar, value in (
        (np.int64(3), 3),
        (np.uint8(200), 200),
        (np.float64(0.1), 0.1),
        (np.float32(0.5), 0.5),
        (np.bool_(True), True),
    ):
        assert Key(n=scalar) == Key(n=value)
        assert Key(n=[scalar, {"a": scalar}]) == Key(n=[value, {"a": value}])
    assert Key(n=np.bool_(True)) != Key(n=1)
    assert Key(n=np.float32(0.1)) != Key(n=0.1)  # it is another number
    for bad in (np.longdouble(1) / 3, np.complex128(1), np.datetime64("2020-01-01"), np.zeros(1)):
        with pytest.raises(TypeError, match="component 'n'"):
            Key(n=bad)


def test_arrays_count_by_type_shape_order_and_content(tmp_path: Path) -> None:
    calls = []

    def f(x: object) -> bytes:
        return repr(x).encode()

    kept = jitcache.memoize(cache=jitcache.Cache(tmp_path / "cache"))(f)
    arrays = [
        np.zeros((2, 3)), np.zeros((3, 2)), np.zeros((2, 3), order="F"), np.zeros((2, 3), np.float32), np.ones((2, 3)),
        np.float64(1), np.float32(1), 1.0, np.int32(1), np.dtype("i4"), np.dtype([("a", "i4")]), np.zeros(3, np.dtype([("a", "i4")])),
    ]  # fmt: skip
    keys = [kept.key(x) for x in arrays]
    assert len(set(keys)) == len(keys)
    assert kept.key(np.zeros((2, 3))) == keys[0]
    assert calls == []
    with pytest.raises(jitcache.RefusedError, match="array of Python objects"):
        kept.key(np.array([object()]))
