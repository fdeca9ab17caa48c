"""What a compile has looked at is remembered, and checked by stat alone."""

from __future__ import annotations

import time
from pathlib import Path

import jitcache
import pytest
from conftest import Compiler
from jitcache import cuda
from opens import Opens
from processes import check
from sources import KERNEL, OPTIONS

SOURCE = "#include <outer.h>\n" + KERNEL
OLD = 0.06  # after that long, a file's time stamps are taken for what they are

ASK = """
    import sys, jitcache
    from jitcache import cuda
    directory, source, *options = sys.argv[1:]
    code = cuda.compile(source, options=options, cache=jitcache.Cache(directory, memory_size=0))
    print(code.hit, code.code.hex())
"""


@pytest.fixture
def headers(tmp_path: Path) -> list[Path]:
    """Two headers, one of which includes the other, and some that are none of the source's business."""
    for name, text in (("outer.h", "#include <value.h>\n"), ("value.h", "#define VALUE 1\n"), ("other.h", "")):
        (tmp_path / name).write_text(text)
    time.sleep(OLD)
    return [tmp_path / "outer.h", tmp_path / "value.h"]


def ask(tmp_path: Path) -> tuple[bool, str]:
    """Ask in another process."""
    hit, code = check(ASK, tmp_path / "cache", SOURCE, *OPTIONS, f"-I{tmp_path}").split()
    return hit == "True", code


def here(tmp_path: Path, cache: jitcache.Cache | bool) -> cuda.Code:
    """Ask in this one."""
    return cuda.compile(SOURCE, options=[*OPTIONS, f"-I{tmp_path}"], cache=cache)


def test_headers_with_old_stamps_are_not_opened_again(
    stub: Compiler, cache: jitcache.Cache, headers: list[Path], tmp_path: Path
) -> None:
    opens = Opens(*headers)
    assert not ask(tmp_path)[0]
    assert opens() == {"outer.h", "value.h"}  # by NVRTC too
    for _ in range(2):
        assert ask(tmp_path)[0]
        assert opens() == set()
    for _ in range(3):
        assert here(tmp_path, cache).hit
        assert opens() == set()


def test_touched_header_is_read_once(stub: Compiler, headers: list[Path], tmp_path: Path) -> None:
    ask(tmp_path)
    headers[1].touch()
    time.sleep(OLD)
    opens = Opens(*headers)
    assert ask(tmp_path)[0]
    assert opens() == {"value.h"}
    assert ask(tmp_path)[0]
    assert opens() == set()


def test_header_that_has_just_changed_is_read_until_its_stamps_are_old(
    stub: Compiler, headers: list[Path], tmp_path: Path
) -> None:
    opens = Opens(*headers)
    headers[1].write_text("#define VALUE 2\n")
    opens()
    cache = jitcache.Cache(tmp_path / "cache", memory_size=0)
    here(tmp_path, cache)
    opens()
    time.sleep(OLD)
    assert here(tmp_path, cache).hit
    assert opens() <= {"value.h"}
    assert here(tmp_path, cache).hit
    assert opens() == set()


def test_branches_that_come_back_are_known(stub: Compiler, headers: list[Path], tmp_path: Path) -> None:
    """The last few trees of a source are remembered, not only the newest."""
    codes = {}
    for value in (1, 2, 3, 1, 2, 3):
        headers[1].write_text(f"#define VALUE {value}\n")
        time.sleep(OLD)
        hit, code = ask(tmp_path)
        assert hit == (value in codes)
        assert codes.setdefault(value, code) == code
    assert len(set(codes.values())) == stub.compiles == 3


def test_many_branches_that_take_turns_compile_once_each(
    stub: Compiler, cache: jitcache.Cache, headers: list[Path], tmp_path: Path
) -> None:
    rounds, branches = 2, 20
    for _ in range(rounds):
        for value in range(branches):
            headers[1].write_text(f"#define VALUE {value}\n")
            assert here(tmp_path, cache).code == here(tmp_path, False).code
    assert stub.compiles == branches + rounds * branches


@pytest.mark.parametrize("how", ["flipped", "cut", "emptied", "removed"])
def test_lost_manifests_cost_a_compile_and_no_answer(
    stub: Compiler, headers: list[Path], tmp_path: Path, how: str
) -> None:
    good = ask(tmp_path)[1]
    damaged = 0
    for entry in (tmp_path / "cache").rglob("*.jce"):
        data = bytearray(entry.read_bytes())
        if b"outer.h" not in data:
            continue
        damaged += 1
        entry.chmod(0o600)
        if how == "removed":
            entry.unlink()
            continue
        data[len(data) // 2] ^= how == "flipped"
        entry.write_bytes(data[: {"flipped": None, "cut": len(data) // 2, "emptied": 0}[how]])
    assert damaged > 0
    assert ask(tmp_path) == (False, good)
    assert ask(tmp_path) == (True, good)
    headers[1].write_text("#define VALUE 2\n")
    hit, code = ask(tmp_path)
    assert not hit
    assert code == here(tmp_path, False).code.hex() != good


def test_manifests_can_be_cleared_by_their_kind(
    stub: Compiler, cache: jitcache.Cache, headers: list[Path], tmp_path: Path
) -> None:
    good = ask(tmp_path)[1]
    for kind in ("manifest", "cubin"):
        cache.clear(kind)
        assert ask(tmp_path) == (False, good)
        assert ask(tmp_path) == (True, good)


def test_manifests_count_as_no_lookup(stub: Compiler, headers: list[Path], tmp_path: Path) -> None:
    for n in range(3):
        ask(tmp_path)
        with jitcache.Cache(tmp_path / "cache") as cache:
            total = cache.stats()["total"]
        assert (total["hits_disk"], total["misses"], total["puts"]) == (n, 1, 1)
