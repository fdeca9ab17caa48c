"""Layers: a warmed image serves programs whose own directory is elsewhere, and is not changed."""

from __future__ import annotations

import ctypes
import hashlib
import os
import subprocess
from pathlib import Path

import compilers
import jitcache
import pytest
from processes import check, run
from test_fork import in_child

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

#: Compiles each of its arguments that is not in the cache; the witness is a file beside the program.
PROGRAM = """
import json, os, sys, jitcache
def compiled(n):
    with open(os.environ["WITNESS"], "a") as f:
        f.write(n + "\\n")
    return ("code of " + n).encode() * 1000
with jitcache.Cache() as cache:
    for n in sys.argv[1:]:
        key = jitcache.Key(source=n).named(n)
        assert cache.get_or_compile(key, lambda: compiled(n), kind="cubin") == ("code of " + n).encode() * 1000
        with cache.entry(key) as e:
            assert e.kind == "cubin" and e.name == n and bytes(e.view)[:7] == b"code of"
            assert open(e.path, "rb").read() == ("code of " + n).encode() * 1000
    total = cache.stats()["total"]
    print(json.dumps([total["hits_layer"], total["hits_disk"], total["compiles"], len(cache)]))
"""


class Image:
    """A warmed directory, and programs that use it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.directory, self.witness = folder, folder / "image", folder / "witness"
        self.witness.touch()

    def warm(self, *sources: str) -> None:
        self._run(sources, JITCACHE_DIR=str(self.directory))
        self.witness.write_text("")
        for path in [self.directory, *self.directory.rglob("*")]:
            path.chmod(0o555 if path.is_dir() else 0o444)

    def use(self, *sources: str, **env: str) -> str:
        """Run the program with a directory of its own over the image."""
        given = {"JITCACHE_LAYERS": str(self.directory), "JITCACHE_DIR": str(self.folder / "own"), **env}
        return self._run(sources, **given)

    def _run(self, sources: tuple[str, ...], **env: str) -> str:
        return check(PROGRAM, *sources, env={"WITNESS": str(self.witness), **env}).strip()

    def compiled(self) -> list[str]:
        return self.witness.read_text().split()

    def state(self) -> dict[str, tuple[int, int, str]]:
        """Return mode, time stamp and content of everything in the image."""
        found = {}
        for path in [self.directory, *self.directory.rglob("*")]:
            data = path.read_bytes() if path.is_file() else b""
            found[str(path)] = (path.stat().st_mode, path.stat().st_mtime_ns, hashlib.sha256(data).hexdigest())
        return found


@pytest.fixture
def image(tmp_path: Path) -> Image:
    made = Image(tmp_path)
    made.warm("a", "b")
    return made


@pytest.mark.control("nolayers")
def test_warmed_image_compiles_nothing_in_another_process(image: Image) -> None:
    before = image.state()
    for memory in ("256Mi", "0"):
        image.use("a", "b", JITCACHE_MEMORY=memory)
        assert image.compiled() == [], memory
    image.use("a", "b", JITCACHE="readonly", JITCACHE_DIR=str(image.folder / "none"))
    assert image.compiled() == []
    assert not (image.folder / "none").exists()
    assert image.state() == before


def test_what_no_layer_has_is_compiled_once_and_kept_in_the_own_directory(image: Image) -> None:
    before = image.state()
    assert image.use("a", "new", JITCACHE_MEMORY="0") == "[2, 1, 1, 1]"
    image.use("a", "new")
    assert image.compiled() == ["new"]
    assert image.state() == before


def test_refused_layer_is_one_warning_and_what_it_has_is_compiled(image: Image) -> None:
    image.directory.chmod(0o777)
    out = run(
        """
        import logging, sys, jitcache
        logging.basicConfig(format="%(levelname)s %(message)s", stream=sys.stdout)
        for _ in range(3):
            assert jitcache.Cache(sys.argv[1]).get(jitcache.Key(source="a")) is None
        """,
        image.folder / "own",
        env={"JITCACHE_LAYERS": str(image.directory)},
    ).stdout
    assert out.count("WARNING") == 1
    assert f"layer {image.directory} (JITCACHE_LAYERS) is not used: anybody may write it (mode 0777)" in out
    assert "chmod go-w" in out


def test_module_of_a_layer_is_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, library = tmp_path / "f.c", tmp_path / "f.so"
    source.write_text("int f(void) { return 41; }\n")
    subprocess.run([*compilers.c(), "-O1", "-shared", "-fPIC", source, "-o", library], check=True)
    key = jitcache.Key(module="f")
    with jitcache.Cache(tmp_path / "image") as c:
        assert c.put(key, library.read_bytes(), kind="native")
    monkeypatch.setenv("JITCACHE_LAYERS", str(tmp_path / "image"))
    with jitcache.Cache(tmp_path / "own") as c:
        paths = []
        for _ in range(2):
            with c.entry(key) as e:
                assert ctypes.CDLL(e.path).f() == 41
                paths.append(e.path)
        assert len(set(paths)) == 2
        assert not [p for p in paths if p.startswith(str(tmp_path / "image"))]


@pytest.mark.parametrize("memory", [0, "1Mi"])
def test_forked_child_uses_layers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, memory: object) -> None:
    keys = [jitcache.Key(n=n) for n in range(3)]
    with jitcache.Cache(tmp_path / "image") as c:
        for k in keys[:2]:
            c.put(k, b"image")
    monkeypatch.setenv("JITCACHE_LAYERS", str(tmp_path / "image"))
    cache = jitcache.Cache(tmp_path / "own", memory_size=memory)
    assert cache.get(keys[0]) == b"image"

    def child() -> None:
        assert cache.get(keys[0]) == b"image"
        assert cache.get(keys[1]) == b"image"
        assert cache.get(keys[2]) is None
        assert cache.get_or_compile(keys[1], lambda: b"compiled") == b"image"
        assert cache.stats()["entries"] == 0

    assert in_child(child) == 0


def test_forked_child_that_finds_nothing_in_layers_starts_no_runtime(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there, absent = jitcache.Key(n=1), jitcache.Key(n=2)
    with jitcache.Cache(tmp_path / "image") as c:
        c.put(there, b"image")
    monkeypatch.setenv("JITCACHE_LAYERS", str(tmp_path / "image"))
    cache = jitcache.Cache(tmp_path / "own", memory_size=0)
    assert cache.get(absent) is None  # seals its key

    def child() -> None:
        assert cache.get(absent) is None
        assert len(os.listdir("/proc/self/task")) == 1
        assert cache.get(there) == b"image"
        assert len(os.listdir("/proc/self/task")) > 1, "this test sees no runtime"

    assert in_child(child) == 0


def test_forked_child_does_not_use_a_layer_that_others_may_write_by_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = jitcache.Key(n=1)
    with jitcache.Cache(tmp_path / "image") as c:
        c.put(key, b"image")
    monkeypatch.setenv("JITCACHE_LAYERS", str(tmp_path / "image"))
    cache = jitcache.Cache(tmp_path / "own", memory_size=0)
    assert cache.get(key) == b"image"
    (tmp_path / "image").chmod(0o777)

    def child() -> None:
        assert cache.get(key) is None

    assert in_child(child) == 0


@pytest.mark.control("JC_NO_LAYERS")
def test_own_entry_wins_and_remove_takes_only_that(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = jitcache.Key(n=1)
    with jitcache.Cache(tmp_path / "image") as c:
        c.put(key, b"image")
    monkeypatch.setenv("JITCACHE_LAYERS", str(tmp_path / "image"))
    with jitcache.Cache(tmp_path / "own") as c:
        view = c.view(key)
        assert bytes(view) == b"image"
        assert c.put(key, b"own", replace=True)
        assert (c.get(key), bytes(c.view(key))) == (b"own", b"own")
        assert c.remove(key)
        assert c.get(key) == b"image"
        assert c.explain(key)["hit"]
    assert os.listdir(tmp_path / "image" / "v1" / "entries") != []


def test_miss_over_layers_is_counted_once_and_has_its_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with jitcache.Cache(tmp_path / "image") as c:
        c.put(jitcache.Key(n=1), b"image")
    monkeypatch.setenv("JITCACHE_LAYERS", str(tmp_path / "image"))
    for memory in (0, "1Mi"):
        with jitcache.Cache(tmp_path / f"own-{memory}", memory_size=memory) as c:
            for _ in range(3):
                assert c.get(jitcache.Key(n=2)) is None
                assert c.last_miss == "absent"
            assert c.stats()["total"]["misses"] == 3
