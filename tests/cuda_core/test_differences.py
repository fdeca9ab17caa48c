"""Where our program cache differs from cuda.core's, of both."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import jitcache
import pytest
from cuda.core import ObjectCode
from projects import ROOT
from workspace import Workspace

KEY = b"k" * 32
CODE = b"\x7fELF and more \x00\xff" * 100
OTHER = CODE[:-1] + b"\xfe"


def file_of(folder: Path) -> Path:
    """The one file that has the code."""
    (path,) = [p for p in folder.rglob("*") if p.is_file() and CODE in p.read_bytes()]
    return path


def filled(kind: type, folder: Path):
    cache = kind(folder)
    cache[KEY] = CODE
    return cache


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[700] ^= 1
    path.write_bytes(data)


DAMAGES = {
    "cut": lambda p: p.write_bytes(p.read_bytes()[:100]),
    "empty": lambda p: p.write_bytes(b""),
    "one bit": flip,
    "another's": lambda p: p.write_bytes(OTHER),
}


@pytest.mark.parametrize("read_before", [False, True])
@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_damaged_entry_is_a_miss_and_is_repaired(
    ours: type, upstream: type, tmp_path: Path, damage, read_before
) -> None:
    for kind in (upstream, ours):
        folder = tmp_path / kind.__module__
        cache = filled(kind, folder)
        if read_before:
            assert cache[KEY] == CODE
        damage(file_of(folder))
        if kind is upstream:
            assert cache[KEY] != CODE  # is given out
        else:
            assert cache.get(KEY) is None
            cache[KEY] = CODE
            assert cache[KEY] == CODE


def test_link_in_place_of_an_entry_is_not_followed(ours: type, upstream: type, tmp_path: Path) -> None:
    for kind, found in ((upstream, OTHER), (ours, None)):
        cache = filled(kind, tmp_path / kind.__module__)
        path = file_of(tmp_path / kind.__module__)
        (tmp_path / "other").write_bytes(OTHER)
        path.unlink()
        path.symlink_to(tmp_path / "other")
        assert cache.get(KEY) == found


def test_directory_that_cannot_be_is_a_cache_in_memory(ours: type, upstream: type, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match=r"Not a directory|File exists"):
        upstream(tmp_path / "file" / "c")
    in_memory(ours(tmp_path / "file" / "c"))


# cuda.core's class keeps entries there, and would run what anybody else puts there.
@pytest.mark.parametrize("cap", [None, 1 << 30, 50_000])
@pytest.mark.parametrize("mode", [0o775, 0o777, 0o1777])
def test_directory_that_others_may_write_is_a_cache_in_memory(
    ours: type, tmp_path: Path, mode: int, cap: int | None
) -> None:
    (tmp_path / "c").mkdir()
    (tmp_path / "c").chmod(mode)
    in_memory(ours(tmp_path / "c", max_size_bytes=cap))
    assert list((tmp_path / "c").iterdir()) == []


def test_warning_says_which_rule_a_directory_breaks_and_what_mends_it(workspace: Workspace) -> None:
    code = """
        import logging
        logging.basicConfig(format="%(levelname)s %(message)s")
        cache = ProgramCache(os.environ["CACHE"])
        cache["k"] = b"x"
        assert cache["k"] == b"x"
    """
    for mode, rule, mends in ((0o775, "group", "JITCACHE_SHARED=1"), (0o777, "anybody", "chmod go-w")):
        path = workspace.folder / f"{mode:o}"
        path.mkdir()
        path.chmod(mode)
        p = workspace.start(code, CACHE=str(path))
        said = p.communicate()[1]
        assert p.returncode == 0, said
        assert [line.split()[0] for line in said.splitlines() if str(path) in line] == ["WARNING"]
        assert all(word in said for word in (rule, f"mode 0{mode:o}", mends)), said
        assert list(path.iterdir()) == []


CONSENT = """
    cache = ProgramCache(os.environ["CACHE"], max_size_bytes={cap}, {consent})
    print(cache.get("k"), len(cache))
    cache["k"] = b"x"
    print(cache["k"], len(cache))
