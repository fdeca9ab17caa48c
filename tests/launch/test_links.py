"""The launcher under other names: gcc, g++ and ccache, first in PATH."""

from __future__ import annotations

import shutil
from typing import Any

import conftest
import pytest


@pytest.fixture
def links(place: Any) -> Any:
    folder = place.folder.parent / "links"
    folder.mkdir()
    for name in ("gcc", "g++", "ccache", "sccache", "random"):
        (folder / name).symlink_to(conftest.PROGRAM)
    place.env["PATH"] = f"{folder}:{place.env['PATH']}"
    return folder


def test_link_named_for_a_compiler(place: Any, links: Any, gcc: str) -> None:
    place.write(a_c="int main(void) { return 0; }\n")
    objects = []
    for words in ((gcc,), (gcc,), (links / gcc,), ("ccache", gcc)):
        p = place.plain(*words, "-flto", "-c", "a.c", "-o", "a.o")
        assert p.returncode == 0, p.stderr
        objects.append(place.read("a.o"))
    assert len(set(objects)) <= 2  # ccache gcc is other words than the path that is found
    assert objects[0] == objects[1] == objects[2]


def test_link_named_for_a_cache_runs_what_it_is_given(place: Any, links: Any) -> None:
    for name in ("ccache", "sccache"):
        said = [place.plain(name, "random").stdout for _ in range(2)]
        assert said[0] == said[1] != b""


def test_link_named_gxx(place: Any, links: Any, gcc: str) -> None:
    place.write(a_cpp="#include <vector>\nint main() { return std::vector<int>(3).size() - 3; }\n")
    objects = []
    for _ in range(2):
        assert place.plain("g++", "-flto", "a.cpp", "-o", "a").returncode == 0
        objects.append(place.read("a"))
    assert objects[0] == objects[1]
    assert place.plain("./a").returncode == 0


def test_link_behind_a_link(place: Any, links: Any) -> None:
    """Two folders of links: what is found is still the program."""
    second = place.folder.parent / "second"
    second.mkdir()
    (second / "random").symlink_to(links / "random")
    place.env["PATH"] = f"{second}:{place.env['PATH']}"
    said = [place.plain("random").stdout for _ in range(2)]
    assert said[0] == said[1] != b""


def test_no_other_program_of_the_name(place: Any, links: Any) -> None:
    (links / "nosuch").symlink_to(conftest.PROGRAM)
    p = place.plain("nosuch", "-c")
    assert p.returncode == 127
    assert p.stderr.startswith(b"jitcache: nosuch: ")


def test_two_launchers(place: Any, links: Any, gcc: str) -> None:
    """Another version of the launcher is behind the first: each finds the compiler."""
    second = place.folder.parent / "second"
    second.mkdir()
    copy = second / "jitcache"
    shutil.copy(conftest.PROGRAM, copy)
    (second / "random").symlink_to(copy)
    for path in (f"{second}:{links}", f"{links}:{second}"):
        env = {"PATH": f"{path}:{place.tools}:/usr/bin:/bin"}
        p = place.plain("random", env=env, timeout=20)
        assert p.returncode == 0
        assert len(p.stdout.split()) == 16


def test_launcher_without_its_observer(place: Any) -> None:
    alone = place.folder.parent / "alone"
    alone.mkdir()
    shutil.copy(conftest.PROGRAM, alone / "jitcache")
    env = {"JITCACHE_LOG": "miss"}
    said = [place.plain(alone / "jitcache", "run", "random", env=env) for _ in range(2)]
    assert said[0].stdout != said[1].stdout
    assert b"jitcache-observe" in said[0].stderr
