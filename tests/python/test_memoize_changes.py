"""Changes of memoized functions: whatever changes, the result is that of plain Python.

Each row is a program, and a change of it. It is run in new processes: before the
change, twice; after it; and after it without a cache. Whether a result was taken
from the cache shows when it has been replaced there by another.
"""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from memoized_programs import KEPT, ROWS, Row

MAIN = """
    import os, sys
    exec(os.environ.get("CONTROL", ""))
    import app
    exec(os.environ.get("CHANGE", ""))
    sys.stdout.write(app.call() if hasattr(app, "call") else app.f(*getattr(app, "ARGUMENTS", ())).decode())
"""
HEAD = "import sys\nimport jitcache\n"

#: The walk taken out: a key is the function's name and its arguments.
NO_WALK = """
import jitcache._memoize.reach as r, jitcache._memoize.audit as a, jitcache._memoize.memoized as m
m.settings = bytes
describe = r.Reach.describe
def without(self, label, value):
    self.components[label] = repr(value).encode() if label.startswith("argument") else b""
r.Reach.describe = without
a.HARMLESS = a.HARMLESS | {"open", "os.listdir", "os.scandir", "subprocess.Popen", "os.posix_spawn", "os.fork", "_posixsubprocess.fork_exec"}
r.Reach.__init__.__kwdefaults__ = None
"""


class Program:
    """A program in a folder, run in new processes."""

    def __init__(self, folder: Path, row: Row) -> None:
        self.folder, self.row = folder, row
        self.write("main.py", textwrap.dedent(MAIN))
        for name, text in row.files.items():
            self.write(name, text)
        self.write("app.py", HEAD + row.app)

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)

    def run(self, **more: str) -> str:
        """Return the result of the call in a new process."""
        env = {
            "PYTHONPATH": os.pathsep.join(sys.path),
            "WHAT": "one",
            "JITCACHE_DIR": str(self.folder / "cache"),
            **more,
        }
        command = [sys.executable, "-B", "main.py"]
        p = subprocess.run(command, cwd=self.folder, env=env, capture_output=True, text=True, timeout=60, check=False)
        assert p.returncode == 0, p.stderr
        return p.stdout

    def change(self) -> dict[str, str]:
        """Make the change; return the environment variables for it."""
        row = self.row
        if row.change:
            old, new = row.change.split(" -> ")
            text = (self.folder / "app.py").read_text()
            assert old in text
            self.write("app.py", text.replace(old, new))
        if row.edit:
            name, old, new = row.edit
            self.write(name, (self.folder / name).read_text().replace(old, new))
        return {"CHANGE": row.patch, **row.env}


def kept(program: Program, **more: str) -> bool:
    """Whether a second process takes the result of the first, which has been replaced in the cache."""
    program.run(**more)
    spoil = "import jitcache; c = jitcache.default_cache(); [c.put(k, b'spoilt', kind='python', replace=True) for k in list(c) if k.name.endswith('.f')]"
    subprocess.run(
        [sys.executable, "-c", spoil], check=True,
        env={"PYTHONPATH": os.pathsep.join(sys.path), "JITCACHE_DIR": str(program.folder / "cache")},
    )  # fmt: skip
    found = program.run(**more)
    return "spoilt" in found


@pytest.mark.parametrize("name", ROWS)
def test_no_change_leaves_an_old_result(name: str, tmp_path: Path) -> None:
    program = Program(tmp_path, ROWS[name])
    before = program.run()
    assert program.run() == before
    more = program.change()
    plain = program.run(JITCACHE="0", **more)
    assert (plain == before) == ROWS[name].same, "the row changes nothing"
    assert program.run(**more) == plain
    assert program.run(**more) == plain


@pytest.mark.parametrize("name", ROWS)
def test_result_is_kept_where_all_is_described_and_nowhere_else(name: str, tmp_path: Path) -> None:
    assert kept(Program(tmp_path, ROWS[name])) == ROWS[name].kept