"""


@pytest.mark.parametrize("cap", [None, 1 << 30, 50_000])
@pytest.mark.parametrize(
    ("mode", "consent", "env", "used"),
    [
        (0o775, "shared=True", {}, True),
        (0o775, "", {"JITCACHE_SHARED": "1"}, True),
        (0o2770, "shared=True", {}, True),
        (0o775, "", {}, False),  # the control of those above
        (0o777, "shared=True", {}, False),
        (0o1777, "", {"JITCACHE_SHARED": "1"}, False),
    ],
)
def test_directory_of_a_group_is_used_with_consent(
    workspace: Workspace, mode: int, consent: str, env: dict[str, str], cap: int | None, *, used: bool
) -> None:
    path = workspace.folder / "shared"
    path.mkdir()
    path.chmod(mode)
    code = CONSENT.format(cap=cap, consent=consent)
    first = ["None", "0", "b'x'", "1"]
    assert workspace.run(code, CACHE=str(path), **env).split() == first
    assert workspace.run(code, CACHE=str(path), **env).split() == (["b'x'", "1", "b'x'", "1"] if used else first)


def in_memory(cache: Any) -> None:
    """Assert that a cache whose directory is not used keeps what cuda.core's class keeps, as long as it is there."""
    cache[KEY] = CODE
    assert (cache.get(KEY), len(cache)) == (CODE, 1)
    assert cache.cache.stats()["total"]["hits_memory"] == 1
    cache[KEY] = OTHER
    assert (cache[KEY], len(cache)) == (OTHER, 1)
    del cache[KEY]
    assert (cache.get(KEY), len(cache)) == (None, 0)
    assert cache.cache.last_miss == "no directory"
    with pytest.raises(KeyError):
        del cache[KEY]
    cache[KEY] = CODE
    cache.clear()
    assert (cache.get(KEY), len(cache)) == (None, 0)
    cache.close()


def test_directory_that_was_removed_is_made_again(ours: type, upstream: type, tmp_path: Path) -> None:
    for kind in (upstream, ours):
        cache = filled(kind, tmp_path / kind.__module__)
        assert cache[KEY] == CODE
        shutil.rmtree(tmp_path / kind.__module__)
        assert cache.get(KEY) is None
        cache[KEY] = CODE
        assert cache[KEY] == CODE


FULL = """
    import resource
    cache = {kind}(os.environ["CACHE"])
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
    try:
        cache["k"] = b"x" * 5000
        print("kept", cache.get("k"))
    except OSError as e:
        print(type(e).__name__)
"""


def test_full_disk_loses_nothing(workspace: Workspace) -> None:
    """A limit on the size of files stands for it."""
    assert workspace.run(FULL.format(kind="FileStreamProgramCache")) == "OSError"
    assert workspace.run(FULL.format(kind="ProgramCache"), CACHE=str(workspace.cache / "ours")) == "kept None"
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY


@pytest.mark.root
def test_entries_of_another_user_are_misses(workspace: Workspace, tmp_path: Path) -> None:
    """Of both classes; nobody else may read what a user has stored, and ours says so instead of failing."""
    code = """
        cache = {kind}(os.environ["CACHE"])
        os.setuid(65534)
        try:
            print(cache.get(b"k" * 32))
            cache["other"] = b"x"
            print(cache.get("other"))
        except PermissionError:
            print("PermissionError")
    """
    for kind, found in (("FileStreamProgramCache", "PermissionError"), ("ProgramCache", "None\nNone")):
        folder = workspace.folder / kind
        workspace.run(f"{kind}({str(folder)!r})[b'k' * 32] = {CODE!r}")
        assert workspace.run(code.format(kind=kind), CACHE=str(folder)) == found


