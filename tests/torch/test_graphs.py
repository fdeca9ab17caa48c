"""Candidates of one key: graphs that differ in their guards, as those of dynamic shapes do."""

from __future__ import annotations

from project import Project

#: A class in place of PyTorch's, whose folder is empty, and whose candidates are numbers.
OF_NUMBERS = """
import pickle
from jitcache.adapters.torch import _graphs
written = []
class Numbers:
    iterate_over_candidates = classmethod(lambda cls, local, remote_cache, key: iter(()))
    _write_to_local_cache = staticmethod(lambda key, content: written.append(content))
Numbers.iterate_over_candidates = _graphs.looking_up(vars(Numbers)["iterate_over_candidates"])
Numbers._write_to_local_cache = _graphs.storing(Numbers, vars(Numbers)["_write_to_local_cache"])
def found():
    return [graph for graph, content, in_local in Numbers.iterate_over_candidates(True, None, "key")]
"""


def test_candidates_of_one_key_are_found_one_after_the_other(empty: Project) -> None:
    store = OF_NUMBERS + "for n in {}: Numbers._write_to_local_cache('key', pickle.dumps(n))\nsay(found=found())\n"
    assert empty.run(store.format([1, 2])) == {"found": [1, 2]}
    assert empty.run(store.format([2, 3, 2])) == {"found": [1, 2, 3]}


def test_candidates_that_processes_store_at_once_are_all_kept(empty: Project) -> None:
    code = (
        OF_NUMBERS
        + "mine = int(os.environ['MINE'])\nready()\nfor n in range(12): Numbers._write_to_local_cache('key', pickle.dumps(mine + n))\nsay()\n"
    )
    empty.together([empty.start(code, MINE=str(mine)) for mine in (100, 200, 300)])
    said = empty.run(OF_NUMBERS + "say(found=sorted(found()))\n")["found"]
    assert said == [mine + n for mine in (100, 200, 300) for n in range(12)]


def test_candidates_of_pytorch_s_folder_come_first_and_are_not_tried_twice(empty: Project) -> None:
    code = OF_NUMBERS.replace("iter(())", "iter([(n, pickle.dumps(n), True) for n in (2, 5)] if local else [])")
    code += "for n in (1, 2): Numbers._write_to_local_cache('key', pickle.dumps(n))\nsay(found=found())\n"
    assert empty.run(code) == {"found": [2, 5, 1]}


def test_caches_that_are_switched_off_stay_off(empty: Project) -> None:
    code = OF_NUMBERS + "Numbers._write_to_local_cache('key', pickle.dumps(1))\n"
    code += "say(found=[*Numbers.iterate_over_candidates(False, None, 'key')])\n"
    assert empty.run(code) == {"found": []}
