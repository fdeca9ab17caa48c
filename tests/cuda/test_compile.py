"""A source is compiled once, and found from then on as it was compiled."""

from __future__ import annotations

import contextlib
import threading
from pathlib import Path
from typing import Callable

import jitcache
import pytest
from conftest import Compiler, use
from jitcache import cuda
from processes import check
from sources import KERNEL, OPTIONS, TEMPLATE, WARNS, kernel

BEGINS = {"cubin": b"\x7fELF", "ptx": b"//", "ltoir": b""}


@pytest.mark.parametrize("target", BEGINS)
def test_second_compile_finds_the_first(compiler: Compiler, cache: jitcache.Cache, target: str) -> None:
    first = cuda.compile(kernel(), options=OPTIONS, target=target, cache=cache)
    second = cuda.compile(kernel(), options=OPTIONS, target=target, cache=cache)
    assert (first.hit, second.hit) == (False, True)
    assert compiler.compiles == 1
    assert first.code == second.code == bytes(second) == second.view.tobytes()
    assert first.code.startswith(BEGINS[target])
    assert len(first) == len(first.code) > 0
    for code in (first, second):
        assert (code.target, code.arch) == (target, "sm_80")
    fresh = cuda.compile(kernel(), options=OPTIONS, target=target, cache=False)
    assert (fresh.code, fresh.hit) == (first.code, False)


def test_targets_are_different_results(compiler: Compiler, cache: jitcache.Cache) -> None:
    codes = {cuda.compile(kernel(), options=OPTIONS, target=t, cache=cache).code for t in BEGINS}
    assert len(codes) == compiler.compiles == len(BEGINS)


ASK = """
    import sys, jitcache
    from jitcache import cuda
    cache, source, *options = sys.argv[1:]
    code = cuda.compile(source, options=options, cache=jitcache.Cache(cache))
    print(code.hit, code.code.hex())
"""


def test_another_process_finds_what_one_compiled(compiler: Compiler, tmp_path: Path) -> None:
    first = check(ASK, tmp_path / "cache", kernel(), *OPTIONS).split()
    second = check(ASK, tmp_path / "cache", kernel(), *OPTIONS).split()
    assert (first[0], second[0]) == ("False", "True")
    assert first[1] == second[1]
    assert compiler.compiles == 1


def test_warnings_come_with_every_hit(compiler: Compiler, cache: jitcache.Cache) -> None:
    codes = [cuda.compile(WARNS, options=OPTIONS, cache=cache) for _ in range(2)]
    assert [code.hit for code in codes] == [False, True]
    assert "mind the gap" in codes[0].log
    assert codes[0].log == codes[1].log
    assert cuda.compile(kernel(), options=OPTIONS, cache=cache).log == ""


def test_lowered_names_come_with_every_hit(compiler: Compiler, cache: jitcache.Cache) -> None:
    names = ["axpy<float>", "axpy<double>"]
    codes = [cuda.compile(TEMPLATE, options=OPTIONS, name_expressions=names, cache=cache) for _ in range(2)]
    assert [code.hit for code in codes] == [False, True]
    assert codes[0].lowered_names == codes[1].lowered_names
    assert set(codes[0].lowered_names) == set(names)
    for lowered in codes[1].lowered_names.values():
        assert lowered.startswith("_Z")
        assert lowered.encode() in codes[1].code


