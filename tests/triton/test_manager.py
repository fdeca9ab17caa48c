"""A kernel is compiled once, its files are where Triton has them, and Triton's own ways stay."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import samples
from project import APP, ONE, OURS, Project, contents


def test_second_process_compiles_nothing_and_has_what_triton_compiles(project: Project) -> None:
    own = project.check(TRITON_CACHE_DIR=str(project.home / "own"))
    first, second = project.ours(), project.ours()
    assert [own.compiles, first.compiles, second.compiles] == [1, 1, 0]
    assert own.said["asm"] == first.said["asm"] == second.said["asm"]


def test_files_are_those_of_triton_s_own_manager(project: Project) -> None:
    """Names, contents and the list of the group: whatever reads Triton's folder finds what it found."""
    own = project.home / "own"
    project.check(TRITON_CACHE_DIR=str(own))
    project.ours()
    assert contents(project.own) == contents(own)
    assert project.check().compiles == 0  # Triton's own manager goes on with them


def test_files_are_put_there_again_from_the_cache(project: Project) -> None:
    project.ours()
    before = contents(project.own)
    elsewhere = project.home / "elsewhere"
    assert project.ours(TRITON_CACHE_DIR=str(elsewhere)).compiles == 0
    assert contents(elsewhere) == before


def test_a_file_that_is_right_is_left_alone(project: Project) -> None:
    """Other processes may have it open, on a file server too."""
    project.ours()
    before = {p: (p.stat().st_ino, p.stat().st_mtime_ns) for p in project.own.rglob("*")}
    project.ours()
    assert {p: (p.stat().st_ino, p.stat().st_mtime_ns) for p in project.own.rglob("*")} == before


def test_each_kernel_option_and_target_is_its_own(project: Project) -> None:
    code = """
        import app
        kernels = [app.compiled(), app.compiled(block=512), app.compiled(arch=80), app.compiled(num_warps=8)]
        app.say(cubins=[app.digests(k)["cubin"] for k in kernels])
    """
    first, second = project.ours(code), project.ours(code)
    assert len(set(first.said["cubins"])) == 4
    assert (first.compiles, second.compiles) == (4, 0)
    assert first.said == second.said


def test_a_change_of_the_kernel_is_another_kernel(project: Project) -> None:
    first = project.ours()
    (project.folder / "app.py").write_text(APP.replace("mask=m) + tl.load", "mask=m) * tl.load"))
    changed = project.ours()
    assert changed.compiles == 1
    assert changed.said["asm"]["cubin"] != first.said["asm"]["cubin"]


@pytest.mark.parametrize("where", ["a file", "a folder that is taken away"])
def test_a_folder_that_cannot_be_used_fails_no_program(project: Project, where: str) -> None:
    if where == "a file":
        project.own.write_text("")
        assert project.run().status != 0  # Triton's own manager
        first, second = project.ours(), project.ours()
        assert (first.compiles, second.compiles) == (1, 0)
        assert first.said["asm"] == second.said["asm"]
        assert not list(project.folder.parent.glob("jitcache-triton-*"))  # it went with the process
        return
    code = """
        import os
        from jitcache.adapters.triton import Manager
        manager = Manager("KEY")
        os.rmdir(manager.cache_dir)
        print(manager.put(b"data", "file") == os.path.join(os.environ["TRITON_CACHE_DIR"], "KEY", "file"))
    """
    assert project.ours(code).out == "True"


@pytest.mark.parametrize("why", ["off", "no library", "refused"])
def test_where_jitcache_cannot_be_used_triton_s_own_cache_is(project: Project, why: str) -> None:
    env = {"off": {"JITCACHE": "0"}, "no library": {"JITCACHE_LIBRARY": "/nonexistent.so"}}.get(why, {})
    if why == "refused":
        project.cache.mkdir()
        project.cache.chmod(0o777)
    assert [project.ours(**env).compiles for _ in range(2)] == [1, 0]
    assert not project.entries()


def test_refresh_compiles_again_and_readonly_stores_nothing(project: Project) -> None:
    modes = ({"JITCACHE": "readonly"}, {}, {"JITCACHE": "refresh"}, {"JITCACHE": "readonly"})
    assert [project.ours(**env).compiles for env in modes] == [1, 1, 1, 0]


def test_always_compile_replaces(project: Project) -> None:
    assert [project.ours(**env).compiles for env in ({}, {"TRITON_ALWAYS_COMPILE": "1"}, {})] == [1, 1, 0]


def test_a_kernel_that_files_of_the_user_s_were_put_into_is_not_kept(project: Project) -> None:
    """Triton keeps it under the key of the kernel as it was: everybody gets the user's."""
    plain = project.ours()
    dump, override = project.home / "dump", project.home / "override"
    # Dumped by Triton's own manager, whichever is the class.
    env = {"TRITON_OVERRIDE_DIR": str(override), "TRITON_ALWAYS_COMPILE": "1"}
    project.ours(**env, TRITON_KERNEL_DUMP="1", TRITON_DUMP_DIR=str(dump))
    (ptx,) = dump.glob("*/add.ptx")
    target = override / ptx.parent.name / "add.ptx"
    target.parent.mkdir(parents=True)
    target.write_text(ptx.read_text().replace("add.f32", "mul.f32"))
    code = (
        ONE + "from jitcache.adapters import triton\nprint(triton.uncached())\nprint(json.dumps(app.digests(kernel)))"
    )
    ran = project.ours("import json" + code, **env, TRITON_KERNEL_OVERRIDE="1")
    *_, said, asm = ran.out.splitlines()
    assert json.loads(asm)["cubin"] != plain.said["asm"]["cubin"]
    assert said == "{'overridden': 1}"
    after = project.ours()
    assert after.said["asm"]["cubin"] == plain.said["asm"]["cubin"]
    assert after.compiles == 0


