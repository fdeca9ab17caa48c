"""What is public, and what becomes of Warp's own behaviour."""

from __future__ import annotations

import pytest
import samples
from project import CALL, OURS, Project


def test_importing_the_adapter_does_not_import_warp(project: Project) -> None:
    code = "import subprocess\nsay(status=subprocess.call([sys.executable, '-c', 'import sys, jitcache.adapters.warp; sys.exit(\"warp\" in sys.modules)']))\n"
    assert project.run(code) == {"status": 0}


def test_uninstall_gives_warp_its_place_back(project: Project) -> None:
    code = """
from warp._src.context import Module
before = Module._compile
adapter.install(); adapter.install(jitcache.Cache("elsewhere"))
assert Module._compile is not before
adapter.uninstall(); adapter.uninstall()
say(same=Module._compile is before)
"""
    assert project.run(code) == {"same": True}


@pytest.mark.parametrize("env", [{"JITCACHE": "0"}, {"JITCACHE_LIBRARY": "/nonexistent"}])
def test_where_jitcache_cannot_be_used_warp_s_own_cache_is(project: Project, env: dict[str, str]) -> None:
    code = "installed = adapter.install()\n" + CALL + "say(installed=installed)\n"
    for _ in range(2):
        assert project.run(code, **env) == {"installed": False}
        assert "Warp's own stays" in project.errors
    assert project.compiled() == 1
    assert project.objects()


def test_warp_that_is_not_known_keeps_its_own_cache(project: Project) -> None:
    unknown = """
from warp._src.context import Module
known = Module._compile
Module._compile = lambda self, *args, **more: known(self, *args, **more)
"""
    code = unknown + "installed = adapter.install()\n" + CALL + "say(installed=installed)\n"
    for _ in range(2):
        assert project.run(code) == {"installed": False}
        assert "is not as expected" in project.errors
    assert project.compiled() == 1


def test_clear_and_count_are_those_of_its_own_entries(project: Project) -> None:
    code = (
        OURS
        + """
jitcache.default_cache().put(jitcache.Key(a=1), b"x", kind="other")
call()
names = [e["name"] for e in adapter.entries()]
before = adapter.count()
adapter.clear()
say(names=names, before=before, count=adapter.count(), left=len(jitcache.default_cache()))
"""
    )
    assert project.run(code) == {"names": ["program"], "before": 1, "count": 0, "left": 1}


def test_ahead_of_time_modules_are_written_where_they_are_asked_for(project: Project) -> None:
    code = (
        OURS
        + """
import program
wp.compile_aot_module(program, device="cpu", module_dir="aot", strip_hash=True)
say(count=adapter.count(), made=sorted(os.path.splitext(n)[1] for n in os.listdir("aot")))
"""
    )
    said = project.run(code)
    assert said["count"] == 0
    assert ".o" in said["made"]


@pytest.mark.parametrize("use", ["readonly", "refresh"])
def test_switches_of_jitcache_count(project: Project, use: str) -> None:
    project.run(OURS + CALL)
    project.compiled()
    project.forget()
    project.run(OURS + CALL, JITCACHE=use)
    assert project.compiled() == (1 if use == "refresh" else 0)


def test_lines_of_the_page_find_what_was_compiled(project: Project) -> None:
    lines = samples.under("docs/warp.md", "Warp")
    first = project.run(lines + CALL)
    assert project.compiled() == 1
    project.forget()
    assert project.run(lines + CALL) == first
    assert project.compiled() == 0
