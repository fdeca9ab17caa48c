"""Code becomes functions, in the current context, once."""

from __future__ import annotations

import gc
import os
import threading
from pathlib import Path

import jitcache
import pytest
from conftest import Compiler
from devices import Driver
from fakes import CallLog
from jitcache import cuda
from sources import KERNEL, OPTIONS, TEMPLATE, kernel

LOAD, UNLOAD = "cuModuleLoadDataEx", "cuModuleUnload"


@pytest.fixture
def driver(driver_file: Path, calls: CallLog) -> Driver:
    """A driver with a context that is current in this thread."""
    driver = Driver(driver_file)
    driver.push()
    return driver


def compile(cache: jitcache.Cache | bool, source: str = kernel(), **more: object) -> cuda.Code:
    return cuda.compile(source, **{"options": OPTIONS, **more}, cache=cache)


@pytest.mark.parametrize("target", ["cubin", "ptx"])
def test_function_is_found_by_its_name(compiler: Compiler, cache, driver: Driver, target: str) -> None:
    for _ in range(2):
        module = compile(cache, target=target).load()
        function = module.function("fill")
        assert int(module) != 0
        assert int(function) != 0
        assert (function.name, function.module) == ("fill", module)
        assert int(module.function("fill")) == int(function)


def test_function_is_found_by_its_name_expression(compiler: Compiler, cache, driver: Driver) -> None:
    names = ["axpy<float>", "axpy<int>"]
    for _ in range(2):
        code = compile(cache, TEMPLATE, name_expressions=names)
        module = code.load()
        functions = [int(module.function(name)) for name in names]
        assert len(set(functions)) == 2
        assert [int(module.function(code.lowered_names[name])) for name in names] == functions


def test_missing_function_is_named(compiler: Compiler, cache, driver: Driver) -> None:
    module = compile(cache).load()
    with pytest.raises(jitcache.DriverError, match=r"CUDA_ERROR_NOT_FOUND: named symbol not found \(no_such\)"):
        module.function("no_such")
    with pytest.raises(jitcache.Error, match="NUL"):
        module.function("fill\0")
    assert int(module.function("fill")) != 0


def test_same_code_is_loaded_once(stub: Compiler, cache, driver: Driver, calls: CallLog) -> None:
    modules = [compile(store).load() for store in (cache, cache, False)]
    assert calls.count(LOAD) == 1
    assert len({int(m) for m in modules}) == 1
    assert int(compile(cache, kernel(2)).load()) != int(modules[0])
    assert calls.count(LOAD) == 2