VALUES = "import jitcache._memoize.values as v\n"
CLASSES = "import jitcache._memoize.classes as c\n"
REACH = "import types, jitcache._memoize.reach as r\n"
NO_TYPES = (
    VALUES
    + "v.ValueWalker._annotation = lambda self, said: self._put('type', repr(said).partition(' at 0x')[0].encode())"
)

NO_ATTRIBUTES = "import jitcache._memoize.memoized as m\nm._PARTS = m._PARTS | {'n', '__doc__'}"


def _without(tag: str) -> str:
    """What is put by a tag does not count."""
    return f"import jitcache._dependency_walk as w\nput = w.DependencyWalker._put\nw.DependencyWalker._put = lambda self, tag, data=b'': put(self, tag, b'' if tag == {tag!r} else data)"


NO_LOGGERS = REACH + "r.ASKS_LOGGERS = frozenset()\n" + _without("logger")

#: A mechanism each, taken out, by the row that needs it.
TAKEN_OUT = {
    "order of a set of numbers": VALUES + "v.fixed_order = lambda items: False",
    "strides of a view": VALUES
    + "import jitcache._memoize.reach as r\nr.Reach.kinds[memoryview] = lambda self, value: self._put('view', value.tobytes())",
    "memory that two values share": VALUES + "v.ValueWalker._shared = lambda self, owner, address=0: None",
    "NaN that is in a list twice": VALUES + "v.is_nan = lambda value: False",
    "what a field of a dataclass is told": VALUES
    + "import jitcache._dependency_walk as w\nv.ValueWalker._members = w.DependencyWalker._members",
    "class that says it is Python's": CLASSES + "c.is_elsewhere = lambda cls: False",
    "what is added to an annotation": NO_TYPES,
    "object that is an annotation": NO_TYPES,
    "class in the parts of an annotation": NO_TYPES,
    "type of a dataclass's field": VALUES + "v.ValueWalker._annotation = lambda self, said: None",
    "name of a class that is set": _without("class"),
    "order of a module's names": _without("order"),
    "function of Python's in another's place": _without("named"),
    "attribute of a logger": REACH + "r.loggers._OF_LOGGERS = {*r.loggers._OF_LOGGERS, 'x'}",
    "filter of a logger": NO_LOGGERS,
    "name of the logger above": NO_LOGGERS,
    "number that a member of an enum is": CLASSES
    + "import jitcache._dependency_walk as w\nw.given = c.given = lambda member: {}",
    "class of a partial": VALUES + "v.ValueWalker._extra = v.ValueWalker._set_on = lambda *a: None",
    "attribute of a static method": REACH
    + "import jitcache._dependency_walk as w\nw.DependencyWalker._set_on = lambda *a: None",
    "class of a module of Python's": REACH
    + "c = r.Reach._class\nr.Reach._class = lambda self, cls: None if issubclass(cls, types.ModuleType) else c(self, cls)",
    "class that one below an abstract class is told of": CLASSES + "c.below = lambda cls: [cls]",
    "statement class that is another": REACH
    + "g = r.Reach._global\nr.Reach._global = lambda self, names, chain: None if chain[0] == '__build_class__' else g(self, names, chain)",
    "method in C of a value": REACH + "r.Reach.kinds[r._bound_slot] = r.Reach._descriptor",
    "object behind a method of Python's": REACH
    + "r._CALLED = tuple(c for c in r._CALLED if c is not types.MethodType)",
    "attribute of a memoized function": NO_ATTRIBUTES,
    "attribute of the memoized function itself": NO_ATTRIBUTES,
    "text of a memoized function that is set": NO_ATTRIBUTES,
    "lock that is held": REACH + "r.ASKS_LOCKS = ()",
    "lock that is held, by a text": "import jitcache._memoize.mentions as m\nm.ASKS_LOCKS = set()",
    "lock that this thread holds": REACH + "r.ASKS_LOCKS = ()",
    "lock that is released": REACH + "r.ASKS_LOCKS = ()",
    "how a class is copied, by an object": REACH + "r.Reach._copied = lambda self: None",
    "which way floats are rounded": "import jitcache._memoize.settings as s\ns._rounding = tuple",
    "letters of a locale": "import jitcache._memoize.settings as s\ns._letters = lambda locale: ''",
    "codec of a memoized helper": "import jitcache._memoize.memoized as m\nm._codec_of = lambda value: {}",
    "codec that looks outside": "import jitcache._memoize.memoized as m\nm._codec_of = lambda value: {}",
    "key of a dict that was changed": VALUES + "v._finds = lambda mapping, key: True",
    "state that a class hides": VALUES + "v.hides_state = lambda cls: False",
    "default of a method of Python's": VALUES + "v.ValueWalker._method_of_others = lambda self, name, function: None",
    "globals of a function, by a text": "import jitcache._memoize.mentions as m\nm.leading_words = lambda text: []",
    "globals of a function, by a text elsewhere": VALUES + "v.is_leading = lambda text: False",
    "order of a set of an enum's numbers": VALUES + "v.fixed_order = lambda items: False",
    "text of a property": CLASSES
    + "import jitcache._memoize.reach as r\nr.Reach.kinds[property] = c.DependencyWalker._property",
    "text of an enum's member": "import jitcache._dependency_walk as w\nw._OF_MEMBERS = w._OF_MEMBERS | {'__doc__'}",
    "what an enum does for a value that it lacks": "import jitcache._dependency_walk as w\nw._is_made = lambda cls, name, value: True\nw._is_written = lambda value: False",
    "slot under another's name": "import jitcache._dependency_walk as w\nw._is_moved_slot = lambda cls, name, value: False",
    "whether a class is abstract": _without("abstract"),
    "dict of an instance that is of another class": VALUES + "v.ValueWalker._names = v.ValueWalker._dict",
    "what match takes a class for": CLASSES + "c._PATTERNS = 0",
    "hashes that the system has": _without("hashes"),
    "level of a logger's handler": REACH + "r.ASKS_LOGGERS = frozenset()",
    "level of the logger above": _without("above"),
    "level of a logger below": REACH + "r.loggers.LEADS_FROM_LOGGERS = frozenset()",
    "letters that can be printed": _without("printed"),
    "object that is printed to": REACH + "r.Reach._printed = lambda self: None",
    "how a class is pickled": REACH + "r.Reach._copied = lambda self: None",
    "memory that an array does not own": REACH + "r.ASKS_ARRAYS = ()",
    "array in a package's module": REACH
    + "r.is_array = lambda value: False\nr.Reach._of_c = lambda self, value, cls: None",
    "date in a package's module": REACH + "r.Reach._of_c = lambda self, value, cls: None",
    "date in a module of Python's": _without("python"),
    "globals of a function, by operator": VALUES + "v.is_leading = v.leads_elsewhere = lambda text: False",
}