def test_read_only_cache_gives_out_and_stores_nothing(
    ours: type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(ours, tmp_path / "c")
    monkeypatch.setenv("JITCACHE", "readonly")
    cache = ours(tmp_path / "c")
    cache[KEY] = OTHER
    cache["other"] = OTHER
    assert (cache[KEY], cache.get("other")) == (CODE, None)


@pytest.mark.parametrize("mode", ["0", "refresh"])
def test_environment_turns_it_off(ours: type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str) -> None:
    assert filled(ours, tmp_path / "c")[KEY] == CODE
    monkeypatch.setenv("JITCACHE", mode)
    cache = filled(ours, tmp_path / "c")
    assert [cache.get(KEY), cache.get(KEY)] == [None, None]


@pytest.mark.parametrize("cap", [True, 1.5, "100", b"1"])
def test_cap_is_an_int(ours: type, tmp_path: Path, cap: object) -> None:
    with pytest.raises(TypeError, match="max_size_bytes"):
        ours(tmp_path / "c", max_size_bytes=cap)


def test_empty_path_is_an_error(ours: type) -> None:
    """For cuda.core it is the working directory."""
    with pytest.raises(ValueError, match="empty"):
        ours("")
    with pytest.raises(TypeError):
        ours(b"bytes")


def test_path_holds_where_the_working_directory_changes(
    ours: type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").mkdir()
    monkeypatch.chdir(tmp_path / "a")
    cache = filled(ours, Path("c"))
    monkeypatch.chdir(tmp_path)
    cache["later"] = CODE
    assert (cache[KEY], len(cache)) == (CODE, 2)
    assert not (tmp_path / "c").exists()


def test_tilde_is_a_name(ours: type, upstream: type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for kind in (upstream, ours):
        filled(kind, "~")
        assert file_of(tmp_path / "~")
        shutil.rmtree(tmp_path / "~")


def test_cap_is_that_of_the_directory_for_all_processes(ours: type, upstream: type, tmp_path: Path) -> None:
    for kind, left in ((upstream, 3), (ours, 1)):
        kind(tmp_path / kind.__module__, max_size_bytes=3000)
        cache = kind(tmp_path / kind.__module__)  # says nothing of a cap
        for name in "abc":
            cache[name] = b"x" * 2000
        assert len(cache) == left


def test_cap_without_a_path_is_of_a_directory_of_its_own(ours: type) -> None:
    jitcache.Cache().put(jitcache.Key(a=1), b"x" * 5000)
    cache = ours(max_size_bytes=3000)
    for name in "abc":
        cache[name] = b"x" * 2000
    assert (len(cache), len(ours()), len(jitcache.Cache())) == (1, 0, 1)
    assert ours(max_size_bytes=3000).get("c") is not None


def test_length_and_clear_are_those_of_its_own_entries(ours: type) -> None:
    others = jitcache.Cache()
    others.put(jitcache.Key(a=1), b"generic")
    others.put(jitcache.Key(a=2), b"cubin", kind="cubin")
    cache = ours()
    cache["a"] = cache["b"] = CODE
    assert (len(cache), len(others)) == (2, 4)
    cache.clear()
    assert (len(cache), len(others)) == (0, 2)


def test_keys_of_others_do_not_meet_those_of_cuda_core(ours: type) -> None:
    """The same bytes, as a key of jitcache and as one of cuda.core."""
    cache = ours()
    jitcache.Cache().put(jitcache.Key.from_hex(KEY.hex()), b"another")
    jitcache.Cache().put(jitcache.Key(key=KEY), b"another")
    assert cache.get(KEY) is None
    cache[KEY] = CODE
    assert jitcache.Cache().get(jitcache.Key.from_hex(KEY.hex())) == b"another"


def test_empty_one_is_true(ours: type, upstream: type, tmp_path: Path) -> None:
    """So that ``cache or default`` is the cache."""
    assert bool(ours(tmp_path / "c"))
    assert not upstream(tmp_path / "d")


def test_entry_tells_what_it_is(ours: type, tmp_path: Path) -> None:
    cache = ours(tmp_path / "c")
    cache[KEY] = ObjectCode.from_ptx(b"ptx", name="saxpy")
    (entry,) = cache.cache.entries("cuda.core")
    assert (entry["name"], entry["attributes"], entry["size"]) == ("saxpy", {"target": "ptx"}, 3)


def test_in_says_what_is_wrong(ours: type, upstream: type, tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="not a container"):
        bool(KEY in ours(tmp_path / "c"))
    with pytest.raises(TypeError, match="got int"):
        bool(KEY in upstream(tmp_path / "d"))


def test_package_does_not_import_cuda_core() -> None:
    code = """
import sys
import jitcache.adapters.cuda_core as adapter
assert not any(name == "cuda" or name.startswith("cuda.") for name in sys.modules)
assert "ProgramCache" in adapter.__all__
from jitcache.adapters.cuda_core import ProgramCache
assert "cuda.core" in sys.modules
assert adapter.ProgramCache is ProgramCache
try:
    adapter.nothing
except AttributeError as e:
    print(e)
"""
    env = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    out = subprocess.run([sys.executable, "-c", code], env=env, check=True, stdout=subprocess.PIPE, text=True).stdout
    assert out == "module 'jitcache.adapters.cuda_core' has no attribute 'nothing'\n"


def test_without_the_library_it_is_a_cache_that_misses(workspace: Workspace) -> None:
    code = """
        cache = ProgramCache(os.environ["CACHE"])
        cache["k"] = b"x"
        print(cache.get("k"), len(cache), cache.cache.last_miss)
        print(len(Program(K, "c++", ProgramOptions(arch="sm_80", define_macro=("VALUE", "1"))).compile("cubin", cache=cache).code) > 1000)
    """
    assert workspace.run(code, JITCACHE_LIBRARY="/nonexistent") == "None 0 unavailable\nTrue"
