"""However a header is reached and however it changes, the next answer is what a fresh compile would give.

And what did not change is found. The closure of a row is known from the manifests of
another process, or from this one, which has just used it.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Callable

import jitcache
import pytest
from conftest import REAL, Compiler, use
from jitcache import cuda
from processes import check
from trees import CHANGES, FORMS, Tree, is_found, left_out, stays

COMPILERS = ["stub", *(param.values[0] for param in REAL)]
KNOWN_FROM = ["manifests", "use"]

# After that long, a file's time stamps are taken for what they are.
OLD = 0.06

# Compiles every request of a list twice, in another process.
TWICE = """
    import json, os, sys, jitcache
    from jitcache import cuda
    directory, requests = sys.argv[1:]
    cache = jitcache.Cache(directory, memory_size=0)
    answers = {}
    for row, (folder, request) in json.load(open(requests)).items():
        os.chdir(folder)
        codes = [cuda.compile(**request, cache=cache) for _ in range(2)]
        answers[row] = [codes[0].code.decode(), codes[1].code.decode(), codes[0].hit, codes[1].hit]
    print(json.dumps(answers))
"""


def rows(compiler: str) -> list[tuple[str, str]]:
    """The combinations that make sense."""
    return [(form, change) for form in FORMS for change in CHANGES if not left_out(form, change, compiler)]


PARAMETERS = [
    pytest.param(compiler, form, change, known, marks=[pytest.mark.nvrtc] if compiler != "stub" else [])
    for compiler in COMPILERS
    for form, change in rows(compiler)
    for known in KNOWN_FROM
]


class Grove:
    """The trees of all rows for one compiler, and a cache that another process has filled for half of them."""

    def __init__(self, folder: Path, nvrtc: Path, compiler: str) -> None:
        self.cache = folder / "cache"
        self.trees = {}
        for form, change in rows(compiler):
            for known in KNOWN_FROM:
                tree = Tree(folder / f"{form}-{change}-{known}", FORMS[form])
                CHANGES[change].before(tree)
                self.trees[form, change, known] = tree
        time.sleep(OLD)
        requests = folder / "requests.json"
        stored = {key: tree for key, tree in self.trees.items() if key[2] == "manifests"}
        requests.write_text(
            json.dumps({"/".join(k): (str(t.working_directory), t.request()) for k, t in stored.items()})
        )
        answers = json.loads(check(TWICE, self.cache, requests, env={"JITCACHE_NVRTC": str(nvrtc)}))
        self.answers = {tuple(row.split("/")): answer for row, answer in answers.items()}


@pytest.fixture(scope="module")
def groves(built: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Grove]:
    known: dict[str, Grove] = {}

    def get(name: str) -> Grove:
        if name not in known:
            known[name] = Grove(tmp_path_factory.mktemp(f"grove-{name}"), built(name), name)
        return known[name]

    return get


def twice(tree: Tree, cache: jitcache.Cache) -> list:
    codes = [cuda.compile(**tree.request(), cache=cache) for _ in range(2)]
    return [*(code.code.decode() for code in codes), *(code.hit for code in codes)]


@pytest.mark.control(
    "noabsent",
    rows=[
        "stub-angle-add-in-front-manifests",
        "stub-has_include-absent-add-in-front-manifests",
        "stub-beside-the-working-directory-add-in-front-manifests",
    ],
)
@pytest.mark.parametrize(("name", "form", "change", "known"), PARAMETERS)
def test_answer_is_that_of_a_fresh_compile(
    name: str, form: str, change: str, known: str, groves, built, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    grove = groves(name)
    compiler = use(monkeypatch, name, built(name))
    tree = grove.trees[form, change, known]
    monkeypatch.chdir(tree.working_directory)
    with jitcache.Cache(grove.cache, memory_size=0) as cache:
        before, again, *hits = grove.answers[form, change, known] if known == "manifests" else twice(tree, cache)
        assert (before == again, *hits) == (True, False, True)
        CHANGES[change].apply(tree)
        monkeypatch.chdir(tree.working_directory)
        expect(tree, cache, compiler, before, stays(form, change), is_found(form, change))


def expect(tree: Tree, cache: jitcache.Cache, compiler: Compiler, before: str, same: bool, found: bool) -> None:
    """Compare the answers after a change with a fresh compile's; count compiles by what NVRTC has written down."""
    made = compiler.compiles
    answer, again = (cuda.compile(**tree.request(), cache=cache) for _ in range(2))
    made = compiler.compiles - made
    fresh = cuda.compile(**tree.request(), cache=False).code
    assert answer.code == again.code == fresh
    assert (fresh.decode() == before) == same
    assert (answer.hit, again.hit, made) == (found, True, 0 if found else 1)
