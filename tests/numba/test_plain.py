"""Plain code of others: a function under ``overload`` that chooses by types alone. What it makes is kept by its source."""

from __future__ import annotations

import pytest
from project import Project

IMPORTS = """
import os, numpy, numba, conf
from numba import types
from numba.core import types as core_types
from numba.core.errors import TypingError
from numba.extending import overload
def h(x):
    raise NotImplementedError
"""
CALL = "import a; print(a.f(2))"
USE = """
from o import h
@numba.njit
def f(x):
    return h(x) + 1
"""
#: Functions under ``overload``: those that are plain give another result if their constants or ``conf`` have changed.
PLAIN = {
    "by a class of types": """
@overload(h)
def over(x):
    if isinstance(x, types.Integer):
        return lambda x: x * {k}
    return lambda x: x
""",
    "by a part of a type": """
@overload(h)
def over(x):
    if x.bitwidth == 64 and not isinstance(x, (core_types.Float, core_types.Boolean)):
        return lambda x: x * {k}
""",
    "with a constant": """
K = {k}
@overload(h)
def over(x):
    k = K + 0
    if k != {k}:
        raise TypingError("other")
    return lambda x: x * k
""",
    "with a table": """
LETTERS = {{types.int64: ["a", {k}]}}
@overload(h)
def over(x):
    k = LETTERS[x][1]
    return lambda x: x * k
""",
    "with a cell": """
def make(k):
    @overload(h)
    def over(x):
        n = max(k, 0)
        return lambda x: x * n
make({k})
""",
    "with a type of NumPy's": """
@overload(h)
def over(x):
    kind = numpy.int32
    return lambda x: kind(x * {k})
""",
}
#: Those that are not: each reads ``conf`` or its process in another way.
OTHER = {
    "a module of others": "conf.K",
    "a variable": "int(os.environ['VALUE'])",
    "how often it was run": "count()",
    "a table that it changes": "(TABLE.__setitem__(0, TABLE[0] + 1), TABLE[0])[1]",
    "an instance": "INSTANCE.k",
    "a setting of Numba's": "int(numba.config.OPT)",
    "what NumPy is set to": "len(numpy.geterr()['over'])",
    "a function's globals": "over.__globals__['K2']",
    "text of a type": "len(f'{x}') - 3",
    "text by a sign": "len('%s' % (x,)) - 3",
    "a name by text": "getattr(conf, 'K')",
    "an import": "__import__('conf').K",
    "the order of a set": "[n for n in {'a', 'b', 'c'}].index('a') + 2",
}
SURROUNDINGS = """
TABLE = [conf.K]
def count():
    TABLE[0] += 1
    return TABLE[0]
K2 = conf.K
class C:
    pass
INSTANCE = C()
INSTANCE.k = conf.K
@overload(h)
def over(x):
    k = {read}
    return lambda x: x * k
"""


@pytest.mark.parametrize("form", PLAIN)
def test_what_plain_code_makes_is_kept_by_its_source(project: Project, form: str) -> None:
    found = []
    for k in (2, 3, 2):
        project.write(conf="K = 1", o=IMPORTS + PLAIN[form].format(k=k), a=USE)
        found.append(project.check(CALL, "everything"))
    assert [ran.out for ran in found] == ["5", "7", "5"]
    assert [ran.compiled.count("f") for ran in found] == [1, 1, 0]
    assert not found[2].by_llvm


def test_without_the_mechanism_what_plain_code_makes_is_not_kept_by_its_source(project: Project) -> None:
    project.write(conf="K = 1", o=IMPORTS + PLAIN["by a class of types"].format(k=2), a=USE)
    assert [project.check(CALL, "everything", WITHOUT="plain").compiled.count("f") for _ in range(2)] == [1, 1]


def test_an_instruction_that_is_not_known_is_not_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a later Python has: here some are taken out of those that are known."""
    from jitcache.adapters.numba import _plain

    code = (lambda x: (x, 1)).__code__
    assert _plain.is_plain(code, {}, {})
    for name in ("BUILD_TUPLE", "LOAD_CONST"):
        monkeypatch.setattr(_plain, "_COMBINING", _plain._COMBINING - {name})
        assert not _plain.is_plain(code, {}, {})
        monkeypatch.undo()


@pytest.mark.parametrize("read", OTHER)
def test_code_that_reads_anything_else_is_not_plain(project: Project, read: str) -> None:
    """The result of a plain Numba, whatever has changed between two processes."""
    project.write(
        conf="import os\nK = int(os.environ['VALUE'])", o=IMPORTS + SURROUNDINGS.format(read=OTHER[read]), a=USE
    )
    for value in ("2", "3"):
        env = {"VALUE": value, "PYTHONHASHSEED": value}
        ran = project.check(CALL, "everything", **env)
        assert ran.out == project.plain(CALL, **env)
        assert "f" in ran.compiled
