"""What is public, and what becomes of CuPy's own behaviour."""

from __future__ import annotations

import pytest
import samples
from project import CALL, OURS, Project


def test_importing_the_adapter_does_not_import_cupy(project: Project) -> None:
    code = "import subprocess\nsay(status=subprocess.call([sys.executable, '-c', 'import sys, jitcache.adapters.cupy; sys.exit(\"cupy\" in sys.modules)']))\n"
    assert project.run(code) == {"status": 0}


def test_uninstall_gives_cupy_its_places_back(project: Project) -> None:
    code = """
before = dict(vars(compiler))
adapter.install(); adapter.install(jitcache.Cache("elsewhere"))
changed = [n for n in before if vars(compiler)[n] is not before[n]]
adapter.uninstall(); adapter.uninstall()
say(changed=len(changed), left=[n for n in before if vars(compiler)[n] is not before[n]])
"""
    assert project.run(code) == {"changed": 3, "left": []}


def test_after_uninstall_cupy_s_own_cache_is_as_it_was(project: Project) -> None:
    """Its key has what it had: what an empty source is for is not lost to it."""
    first = project.run(CALL)
    files = sorted(project.own.iterdir())
    assert project.run(OURS + "compiled()\nadapter.uninstall()\n" + CALL) == first
    assert sorted(project.own.iterdir()) == files


@pytest.mark.parametrize("env", [{"JITCACHE": "0"}, {"JITCACHE_LIBRARY": "/nonexistent"}])
def test_where_jitcache_cannot_be_used_cupy_s_own_cache_is(project: Project, env: dict[str, str]) -> None:
    code = "installed = adapter.install()\n" + CALL + "say(installed=installed)\n"
    for compiles in (2, 1):
        assert project.run(code, **env) == {"installed": False}
        assert "CuPy's own stays" in project.errors
        assert project.compiled() == compiles


def test_cupy_that_is_not_known_keeps_its_own_cache(project: Project) -> None:
    unknown = (
        "known = compiler._compile_with_cache_cuda\ncompiler._compile_with_cache_cuda = lambda *args: known(*args)\n"
    )
    code = unknown + "installed = adapter.install()\n" + CALL + "say(installed=installed)\n"
    for compiles in (2, 1):
        assert project.run(code) == {"installed": False}
        assert "is not as expected" in project.errors
        assert project.compiled() == compiles


def test_clear_and_count_are_those_of_its_own_entries(project: Project) -> None:
    code = """
from jitcache import cuda
jitcache.default_cache().put(jitcache.Key(a=1), b"x", kind="other")
compiled()
names = [e["name"] for e in adapter.entries()]
cuda.compile(K, name=names[0], options=["-ftz=true", "-arch=sm_80", "--device-as-default-execution-space"])
before = adapter.count()
adapter.clear()
cache = jitcache.default_cache()
say(names=names, before=before, count=adapter.count(), left=[cache.count("other"), cache.count("cubin")])
"""
    said = project.run(OURS + code)
    assert said.pop("names")[0].startswith("/cupy/k-")
    assert said == {"before": 1, "count": 0, "left": [1, 1]}


LEFT = {
    "relocatable device code": "compiled(K, ('--device-c',))",
    "CUPY_CACHE_SAVE_CUDA_SOURCE": "os.environ['CUPY_CACHE_SAVE_CUDA_SOURCE'] = '1'; compiled()",
    "CUPY_CACHE_IN_MEMORY": "os.environ['CUPY_CACHE_IN_MEMORY'] = '1'; compiled()",
    "nvcc": "compiled(K, backend='nvcc')",
    "precompiled headers": "compiled(K, ('--pch',))",
}


@pytest.mark.parametrize("why", LEFT)
def test_what_is_not_served_is_left_to_cupy(project: Project, why: str) -> None:
    """Some of it fails here, where CuPy finds neither driver nor nvcc, as it does without the adapter."""
    code = f"""
try:
    {LEFT[why].replace("; ", chr(10) + "    ")}
except Exception as e:
    error = type(e).__name__
else:
    error = ""
say(error=error, why=adapter.uncached(), count=len(jitcache.default_cache()))
"""
    plain, ours = project.run(code), project.run(OURS + code)
    assert ours == {"error": plain["error"], "why": {why: 1}, "count": 0}


@pytest.mark.parametrize("use", ["readonly", "refresh"])
def test_switches_of_jitcache_count(project: Project, use: str) -> None:
    project.run(OURS + CALL)
    project.compiled()
    project.run(OURS + CALL, JITCACHE=use)
    assert project.compiled() == (1 if use == "refresh" else 0)


def test_lines_of_the_page_find_what_was_compiled(project: Project) -> None:
    lines = samples.under("docs/cupy.md", "CuPy")
    first = project.run(lines + CALL)
    assert project.compiled() == 1
    assert project.run(lines + CALL) == first
    assert project.compiled() == 0
