"""Triton's fingerprint of itself: the same value, computed once for all processes while no file of Triton's changes."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest
from project import OURS, Project

#: Says the fingerprint, and by the kernel's count how many bytes the process read for it.
SAYS = """
    import app, hashlib
    from jitcache import default_cache
    from jitcache.adapters import triton as adapter
    assert adapter.install()
    try:
        from triton.runtime.cache import triton_key
    except ImportError:
        from triton.compiler.compiler import triton_key
    def read():
        return int(open("/proc/self/io").read().split()[1])
    default_cache()
    before = read()
    value = triton_key()
    took = read() - before
    app.say(value=hashlib.sha256(value.encode()).hexdigest(), read=took > 10**8, right=value == triton_key.__wrapped__())
"""


def asked(project: Project, **env: str) -> tuple[bool, bool]:
    """Whether a process reads the compiler for the fingerprint, and whether that is right."""
    said = project.check(SAYS, **env).said
    return said["read"], said["right"]


@pytest.fixture
def copied(project: Project) -> Path:
    """A Triton of the test's own, beside its kernel: folders of links, of which it may replace some."""
    import triton

    whole, own = Path(triton.__file__).parent, project.folder / "triton"
    for folder, folders, names in os.walk(whole):
        folders[:] = [f for f in folders if f != "__pycache__"]
        made = own / Path(folder).relative_to(whole)
        made.mkdir()
        for name in names:
            (made / name).symlink_to(Path(folder) / name)
    age(own)
    return own


def age(folder: Path) -> None:
    """Wait until the time stamps below a folder are old enough to prove something."""
    newest = max(p.stat().st_ctime for p in (folder, *folder.rglob("*")))
    time.sleep(max(0.0, newest + 2.1 - time.time()))


def test_second_process_does_not_read_the_compiler_and_has_the_same_value(project: Project) -> None:
    import triton

    age(Path(triton.__file__).parent)  # it may have been installed just now
    assert asked(project) == (True, True)
    assert asked(project) == (False, True)
    assert project.check(SAYS).said["value"] == project.check(SAYS, JITCACHE="0").said["value"]


def replace(path: Path, more: str) -> None:
    text = path.read_text()
    path.unlink()
    path.write_text(text + more)


def new_library(own: Path) -> None:
    """The same library with other bytes at its end, of the same name."""
    (path,) = (own / "_C").glob("libtriton*.so")
    whole = path.resolve()
    path.unlink()
    shutil.copyfile(whole, path)
    with open(path, "ab") as f:
        f.write(b"another")


CHANGES = {
    "a module is edited": lambda own: replace(own / "language" / "math.py", "\n# edited\n"),
    "the compiler is edited": lambda own: replace(own / "compiler" / "errors.py", "\n# edited\n"),
    "a module is added": lambda own: (own / "backends" / "more.py").write_text(""),
    "a module is added to a folder that has none": lambda own: (
        own / "backends" / "nvidia" / "lib" / "__init__.py"
    ).write_text(""),
    "the library is another": new_library,
}


@pytest.mark.parametrize("change", CHANGES)
def test_after_a_change_of_triton_s_files_it_is_computed_again(project: Project, copied: Path, change: str) -> None:
    first = project.check(SAYS)
    assert (first.said["read"], asked(project)) == (True, (False, True))
    CHANGES[change](copied)
    after = project.check(SAYS)
    assert (after.said["read"], after.said["right"]) == (True, True)
    assert after.said["value"] != first.said["value"]


def test_files_that_were_just_written_prove_nothing(project: Project, copied: Path) -> None:
    """An edit in the same tick of the clock would not be seen. This one was written in an hour from now."""
    edited = copied / "language" / "math.py"
    replace(edited, "\n# edited\n")
    os.utime(edited, (time.time() + 3600,) * 2)
    assert [asked(project) for _ in range(2)] == [(True, True)] * 2
    os.utime(edited)
    age(copied)
    assert [asked(project) for _ in range(2)] == [(True, True), (False, True)]


def test_what_is_stored_is_checked_like_any_entry(project: Project) -> None:
    asked(project)
    code = """
        from jitcache import Key, default_cache
        cache = default_cache()
        (entry,) = cache.entries("_triton-key")
        cache.put(Key.from_hex(entry["key"]), {bad!r}, kind="_triton-key", replace=True)
    """
    for bad in (b"", b"[]", b'["x", []]', b'["x", [[1]]]', b'[1, [["/", 1]]]', b'{"a": 1}', b"[[[["):
        project.check(code.format(bad=bad))
        assert asked(project) == (True, True), bad
    for entry in project.entries():
        entry.write_bytes(entry.read_bytes()[:50])
    assert asked(project) == (True, True)


def test_another_triton_that_computes_it_in_another_way_is_left_alone(project: Project) -> None:
    """The guard: a function with arguments, or one that is not remembered in the process."""
    code = """
        import app, functools, importlib
        from jitcache.adapters import triton as adapter
        for name in ("triton.runtime.cache", "triton.compiler.compiler"):
            module = importlib.import_module(name)
            if hasattr(module, "triton_key"):
                break
        whole = module.triton_key
        for other in (lambda: whole(), functools.lru_cache(lambda of=None: whole())):
            module.triton_key = other
            print(adapter.install(), module.triton_key is other)
        app.compiled()
        print(adapter.count())
        module.triton_key = whole
        print(adapter.install(), module.triton_key is whole)
        adapter.uninstall()
        print(module.triton_key is whole)
    """
    assert project.check(code).out.splitlines() == ["False True", "False True", "1", "True False", "True"]


TIMED = """
    import app, time
    install = {install!r}
    start = time.perf_counter()
    if install:
        from jitcache.adapters import triton as adapter
        adapter.install()
    app.compiled(block=128)
    app.say(seconds=time.perf_counter() - start)
"""


@pytest.mark.slow
def test_a_warm_compile_is_ten_times_as_fast_as_triton_s_own(project: Project) -> None:
    """From before install to the kernel, in a process that has imported Triton; the best of pairs, side by side."""
    own, ours = (TIMED.format(install=install) for install in (False, True))
    env = {"PYTHONDONTWRITEBYTECODE": "unset", "TRITON_PTXAS_PATH": "unset", "TRITON_PTXAS_BLACKWELL_PATH": "unset"}
    elsewhere = {"TRITON_CACHE_DIR": str(project.home / "own")}
    for _ in range(2):
        project.check(own, **elsewhere, **env)
        project.check(ours, **env)
    times = [
        (project.check(own, **elsewhere, **env).said["seconds"], project.check(ours, **env).said["seconds"])
        for _ in range(5)
    ]
    assert min(o for o, _ in times) / min(o for _, o in times) >= 10, times


def test_by_the_environment_alone_the_kernel_is_found_and_the_fingerprint_computed(project: Project) -> None:
    """The variable comes too late for it: Triton has made the key when it asks for the class."""
    code = """
        import app
        before = int(open("/proc/self/io").read().split()[1])
        app.compiled()
        app.say(read=int(open("/proc/self/io").read().split()[1]) - before > 10**8)
    """
    for _ in range(2):
        ran = project.check(code, **OURS)
    assert (ran.said["read"], ran.compiles) == (True, 0)
