"""What the source key cannot see: it says so, traces, and the result is right whatever it did not see."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import NamedTuple

import pytest
from project import Project


class Blind(NamedTuple):
    """A function that depends on something unseen: its text, the reason, and how the unseen changes."""

    name: str
    text: str  # defines f(), called by a @cute.jit function
    reason: str
    change: str = ""  # a line that is run first
    more: str = ""  # in the module


BLIND = [
    Blind("environment", "def f():\n    return int(os.environ.get('N', '1'))", "reads the world", "os.environ['N'] = '2'", "import os"),
    Blind("a function of os", "def f():\n    return int(getenv('N', '1'))", "reads the world", "os.environ['N'] = '2'", "import os\nfrom os import getenv"),
    Blind("a file", "def f():\n    return int(open(PATH).read())", "sees what has no name", "open(PATH, 'w').write('2')", "import os\nPATH = os.environ['HOME'] + '/n'\nopen(PATH, 'a').write('1')"),
    Blind("pathlib", "def f():\n    return len(pathlib.Path(PATH).read_text())", "reads the world", "open(PATH, 'w').write('22')", "import os, pathlib\nPATH = os.environ['HOME'] + '/m'\nopen(PATH, 'a').write('1')"),
    Blind("the time", "def f():\n    return time.time_ns() % 2**20", "reads the world", more="import time"),
    Blind("filters of warnings", "def f():\n    try:\n        warnings.warn('w')\n    except UserWarning:\n        return 2\n    return 1",
          "reads the world", "warnings.simplefilter('error')", "import warnings"),
    Blind("the level of a logger", "def f():\n    return 3 - logging.getLogger('a').getEffectiveLevel() // 10", "reads the world",
          "logging.getLogger('a').setLevel(10)", "import logging\nlogging.getLogger('a').setLevel(20)"),
    Blind("chance", "def f():\n    return random.randrange(2**20)", "reads the world", more="import random"),
    Blind("eval", "def f():\n    return eval('N')", "sees what has no name", "globals()['N'] = 2", "N = 1"),
    Blind("globals", "def f():\n    return globals()['N']", "sees what has no name", "globals()['N'] = 2", "N = 1"),
    Blind("import in a function", "def f():\n    import other\n    return other.N", "import in a function", "__import__('other').N = 2"),
    Blind("getattr of a module by a name that is made", "def f():\n    return getattr(other, chr(78))", "names made while running", "other.N = 2", "import other"),
    Blind("a module's dictionary", "def f():\n    return other.__dict__[chr(78)]", "names made while running", "other.N = 2", "import other"),
    Blind("an attribute by operator", "def f():\n    return operator.attrgetter(chr(78))(other)", "names made while running", "other.N = 2", "import operator, other"),
    Blind("an attribute by format", "def f():\n    return int(('{0.' + chr(78) + '}').format(other))", "names made while running", "other.N = 2", "import other"),
    Blind("globals by a function", "def g():\n    pass\ndef f():\n    return g.__globals__[chr(78)]", "sees what has no name", "globals()['N'] = 2", "N = 1"),
    Blind("a module in a list", "def f():\n    return PLACES[0].N", "module as a value", "other.N = 2", "import other\nPLACES = [other]"),
    Blind("a module that makes its attributes", "def f():\n    return lazy.N", "module with __getattr__", "lazy.NOW = 2", "import lazy"),
    Blind("a class of an extension", "def f():\n    return D[0]", "object", "D[0] = 2", "import collections\nD = collections.deque([1])"),
    Blind("an int of a class", "def f():\n    return I + 0", "object", "globals()['I'] = Int(2)", "class Int(int):\n    pass\nI = Int(1)"),
    Blind("an iterator", "def f():\n    return next(IT)", "compiled class", "next(IT)", "IT = iter([1, 2, 3, 4, 5, 6, 7, 8, 9])"),
    Blind("a set of objects", "def f():\n    return len(S)", "set of objects", "S.add((2,))", "S = {(1,)}"),
    Blind("a dictionary with a default", "def f():\n    return DD['n'] + 1", "object", "DD['n'] = 1", "import collections\nDD = collections.defaultdict(int)"),
    Blind("the device", "def f():\n    return HardwareInfo and 1", "asks the device", "", "from cutlass.utils import HardwareInfo"),
    Blind("the device by a module", "def f():\n    return cutlass.utils.HardwareInfo and 1", "asks the device", "", "import cutlass.utils"),
    Blind("a thread's variable", "def f():\n    return HERE.n", "", "HERE.n = 2", "import threading\nHERE = threading.local()\nHERE.n = 1"),
    Blind("address", "def f():\n    return id(f) % 2**20", "sees what has no name"),
    Blind("a large list", "def f():\n    return L[0]", "large value", "L[0] = 2", "L = [1] * 20_000"),
    Blind("a closure's module", "def around(m):\n    def f():\n        return m.N\n    return f\nf = around(other)", "", "other.N = 2", "import other"),
]  # fmt: skip

HOST = """
@cute.jit
def {name}(x: cutlass.Int32):
    cute.printf("%d\\n", x + f())
