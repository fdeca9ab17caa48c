"""Programs with a memoized function, each with a change that test_memoize_changes.py makes."""

from __future__ import annotations

import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

KEPT = "@jitcache.memoize\n"

#: A configuration of OpenSSL that has it offer MD4.
LEGACY = """
openssl_conf = all
[all]
providers = both
[both]
default = on
legacy = on
[on]
activate = 1
"""


def has_legacy() -> bool:
    """Return whether a configuration can have this Python offer MD4, which it does not do without."""
    code = "import hashlib; hashlib.new('md4')"
    offers = [
        subprocess.run(
            [sys.executable, "-c", code], input=text, env={"OPENSSL_CONF": "/dev/stdin"}, capture_output=True, text=True, check=False
        ).returncode == 0
        for text in ("", LEGACY)
    ]  # fmt: skip
    return offers == [False, True]


class Row(NamedTuple):
    app: str
    change: str = ""  # of app.py: old -> new
    kept: bool = True  # whether there is a hit at all
    files: dict[str, str] = {}
    edit: tuple[str, str, str] | None = None  # file, old, new
    patch: str = ""  # code that runs before the call
    env: dict[str, str] = {}
    same: bool = False  # whether the result stays the same
    walk: bool = True  # whether the walk over what the function reaches notices it