def test_threads_load_once(stub: Compiler, cache, driver: Driver, calls: CallLog) -> None:
    code = compile(cache)
    context = driver.push()
    loaded: list[cuda.Module] = []

    def load() -> None:
        driver.call("cuCtxSetCurrent", context)
        loaded.append(code.load())

    threads = [threading.Thread(target=load) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len({int(m) for m in loaded}) == calls.count(LOAD) == 1


def test_each_context_has_its_own_module(stub: Compiler, cache, driver: Driver, calls: CallLog) -> None:
    first = compile(cache).load()
    second_context = driver.push()
    second = compile(cache).load()
    assert int(first) != int(second)
    assert calls.count(LOAD) == 2
    # Functions come from the module's own context, whichever is current.
    assert int(first.function("fill")) != int(second.function("fill"))
    driver.destroy(second_context)
    assert int(compile(cache).load()) == int(first)


def test_context_at_the_address_of_a_destroyed_one(stub: Compiler, cache, driver: Driver, calls: CallLog) -> None:
    old = driver.push()
    gone = compile(cache).load()
    driver.destroy(old)
    new = driver.push()
    assert new.value == old.value
    module = compile(cache).load()
    assert calls.count(LOAD) == 2
    assert int(module.function("fill")) != 0
    with pytest.raises(jitcache.DriverError, match="CUDA_ERROR_CONTEXT_IS_DESTROYED"):
        gone.function("fill")
    del gone
    gc.collect()
    assert int(module.function("fill")) != 0


def test_module_is_unloaded_when_nothing_refers_to_it(stub: Compiler, cache, driver: Driver, calls: CallLog) -> None:
    modules = [compile(cache).load() for _ in range(2)]
    function = modules[0].function("fill")
    driver.push()  # it is unloaded in its own context
    modules.clear()
    gc.collect()
    assert calls.count(UNLOAD) == 0  # the function holds it
    del function
    gc.collect()
    assert calls.lines(UNLOAD) == [UNLOAD]  # and that succeeded
    driver.pop()
    assert int(compile(cache).load()) != 0
    assert calls.count(LOAD) == 2


def test_module_outlives_its_code_and_its_cache(stub: Compiler, tmp_path: Path, driver: Driver) -> None:
    with jitcache.Cache(tmp_path / "cache") as cache:
        module = compile(cache).load()
    gc.collect()
    assert int(module.function("fill")) != 0


# -- what the driver refuses


@pytest.mark.parametrize(
    ("call", "code", "name"),
    [
        ("cuInit", 100, "CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected"),
        ("cuCtxGetCurrent", 4, "CUDA_ERROR_DEINITIALIZED: driver shutting down"),
        ("cuCtxGetId", 709, "CUDA_ERROR_CONTEXT_IS_DESTROYED: context is destroyed"),
        (LOAD, 2, "CUDA_ERROR_OUT_OF_MEMORY: out of memory"),
        (LOAD, 12345, "error 12345: unknown to this driver"),
    ],
)
def test_driver_that_fails_is_told_by_name(
    stub: Compiler, cache, driver_file: Path, monkeypatch: pytest.MonkeyPatch, call: str, code: int, name: str
) -> None:
    if call != "cuInit":
        Driver(driver_file).push()
    monkeypatch.setenv("FAKECUDA_FAIL", f"{call}={code}")
    with pytest.raises(jitcache.DriverError, match=f"{call}: {name}"):
        compile(cache).load()
    assert stub.compiles == 1  # the code is not at fault
    monkeypatch.delenv("FAKECUDA_FAIL")
    if call == "cuInit":
        Driver(driver_file).push()
    assert int(compile(cache).load()) != 0


@pytest.mark.parametrize(
    "call", ["cuCtxGetId", "cuCtxGetCurrent", "cuCtxPushCurrent_v2", "cuModuleGetFunction", "cuCtxPopCurrent_v2"]
)
def test_function_that_fails_is_told_by_name(
    stub: Compiler, cache, driver: Driver, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    module = compile(cache).load()
    driver.push()
    monkeypatch.setenv("FAKECUDA_FAIL", f"{call}=999:1")
    with pytest.raises(jitcache.DriverError, match=f"{call}: CUDA_ERROR_UNKNOWN: unknown error"):
        module.function("fill")
    assert int(module.function("fill")) != 0


def test_unload_that_fails_is_nobodys_business(stub: Compiler, cache, driver: Driver, calls, monkeypatch) -> None:
    module = compile(cache).load()
    monkeypatch.setenv("FAKECUDA_FAIL", f"{UNLOAD}=700")
    del module
    gc.collect()
    assert calls.lines(UNLOAD) == [f"{UNLOAD} 700"]
    assert int(compile(cache).load()) != 0


def test_no_context_is_said(stub: Compiler, cache, driver_file: Path) -> None:
    for store in (cache, False):
        with pytest.raises(jitcache.DriverError, match="no CUDA context is current"):
            compile(store).load()
    assert stub.compiles == 2


def test_no_driver_is_said(stub: Compiler, cache, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JITCACHE_LIBCUDA", "/nowhere/libcuda.so.1")
    with pytest.raises(jitcache.LibraryError, match="/nowhere"):
        compile(cache).load()


@pytest.mark.parametrize(("code", "name"), [(200, "INVALID_IMAGE"), (209, "NO_BINARY_FOR_GPU"), (218, "INVALID_PTX")])
def test_code_that_is_always_refused_is_compiled_again_once(
    stub: Compiler, cache, driver: Driver, monkeypatch: pytest.MonkeyPatch, code: int, name: str
) -> None:
    monkeypatch.setenv("FAKECUDA_FAIL", f"{LOAD}={code}")
    with pytest.raises(jitcache.DriverError, match=f"{LOAD}: CUDA_ERROR_{name}"):
        compile(cache).load()
    assert stub.compiles == 2


def test_code_for_another_device_is_reported(compiler: Compiler, cache, driver: Driver) -> None:
    code = compile(cache, options=["-arch=sm_90"])
    with pytest.raises(jitcache.DriverError, match="CUDA_ERROR_NO_BINARY_FOR_GPU"):
        code.load()
    assert compiler.compiles == 2


GARBAGE = {
    "text": b"no cubin at all",
    "cut short": None,  # half of the code
    "header only": b"\x7fELF\x02\x01\x01\x41" + bytes(56),
}


@pytest.mark.parametrize("what", GARBAGE)
def test_bad_code_leaves_the_cache_and_is_compiled_again(
    compiler: Compiler, cache, driver: Driver, calls: CallLog, what: str
) -> None:
    good = compile(cache)
    bad = GARBAGE[what] or good.code[: len(good) // 2]
    key = cuda.key(kernel(), options=OPTIONS, cache=cache)
    assert cache.put(key, bad, kind="cubin", replace=True)
    found = compile(cache)
    assert (found.hit, found.code) == (True, bad)
    assert int(found.load().function("fill")) != 0
    assert compiler.compiles == 2
    mended = compile(cache)
    assert (mended.hit, mended.code) == (True, good.code)


def test_damaged_file_is_compiled_again(stub: Compiler, cache, driver: Driver) -> None:
    good = compile(cache)
    path = Path(cache.entry(cuda.key(kernel(), options=OPTIONS, cache=cache)).path)
    for entry in path.parents[1].rglob("*.jce"):
        data = bytearray(entry.read_bytes())
        data[len(data) // 2] ^= 1
        entry.chmod(0o600)
        entry.write_bytes(data)
    again = compile(cache)
    assert (again.hit, again.code) == (False, good.code)
    assert int(again.load()) != 0
    assert compile(cache).hit


def test_names_of_code_that_was_compiled_again(compiler: Compiler, cache, driver: Driver) -> None:
    """They come from the new code, not from the one that was refused."""
    request = {"source": TEMPLATE, "options": OPTIONS, "name_expressions": ["axpy<float>"]}
    cuda.compile(**request, cache=cache)
    key = cuda.key(**request, cache=cache)
    assert cache.put(key, b"garbage", kind="cubin", replace=True)
    code = cuda.compile(**request, cache=cache)
    assert code.lowered_names == {}
    assert int(code.load().function("axpy<float>")) != 0


def test_lto_code_is_for_the_linker(compiler: Compiler, cache, driver: Driver) -> None:
    with pytest.raises(jitcache.DriverError):
        compile(cache, target="ltoir").load()


def test_forked_child_has_no_module_of_its_parent(stub: Compiler, cache, driver: Driver) -> None:
    module = compile(cache).load()
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            module.function("fill")
            said = "found"
        except jitcache.DriverError as e:
            said = str(e)
        os.write(write, said.encode())
        os._exit(0)
    os.close(write)
    with open(read) as f:
        assert "fork" in f.read()
    assert os.waitpid(pid, 0)[1] == 0
    assert int(module.function("fill")) != 0


def test_header_decides_what_is_loaded(stub: Compiler, cache, driver: Driver, calls: CallLog, tmp_path: Path) -> None:
    header, source = tmp_path / "value.h", "#include <value.h>\n" + KERNEL
    modules = []
    for value in (1, 2, 1):
        header.write_text(f"#define VALUE {value}\n")
        modules.append(compile(cache, source, options=[*OPTIONS, f"-I{tmp_path}"]).load())
    assert int(modules[0]) == int(modules[2]) != int(modules[1])
    assert calls.count(LOAD) == 2