def test_a_program_can_use_it_as_triton_does(project: Project) -> None:
    """What autotuners and launchers keep: a file that is in no group."""
    code = """
        import json
        from jitcache.adapters import triton
        def manager():
            return triton.Manager("KEY")
        first = manager()
        print(first.get_file("f.autotune.json"))
        path = first.put(json.dumps({"key": [1]}), "f.autotune.json", binary=False)
        print(open(path).read(), first.get_file("f.autotune.json") == path)
        open(path, "w").write("{")
        print(open(manager().get_file("f.autotune.json")).read())
        second = manager()
        second.put(b"anew", "f.autotune.json")
        print(open(manager().get_file("f.autotune.json")).read(), triton.count())
    """
    assert project.ours(code).out.splitlines() == ["None", '{"key": [1]} True', '{"key": [1]}', "anew 1"]


LAUNCHER = """
    import json, sys, triton
    source = '''
    #include <Python.h>
    static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "launcher", NULL, -1, NULL};
    PyMODINIT_FUNC PyInit_launcher(void) { return PyModule_Create(&module); }
    '''
    try:
        from triton.runtime.build import compile_module_from_src as build
    except ImportError:
        from triton.backends.nvidia import driver
        driver.library_dirs, driver.libraries, build = list, [], driver.compile_module_from_src
    print(build(source, "launcher").__name__)
"""


def test_a_launcher_is_compiled_once(project: Project) -> None:
    log = project.home / "cc"
    cc = project.home / "cc.sh"
    cc.write_text(f'#!/bin/sh\necho >> {log}\nexec gcc "$@"\n')
    cc.chmod(0o755)
    both = [project.start(LAUNCHER, **OURS, CC=str(cc)) for _ in range(2)]
    assert [p.communicate(timeout=600)[0].strip() for p in both] == ["launcher", "launcher"]
    assert len(log.read_text()) == 1
    (made,) = [p for p in project.own.rglob("launcher*") if p.is_file()]
    made.write_bytes(made.read_bytes()[:100])
    assert project.ours(LAUNCHER, CC=str(cc)).out == "launcher"
    assert len(log.read_text()) == 1


def test_lists_and_clears_its_own(project: Project) -> None:
    code = """
        import app
        from jitcache import Key, default_cache
        from jitcache.adapters import triton
        default_cache().put(Key(mine=1), b"mine")
        app.compiled()
        (entry,) = triton.entries()
        app.say(name=entry["name"], count=triton.count(), **entry["attributes"])
        triton.clear()
        print(triton.count(), len(default_cache()))
    """
    said, after = project.ours(code).out.splitlines()
    found = json.loads(said)
    assert (found["name"], found["count"], found["target"]) == ("add", 1, "cuda 90")
    assert found["files"][-2:] == ["add.cubin", "add.json"]
    assert after == "0 1"


def test_install_and_uninstall(project: Project) -> None:
    code = """
        import os, app
        from jitcache import Cache
        from jitcache.adapters import triton
        own = Cache(os.environ["HOME"] + "/own")
        print(triton.install(own))
        app.compiled()
        print(len(list(own.entries(triton.KIND))), triton.install(), triton.count())
        app.compiled()
        print(triton.count())
        triton.uninstall()
        app.compiled(block=256)
        print(triton.count())
    """
    ran = project.check(code)
    assert ran.out.splitlines() == ["True", "1 True 0", "1", "1"]
    assert ran.compiles == 3


def test_without_triton_the_package_can_be_imported(project: Project) -> None:
    code = """
        import sys
        sys.modules["triton"] = None
        from jitcache.adapters import triton
        print(triton.count(), triton.uncached())
        for use in (triton.install, lambda: triton.Manager):
            try:
                use()
            except ImportError:
                print("ImportError")
    """
    env = {**project.environment(), "PYTHONPATH": str(Path(__file__).parents[2] / "python")}
    command = [sys.executable, "-c", "\n".join(line[8:] for line in code.splitlines())]
    p = subprocess.run(command, env=env, capture_output=True, text=True, check=False, cwd=os.sep)
    assert p.stdout.splitlines() == ["0 {}", "ImportError", "ImportError"], p.stderr


def test_lines_of_the_page_find_what_was_compiled(project: Project) -> None:
    """The variable in front of a program, as a shell takes it, and the line in the program."""
    (project.home / "program.py").write_text("import instrument\n" + ONE)
    tools = project.home / "bin"
    tools.mkdir()
    (tools / "python").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    (tools / "python").chmod(0o755)
    env = project.environment(PATH=f"{tools}:{os.environ['PATH']}")
    line = samples.under("docs/triton.md", "Triton")
    p = subprocess.run(["sh", "-euc", line], cwd=project.home, env=env, capture_output=True, text=True)
    assert p.returncode == 0, p.stderr
    assert project.compiled() == 1
    # Triton's own folder is another's: only the cache has it.
    second = project.check(
        samples.under("docs/triton.md", "Triton", 1) + ONE, TRITON_CACHE_DIR=str(project.home / "own")
    )
    assert second.compiles == 0
    assert second.said == json.loads(p.stdout.splitlines()[-1])
