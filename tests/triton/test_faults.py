"""What is broken on disk, in the cache and in Triton's folder: each is repaired, where Triton serves it or fails for ever."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Callable

import pytest
from project import Project, contents


def cut(data: bytes) -> bytes:
    return data[:100]


def flip(data: bytes) -> bytes:
    at = len(data) // 2
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


FAULTS: dict[str, Callable[[bytes], bytes]] = {
    "cut": cut,
    "flipped": flip,
    "empty": lambda data: b"",
    "{": lambda data: b"{",
}

#: What the next process of Triton's own does: "fails", again each time; "serves" it; "compiles"; and "right" if the
#: broken byte does not matter to it.
OWN = {
    ("add.cubin", "cut"): "serves", ("add.cubin", "flipped"): "serves", ("add.cubin", "empty"): "serves", ("add.cubin", "{"): "serves",
    ("add.ptx", "cut"): "serves", ("add.ptx", "flipped"): "serves", ("add.ptx", "empty"): "serves", ("add.ptx", "{"): "serves",
    ("add.json", "cut"): "fails", ("add.json", "empty"): "fails", ("add.json", "{"): "fails",
    ("__grp__add.json", "cut"): "compiles", ("__grp__add.json", "empty"): "compiles", ("__grp__add.json", "{"): "compiles",
}  # fmt: skip


def break_file(path: Path, fault: str) -> None:
    path.write_bytes(FAULTS[fault](path.read_bytes()))


@pytest.mark.parametrize(("name", "fault"), OWN, ids=[f"{fault} {name}" for name, fault in OWN])
def test_a_broken_file_in_triton_s_folder_is_repaired(project: Project, name: str, fault: str) -> None:
    right = project.ours()
    (path,) = project.own.glob(f"*/{name}")
    whole = path.read_bytes()
    break_file(path, fault)
    after = project.ours()
    assert after.compiles == 0
    assert after.said == right.said
    assert path.read_bytes() == whole


@pytest.mark.parametrize(("name", "fault"), OWN, ids=[f"{fault} {name}" for name, fault in OWN])
def test_what_triton_s_own_manager_does_with_it(project: Project, name: str, fault: str) -> None:
    """The column of docs/triton.md. If a version of Triton's does better, it says so here."""
    right = project.check()
    (path,) = project.own.glob(f"*/{name}")
    break_file(path, fault)
    ran = [project.run(), project.run()]
    if any(r.status for r in ran):
        done = "fails" if all(r.status for r in ran) else "fails once"
    elif ran[0].compiles:
        done = "compiles"
    else:
        done = "right" if ran[1].said == right.said else "serves"
    assert done == OWN[name, fault]


def test_a_file_of_another_compile_is_replaced(project: Project) -> None:
    """Triton serves such a group, whose metadata is not that of its code."""
    code = "import app\nfirst, second = app.compiled(), app.compiled(block=64)\napp.say(asm=app.digests(first))"
    right = project.ours(code)
    cubins = sorted(project.own.glob("*/add.cubin"))
    cubins[0].write_bytes(cubins[1].read_bytes())
    after = project.ours(code)
    assert (after.compiles, after.said) == (0, right.said)
    assert cubins[0].read_bytes() != cubins[1].read_bytes()


def test_a_missing_file_is_put_back(project: Project) -> None:
    right = project.ours()
    (path,) = project.own.glob("*/add.json")
    path.unlink()
    after = project.ours()
    assert (after.compiles, after.said) == (0, right.said)
    assert path.exists()


@pytest.mark.parametrize("fault", ["cut", "flipped", "empty"])
def test_a_broken_entry_is_compiled_again_once(project: Project, fault: str) -> None:
    right = project.ours()
    (entry,) = project.entries()
    break_file(entry, fault)
    ran = [project.ours(), project.ours()]
    assert [r.compiles for r in ran] == [1, 0]
    assert {r.said["asm"]["cubin"] for r in (right, *ran)} == {right.said["asm"]["cubin"]}


def test_an_intact_entry_of_another_writer_is_replaced(project: Project) -> None:
    project.ours()
    code = """
        from jitcache import Key, default_cache
        from jitcache.adapters import triton
        cache = default_cache()
        (entry,) = triton.entries()
        for data in {bad!r}:
            cache.put(Key.from_hex(entry["key"]), data, kind="triton", replace=True)
            from jitcache.adapters.triton._group import unpack
            print(unpack(data))
    """
    bad = [
        b"",
        b"{}\n",
        b"[[1]]\n",
        b'[["a", 5]]\nabc',
        b'[["../a", 3]]\nabc',
        b'[["a", -1]]\n',
        b'[["a", 0], ["a", 0]]\n',
    ]
    assert project.check(code.format(bad=bad)).out.splitlines() == ["None"] * len(bad)
    assert [project.ours().compiles for _ in range(2)] == [1, 0]
    assert not (project.own / "a").exists()


def test_a_disk_that_is_full_fails_no_program(project: Project) -> None:
    code = """
        import app
        from jitcache.adapters import triton
        from jitcache.adapters.triton import _place
        whole = _place.place
        def full(folder, *rest):
            if "jitcache-triton-" not in folder:
                raise OSError(28, "No space left on device")
            return whole(folder, *rest)
        triton.Manager.__init__.__globals__["place"] = full
        app.say(asm=app.digests(app.compiled()))
    """
    first, second = project.ours(code), project.ours(code)
    assert first.said == second.said
    assert (first.compiles, second.compiles) == (1, 0)
    assert not contents(project.own)
    assert not [p for p in os.listdir(project.folder.parent) if p.startswith("jitcache-triton-")]