"""

RUN = """
    import json, sys
    from jitcache.adapters import cute_dsl
    import blind
    exec(compile({change!r}, "<change>", "exec"), vars(blind))
    result = cute_dsl.compile(blind.host, 1, key="source")
    print(json.dumps([result.reason, result.how, result.hit]), flush=True)
    result(1)
"""


def run(project: Project, row: Blind, change: str, **env: str) -> tuple[list[object], int, int]:
    ran = project.check(RUN.format(change=change), **env)
    said, _, printed = ran.out.partition("\n")
    return json.loads(said), int(printed), ran.compiles


def write(project: Project, row: Blind, name: str = "blind") -> None:
    text = f"import cutlass\nimport cutlass.cute as cute\n{row.more}\n{textwrap.dedent(row.text)}\n{HOST.format(name='host')}"
    project.write(**{name: text}, other="N = 1\n")


ALL = """
    import json, blinds
    from jitcache.adapters import cute_dsl
    said, results = {}, []
    for name, (host, change) in blinds.all(CHANGED).items():
        exec(compile(change, "<change>", "exec"), host.__wrapped__.__globals__)
        before = instrument.noted().count("compile")
        result = cute_dsl.compile(host, 1, key="source")
        said[name] = [result.reason, result.how, result.hit, instrument.noted().count("compile") - before]
        results.append(result)
    print(json.dumps(said), flush=True)
    for result in results:
        result(1)
