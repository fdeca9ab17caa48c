"""What is public, what is left to cuTile, and how long a hit takes."""

from __future__ import annotations

import pytest
import samples
from project import CALL, COLD, OURS, QUESTION, Project


def test_importing_the_adapter_does_not_import_cutile(project: Project) -> None:
    code = "import subprocess\nsay(status=subprocess.call([sys.executable, '-c', 'import sys, jitcache.adapters.cutile; sys.exit(\"cuda.tile\" in sys.modules)']))\n"
    assert project.run(code) == {"status": 0}


def test_lines_of_the_page(project: Project) -> None:
    lines = samples.under("docs/cutile.md", "cuTile") + "\n"
    assert project.run(lines + CALL) == project.run(lines + CALL)
    assert project.compiler.runs() == COLD


@pytest.mark.parametrize(("without", "same"), [("", True), ("put back", False)])
def test_uninstall_puts_everything_back(project: Project, without: str, same: bool) -> None:
    code = """
from cuda.tile import _compile
def parts():
    return [dict(vars(_compile)), _compile._CompilerBinary.run]
before = parts()
adapter.install(); adapter.install(jitcache.Cache("elsewhere"))
changed = parts() != before
adapter.uninstall(); adapter.uninstall()
say(changed=changed, same=parts() == before)
"""
    assert project.run(code, WITHOUT=without) == {"changed": True, "same": same}


UNKNOWN = """
from cuda.tile import _compile
known = _compile._CompilerBinary.run
_compile._CompilerBinary.run = lambda self, *args, **more: known(self, *args, **more)
"""


@pytest.mark.parametrize(("without", "installed"), [("", False), ("guard", True)])
def test_cutile_that_is_not_known_keeps_its_own_cache(project: Project, without: str, installed: bool) -> None:
    assert project.run(UNKNOWN + "say(installed=adapter.install())\n", WITHOUT=without) == {"installed": installed}
    assert ("is not as expected" in project.errors) is not installed


@pytest.mark.parametrize(("without", "left"), [("", 1), ("kind", 0)])
def test_clear_and_count_are_those_of_its_own_entries(project: Project, without: str, left: int) -> None:
    code = """
other = jitcache.Key(a=1)
jitcache.default_cache().put(other, b"x", kind="other")
call()
names = sorted(e["name"] for e in adapter.entries())
before = adapter.count()
adapter.clear()
say(names=names, before=before, count=adapter.count(), left=int(jitcache.default_cache().get(other) is not None))
"""
    found = project.run(OURS + code, WITHOUT=without)
    assert found.pop("names")[0] == "k"
    assert found == {"before": 2, "count": 0, "left": left}


def test_what_is_left_to_cutile_is_counted(project: Project) -> None:
    """cuTile remembers the PATH that it has once seen."""
    code = "from cuda.tile import _compile; _compile._find_compiler_bin(); os.environ['PATH'] += ':/nowhere'\n"
    for _ in range(2):
        answer = project.run(OURS + code + CALL)
        assert answer["elf"]
        assert answer["uncached"] == {"another PATH": 2}
    assert project.compiler.runs() == 2 * COLD


FIRST = "import time; import program; began = time.perf_counter()\n"
TAKEN = "made(program.k)\nsay(seconds=time.perf_counter() - began)\n"


def test_first_hit_of_a_process_takes_half_as_long_as_cutile_s_own(project: Project) -> None:
    """In turns, each with its cache filled, and ours open."""
    ours, theirs = OURS + FIRST + TAKEN, FIRST + TAKEN
    project.run(ours), project.run(theirs)
    project.compiler.runs()
    rounds = [(project.run(ours)["seconds"], project.run(theirs)["seconds"]) for _ in range(9)]
    assert project.compiler.runs() == len(rounds) * QUESTION  # cuTile's own; none of ours
    assert min(o for o, _ in rounds) < min(t for _, t in rounds) / 2, rounds
