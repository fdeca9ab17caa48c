"""NVRTC is found, and known by what it is; neither it nor the driver is loaded before it is needed."""

from __future__ import annotations

import os
import shutil
import threading
from pathlib import Path
from typing import Callable

import jitcache
import pytest
from conftest import NVRTC, REAL, Compiler, use, wheels
from devices import Driver
from fakes import CallLog, Gate
from jitcache import cuda
from processes import check, start
from sources import KERNEL, OPTIONS, kernel

# Prints hit or miss, the code's architecture, and which of NVIDIA's libraries the process has mapped.
ASK = """
    import sys, jitcache
    from jitcache import cuda
    directory, source, how, *options = sys.argv[1:]
    code = cuda.compile(source, options=options, cache=jitcache.Cache(directory))
    if how == "load":
        try:
            code.load()
        except jitcache.DriverError:
            pass  # there is no context
    maps = open("/proc/self/maps").read()
    print("hit" if code.hit else "miss", code.arch, *(n for n in ("libnvrtc", "libcuda") if f"/{n}" in maps))
"""


def ask(tmp_path: Path, how: str = "", source: str = kernel(), options: tuple[str, ...] = OPTIONS, **env: str) -> str:
    return check(ASK, tmp_path / "cache", source, how, *options, env=env).strip()


