"""Who finds what others have compiled: another folder, another machine; and graphs that differ in their guards."""

from __future__ import annotations

import subprocess
import sys

from project import CALL, NOTHING, OURS, Project

#: The same function as in CALL, from a file of the program's.
MODEL = "def f(x):\n    return (x.sin() + 1).sum(-1) * 2\n"


def test_model_that_has_moved_finds_everything(project: Project) -> None:
    """Its file is in another folder, under another name, and further down."""
    for place, name, above in (("first", "model", ""), ("second/deep", "moved", "# a line\n\n")):
        folder = project.folder / place
        folder.mkdir(parents=True)
        (folder / f"{name}.py").write_text(above + MODEL)
        said = project.run(
            f"sys.path.insert(0, {str(folder)!r})\nfrom {name} import f\n" + OURS + CALL, **project.folders(name)
        )
        assert (said["graphs"], said["joint"]) == (2, 1)
        assert project.started() == NOTHING


def test_another_machine_finds_everything_in_a_remote(empty: Project, made: Project) -> None:
    flush = [sys.executable, "-m", "jitcache", "remote", "flush"]
    subprocess.run(flush, env=made.environment(JITCACHE_REMOTE=made.remote), check=True, capture_output=True)
    said = empty.run(OURS + CALL, JITCACHE_REMOTE=made.remote)
    assert (said["graphs"], said["joint"]) == (2, 1)
    assert empty.started() == NOTHING


#: A pool whose lowering asks for the sizes: graphs of one key that differ in their guards.
POOL = """
def pool(rows, columns):
    torch._dynamo.reset()
    x = torch.arange(2 * rows * columns, dtype=torch.float32).reshape(1, 2, rows, columns)
    fn = lambda x: torch.nn.functional.adaptive_avg_pool2d(x, [5, 7])
    return float((torch.compile(fn, dynamic=True)(x) - fn(x)).abs().max())
"""


def test_graphs_of_one_key_that_differ_in_their_guards_are_all_kept(empty: Project) -> None:
    """Each of two processes makes one. A third, whose folders are empty, finds both."""
    once = (
        POOL
        + OURS
        + "say(error=pool({}, {}), keys=len({{e['name'] for e in adapter.entries() if 'FxGraph' in e['name']}}))\n"
    )
    for rows, columns in ((8, 9), (9, 10)):
        said = empty.run(once.format(rows, columns), **empty.folders(f"of-{rows}"))
        assert said["error"] < 1e-3
        assert said["keys"] == 1
    empty.started()
    both = POOL + OURS + "say(errors=[pool(8, 9), pool(9, 10)], graphs=counters['inductor']['fxgraph_cache_hit'])\n"
    said = empty.run(both)
    assert max(said["errors"]) < 1e-3
    assert said["graphs"] == 2
    assert empty.started() == NOTHING