def test_version_of_nvrtc_comes_with_every_hit(
    built: Callable[[str], Path], cache: jitcache.Cache, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name, version in (("stub", "13.5"), ("older", "12.9")):
        use(monkeypatch, name, built(name))
        codes = [cuda.compile(kernel(), options=OPTIONS, cache=cache) for _ in range(2)]
        assert [(code.nvrtc, code.hit) for code in codes] == [(version, False), (version, True)]


def test_other_name_expressions_are_another_request(compiler: Compiler, cache: jitcache.Cache) -> None:
    for names in (["axpy<int>", "axpy<float>"], ["axpy<int>"]):
        code = cuda.compile(TEMPLATE, options=OPTIONS, name_expressions=names, cache=cache)
        assert (set(code.lowered_names), code.hit) == (set(names), False)


def test_headers_in_memory(compiler: Compiler, cache: jitcache.Cache) -> None:
    def compile(text: str) -> cuda.Code:
        source = '#include "value.h"\n' + KERNEL
        return cuda.compile(source, options=OPTIONS, headers={"value.h": text}, cache=cache)

    one, two, again = (compile(f"#define VALUE {n}\n") for n in (1, 2, 1))
    assert one.code != two.code
    assert one.code == again.code
    assert [c.hit for c in (one, two, again)] == [False, False, True]


def test_text_and_bytes_are_one_source(stub: Compiler, cache: jitcache.Cache) -> None:
    source = kernel(before="// größer")
    cuda.compile(source, options=OPTIONS, cache=cache)
    options = [o.encode() for o in OPTIONS]
    assert cuda.compile(source.encode(), options=options, cache=cache).hit


def test_paths_are_options(stub: Compiler, cache: jitcache.Cache, tmp_path: Path) -> None:
    (tmp_path / "value.h").write_text("#define VALUE 1\n")
    source = "#include <value.h>\n" + KERNEL
    cuda.compile(source, options=[*OPTIONS, "-I", tmp_path], cache=cache)
    assert cuda.compile(source, options=[*OPTIONS, "-I", str(tmp_path)], cache=cache).hit


def test_default_cache_is_used_unless_told(stub: Compiler, tmp_path: Path) -> None:
    assert [cuda.compile(kernel(), options=OPTIONS).hit for _ in range(2)] == [False, True]
    assert jitcache.Cache(tmp_path / "default-cache").get(cuda.key(kernel(), options=OPTIONS)) is not None


def test_no_cache_compiles_each_time_and_stores_nothing(compiler: Compiler, tmp_path: Path) -> None:
    codes = [cuda.compile(WARNS, options=OPTIONS, cache=False) for _ in range(2)]
    assert [code.hit for code in codes] == [False, False]
    assert codes[0].code == codes[1].code
    assert "mind the gap" in codes[1].log
    assert compiler.compiles == 2
    assert not (tmp_path / "default-cache").exists()


def test_disabled_cache_compiles_each_time(stub: Compiler, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JITCACHE", "0")
    with jitcache.Cache(tmp_path / "cache") as cache:
        codes = [cuda.compile(WARNS, options=OPTIONS, cache=cache) for _ in range(2)]
    assert [code.hit for code in codes] == [False, False]
    assert "mind the gap" in codes[1].log
    assert stub.compiles == 2
    assert not (tmp_path / "cache").exists()


def test_disabled_cache_has_nothing_to_say_of_the_time(
    stub: Compiler, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    source = kernel(before="const char *today = __DATE__;")
    monkeypatch.setenv("JITCACHE", "0")
    with jitcache.Cache(tmp_path / "cache") as cache:
        code = cuda.compile(source, options=OPTIONS, cache=cache)
    assert (code.hit, code.refused) == (False, "")
    assert stub.compiles == 1


def test_readonly_cache_finds_and_stores_nothing(stub: Compiler, cache: jitcache.Cache, tmp_path: Path) -> None:
    cuda.compile(kernel(1), options=OPTIONS, cache=cache)
    reader = jitcache.Cache(tmp_path / "cache", memory_size=0, readonly=True)
    assert cuda.compile(kernel(1), options=OPTIONS, cache=reader).hit
    assert [cuda.compile(kernel(2), options=OPTIONS, cache=reader).hit for _ in range(2)] == [False, False]


def test_cache_that_cannot_be_had_compiles(stub: Compiler, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder\n")
    cache = jitcache.Cache(tmp_path / "file" / "cache")
    fresh = cuda.compile(kernel(), options=OPTIONS, cache=False)
    for _ in range(2):
        assert cuda.compile(kernel(), options=OPTIONS, cache=cache).code == fresh.code
    closed = jitcache.Cache(tmp_path / "cache")
    closed.close()
    assert cuda.compile(kernel(), options=OPTIONS, cache=closed).code == fresh.code


@pytest.mark.parametrize("bad", ["a cache", True, 1])
def test_cache_is_a_cache(bad: object) -> None:
    with pytest.raises(TypeError, match="cache"):
        cuda.compile(kernel(), options=OPTIONS, cache=bad)


def test_memory_and_disk_give_the_same(stub: Compiler, tmp_path: Path) -> None:
    first = cuda.compile(WARNS, options=OPTIONS, cache=jitcache.Cache(tmp_path / "cache"))
    for memory in ("64Mi", 0):
        cache = jitcache.Cache(tmp_path / "cache", memory_size=memory)
        for _ in range(2):
            found = cuda.compile(WARNS, options=OPTIONS, cache=cache)
            assert (found.hit, found.code, found.log) == (True, first.code, first.log)


def test_key_is_that_of_the_code(stub: Compiler, cache: jitcache.Cache) -> None:
    """Until there is some it stands for the request, and nothing is under it."""
    before = cuda.key(kernel(), options=OPTIONS, cache=cache)
    assert cache.get(before) is None
    assert not cache.explain(before)["hit"]
    code = cuda.compile(kernel(), options=OPTIONS, cache=cache)
    key = cuda.key(kernel(), options=OPTIONS, cache=cache)
    assert cache.get(key) == code.code
    assert cache.explain(key)["hit"]
    assert cache.remove(key)
    assert not cuda.compile(kernel(), options=OPTIONS, cache=cache).hit


def test_threads_compile_once_and_get_what_they_ask_for(compiler: Compiler, cache: jitcache.Cache) -> None:
    wanted = [n % 4 for n in range(12)]
    got: list[tuple[int, bytes]] = []
    barrier = threading.Barrier(len(wanted))

    def ask(n: int) -> None:
        barrier.wait()
        got.append((n, cuda.compile(kernel(n), options=OPTIONS, cache=cache).code))

    threads = [threading.Thread(target=ask, args=(n,)) for n in wanted]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(got) == len(wanted)
    assert compiler.compiles == 4
    for n, code in got:
        assert code == cuda.compile(kernel(n), options=OPTIONS, cache=False).code


FORKS = """
    import os, sys, jitcache
    from jitcache import cuda
    directory, one, two, *options = sys.argv[1:]
    cache = jitcache.Cache(directory)
    before = cuda.compile(one, options=options, cache=cache)
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        found = cuda.compile(one, options=options, cache=cache)
        made = cuda.compile(two, options=options, cache=cache)
        print(found.hit, found.code == before.code, before.code == found.code, made.hit, flush=True)
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
    print(cuda.compile(two, options=options, cache=cache).hit)
"""


def test_forked_child_finds_and_compiles(compiler: Compiler, tmp_path: Path) -> None:
    assert check(FORKS, tmp_path / "cache", kernel(1), kernel(2), *OPTIONS) == "True True True False\nTrue\n"
    assert compiler.compiles == 2


def test_every_program_is_destroyed(compiler: Compiler, cache: jitcache.Cache) -> None:
    for source in (kernel(), "#error no\n", kernel(2)):
        with contextlib.suppress(jitcache.CompileError):
            cuda.compile(source, options=OPTIONS, cache=cache)
    log = compiler.log
    assert log.count("nvrtcCreateProgram") == log.count("nvrtcDestroyProgram") == 3


def test_environment_is_read_at_each_compile(
    stub: Compiler, cache: jitcache.Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    cuda.compile(kernel(), options=OPTIONS, cache=cache)
    monkeypatch.setenv("JITCACHE_NVRTC", "/nowhere/libnvrtc.so.13")
    with pytest.raises(jitcache.LibraryError, match="/nowhere"):
        cuda.compile(kernel(), options=OPTIONS, cache=cache)