@pytest.fixture(params=["stub", *REAL])
def plain(request: pytest.FixtureRequest, built: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """Every NVRTC, the real ones as NVIDIA has made them."""
    path = wheels(request.param) / NVRTC[request.param] if request.param in NVRTC else built(request.param)
    monkeypatch.setenv("JITCACHE_NVRTC", str(path))


def test_neither_nvrtc_nor_the_driver_is_mapped(plain: None, driver_file: Path, tmp_path: Path) -> None:
    (tmp_path / "value.h").write_text("#define VALUE 1\n")
    source, options = "#include <value.h>\n" + KERNEL, (*OPTIONS, f"-I{tmp_path}")
    assert ask(tmp_path, source=source, options=options) == "miss sm_80"  # a worker had it
    assert ask(tmp_path, source=source, options=options) == "hit sm_80"
    assert ask(tmp_path, "load", source=source, options=options) == "hit sm_80 libcuda"


# Prints which NVRTC has compiled, or why none could. NVIDIA's wheels are looked for in one folder only.
FIND = """
    import os, re, sys, jitcache
    from jitcache import cuda
    sys.path[:] = [p for p in sys.path if not os.path.isdir(os.path.join(p, "nvidia"))] + sys.argv[1:]
    try:
        cuda.compile("", options=["-arch=sm_80"], cache=False)
        print(re.search(r"/\\S*libnvrtc.so\\S*", open("/proc/self/maps").read())[0])
    except jitcache.LibraryError as e:
        print(e.status, e)
"""


def test_no_nvrtc_lists_the_places(tmp_path: Path) -> None:
    said = check(FIND, tmp_path / "site", env={"CUDA_HOME": str(tmp_path / "toolkit")})
    if said.startswith("/"):
        pytest.skip("this machine has an NVRTC where the loader looks")
    assert said.startswith("-22 ")
    for place in (tmp_path / "toolkit" / "lib64", tmp_path / "site" / "nvidia", "/etc/ld.so.cache", "libnvrtc.so.13"):
        assert str(place) in said


@pytest.mark.parametrize("folder", ["toolkit/lib64", "site/nvidia/cu13/lib", "site/nvidia/cuda_nvrtc/lib"])
def test_toolkit_and_wheels_are_found(built: Callable[[str], Path], tmp_path: Path, folder: str) -> None:
    place = tmp_path / folder / "libnvrtc.so.13"
    place.parent.mkdir(parents=True)
    shutil.copy(built("stub"), place)
    assert check(FIND, tmp_path / "site", env={"CUDA_HOME": str(tmp_path / "toolkit")}) == f"{place}\n"


@pytest.mark.parametrize("kind", ["missing", "relative", "folder", "text"])
def test_nvrtc_that_is_none_is_named(cache: jitcache.Cache, monkeypatch, tmp_path: Path, kind: str) -> None:
    path = tmp_path / "libnvrtc.so.13"
    if kind == "folder":
        path.mkdir()
    if kind == "text":
        path.write_text("no library\n")
    name = "libnvrtc.so.13" if kind == "relative" else str(path)
    monkeypatch.setenv("JITCACHE_NVRTC", name)
    for store in (cache, False):
        with pytest.raises(jitcache.LibraryError, match=name):
            cuda.compile(kernel(), options=OPTIONS, cache=store)


def test_library_without_the_functions_is_named(cache: jitcache.Cache, driver_file: Path, monkeypatch) -> None:
    monkeypatch.setenv("JITCACHE_NVRTC", str(driver_file))
    with pytest.raises(jitcache.LibraryError, match="nvrtc"):
        cuda.compile(kernel(), options=OPTIONS, cache=cache)


# -- the architecture


def test_no_architecture_and_no_driver_is_an_error(stub: Compiler, cache: jitcache.Cache, monkeypatch) -> None:
    monkeypatch.setenv("JITCACHE_LIBCUDA", "/nowhere/libcuda.so.1")
    for store in (cache, False):
        with pytest.raises(jitcache.LibraryError, match=r"--gpu-architecture.*/nowhere"):
            cuda.compile(kernel(), cache=store)
    assert stub.compiles == 0


def test_no_architecture_is_that_of_the_device(compiler: Compiler, driver_file: Path, tmp_path: Path) -> None:
    for said, capability in (("miss", 80), ("miss", 90), ("hit", 80), ("hit", 90)):
        words = ask(tmp_path, options=(), FAKECUDA_CC=str(capability)).split()
        assert words[:2] == [said, f"sm_{capability}"]
    assert compiler.compiles == 2


def test_current_context_decides_which_device(stub: Compiler, cache, driver_file: Path, monkeypatch) -> None:
    monkeypatch.setenv("FAKECUDA_DEVICES", "2")
    monkeypatch.setenv("FAKECUDA_CC", "80,90")
    driver = Driver(driver_file)
    assert cuda.compile(kernel(), cache=cache).arch == "sm_80"
    driver.push(1)
    assert cuda.compile(kernel(), cache=cache).arch == "sm_90"
    driver.push(0)
    assert cuda.compile(kernel(), cache=cache).hit
    driver.pop()
    assert cuda.compile(kernel(), cache=cache).arch == "sm_90"
    elsewhere: list[str] = []
    t = threading.Thread(target=lambda: elsewhere.append(cuda.compile(kernel(), cache=cache).arch))
    t.start()
    t.join()
    assert elsewhere == ["sm_80"]


def test_architecture_of_the_options_asks_no_driver(stub: Compiler, cache, driver_file: Path, calls: CallLog) -> None:
    for _ in range(2):
        cuda.compile(kernel(), options=OPTIONS, cache=cache)
    assert calls.lines() == []


@pytest.mark.parametrize("call", ["cuInit", "cuCtxGetDevice", "cuDeviceGet", "cuDeviceGetAttribute"])
def test_driver_that_does_not_say_is_named(stub: Compiler, cache, driver_file: Path, monkeypatch, call: str) -> None:
    monkeypatch.setenv("FAKECUDA_FAIL", f"{call}=999")
    for store in (cache, False):
        with pytest.raises(jitcache.DriverError, match=f"{call}: CUDA_ERROR_UNKNOWN: unknown error"):
            cuda.compile(kernel(), cache=store)
    monkeypatch.delenv("FAKECUDA_FAIL")
    assert cuda.compile(kernel(), cache=cache).arch == "sm_80"


# -- which NVRTC it is


def swapped(monkeypatch: pytest.MonkeyPatch, cache: jitcache.Cache, paths: list[Path]) -> list[cuda.Code]:
    """Compile the same with one NVRTC after the other."""
    codes = []
    for path in paths:
        monkeypatch.setenv("JITCACHE_NVRTC", str(path))
        codes.append(cuda.compile(kernel(), options=OPTIONS, cache=cache))
    return codes


@pytest.mark.parametrize(
    "names", [("stub", "older"), pytest.param(("12", "13"), marks=pytest.mark.nvrtc)], ids="-".join
)
def test_other_version_is_another_entry(names, built, cache: jitcache.Cache, monkeypatch) -> None:
    one, other = (built(name) for name in names)
    codes = swapped(monkeypatch, cache, [one, other, one, other])
    assert [code.hit for code in codes] == [False, False, True, True]
    assert codes[0].code == codes[2].code != codes[1].code == codes[3].code


@pytest.mark.parametrize("name", ["stub", *REAL])
def test_copy_in_its_place_hits(name: str, built, cache: jitcache.Cache, monkeypatch, tmp_path: Path) -> None:
    """The same files at the same paths, with other inodes and times, are another machine's."""
    folder = tmp_path / "toolkit"
    hits = []
    for _ in range(2):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for file in built(name).parent.iterdir():
            if file.is_file():
                shutil.copyfile(file, folder / file.name)
        hits += [code.hit for code in swapped(monkeypatch, cache, [folder / built(name).name])]
    assert hits == [False, True]


@pytest.fixture
def own(built: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Compiler:
    """An NVRTC that the test may replace."""
    path = tmp_path / "own" / "libnvrtc.so.13"
    path.parent.mkdir()
    shutil.copy(built("stub"), path)
    return use(monkeypatch, "own", path)


def replace(path: Path, by: Path) -> None:
    """Put a library in the place of another, as an upgrade does: who has the other one mapped keeps it."""
    shutil.copy(by, f"{path}.new")
    os.rename(f"{path}.new", path)


def test_replaced_nvrtc_is_noticed(own: Compiler, built: Callable[[str], Path], tmp_path: Path) -> None:
    said = []
    for name in ("stub", "older", "stub", "older"):
        replace(own.path, built(name))
        said.append(ask(tmp_path).split()[0])
    assert said == ["miss", "miss", "hit", "hit"]


UPGRADE = """
    import os, sys, jitcache
    from jitcache import cuda
    directory, new, one, two = sys.argv[1:]
    cache = jitcache.Cache(directory, memory_size=0)
    first = cuda.compile(one, options=["-arch=sm_80"], cache=cache)
    os.rename(new, os.environ["JITCACHE_NVRTC"])
    again = cuda.compile(one, options=["-arch=sm_80"], cache=cache)
    other = cuda.compile(two, options=["-arch=sm_80"], cache=cache)
    print(again.hit, again.code == first.code, other.code.hex())
"""


def test_process_goes_on_with_the_nvrtc_that_is_there(own: Compiler, built, tmp_path: Path, monkeypatch) -> None:
    """A worker that has the old one is not used again."""
    new = tmp_path / "new.so"
    shutil.copy(built("older"), new)
    again, same, other = check(UPGRADE, tmp_path / "cache", new, kernel(1), kernel(2)).split()
    assert (again, same) == ("False", "False")
    assert ask(tmp_path, source=kernel(1)).startswith("hit")
    assert ask(tmp_path, source=kernel(2)).startswith("hit")
    monkeypatch.setenv("JITCACHE_NVRTC", str(built("older")))
    assert cuda.compile(kernel(2), options=OPTIONS, cache=False).code.hex() == other


def test_nvrtc_replaced_while_it_compiles(
    own: Compiler, gate: Gate, built, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    p = start(ASK, tmp_path / "cache", kernel(), "", *OPTIONS)
    monkeypatch.delenv("STUBNVRTC_GATE")
    gate.wait(p)
    replace(own.path, built("older"))
    gate.open()
    assert p.wait(timeout=60) == 0
    assert ask(tmp_path).startswith("miss")
    assert own.compiles == 2