@pytest.mark.parametrize("name", [n for n, row in ROWS.items() if row.walk and not row.same and n not in TAKEN_OUT])
def test_without_the_walk_results_are_old(name: str, tmp_path: Path) -> None:
    """The control: with a key of names alone, the test above would fail."""
    program = Program(tmp_path, ROWS[name])
    before = program.run(CONTROL=NO_WALK)
    more = program.change()
    plain = program.run(JITCACHE="0", **more)
    assert program.run(CONTROL=NO_WALK, **more) == before != plain


@pytest.mark.parametrize("name", [n for n in TAKEN_OUT if n in ROWS])
def test_without_its_mechanism_a_result_is_old(name: str, tmp_path: Path) -> None:
    program = Program(tmp_path, ROWS[name])
    before = program.run(CONTROL=TAKEN_OUT[name])
    more = program.change()
    plain = program.run(JITCACHE="0", **more)
    assert program.run(CONTROL=TAKEN_OUT[name], **more) == before != plain


def test_what_the_c_library_is_told_of_the_processor_counts(tmp_path: Path) -> None:
    """Its functions are others then, and their results may differ in the last digits."""
    row = Row("import math\n" + KEPT + "def f(): return b'%r' % math.sin(1)\ndef call(): return f.key().hex\n")
    program = Program(tmp_path, row)
    assert program.run() == program.run() != program.run(GLIBC_TUNABLES="glibc.cpu.hwcaps=-AVX2,-FMA")