"""


def run_all(project: Project, changed: bool, **env: str) -> dict[str, list[object]]:
    """Return reason, key, hit, compiles and what is printed, by row: all in one process, each in a module of its own."""
    ran = project.check(ALL.replace("CHANGED", str(changed)), **env)
    said, *printed = filter(None, ran.out.splitlines())
    rows = json.loads(said).items()
    return {name: [*row, int(number)] for (name, row), number in zip(rows, printed)}


def all_of(folder: Path, **env: str) -> tuple[dict[str, list[object]], dict[str, list[object]]]:
    project = Project(folder / "project")
    project.write(other="N = 1\n", lazy="NOW = 1\ndef __getattr__(name):\n    return NOW\n")
    for i, row in enumerate(BLIND):
        write(project, row, f"blind{i}")
    table = ", ".join(f"{row.name!r}: ({i}, {row.change!r})" for i, row in enumerate(BLIND))
    project.write(
        blinds=f"""
        import importlib
        def all(changed):
            return {{n: (importlib.import_module(f"blind{{i}}").host, c * changed) for n, (i, c) in {{{table}}}.items()}}
        """
    )
    return run_all(project, changed=False, **env), run_all(project, changed=True, **env)


@pytest.fixture(scope="session")
def blind(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, list[object]], dict[str, list[object]]]:
    """What came of each row before and after its change."""
    return all_of(tmp_path_factory.mktemp("blind"))


@pytest.fixture(scope="session")
def unlooked(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, list[object]], dict[str, list[object]]]:
    """The same with the looking taken out."""
    return all_of(tmp_path_factory.mktemp("unlooked"), WITHOUT="look")


@pytest.mark.parametrize("row", BLIND, ids=[b.name for b in BLIND])
def test_refused(blind: tuple[dict[str, list[object]], ...], row: Blind) -> None:
    before, after = (found[row.name] for found in blind)
    if row.reason:
        assert before[:2] == [row.reason, "traced"]
    if row.change:
        # Two rows that come to the same share a module, so it need not be compiled; but it is the right one.
        assert after[-1] == 3
        assert row.reason == "" or after[:2] == before[:2]


LOOKED_AT = ("reads the world", "sees what has no name", "import in a function", "names made while running")
SEEN = [b for b in BLIND if b.change and b.reason in LOOKED_AT]


@pytest.mark.parametrize("row", SEEN, ids=[b.name for b in SEEN])
def test_without_looking(unlooked: tuple[dict[str, list[object]], ...], row: Blind) -> None:
    """The control: taken as if all were seen, they give what was compiled before the change."""
    before, after = (found[row.name] for found in unlooked)
    assert before[1] == "source"
    assert after[1:] == ["source", True, 0, 2]


HANDED = [
    Blind("a module that is handed on", "def g(m):\n    return m.N\ndef f():\n    return g(other)", "", "other.N = 2", "import other"),
    Blind("a module that is returned", "def g():\n    return other\ndef f():\n    return g().N", "", "other.N = 2", "import other"),
    Blind("a module of a module that is handed on", "def g(m):\n    return m.other.N\ndef f():\n    return g(third)", "", "other.N = 2", "import other, third"),
]  # fmt: skip


@pytest.mark.parametrize("row", HANDED, ids=[b.name for b in HANDED])
@pytest.mark.parametrize("without", ["", "rest"])
def test_handed_on(project: Project, row: Blind, without: str) -> None:
    """A function asks a module for something that the one which names it does not. The control leaves that out."""
    write(project, row)
    project.write(third="import other\n")
    env = {"WITHOUT": f"label {without},label module"} if without else {}
    assert run(project, row, "", **env)[0][1] == "source"
    (_, how, hit), printed, _ = run(project, row, row.change, **env)
    assert (how, hit, printed) == (("source", True, 2) if without else ("source", False, 3))


@pytest.mark.parametrize("without", ["", "annotations"])
def test_annotation_whose_name_means_another_type_by_now(project: Project, without: str) -> None:
    """What was annotated counts, not what its name says when it is compiled."""
    project.write(
        a="""
        import cutlass, cutlass.cute as cute
        T = cutlass.Int32
        @cute.jit
        def f(x: T):
            cute.printf("%d\\n", x + 2147483647)
        """
    )
    code = """
        import a, cutlass
        from jitcache.adapters import cute_dsl
        a.T = cutlass.Int64
        result = cute_dsl.compile(a.f, 1, key="source")
        print(result.how, result.hit, [p.annotation.__name__ for p in result.execution_args.signature.parameters.values()])
    """
    env = {"WITHOUT": without} if without else {}
    assert project.check(code, **env).out == "source False ['Int32']"
    project.edit("a", "T = cutlass.Int32", "T = cutlass.Int64")
    want = "source True ['Int32']" if without else "source False ['Int64']"
    assert project.check(code, **env).out == want


def test_file_that_was_edited_after_the_import(project: Project) -> None:
    """The DSL reads the text when it first compiles a function, so what the process has imported says nothing."""
    project.write(a="import cutlass.cute as cute\n@cute.jit\ndef f(x: cute.Int32):\n    cute.printf('%d\\n', x + 1)\n")
    code = """
        import pathlib, a
        from jitcache.adapters import cute_dsl
        path = pathlib.Path(a.__file__)
        path.write_text(path.read_text().replace("x + 1", "x + 2"))
        result = cute_dsl.compile(a.f, 1, key="source")
        print([result.reason, result.how], flush=True)
        result(1)
    """
    out = project.check(code).out
    assert out == "['source was edited', 'traced']\n3"
    # What the text was before hits nothing of that.
    project.edit("a", "x + 2", "x + 1")
    again = "import a; from jitcache.adapters import cute_dsl; cute_dsl.compile(a.f, 1, key='source')(1)"
    assert project.check(again).out == "2"


def test_without_the_text_an_edited_file_is_taken_for_what_was_imported(project: Project) -> None:
    """The control: keyed by the bytecode, the text that was edited meanwhile is served for the one before."""
    project.write(a="import cutlass.cute as cute\n@cute.jit\ndef f(x: cute.Int32):\n    cute.printf('%d\\n', x + 1)\n")
    code = """
        import pathlib, a
        from jitcache.adapters import cute_dsl
        path = pathlib.Path(a.__file__)
        path.write_text(path.read_text().replace("x + 1", "x + 2"))
        cute_dsl.compile(a.f, 1, key="source")
    """
    project.check(code, WITHOUT="edited")
    project.edit("a", "x + 2", "x + 1")
    again = "import a; from jitcache.adapters import cute_dsl; cute_dsl.compile(a.f, 1, key='source')(1)"
    assert project.check(again, WITHOUT="edited").out == "3"


def test_function_that_was_compiled_before_it_was_seen(project: Project) -> None:
    project.write(a="import cutlass.cute as cute\n@cute.jit\ndef f(x: cute.Int32):\n    cute.printf('%d\\n', x + 1)\n")
    code = """
        import a, cutlass.cute as cute
        from jitcache.adapters import cute_dsl
        cute.compile(a.f, 1)
        result = cute_dsl.compile(a.f, 1, key="source")
        print([result.reason, result.how])
    """
    assert project.check(code).out == "['compiled before', 'traced']"


def test_what_changes_while_it_is_compiled_is_not_stored_by_source(project: Project) -> None:
    project.write(
        a="""
        import cutlass.cute as cute
        N = 1
        def n():
            global N
            N += 1
            return N
        @cute.jit
        def f(x: cute.Int32):
            cute.printf('%d\\n', x + n())
        """
    )
    code = """
        import a
        from jitcache.adapters import cute_dsl
        result = cute_dsl.compile(a.f, 1, key="source")
        print([result.reason, result.how], flush=True)
        result(1)
    """
    for _ in range(2):
        assert project.check(code).out == "['changed while it was compiled', 'traced']\n3"


def test_hooks_are_run_and_their_changes_are_in_the_key(project: Project) -> None:
    code = """
        import app
        from jitcache.adapters import cute_dsl
        seen = []
        fn, args, kwargs, options = app.job()
        result = cute_dsl.compile(fn, *args, key="source", trace_finalize_hooks=lambda owner, module, name: seen.append(name))
        print([result.reason, result.how, result.hit, len(seen)])
    """
    assert project.check(code).out == "['trace hooks', 'traced', False, 1]"
    assert project.check(code).out == "['trace hooks', 'traced', True, 1]"


BEGAN = """
    import json, cutlass.cute as cute
    from jitcache import _module_files
    from jitcache.adapters import cute_dsl
    import app
    _module_files._START = 0.0
    function, args, more, options = app.job()
    result = cute_dsl.compile(function, *args, options=options, **more)
    print(json.dumps([result.how, cute_dsl.uncached()]))
"""


@pytest.mark.parametrize("without", ["", "started"])
def test_installation_that_was_changed_since_the_process_started_is_not_cached(project: Project, without: str) -> None:
    """What is imported is not what is there: here all files are younger than the process."""
    how, why = json.loads(project.check(BEGAN, WITHOUT=without).out)
    assert (how, why) == (("traced", {}) if without else ("", {"changed since the process started": 1}))
