"""What is public, and what becomes of PyTorch's own behaviour."""

from __future__ import annotations

import pytest
import samples
from project import CALL, NOTHING, OURS, Project, is_right


def test_importing_the_adapter_does_not_import_pytorch(empty: Project) -> None:
    code = "import subprocess\nsay(status=subprocess.call([sys.executable, '-c', 'import sys, jitcache.adapters.torch; sys.exit(\"torch\" in sys.modules)']))\n"
    assert empty.run(code) == {"status": 0}


def test_uninstall_gives_pytorch_its_functions_back(empty: Project) -> None:
    code = """
from torch._functorch._aot_autograd import autograd_cache
from torch._inductor import async_compile, codecache, cpp_builder, cpu_vec_isa
def those():
    return [
        dict(vars(codecache)), dict(vars(cpp_builder)), async_compile.torch_key, *(dict(vars(c)) for c in (
            codecache.GuardedCache, codecache.FxGraphCache, codecache.FxGraphHashDetails, cpu_vec_isa.VecISA, autograd_cache.AOTAutogradCache
        ))
    ]
before = those()
adapter.install(); adapter.install(jitcache.Cache("elsewhere"))
changed = sum(a != b for a, b in zip(before, those()))
adapter.uninstall(); adapter.uninstall()
say(changed=changed, same=those() == before)
"""
    assert empty.run(code) == {"changed": 8, "same": True}


@pytest.mark.parametrize("env", [{"JITCACHE": "0"}, {"JITCACHE_LIBRARY": "/nonexistent"}])
def test_where_jitcache_cannot_be_used_pytorch_s_own_cache_is(empty: Project, env: dict[str, str]) -> None:
    code = "from torch._inductor import codecache\nbefore = dict(vars(codecache))\nsay(how=adapter.install(), same=before == dict(vars(codecache)))\n"
    assert empty.run(code, **env) == {"how": "", "same": True}
    assert "PyTorch's own stays" in empty.errors


def test_pytorch_that_is_not_known_is_left_alone(empty: Project) -> None:
    code = """
from torch._inductor import cpp_builder
known = cpp_builder.run_compile_cmd
cpp_builder.run_compile_cmd = unknown = lambda command, folder: known(command, folder)
say(how=adapter.install(), same=cpp_builder.run_compile_cmd is unknown)
"""
    assert empty.run(code) == {"how": "", "same": True}
    assert "run_compile_cmd is not as expected" in empty.errors


def test_graphs_that_are_kept_in_an_unknown_way_are_left_to_pytorch(project: Project) -> None:
    """The compiler is served, and what PyTorch's key lacks is in the tag that it has for others."""
    code = """
from torch._inductor import codecache
known = codecache.FxGraphCache._write_to_local_cache
codecache.FxGraphCache._write_to_local_cache = staticmethod(lambda name, content: known(name, content))
tag = torch.compiler.config.cache_key_tag
how = adapter.install()
from jitcache.adapters.torch import _details
tagged = _details.vec_isa() in torch.compiler.config.cache_key_tag
adapter.uninstall()
say(how=how, tagged=tagged, back=torch.compiler.config.cache_key_tag == tag)
"""
    assert project.run(code) == {"how": "compiler", "tagged": True, "back": True}
    assert "graphs are left to PyTorch's own cache" in project.errors


def test_clear_and_count_are_those_of_its_own_entries(project: Project) -> None:
    code = """
jitcache.default_cache().put(jitcache.Key(a=1), b"x", kind="other")
before = adapter.count()
named = {e["name"].partition(" ")[0] for e in adapter.entries()}
adapter.clear()
say(before=before > 0, graphs=sorted(n for n in named if "Cache" in n), count=adapter.count(), left=jitcache.default_cache().count("other"))
"""
    assert project.run(code) == {"before": True, "graphs": ["AOTAutogradCache", "FxGraphCache"], "count": 0, "left": 1}


def test_lines_of_the_page_find_what_was_compiled(project: Project) -> None:
    said = project.run(samples.under("docs/torch.md", "PyTorch", 1) + CALL)
    assert is_right(said)
    assert project.started() == NOTHING


def test_start_up_attaches_when_inductor_is_imported(project: Project) -> None:
    """With JITCACHE_TORCH=1, in a program without a line of ours; any other value is refused."""
    code = """
import subprocess
program = '''
import _jitcache_startup, sys
assert "jitcache" not in sys.modules
import torch._inductor.codecache
import torch._functorch._aot_autograd.autograd_cache
hooks = sys.modules.get("jitcache.adapters.torch._hooks")
print(hooks and (hooks._how, len(hooks._originals)))
'''
def attached(asked):
    p = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=dict(os.environ, JITCACHE_TORCH=asked))
    return [p.stdout.strip(), "JITCACHE_TORCH=yes: want 1" in p.stderr]
say(yes=attached(os.environ["MINE"]), no=attached("yes"))
"""
    name, _, value = samples.under("docs/torch.md", "PyTorch").split()[0].partition("=")
    assert name == "JITCACHE_TORCH"
    assert project.run(code, MINE=value) == {"yes": ["('all', 12)", False], "no": ["None", True]}


def test_installing_again_changes_the_cache(project: Project) -> None:
    said = project.run("adapter.install(jitcache.Cache('elsewhere'))\n" + OURS + CALL)
    assert said["graphs"] == 2
    assert project.started() == NOTHING
