"""What a program of a user's sees of the package's types. It is checked, and not run.

An error that a line must give is ignored there by its code; if it gives none,
mypy --strict says that the comment is of no use.
"""

from __future__ import annotations

import ctypes
import json
import pickle
from types import ModuleType
from typing import Any, Optional

import jitcache
from jitcache import Cache, Entry, File, Key, Lease, Tool, cuda, default_cache, mpi, native
from jitcache.adapters import cuda_core, cute_dsl, numba, underworld3
from typing_extensions import assert_type


def keys(source: str) -> Key:
    key = Key(source=source, options=["-O3"], header=File("a.h"), compiler=Tool("cc"))
    assert_type(key, Key)
    assert_type(key.named("saxpy"), Key)
    assert_type(key.hex, str)
    assert_type(key.components, dict[str, str])
    assert_type(Key.from_hex("0" * 64), Key)
    return key


def lookups(cache: Cache, key: Key) -> None:
    assert_type(default_cache(), Cache)
    assert_type(cache.get(key), "bytes | None")
    assert_type(cache.get(key, 0), "bytes | int")
    assert_type(cache.view(key, b""), "memoryview[int] | bytes")
    assert_type(cache[key], bytes)
    assert_type(key in cache, bool)
    assert_type(list(cache), list[Key])
    assert_type(cache.verify()["removed"], int)
    assert_type(cache.explain(key)["hit"], bool)
    entry = cache.entry(key)
    assert_type(entry, "Entry | None")
    entry.path  # type: ignore[union-attr]
    if entry is not None:
        with entry as opened:
            assert_type(opened, Entry)
            assert_type(opened.view, "memoryview[int]")
            assert_type(opened.attributes, dict[str, Any])
    assert_type(cache.put(key, b"", attributes={"n": 1}, kind="cubin", replace=True), bool)
    assert_type(cache.get_or_compile(key, lambda: b""), bytes)
    assert_type(cache.entry_or_compile(key, lambda: b"").path, str)
    with cache.acquire(key, timeout=1.0) as lease:
        assert_type(lease, Lease)
        assert_type(lease.data, "bytes | None")
        assert_type(lease.commit(b"x"), bool)
    cache.get("saxpy")  # type: ignore[call-overload]
    cache.put("saxpy", b"")  # type: ignore[arg-type]


def builds(cache: Cache) -> None:
    built = native.build({"f.c": "int f;"}, flags=["-O3"], cache=cache)
    assert_type(built, native.Built)
    assert_type(built.log, str)
    assert_type(built.hit, bool)
    assert_type(built.refused, str)
    with native.build("int f;\n", cache=False) as opened:
        assert_type(opened.log, str)
        assert_type(opened.path, str)
    assert_type(native.load_shared(built), ctypes.CDLL)
    assert_type(native.load_extension(built, "m"), ModuleType)
    assert_type(native.key("int f;\n"), Optional[Key])
    native.build({"f.c": "int f;"}, libraries="m" + 1)  # type: ignore[operator]


def kernels(cache: Cache) -> None:
    code = cuda.compile("", options=["-std=c++17"], name_expressions=["f<int>"], cache=cache)
    assert_type(code, cuda.Code)
    assert_type(code.code, bytes)
    assert_type(code.lowered_names, dict[str, str])
    assert_type(int(code.load().function("f<int>")), int)


@jitcache.memoize
def plain(n: int, *, name: str = "") -> bytes:
    return name.encode() * n


def outside(n: int) -> dict[str, object]:
    return {"compiler": Tool("cc"), "n": n}


@jitcache.memoize(codec=pickle, depends=outside)
def pickled(n: int) -> dict[str, int]:
    return {"n": n}


@jitcache.memoize(codec=json, cache=False)
def texts(n: int) -> list[int]:
    return [n]


def memoized() -> None:
    assert_type(plain(1, name="a"), bytes)
    assert_type(pickled(1), dict[str, int])
    assert_type(texts(1), list[int])
    assert_type(plain.key(1), Key)
    assert_type(plain.last_reason, str)
    plain("1")  # type: ignore[arg-type]
    pickled()  # type: ignore[call-arg]


async def tasks(cache: Cache, key: Key) -> None:
    async def compile() -> bytes:
        return b""

    assert_type(await cache.aget_or_compile(key, compile), bytes)
    assert_type(await cache.aget_or_compile(key, lambda: b""), bytes)


def ranks(cache: Cache, key: Key) -> None:
    assert_type(mpi.get_or_compile(None, cache, key, lambda: b""), bytes)
    assert_type(mpi.entry_or_compile(None, None, lambda: key, lambda: b""), Entry)


def adapters(cache: Cache) -> None:
    numba.install(cache, everything=True)
    assert_type(numba.uncached(), dict[str, int])
    assert_type(cute_dsl.compile(print, key="source"), cute_dsl.Compiled)
    cute_dsl.compile(print, key="sources")  # type: ignore[arg-type]
    cuda_core.compile_program("", target="cubin", cache=cache)
    underworld3.install(flat=True)


def errors() -> None:
    try:
        native.build("")
    except jitcache.CompileError as e:
        assert_type(e.log, str)
        assert_type(e.command, "list[str] | None")
    except jitcache.Error as e:
        assert_type(e.status, int)
    assert_type(jitcache.available(), tuple[bool, str])
    assert_type(jitcache.__version__, str)
    jitcache.Cahce  # type: ignore[attr-defined]