ROWS: dict[str, Row] = {
    "own code": Row(KEPT + "def f(): return b'one'\n", "'one' -> 'two'"),
    "constant of a nested function": Row(KEPT + "def f():\n    def g(): return b'one'\n    return g()\n", "'one' -> 'two'"),
    "lambda": Row("g = lambda: b'one'\n" + KEPT + "def f(): return g()\n", "'one' -> 'two'"),
    "default": Row(KEPT + "def f(x=1): return b'%d' % x\n", "x=1 -> x=2", walk=False),
    "keyword default": Row(KEPT + "def f(*, x=1): return b'%d' % x\n", "x=1 -> x=2", walk=False),
    "default that is patched": Row("def g(x=1): return x\n" + KEPT + "def f(): return b'%d' % g()\n", patch="app.g.__defaults__ = (2,)"),
    "global": Row("N = 1\n" + KEPT + "def f(): return b'%d' % N\n", "N = 1 -> N = 2"),
    "global that is patched": Row("N = 1\n" + KEPT + "def f(): return b'%d' % N\n", patch="app.N = 2"),
    "global list": Row("N = [1, [2]]\n" + KEPT + "def f(): return repr(N).encode()\n", patch="app.N[1].append(3)"),
    "global dict's order": Row("N = {'a': 1, 'b': 2}\n" + KEPT + "def f(): return repr(N).encode()\n", patch="app.N['a'] = app.N.pop('a')"),
    "type of a global": Row("N = 1\n" + KEPT + "def f(): return repr(N).encode()\n", patch="app.N = True"),
    "minus zero": Row("N = 0.0\n" + KEPT + "def f(): return repr(N).encode()\n", patch="app.N = -0.0"),
    "global set to itself by a name": Row("N = 1\n" + KEPT + "def f():\n    global N\n    return b'%d' % N\n", patch="app.N = 2"),
    "builtin that is replaced": Row(KEPT + "def f(): return b'%d' % len('abc')\n", patch="app.len = lambda x: 7"),
    "builtin that is replaced for all": Row(KEPT + "def f(): return b'%d' % abs(-3)\n", patch="import builtins; builtins.abs = lambda x: 7"),
    "helper": Row("def g(): return b'one'\n" + KEPT + "def f(): return g()\n", "'one' -> 'two'"),
    "helper of a helper": Row("def h(): return b'one'\ndef g(): return h()\n" + KEPT + "def f(): return g()\n", "'one' -> 'two'"),
    "helper that is patched": Row("def g(): return b'one'\n" + KEPT + "def f(): return g()\n", patch="app.g = lambda: b'two'", kept=True),
    "helper's code that is patched": Row(
        "def g(): return b'one'\ndef other(): return b'two'\n" + KEPT + "def f(): return g()\n", patch="app.g.__code__ = app.other.__code__"
    ),
    "helper in another module": Row("import helper\n" + KEPT + "def f(): return helper.g()\n", files={"helper.py": "def g(): return b'one'\n"}, edit=("helper.py", "one", "two")),
    "global of another module": Row("import helper\n" + KEPT + "def f(): return helper.N\n", files={"helper.py": "N = b'one'\n"}, edit=("helper.py", "one", "two")),
    "global of another module that is patched": Row("import helper\n" + KEPT + "def f(): return helper.N\n", files={"helper.py": "N = b'one'\n"}, patch="import helper; helper.N = b'two'"),
    "name from another module": Row("from helper import g\n" + KEPT + "def f(): return g()\n", files={"helper.py": "def h(): return b'one'\ndef g(): return h()\n"}, edit=("helper.py", "one", "two")),
    "module in a package": Row("import pkg.inner\n" + KEPT + "def f(): return pkg.inner.g()\n", files={"pkg/__init__.py": "", "pkg/inner.py": "def g(): return b'one'\n"}, edit=("pkg/inner.py", "one", "two")),
    "module that has another name here": Row("import helper as h\n" + KEPT + "def f():\n    m = h\n    return m.g()\n", files={"helper.py": "def g(): return b'one'\n"}, edit=("helper.py", "one", "two")),
    "attribute by a made name": Row("import helper\n" + KEPT + "def f(): return getattr(helper, 'N' + 'AME')\n", files={"helper.py": "NAME = b'one'\n"}, patch="import helper; helper.NAME = b'two'"),
    "import in the function": Row("import helper\n" + KEPT + "def f():\n    from helper import g\n    return g()\n", files={"helper.py": "def g(): return b'one'\n"}, edit=("helper.py", "one", "two")),
    "first import in the function": Row(KEPT + "def f():\n    import helper\n    return helper.g()\n", kept=False, files={"helper.py": "def g(): return b'one'\n"}, edit=("helper.py", "one", "two")),
    "closure": Row("def make(n):\n    @jitcache.memoize\n    def f(): return b'%d' % n\n    return f\nf = make(1)\n", "make(1) -> make(2)"),
    "closure that is patched": Row("def make(n):\n    def set(m):\n        nonlocal n\n        n = m\n    @jitcache.memoize\n    def f(): return b'%d' % n\n    return f, set\nf, set_n = make(1)\n", patch="app.set_n(2)"),
    "decorated helper": Row("import functools\ndef twice(g):\n    @functools.wraps(g)\n    def h(): return g() + g()\n    return h\n@twice\ndef g(): return b'one'\n" + KEPT + "def f(): return g()\n", "'one' -> 'two'"),
    "function's attribute": Row("def g(): return g.n\ng.n = b'one'\n" + KEPT + "def f(): return g()\n", patch="app.g.n = b'two'"),
    "partial": Row("import functools\ndef g(n): return b'%d' % n\np = functools.partial(g, 1)\n" + KEPT + "def f(): return p()\n", "g, 1 -> g, 2"),
    "partial's function": Row("import functools\ndef g(n): return b'one'\np = functools.partial(g, 1)\n" + KEPT + "def f(): return p()\n", "'one' -> 'two'"),
    "lru_cache'd helper": Row("import functools\n@functools.lru_cache\ndef g(): return b'one'\n" + KEPT + "def f(): return g()\n", "'one' -> 'two'"),
    "lru_cache'd helper that remembers": Row(
        "import functools\nN = b'one'\n@functools.lru_cache\ndef g(): return N\n" + KEPT + "def f(): return g()\ng()\nN = b'two'\n", "\ng()\n -> \n", kept=False,
    ),
    "method": Row("class A:\n    def g(self): return b'one'\n" + KEPT + "def f(): return A().g()\n", "'one' -> 'two'"),
    "method that is patched": Row("class A:\n    def g(self): return b'one'\n" + KEPT + "def f(): return A().g()\n", patch="app.A.g = lambda self: b'two'", kept=True),
    "class attribute": Row("class A:\n    n = b'one'\n" + KEPT + "def f(): return A.n\n", patch="app.A.n = b'two'"),
    "base class": Row("import helper\nclass A(helper.Base): pass\n" + KEPT + "def f(): return A().g()\n", files={"helper.py": "class Base:\n    def g(self): return b'one'\n"}, edit=("helper.py", "one", "two")),
    "property": Row("class A:\n    @property\n    def g(self): return b'one'\n" + KEPT + "def f(): return A().g\n", "'one' -> 'two'"),
    "metaclass": Row("class M(type):\n    def g(cls): return b'one'\nclass A(metaclass=M): pass\n" + KEPT + "def f(): return A.g()\n", "'one' -> 'two'"),
    "class that an abstract class is told of": Row("import abc\nclass A(abc.ABC): pass\nclass B: pass\n" + KEPT + "def f(): return repr(isinstance(B(), A)).encode()\n", patch="app.A.register(app.B)"),
    "class that Python's abstract class is told of": Row("import collections.abc as abc\nclass B: pass\n" + KEPT + "def f(): return repr(isinstance(B(), abc.Sized)).encode()\n", patch="app.abc.Sized.register(app.B)"),
    "instance's state": Row("class A:\n    def __init__(self): self.n = b'one'\na = A()\n" + KEPT + "def f(): return a.n\n", patch="app.a.n = b'two'"),
    "slot": Row("class A:\n    __slots__ = ('n',)\na = A()\na.n = b'one'\n" + KEPT + "def f(): return a.n\n", patch="app.a.n = b'two'"),
    "bound method": Row("class A:\n    n = b'one'\n    def g(self): return self.n\ng = A().g\n" + KEPT + "def f(): return g()\n", patch="app.g.__self__.n = b'two'"),
    "memoized method's instance": Row("class A:\n    def __init__(self, n): self.n = n\n    @jitcache.memoize\n    def f(self): return self.n\ndef call(): return A(b'one').f().decode()\n", "'one' -> 'two'", walk=False),
    "enum": Row("import enum\nclass E(enum.Enum):\n    A = b'one'\n" + KEPT + "def f(): return E.A.value\n", "'one' -> 'two'"),
    "dataclass": Row("import dataclasses\n@dataclasses.dataclass\nclass A:\n    n: bytes = b'one'\n" + KEPT + "def f(): return A().n\n", "'one' -> 'two'"),
    "named tuple": Row("import collections\nA = collections.namedtuple('A', 'n m')\na = A(b'one', b'two')\n" + KEPT + "def f(): return a.n\n", "'n m' -> 'm n'"),
    "generator": Row("def g(): yield b'one'\n" + KEPT + "def f(): return b''.join(g())\n", "'one' -> 'two'"),
    "function in a dict": Row("def g(): return b'one'\nT = {'g': g}\n" + KEPT + "def f(): return T['g']()\n", patch="app.T['g'] = lambda: b'two'"),
    "function that is an argument": Row("def g(): return b'one'\n" + KEPT + "def f(h): return h()\nARGUMENTS = (g,)\n", "'one' -> 'two'", walk=False),
    "object that is an argument": Row("class A:\n    def __init__(self, n): self.n = n\n" + KEPT + "def f(a): return a.n\nARGUMENTS = (A(b'one'),)\n", "'one' -> 'two'", walk=False),
    "memoized helper": Row("@jitcache.memoize\ndef g(): return b'one'\n" + KEPT + "def f(): return g()\n", "'one' -> 'two'"),
    "order of an ordered dict": Row("import collections\nd = collections.OrderedDict(one=1, two=2)\n" + KEPT + "def f(): return next(iter(d)).encode()\n", patch="app.d.move_to_end('one')"),
    "attribute of an enum's member": Row("import enum\nclass E(enum.Enum):\n    A = 1\nE.A.n = b'one'\n" + KEPT + "def f(): return E.A.n\n", patch="app.E.A.n = b'two'"),
    "attribute of a member of an enum that is an argument": Row("import enum\nclass E(enum.Enum):\n    A = 1\nE.A.n = b'one'\n" + KEPT + "def f(e): return e.n\nARGUMENTS = (E.A,)\n", patch="app.E.A.n = b'two'", walk=False),
    "annotation that is set": Row("class A:\n    n: bytes\n" + KEPT + "def f(): return A.__annotations__['n'].__name__.encode()\n", patch="app.A.__annotations__['n'] = str"),
    "annotation of a function that is set": Row("def g(n: bytes): pass\n" + KEPT + "def f(): return g.__annotations__['n'].__name__.encode()\n", patch="app.g.__annotations__['n'] = str"),
    "text of a class that is set": Row("class A:\n    'one'\n" + KEPT + "def f(): return A.__doc__.encode()\n", patch="app.A.__doc__ = 'two'"),
    "text of a function that is set": Row("def g(): 'one'\n" + KEPT + "def f(): return g.__doc__.encode()\n", patch="app.g.__doc__ = 'two'"),
    "name of a function that is set": Row("def g(): pass\n" + KEPT + "def f(): return g.__name__.encode()\n", patch="app.g.__name__ = 'two'"),
    "class of Python's that an abstract class is told of": Row("import abc\nclass A(abc.ABC): pass\n" + KEPT + "def f(): return repr(isinstance(1, A)).encode()\n", patch="app.A.register(int)"),
    "property of a module": Row("import helper\n" + KEPT + "def f(): return helper.N\n", kept=False, files={"helper.py": "import sys, types\nV = b'one'\nclass M(types.ModuleType):\n    @property\n    def N(self): return V\nsys.modules[__name__].__class__ = M\n"}, patch="import helper; helper.V = b'two'"),
    "dict of a module": Row("import helper\n" + KEPT + "def f(): return helper.__dict__['N' + '']\n", files={"helper.py": "N = b'one'\n"}, patch="import helper; helper.N = b'two'"),
    "pattern": Row("import re\nr = re.compile('o')\n" + KEPT + "def f(): return r.sub('x', 'one two').encode()\n", "('o') -> ('t')"),
    "function of Python that is replaced": Row("import json\n" + KEPT + "def f(): return json.dumps([1]).encode()\n", patch="app.json.dumps = lambda v: 'two'"),
    "codec": Row("class C:\n    def dumps(self, v): return v\n    def loads(self, d): return b'one' + d\n@jitcache.memoize(codec=C())\ndef f(): return b'x'\n", "'one' -> 'two'", walk=False),
    "comment": Row(KEPT + "def f(): return b'one' # a\n", "# a -> # b", same=True),
    "source that is read": Row("import helper\n" + KEPT + "def f(): return helper.text()\n", kept=False, files={"helper.py": "import inspect\ndef text(): return inspect.getsource(text).encode() # a\n"}, edit=("helper.py", "# a", "# b")),
    "variable of the environment": Row("import os\n" + KEPT + "def f(): return os.environ['WHAT'].encode()\n", kept=False, env={"WHAT": "two"}),
    "variable by getenv": Row("from os import getenv\n" + KEPT + "def f(): return getenv('WHAT').encode()\n", kept=False, env={"WHAT": "two"}),
    "variable that a helper reads": Row("import helper\n" + KEPT + "def f(): return helper.g()\n", kept=False, files={"helper.py": "import os\ndef g(): return os.environ.get('WHAT').encode()\n"}, env={"WHAT": "two"}),
    "variable in an object": Row("import os\nE = os.environ\n" + KEPT + "def f(): return E['WHAT'].encode()\n", kept=False, env={"WHAT": "two"}),
    "variable that import has read": Row("import helper\n" + KEPT + "def f(): return helper.N\n", files={"helper.py": "import os\nN = os.environ['WHAT'].encode()\n"}, env={"WHAT": "two"}),
    "file": Row("import os\n" + KEPT + "def f():\n    with open('data') as d: return d.read().encode()\n", kept=False, files={"data": "one"}, edit=("data", "one", "two")),
    "file by pathlib": Row("import pathlib\n" + KEPT + "def f(): return pathlib.Path('data').read_bytes()\n", kept=False, files={"data": "one"}, edit=("data", "one", "two")),
    "path that is an argument": Row("import pathlib\n" + KEPT + "def f(p): return p.read_bytes()\nARGUMENTS = (pathlib.Path('data'),)\n", kept=False, files={"data": "one"}, edit=("data", "one", "two"), walk=False),
    "program": Row("import subprocess\n" + KEPT + "def f(): return subprocess.check_output(['cat', 'data'])\n", kept=False, files={"data": "one"}, edit=("data", "one", "two")),
    "eval": Row("N = b'one'\n" + KEPT + "def f(): return eval('N')\n", kept=False, patch="app.N = b'two'"),
    "globals()": Row("N = b'one'\n" + KEPT + "def f(): return globals()['N']\n", kept=False, patch="app.N = b'two'"),
    "globals of a function": Row("N = b'one'\n" + KEPT + "def f(): return (lambda: 0).__globals__['N']\n", kept=False, patch="app.N = b'two'"),
    "module by its name": Row("import sys, helper\n" + KEPT + "def f(): return sys.modules['helper'].N\n", kept=False, files={"helper.py": "N = b'one'\n"}, edit=("helper.py", "one", "two")),
    "attribute that a module makes": Row("import helper\n" + KEPT + "def f(): return helper.N\n", kept=False, files={"helper.py": "V = b'one'\ndef __getattr__(n): return V\n"}, edit=("helper.py", "one", "two")),
    "stream": Row("import io\nS = io.BytesIO(b'one')\n" + KEPT + "def f(): return S.getvalue()\n", "'one' -> 'two'", kept=False),
    "generator that is half read": Row("def g():\n    yield b'one'\n    yield b'two'\ni = g()\n" + KEPT + "def f(): return next(i)\n", kept=False, patch="next(app.i)"),
    "global that the call changes": Row("N = [0]\n" + KEPT + "def f():\n    N[0] += 1\n    return b'one'\n", "'one' -> 'two'", kept=False),
    "global that the call counts": Row("N = 0\n" + KEPT + "def f():\n    global N\n    N += 1\n    return b'one'\n", "'one' -> 'two'", kept=False),
    "random number": Row("import random\n" + KEPT + "def f(): return b'one' if random.random() < 2 else b''\n", "'one' -> 'two'", kept=False),
    "depth of calls": Row(KEPT + "def f():\n    def g(n):\n        try: return g(n + 1)\n        except RecursionError: return b'%d' % (n // 1000)\n    return g(0)\n", patch="sys.setrecursionlimit(5000)"),
    "length of a number as text": Row(KEPT + "def f():\n    try: return b'%d' % len(str(10 ** 5000))\n    except ValueError: return b'long'\n", patch="sys.set_int_max_str_digits(0)") if hasattr(sys, "set_int_max_str_digits") else Row(KEPT + "def f(): return b'one'\n", "'one' -> 'two'"),
    "warning that is an error": Row("import ast, warnings\nwarnings.simplefilter('ignore')\n" + KEPT + "def f():\n    try: ast.parse('\"\\\\d\"')\n    except SyntaxError: return b'two'\n    return b'one'\n", patch="app.warnings.simplefilter('error')"),
    "tuple in a module of Python's": Row("import math\nif not hasattr(math, 'mine'): math.mine = (1, 2)\n" + KEPT + "def f(): return repr(math.mine).encode()\n", patch="app.math.mine = (3, 4)"),
    "object in a module of Python's": Row("import math, types\nmath.mine = types.SimpleNamespace(n=b'one')\n" + KEPT + "def f(): return math.mine.n\n", patch="app.math.mine.n = b'two'"),
    "name in a module of Python's that is made": Row("import math\n" + KEPT + "def f(): return repr(vars(math).get('mi' + 'ne')).encode()\n", patch="app.math.mine = 1"),
    "member of an enumeration of Python's that is another": Row("import re\n" + KEPT + "def f(): return b'%d' % re.I\n", patch="app.re.I = app.re.M"),
    "how a class is copied": Row("import copy\nclass A: n = b'one'\nclass B: n = b'two'\na = A()\n" + KEPT + "def f(): return copy.copy(a).n\n", patch="import copyreg; copyreg.pickle(app.A, lambda a: (app.B, ()))"),
    "level of a logger that is asked for": Row("import logging\n" + KEPT + "def f(): return b'%d' % logging.getLogger('a.b').getEffectiveLevel()\n", kept=False, patch="import logging; logging.getLogger('a').setLevel(5)"),
    "handlers of a logger": Row("import logging\nlog = logging.getLogger('a.b')\n" + KEPT + "def f(): return b'%d' % len(log.handlers)\n", patch="app.log.addHandler(app.logging.NullHandler())"),
    "type that an annotation names": Row("import typing\nT = int\ndef g(x: 'T'): pass\n" + KEPT + "def f(): return typing.get_type_hints(g)['x'].__name__.encode()\n", kept=False, patch="app.T = str"),
    **({
        "overload that is registered": Row("import typing\ndef g(): pass\n" + KEPT + "def f(): return b'%d' % len(typing.get_overloads(g))\n", kept=False, patch="import typing\ndef g(): pass\ng.__module__ = 'app'\ntyping.overload(g)"),
        "overload that a made name finds": Row("import typing\ndef g(): pass\n" + KEPT + "def f(): return b'%d' % len(getattr(typing, 'get_' + 'overloads')(g))\n", kept=False, patch="import typing\ndef g(): pass\ng.__module__ = 'app'\ntyping.overload(g)"),
    } if sys.version_info >= (3, 11) else {}),
    "classes and aliases of typing": Row("import typing\nT = typing.Optional[typing.List[int]]\nclass N(typing.NamedTuple):\n    n: bytes = b'one'\nclass D(typing.TypedDict):\n    n: bytes\nclass P(typing.Protocol):\n    n: bytes\nclass G(typing.Generic[typing.AnyStr]): pass\nU = typing.NewType('U', bytes)\n@typing.no_type_check\ndef g(n): return typing.cast(bytes, n)\n" + KEPT + "def f(): return U(g(D(n=N().n)['n'])) if T and G() and P else b''\n", "'one' -> 'two'"),
    "order of a set of numbers": Row("import os\nS = set()\nfor n in (0, 8) if os.environ['WHAT'] == 'one' else (8, 0): S.add(n)\n" + KEPT + "def f(): return repr(list(S)).encode()\n", env={"WHAT": "two"}),
    "strides of a view": Row("import os\nV = memoryview(b'aabb')[::2] if os.environ['WHAT'] == 'one' else memoryview(b'ab')\n" + KEPT + "def f(v): return repr(v.strides).encode()\nARGUMENTS = (V,)\n", env={"WHAT": "two"}, walk=False),
    "memory that two values share": Row("import os\nB = bytearray(b'ab')\nV = memoryview(B if os.environ['WHAT'] == 'one' else bytearray(b'ab'))\n" + KEPT + "def f(b, v):\n    b[0] = 120\n    r = bytes(v)\n    b[0] = 97\n    return r\nARGUMENTS = (B, V)\n", env={"WHAT": "two"}, walk=False),
    "NaN that is in a list twice": Row("import os\nX = float('nan')\nY = X if os.environ['WHAT'] == 'one' else float('nan')\n" + KEPT + "def f(x): return repr(x[0] in x[1:]).encode()\nARGUMENTS = ([X, Y],)\n", env={"WHAT": "two"}, walk=False),
    "what a field of a dataclass is told": Row("import dataclasses, os\n@dataclasses.dataclass\nclass A:\n    n: int = dataclasses.field(default=1, metadata={'w': os.environ['WHAT']})\n" + KEPT + "def f(): return dataclasses.fields(A)[0].metadata['w'].encode()\n", env={"WHAT": "two"}),
    "class that a function has made": Row("import dataclasses, os\nA = dataclasses.make_dataclass('A', ['p', 'q'] if os.environ['WHAT'] == 'one' else ['q', 'p'])\n" + KEPT + "def f(): return repr(A(1, 2)).encode()\n", env={"WHAT": "two"}),
    "class that says it is Python's": Row("import os\nclass A:\n    __module__ = 'json'\n    n = [os.environ['WHAT'].encode()]\n" + KEPT + "def f(): return A.n[0]\n", env={"WHAT": "two"}),
    "order of a class's attributes": Row("import os\nA = type('A', (), {'p': 1, 'q': 2} if os.environ['WHAT'] == 'one' else {'q': 2, 'p': 1})\n" + KEPT + "def f(): return repr([n for n in vars(A) if n[0] != '_']).encode()\n", env={"WHAT": "two"}),
    "what is added to an annotation": Row("import os, typing\nclass M:\n    def __init__(self, n): self.n = n\ndef g(x: typing.Optional[typing.Annotated[int, M(os.environ['WHAT'])]]): pass\n" + KEPT + "def f(): return typing.get_args(typing.get_args(g.__annotations__['x'])[0])[1].n.encode()\n", env={"WHAT": "two"}),
    "globals of a function, by a text": Row("N = b'one'\ndef g(): pass\n" + KEPT + "def f(): return getattr(g, '__globals__')['N']\n", kept=False, patch="app.N = b'two'"),
    "globals of a function, in a form": Row("N = 'one'\ndef g(): pass\n" + KEPT + "def f(): return '{0.__globals__[N]}'.format(g).encode()\n", kept=False, patch="app.N = 'two'"),
    "globals of a function, by a text elsewhere": Row("N = b'one'\nNAME = '__globals__'\ndef g(): pass\n" + KEPT + "def f(): return getattr(g, NAME)['N']\n", kept=False, patch="app.N = b'two'"),
    "globals of a function, by operator": Row("import operator\nN = b'one'\nask = operator.attrgetter('__globals__')\ndef g(): pass\n" + KEPT + "def f(): return ask(g)['N']\n", kept=False, patch="app.N = b'two'"),
    **({
        "bounds of a flag": Row("import enum, os\nE = enum.Flag('E', 'A B', boundary=enum.KEEP if os.environ['WHAT'] == 'one' else enum.CONFORM)\n" + KEPT + "def f(): return repr(E(9)).encode()\n", env={"WHAT": "two"}),
    } if sys.version_info >= (3, 11) else {}),
    **({
        "bases as they were written": Row("import os, types, typing\nclass A(typing.List[typing.Literal[os.environ['WHAT']]]): pass\n" + KEPT + "def f(): return repr(types.get_original_bases(A)).encode()\n", env={"WHAT": "two"}),
    } if sys.version_info >= (3, 12) else {}),
    "attribute of a logger": Row("import logging\nL = logging.getLogger('a')\nL.x = b'one'\n" + KEPT + "def f(): return L.x\n", patch="app.L.x = b'two'"),
    "filter of a logger": Row("import logging\nL = logging.getLogger('a')\n" + KEPT + "def f(): return b'%d' % len(L.filters)\n", patch="app.L.addFilter(print)"),
    "name of the logger above": Row("import logging\nL = logging.getLogger('a.b')\n" + KEPT + "def f(): return L.parent.name.encode()\n", patch="import logging; logging.getLogger('a')"),
    "number that a member of an enum is": Row(
        "import enum, helper\nclass E(int, enum.Enum):\n    def __new__(cls, value, number):\n        member = int.__new__(cls, number)\n        member._value_ = value\n        return member\n    A = ('a', helper.N)\n"
        + KEPT + "def f(): return b'%d' % (E.A + 0)\n",
        files={"helper.py": "N = 1\n"}, edit=("helper.py", "1", "2"),
    ),
    "name of a class that is set": Row("class C: pass\n" + KEPT + "def f(): return C.__name__.encode()\n", patch="app.C.__name__ = 'D'"),
    "class of a partial": Row(
        "from helper import g\n" + KEPT + "def f(): return g()\n",
        files={"helper.py": "import functools\nclass P(functools.partial):\n    def __call__(self): return b'one'\ng = P(len)\n"},
        edit=("helper.py", "one", "two"),
    ),
    "attribute of a static method": Row("g = staticmethod(len)\ng.said = b'one'\n" + KEPT + "def f(): return g.said\n", patch="app.g.said = b'two'"),
    "class of a module of Python's": Row(
        "import json\n" + KEPT + "def f(): return json.dumps(1).encode()\n",
        files={"other.py": "import types\nclass M(types.ModuleType):\n    def __getattribute__(self, name): return (lambda x: 'two') if name == 'dumps' else super().__getattribute__(name)\n"},
        patch="import json, other; json.__class__ = other.M",
    ),
    "object that is an annotation": Row(
        "class C:\n    x = b'one'\n    def __repr__(self): return 'C()'\ndef g(x: C()): pass\n" + KEPT + "def f(): return g.__annotations__['x'].x\n",
        patch="app.g.__annotations__['x'].x = b'two'",
    ),
    "class in the parts of an annotation": Row(
        "import typing\nclass C: x = b'one'\ndef g(x: typing.Optional[C]): pass\n" + KEPT + "def f(): return g.__annotations__['x'].__args__[0].x\n", patch="app.C.x = b'two'"
    ),
    "class that one below an abstract class is told of": Row(
        "import numbers\nclass C: pass\n" + KEPT + "def f(): return b'%d' % isinstance(C(), numbers.Number)\n", patch="import numbers; numbers.Integral.register(app.C)"
    ),
    "statement class that is another": Row(
        KEPT + "def f():\n    class C: x = b'one'\n    return C.x\n",
        files={"other.py": "import builtins\nclass C: x = b'two'\nmade = builtins.__build_class__\ndef make(function, name, *bases, **more): return C if name == 'C' else made(function, name, *bases, **more)\n"},
        patch="import builtins, other; builtins.__build_class__ = other.make",
    ),
    "statement import that is another": Row(
        "import colorsys\n" + KEPT + "def f():\n    import colorsys\n    return repr(colorsys.rgb_to_hsv(1, 0, 0)).encode()\n",
        files={"other.py": "import builtins, types\ndef get(name, *more, **also): return types.SimpleNamespace(rgb_to_hsv=lambda *a: 'two') if name == 'colorsys' else made(name, *more, **also)\nmade = builtins.__import__\n"},
        patch="import builtins, other; builtins.__import__ = other.get",
    ),
    "method in C of a value": Row("g = (5).__add__\n" + KEPT + "def f(): return b'%d' % g(1)\n", patch="app.g = (6).__add__"),
    "object behind a method of Python's": Row("import reprlib\n" + KEPT + "def f(): return reprlib.repr([1, 2, 3]).encode()\n", patch="import reprlib; reprlib.aRepr.maxlist = 2"),
    "codec of a memoized helper": Row(
        "import helper\n@jitcache.memoize(codec=helper)\ndef g(): return 'x'\n" + KEPT + "def f(): return g().encode()\n",
        files={"helper.py": "def dumps(value): return value.encode()\ndef loads(data): return 'one'\n"},
        edit=("helper.py", "one", "two"),
    ),
    "codec that looks outside": Row(
        "import os\nclass C:\n    def dumps(self, value): return value + os.environ['WHAT'].encode()\n    def loads(self, data): return data\n@jitcache.memoize(codec=C())\ndef f(): return b''\n",
        env={"WHAT": "two"}, kept=False,
    ),
    "key of a dict that was changed": Row(
        "class K:\n    x = 1\n    def __hash__(self): return self.x\n    def __eq__(self, other): return self.x == other.x\nk = K()\nD = {k: 1}\nk.x = 2\n" + KEPT + "def f(): return repr(D.get(k)).encode()\n",
        patch="app.D = dict(app.D.items())", kept=False,
    ),
    "state that a class hides": Row(
        "class C:\n    @property\n    def __dict__(self): return {}\nX = C()\nX.x = b'one'\n" + KEPT + "def f(): return X.x\n", patch="app.X.x = b'two'", kept=False
    ),
    "default of a method of Python's": Row(
        "import textwrap\n" + KEPT + "def f(): return repr(textwrap.TextWrapper().wrap('aa bb')).encode()\n",
        patch="import textwrap; f = textwrap.TextWrapper.__init__; f.__defaults__ = (3, *f.__defaults__[1:])",
    ),
    "type of a dataclass's field": Row(
        "import dataclasses\n@dataclasses.dataclass\nclass D: a: int = 1\n" + KEPT + "def f(): return repr(dataclasses.fields(D)[0].type).encode()\n",
        patch="app.D.__dataclass_fields__['a'].type = str",
    ),
    "order of a module's names": Row(
        "import helper\n" + KEPT + "def f(): return repr([n for n in vars(helper) if n in 'ab']).encode()\n",
        files={"helper.py": "a = 1\nb = 2\n"}, patch="import helper; a = helper.a; del helper.a; helper.a = a",
    ),
    "function of Python's in another's place": Row("import math\nL = [math]\n" + KEPT + "def f(): return b'%d' % L[0].floor(1.5)\n", patch="import math; math.floor = math.ceil"),
    "folder of a module, by a text": Row(
        "import helper\nL = [helper]\n" + KEPT + "def f(): return getattr(L[0], '__file__').encode()\n", files={"helper.py": ""}, patch="import helper; helper.__file__ = os.path.abspath('./app.py')", kept=False
    ),
    "attribute of a memoized function": Row(KEPT + "def g(): return b''\ng.n = b'one'\n" + KEPT + "def f(): return g.n\n", patch="app.g.n = b'two'"),
    "attribute of the memoized function itself": Row(KEPT + "def f(): return f.n\nf.n = b'one'\n", patch="app.f.n = b'two'"),
    "text of a memoized function that is set": Row(KEPT + "def g(): 'one'\n" + KEPT + "def f(): return g.__doc__.encode()\n", patch="app.g.__doc__ = 'two'"),
    "lock that is held": Row("import threading\nL = threading.Lock()\n" + KEPT + "def f(): return b'%d' % L.locked()\n", patch="app.L.acquire()"),
    "lock that is held, by a text": Row("import threading\nL = threading.Lock()\n" + KEPT + "def f(): return b'%d' % getattr(L, 'locked')()\n", patch="app.L.acquire()"),
    "lock that this thread holds": Row("import threading\nL = threading.RLock()\n" + KEPT + "def f(): return b'%d' % L._is_owned()\n", patch="app.L.acquire()"),
    "lock that is released": Row("import threading\nL = threading.Lock()\n" + KEPT + "def f():\n    try: L.release()\n    except RuntimeError: return b'free'\n    return b'held'\n", patch="app.L.acquire()"),
    "how a class is copied, by an object": Row(
        "import copy, functools\nclass A: n = b'one'\nclass B: n = b'two'\na = A()\ndef made(cls, a): return cls, ()\n" + KEPT + "def f(): return copy.copy(a).n\n",
        patch="import copyreg; copyreg.pickle(app.A, app.functools.partial(app.made, app.B))",
    ),
    "which way floats are rounded": Row(
        KEPT + "def f(): return repr(sum([0.1] * 7)).encode()\n",
        patch="import ctypes; ctypes.CDLL('libm.so.6').fesetround(0x800 if os.uname().machine == 'x86_64' else 0x400000)",
    ),
    **({
        "letters of a locale": Row(
            "import re\n" + KEPT + "def f(): return repr(re.findall(rb'(?L)\\w', b'\\xe9')).encode()\n",
            patch="import locale, subprocess; subprocess.run(['localedef', '-i', 'de_DE', '-f', 'ISO-8859-1', './de']); os.environ['LOCPATH'] = os.getcwd(); locale.setlocale(locale.LC_CTYPE, 'de')",
        ),
    } if shutil.which("localedef") and Path("/usr/share/i18n/locales/de_DE").exists() else {}),
    "order of a set of an enum's numbers": Row("import enum, os\nclass E(enum.IntEnum):\n    A = 0\n    B = 8\nS = set()\nfor e in E if os.environ['WHAT'] == 'one' else (E.B, E.A): S.add(e)\n" + KEPT + "def f(): return repr(list(S)).encode()\n", env={"WHAT": "two"}),
    "attribute of an ordered dict": Row("import collections\nd = collections.OrderedDict()\nd.x = b'one'\n" + KEPT + "def f(): return d.x\n", patch="app.d.x = b'two'"),
    "text of a property": Row("import os\nclass A: p = property(len, doc=os.environ['WHAT'])\n" + KEPT + "def f(): return A.p.__doc__.encode()\n", env={"WHAT": "two"}),
    "text of a partial": Row("import functools\np = functools.partial(len)\np.__doc__ = 'one'\n" + KEPT + "def f(): return p.__doc__.encode()\n", patch="app.p.__doc__ = 'two'"),
    "function that a partial wraps": Row("import functools\np = functools.partial(len)\np.__wrapped__ = lambda: b'one'\n" + KEPT + "def f(): return p.__wrapped__()\n", patch="app.p.__wrapped__ = lambda: b'two'"),
    "text of an enum's member": Row("import enum\nclass E(enum.Enum):\n    A = 1\nE.A.__doc__ = 'one'\n" + KEPT + "def f(): return E.A.__doc__.encode()\n", patch="app.E.A.__doc__ = 'two'"),
    "attribute of an enum's member that looks like Python's": Row("import enum\nclass E(enum.Enum):\n    A = 1\nE.A._x_ = b'one'\n" + KEPT + "def f(): return E.A._x_\n", patch="app.E.A._x_ = b'two'"),
    "what an enum does for a value that it lacks": Row(
        "import enum, helper\nclass E(enum.Enum):\n    A = b'one'\n    B = b'two'\n    @classmethod\n    def _missing_(cls, value): return cls(helper.N)\n" + KEPT + "def f(): return E(3).value\n",
        files={"helper.py": "N = b'one'\n"}, edit=("helper.py", "one", "two"),
    ),
    "private property of an enum": Row("import enum\nN = b'one'\nclass E(enum.Enum):\n    A = 1\n    @property\n    def _p(self): return N\n" + KEPT + "def f(): return E.A._p\n", patch="app.N = b'two'"),
    "second name of an enum's member": Row("import enum\nclass E(enum.Enum):\n    A = 1\n    B = 2\nE.D = E.A\n" + KEPT + "def f(): return E.D.name.encode()\n", patch="app.E.D = app.E.B"),
    "slot under another's name": Row("class A:\n    __slots__ = ('x', 'y')\n    def __init__(self):\n        self.x = b'one'\n        self.y = b'two'\n" + KEPT + "def f(): return A().x\n", patch="app.A.x = app.A.y"),
    "whether a class is abstract": Row("import abc\nclass A(abc.ABC):\n    @abc.abstractmethod\n    def g(self): pass\n" + KEPT + "def f():\n    try: A()\n    except TypeError: return b'one'\n    return b'two'\n", patch="app.A.__abstractmethods__ = frozenset()"),
    "dict that a class makes": Row("N = b'one'\nclass A: __dict__ = property(lambda self: N)\n" + KEPT + "def f(): return A().__dict__\n", patch="app.N = b'two'"),
    "dict of an instance that is of another class": Row(
        "class D(dict):\n    def __missing__(self, key): return b'one'\nclass E(dict):\n    def __missing__(self, key): return b'two'\nclass A: pass\na = A()\na.__dict__ = D()\n" + KEPT + "def f(): return a.__dict__['x']\n",
        patch="app.a.__dict__ = app.E()",
    ),
    **({
        "what match takes a class for": Row("class B:\n    def __len__(self): return 0\n" + KEPT + "def f():\n    match B():\n        case {}: return b'two'\n        case _: return b'one'\n", patch="import collections.abc; collections.abc.Mapping.register(app.B)"),
    } if sys.version_info >= (3, 10) else {}),
    "level of a logger's handler": Row("import logging\nL = logging.getLogger('a')\nL.addHandler(logging.NullHandler())\n" + KEPT + "def f(): return b'%d' % L.handlers[0].level\n", patch="app.L.handlers[0].setLevel(7)"),
    "level of the logger above": Row("import logging\nL = logging.getLogger('a.b')\nL.setLevel(3)\n" + KEPT + "def f(): return b'%d' % L.parent.level\n", patch="app.L.parent.setLevel(7)"),
    "level of a logger below": Row("import logging\nL = logging.getLogger('a')\n" + KEPT + "def f(): return b'%d' % L.getChild('b').level\n", patch="import logging; logging.getLogger('a.b').setLevel(7)", kept=False),
    "letters that can be printed": Row(
        "import io, os\nS = io.TextIOWrapper(io.BytesIO(), encoding='utf-8' if os.environ['WHAT'] == 'one' else 'ascii')\n" + KEPT
        + "def f():\n    try: print('\\xe9')\n    except UnicodeEncodeError: return b'two'\n    return b'one'\ndef call():\n    old, sys.stdout = sys.stdout, S\n    try: return f().decode()\n    finally: sys.stdout = old\n",
        env={"WHAT": "two"},
    ),
    "object that is printed to": Row(
        "class W:\n    said = 'one'\n    def write(self, text): L.append(self.said)\nL = []\nW1 = W()\n" + KEPT
        + "def f():\n    print()\n    return L.pop().encode()\ndef call():\n    old, sys.stdout = sys.stdout, W1\n    try: return f().decode()\n    finally: sys.stdout = old\n",
        patch="app.W1.said = 'two'",
    ),
    "how a class is pickled": Row(
        "import pickle\nclass A: n = b'one'\nclass B: n = b'two'\nclass C:\n    def dumps(self, value): return pickle.dumps(value)\n    def loads(self, data): return pickle.loads(data).n if data[:1] == b'\\x80' else data\n@jitcache.memoize(codec=C())\ndef f(): return A()\n",
        patch="import copyreg; copyreg.pickle(app.A, lambda a: (app.B, ()))", walk=False,
    ),
    **({
        "memory that an array does not own": Row("import numpy\nA = numpy.arange(4)\n" + KEPT + "def f(): return b'%d' % A.flags.owndata\n", patch="app.A = app.A[:]"),
        "array in a package's module": Row("import numpy\nnumpy.mine = numpy.array([1])\n" + KEPT + "def f(): return repr(numpy.mine).encode()\n", patch="import numpy; numpy.mine[0] = 2"),
        "date in a package's module": Row("import datetime, numpy\nnumpy.mine = datetime.date(2020, 1, 1)\n" + KEPT + "def f(): return b'%d' % numpy.mine.year\n", patch="import datetime, numpy; numpy.mine = datetime.date(2021, 1, 1)"),
    } if find_spec("numpy") else {}),
    "date in a module of Python's": Row("import datetime, math\nmath.mine = datetime.date(2020, 1, 1)\n" + KEPT + "def f(): return b'%d' % math.mine.year\n", patch="import datetime, math; math.mine = datetime.date(2021, 1, 1)"),
    **({
        "hashes that the system has": Row(
            "import hashlib\n" + KEPT + "def f():\n    try: return hashlib.new('md4').hexdigest().encode()\n    except ValueError: return b'none'\n", files={"legacy": LEGACY}, env={"OPENSSL_CONF": "legacy"}
        ),
    } if has_legacy() else {}),
    "what depends says": Row("import os\n@jitcache.memoize(depends=lambda: {'what': os.environ['WHAT']})\ndef f(): return os.environ['WHAT'].encode()\n", env={"WHAT": "two"}, walk=False),
    "file that depends says": Row("@jitcache.memoize(depends=lambda: {'data': jitcache.File('data')})\ndef f():\n    with open('data') as d: return d.read().encode()\n", files={"data": "one"}, edit=("data", "one", "two"), walk=False),
    "helper with depends": Row("@jitcache.memoize(depends=lambda: {'data': jitcache.File('data')})\ndef g():\n    with open('data') as d: return d.read().encode()\n" + KEPT + "def f(): return g()\n", kept=False, files={"data": "one"}, edit=("data", "one", "two")),
}  # fmt: skip
