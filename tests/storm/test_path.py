"""Entry.path: the module that was asked for, whatever others do to the directory meanwhile."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Callable, NoReturn

import jitcache
import pytest
from crowd import STUCK, Crowd

from build_library import find_cc

MODULES = 8
ROUNDS = 200

#: What happens between entry() and dlopen, done by another process; and whether
#: the path may have been asked for before. One that was goes with the tree.
DEEDS = {"clear": True, "trim": True, "remove": True, "replace": True, "rmtree": False}


def key(n: int) -> jitcache.Key:
    return jitcache.Key(module=n)


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    """Shared objects that each return their own number."""
    folder = tmp_path_factory.mktemp("modules")
    found = []
    for n in range(MODULES):
        source, module = folder / f"{n}.c", folder / f"{n}.so"
        source.write_text(f"int number(void) {{ return {n}; }}\n")
        subprocess.run([*(find_cc() or ["cc"]), "-shared", "-fPIC", "-o", str(module), str(source)], check=True)
        found.append(module.read_bytes())
    return found


class Other:
    """Another process that does as it is told."""

    def __init__(self, crowd: Crowd, folder: Path, modules: list[bytes]) -> None:
        self._orders, self._answers = os.pipe(), os.pipe()
        crowd.start(self._obey, folder, modules)

    def _obey(self, folder: Path, modules: list[bytes]) -> NoReturn:
        while True:
            deed, n = os.read(self._orders[0], 64).decode().split()
            cache = jitcache.Cache(folder, max_size=1 << 30, memory_size=0)
            if deed == "clear":
                cache.clear()
            elif deed == "trim":
                small = jitcache.Cache(folder, max_size=1, memory_size=0)
                small.trim()
                small.close()
            elif deed == "remove":
                cache.remove(key(int(n)))
            elif deed == "replace":
                cache.put(key(int(n)), modules[(int(n) + 1) % MODULES], replace=True)
            else:
                shutil.rmtree(folder)
            cache.close()
            os.write(self._answers[1], b".")

    def do(self, deed: str, n: int) -> None:
        os.write(self._orders[1], f"{deed} {n}".encode())
        assert os.read(self._answers[0], 1) == b"."


PathOf = Callable[[jitcache.Entry, Path], str]


def user(crowd: Crowd, other: Other, folder: Path, modules: list[bytes], path_of: PathOf) -> None:
    """Look modules up and load them, with a deed of the other process in between."""
    for turn in range(ROUNDS):
        n = turn % MODULES
        deed, path_before = list(DEEDS.items())[turn % len(DEEDS)]
        cache = jitcache.Cache(folder, max_size=1 << 30, memory_size=(turn // len(DEEDS) % 2) << 20)
        assert cache.put(key(n), modules[n], replace=True)
        place = folder / "v1" / "entries" / key(n).hex[:2] / f"{key(n).hex[2:]}.jce"
        held = cache.entry(key(n))
        assert held is not None
        with held as entry:
            before = path_of(entry, place) if path_before and turn // MODULES % 2 else ""
            was = place.stat().st_ino
            other.do(deed, n)
            assert not place.exists() or place.stat().st_ino != was, f"{deed} has done nothing"
            try:
                found = ctypes.CDLL(before or path_of(entry, place)).number()
            except OSError as e:
                found = e
        if found != n:
            crowd.complain(f"turn {turn}, {deed}: {found} instead of module {n}\n")
        cache.close()
    crowd.complain(f"{ROUNDS} rounds\n")


def rounds(folder: Path, modules: list[bytes], path_of: PathOf) -> str:
    """Return what was noted in all rounds."""
    with Crowd(folder) as crowd:
        other = Other(crowd, folder / "cache", modules)
        asker = crowd.start(user, crowd, other, folder / "cache", modules, path_of)
        end = time.monotonic() + STUCK
        while not crowd.ended(asker) and time.monotonic() < end:
            time.sleep(0.02)
    return crowd.complaints()


def test_path_loads_the_module_that_was_asked_for(tmp_path: Path, modules: list[bytes]) -> None:
    assert rounds(tmp_path, modules, lambda entry, _: entry.path) == f"{ROUNDS} rounds\n"


def test_control_the_file_of_an_entry_is_not_good_enough(tmp_path: Path, modules: list[bytes]) -> None:
    """A path into entries/, which others change, and which dlopen has seen."""
    noted = rounds(tmp_path, modules, lambda _, place: str(place))
    assert "cannot open" in noted
    assert any(f"replace: {n} instead" in noted for n in range(MODULES)), noted
