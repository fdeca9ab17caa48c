"""``jitcache.memoize``: what it keeps, what it does not keep, and how it says so."""

from __future__ import annotations

import base64
import functools
import hashlib
import inspect
import json
import logging
import os
import pickle
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import compilers
import jitcache
import pytest
import samples


class Program:
    """A folder with modules, run in new processes."""

    def __init__(self, folder: Path, **files: str) -> None:
        self.folder = folder
        for name, text in files.items():
            self.write(f"{name}.py", text)

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))

    def start(self, *command: str, **more: str) -> subprocess.Popen[str]:
        env = {
            "PYTHONPATH": os.pathsep.join([*sys.path, str(self.folder / "site-packages")]),
            "JITCACHE_DIR": str(self.folder / "cache"),
            "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}",
            **more,
        }
        return subprocess.Popen(
            [sys.executable, "-B", *(command or ("main.py",))],
            cwd=self.folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def run(self, *command: str, **more: str) -> tuple[str, str]:
        p = self.start(*command, **more)
        out, err = p.communicate(timeout=60)
        assert p.returncode == 0, err
        return out, err


HEAD = "import jitcache, sys\n"


def program(folder: Path, function: str, call: str = "f()") -> Program:
    return Program(
        folder, app=HEAD + textwrap.dedent(function), main=f"import app\nprint(app.{call}, app.f.last_reason)\n"
    )


def test_one_of_many_processes_computes(tmp_path: Path) -> None:
    """Runs of the function are counted by what it prints."""
    p = program(tmp_path, """
        @jitcache.memoize
        def f():
            print("ran")
            n = 0
            for i in range(3_000_000): n += i
            return b"%d" % n
    """)  # fmt: skip
    started = [p.start() for _ in range(4)]
    said = [s.communicate(timeout=120)[0] for s in started]
    assert "".join(said).count("ran") == 1
    assert p.run()[0] == "b'4499998500000' \n"


def test_arguments_are_those_that_the_function_sees(tmp_path: Path) -> None:
    f = jitcache.memoize(cache=jitcache.Cache(tmp_path))(plain)
    assert f.key(1, 2) == f.key(1, b=2) == f.key(a=1, b=2) == f.key(1)
    keys = [
        f.key(1),
        f.key(True),
        f.key(1.0),
        f.key("1"),
        f.key(b"1"),
        f.key((1,)),
        f.key([1]),
        f.key({1}),
        f.key({1: 1}),
        f.key(None),
        f.key(-0.0),
        f.key(0.0),
    ]
    assert len(set(keys)) == len(keys)
    assert f.key({"a": 1, "b": 2}) != f.key({"b": 2, "a": 1})
    same: list[int] = []
    assert f.key([same, same]) != f.key([same, []])
    with pytest.raises(TypeError, match="required positional argument"):
        f()  # type: ignore[call-arg]


def test_wrapper_that_tells_a_position_from_a_keyword_is_taken_as_it_is(tmp_path: Path) -> None:
    @functools.wraps(plain)
    def wrapper(*args: Any, **kwargs: Any) -> bytes:
        return repr((args, kwargs)).encode()

    for claimed in (False, True):
        if claimed:
            wrapper.__signature__ = inspect.signature(plain)
        f = jitcache.memoize(cache=jitcache.Cache(tmp_path))(wrapper)
        for args, kwargs in (
            ((1,), {}),
            ((), {"a": 1}),
            ((1, 2), {}),
            ((1,), {"b": 2}),
            ((), {"b": 2, "a": 1}),
            ((), {"a": 1, "b": 2}),
        ):
            for _ in range(2):
                assert f(*args, **kwargs) == wrapper(*args, **kwargs)
            assert bool(f.last_reason) == claimed


def plain(a: Any, b: Any = 2) -> bytes:
    return repr((a, b)).encode()


def test_list_that_holds_itself_is_described(tmp_path: Path) -> None:
    f = jitcache.memoize(cache=jitcache.Cache(tmp_path))(plain)
    loop: list[Any] = []
    loop.append(loop)
    assert f.key(loop) == f.key(loop)


@pytest.mark.parametrize("codec", [pickle, json], ids=["pickle", "json"])
def test_codec_gives_the_same_at_a_miss_and_at_a_hit(codec: Any, tmp_path: Path) -> None:
    cache = jitcache.Cache(tmp_path)
    f = jitcache.memoize(cache=cache, codec=codec)(pair)
    first = f(1)
    assert f.last_reason == ""
    assert (f(1), type(f(1))) == (first, type(first))
    assert first == ((1, "a") if codec is pickle else [1, "a"])
    assert jitcache.memoize(cache=False, codec=codec)(pair)(1) == first


def pair(n: int) -> tuple[int, str]:
    return n, "a"


def test_bytes_that_the_codec_cannot_read_are_a_miss(tmp_path: Path) -> None:
    cache = jitcache.Cache(tmp_path)
    f = jitcache.memoize(cache=cache, codec=pickle)(pair)
    f(1)
    cache.put(f.key(1), b"damaged", kind="python", replace=True)
    assert f(1) == (1, "a")
    assert f(1) == (1, "a")


def test_result_that_the_codec_cannot_take_is_handed_out(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    f = jitcache.memoize(cache=jitcache.Cache(tmp_path), codec=json)(unwritable)
    assert isinstance(f(), set)
    assert "codec cannot take" in f.last_reason


def unwritable() -> set[int]:
    return {1}


def test_without_a_codec_results_are_bytes(tmp_path: Path) -> None:
    f: Any = jitcache.memoize(cache=jitcache.Cache(tmp_path))(pair)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="returned tuple, want bytes"):
        f(1)


def test_exception_is_the_callers_and_is_not_kept(tmp_path: Path) -> None:
    cache = jitcache.Cache(tmp_path)
    f = jitcache.memoize(cache=cache)(divided)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            f(0)
    assert len(cache) == 0
    assert f(1) == b"1"


def divided(n: int) -> bytes:
    return b"%d" % (1 // n)


@pytest.mark.parametrize("bad", [len, int, functools.partial(plain), "f", 3])
def test_only_functions_are_memoized(bad: Any) -> None:
    with pytest.raises(TypeError, match="want a function"):
        jitcache.memoize(bad)


def test_functions_that_return_before_they_have_a_result_are_refused() -> None:
    async def coroutine() -> bytes:
        return b""

    def generator() -> Any:
        yield b""

    for bad in (coroutine, generator):
        with pytest.raises(TypeError, match="before it has a result"):
            jitcache.memoize(bad)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="want dumps and loads"):
        jitcache.memoize(codec=3)(plain)  # type: ignore[call-overload]


def test_refusal_is_said_once_with_the_name(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    f = jitcache.memoize(cache=jitcache.Cache(tmp_path))(looks)
    with caplog.at_level(logging.WARNING, "jitcache"):
        assert f() == f() == str(os.getpid()).encode()
    (record,) = caplog.records
    assert record.message == f"not kept: {__name__}.looks: looks outside: os.getpid"
    assert f.last_reason == f"{__name__}.looks: looks outside: os.getpid"
    with pytest.raises(jitcache.RefusedError, match="looks outside"):
        f.key()


def looks() -> bytes:
    return str(os.getpid()).encode()


def test_method_is_memoized_with_its_instance(tmp_path: Path) -> None:
    cache = jitcache.Cache(tmp_path)

    class Compiler:
        def __init__(self, level: int) -> None:
            self.level = level

        @jitcache.memoize(cache=cache)
        def compile(self, source: str) -> bytes:
            return f"{source} -O{self.level}".encode()

    assert Compiler(1).compile("a") == b"a -O1"
    assert Compiler(2).compile("a") == b"a -O2"
    assert Compiler.compile(Compiler(3), "a") == b"a -O3"
    assert len(cache) == 3
    three = Compiler(3)
    assert (
        three.compile.key(three, "a")
        == Compiler.compile.key(Compiler(3), "a")
        != Compiler.compile.key(Compiler(4), "a")
    )


def test_memoized_function_is_pickled_and_copied_as_a_function(tmp_path: Path) -> None:
    """A pool of processes takes it by its name."""
    main = """
        import copy, concurrent.futures
        import app
        if __name__ == "__main__":
            with concurrent.futures.ProcessPoolExecutor(2) as pool:
                print(list(pool.map(app.f, [1, 2])), copy.deepcopy({1: app.f})[1] is app.f)
    """
    program = Program(tmp_path, app=HEAD + "@jitcache.memoize\ndef f(n): return b'%d' % n\n", main=main)
    assert program.run()[0] == "[b'1', b'2'] True\n"


def test_result_of_another_processor_or_c_library_is_computed_again(tmp_path: Path) -> None:
    """Both can change results of floating point."""
    main = """
        import os, sys
        from jitcache import _processor
        _processor.CPUINFO = sys.argv[1]
        if sys.argv[2:]:
            confstr = os.confstr
            os.confstr = lambda name: sys.argv[2] if name == "CS_GNU_LIBC_VERSION" else confstr(name)
        import app
        print(app.f().decode(), app.f.last_reason)
    """
    app = HEAD + "@jitcache.memoize\ndef f():\n    print('ran', end=' ')\n    return b'x'\n"
    program = Program(tmp_path, app=app, main=main)
    for name in ("one", "two"):
        program.write(name, f"flags: fma {name}\n\nflags: of the next one\n")
    for arguments, ran in (
        (["one"], "ran "),
        (["one"], ""),
        (["two"], "ran "),
        (["one", "glibc 9"], "ran "),
        (["one"], ""),
    ):
        assert program.run("main.py", *arguments)[0] == f"{ran}x \n", arguments
    program.write("none", "")
    assert "unknown processor" in program.run("main.py", "none")[0]


def test_file_of_depends_that_is_missing_is_a_reason(tmp_path: Path) -> None:
    f = jitcache.memoize(
        cache=jitcache.Cache(tmp_path / "cache"), depends=lambda: {"x": jitcache.File(tmp_path / "none")}
    )(empty)
    assert f() == b""
    assert "depends: [Errno 2]" in f.last_reason


def test_depends_that_is_wrong_is_an_error(tmp_path: Path) -> None:
    f = jitcache.memoize(cache=jitcache.Cache(tmp_path / "cache"), depends={"x": object()})(empty)
    with pytest.raises(TypeError, match="component 'depends x'"):
        f()


def empty() -> bytes:
    return b""


def test_function_without_a_file_is_called_and_not_kept(tmp_path: Path) -> None:
    p = Program(tmp_path)
    code = "import jitcache\n@jitcache.memoize\ndef f(): return b'x'\nprint(f(), f.last_reason)"
    out, err = p.run("-c", code)
    assert out == "b'x' __main__.f: no file: __main__.f\n"
    assert "not kept" in err


def test_script_itself_is_a_file(tmp_path: Path) -> None:
    p = Program(
        tmp_path,
        main=HEAD + "@jitcache.memoize\ndef f():\n    print('ran')\n    return b'x'\nprint(f(), f.last_reason)\n",
    )
    assert [p.run()[0], p.run()[0]] == ["ran\nb'x' \n", "b'x' \n"]


def test_file_that_changed_since_the_process_started_is_not_trusted(tmp_path: Path) -> None:
    """The process has the old code, the disk has the new: one must not be taken for the other."""
    p = program(tmp_path, "import helper\n@jitcache.memoize\ndef f(): return helper.g()\n")
    p.write("helper.py", "def g():\n    return eval_free('one')\ndef eval_free(x):\n    return x.encode()\n")
    p.write(
        "main.py",
        """
        import app, helper, sys
        if len(sys.argv) > 1:
            text = open(helper.__file__).read()
            open(helper.__file__, "w").write(text.replace("'one'", "'two'"))
        print(app.f(), app.f.last_reason)
    """,
    )
    out, _ = p.run("main.py", "edit")
    assert out.startswith("b'one' app.f: file changed since the process started")
    assert p.run()[0] == "b'two' \n"


LATE = """
    import time
    now, asked = time.clock_gettime, []
    def late(clock):
        asked.append(clock)
        return now(clock) + 3600 * (len(asked) == 1)
    time.clock_gettime = late
    {control}
    import app
    print(app.f(), app.f.last_reason)
"""


def test_process_that_waits_between_two_clocks_knows_when_it_started(tmp_path: Path) -> None:
    """On a busy machine: its files were written just before it started, and are no newer than it."""
    p = program(tmp_path, "@jitcache.memoize\ndef f(): return b'one'\n")
    p.write("main.py", LATE.format(control=""))
    assert p.run()[0] == "b'one' \n"
    once = "from jitcache import _module_files as m; m._READINGS = 1; asked.clear(); m._START = m._started()"
    p.write("main.py", LATE.format(control=once))
    p.write("app.py", (p.folder / "app.py").read_text().replace("one", "two"))
    assert p.run()[0].startswith("b'two' app.f: file changed since the process started")


PACKAGE = "def h(): return b'one'\ndef g(): return h()\ndef read(p):\n    with open(p) as f: return f.read().encode()\n"


def installed(p: Program, text: str = PACKAGE) -> None:
    """Install a package as an installer does, which writes the list of files last."""
    p.write("site-packages/theirs/__init__.py", text)
    p.write("site-packages/theirs-1.0.dist-info/METADATA", "Name: theirs\nVersion: 1.0\n")
    data = (p.folder / "site-packages/theirs/__init__.py").read_bytes()
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    line = f"theirs/__init__.py,sha256={digest},{len(data)}\ntheirs-1.0.dist-info/RECORD,,\n"
    p.write("site-packages/theirs-1.0.dist-info/RECORD", line)


def test_installed_package_counts_by_its_list_and_by_what_was_edited(tmp_path: Path) -> None:
    p = program(tmp_path, "import theirs\n@jitcache.memoize\ndef f():\n    print('ran')\n    return theirs.g()\n")
    installed(p)
    assert [p.run()[0], p.run()[0]] == ["ran\nb'one' \n", "b'one' \n"]
    # Changed by hand, which the list does not show.
    p.write("site-packages/theirs/__init__.py", PACKAGE.replace("one", "two"))
    assert [p.run()[0], p.run()[0]] == ["ran\nb'two' \n", "b'two' \n"]
    # Changed by hand, and then copied, so that the list is newer.
    p.write("site-packages/theirs/__init__.py", PACKAGE.replace("one", "six"))
    os.utime(p.folder / "site-packages/theirs/__init__.py", (1, 1))
    os.utime(p.folder / "site-packages/theirs-1.0.dist-info/RECORD")
    assert p.run()[0] == "ran\nb'six' \n"
    # Changed by an installer.
    installed(p, PACKAGE.replace("one", "three"))
    assert p.run()[0] == "ran\nb'three' \n"
    # Installed again as it was: the first result is found.
    installed(p)
    assert p.run()[0] == "b'one' \n"


def test_file_of_a_package_that_is_imported_by_the_call_counts(tmp_path: Path) -> None:
    p = program(tmp_path, "import theirs\n@jitcache.memoize\ndef f(): return theirs.late()\n")
    installed(p, PACKAGE + "def late():\n    import theirs.inner\n    return theirs.inner.N\n")
    p.write("site-packages/theirs/inner.py", "N = b'one'\n")
    with (p.folder / "site-packages/theirs-1.0.dist-info/RECORD").open("a") as f:
        f.write("theirs/inner.py,sha256=x,11\n")
    p.run()
    p.write("site-packages/theirs/inner.py", "N = b'two'\n")
    assert p.run()[0].startswith("b'two'")


def test_setting_of_an_installed_package_that_the_code_mentions_counts(tmp_path: Path) -> None:
    p = program(
        tmp_path,
        "import theirs\n@jitcache.memoize\ndef f(): return b'%d %d' % (theirs.settings.level, theirs.options['n'])\n",
    )
    installed(p, PACKAGE + "class S:\n    level = 1\nsettings = S()\noptions = {'n': 1}\n")
    main = "import app, theirs, sys\nexec(sys.argv[1])\nprint(app.f(), repr(app.f.last_reason))\n"
    p.write("main.py", main)
    for change, want in (
        ("", "1 1"),
        ("theirs.settings.level = 2", "2 1"),
        ("theirs.options['n'] = 2", "1 2"),
        ("theirs.S.level = 3", "3 1"),
        ("", "1 1"),
    ):
        assert p.run("main.py", change)[0] == f"b'{want}' ''\n"


def test_file_that_a_package_opens_is_seen(tmp_path: Path) -> None:
    """Without the audit it would not be seen, and the result would be old."""
    p = program(tmp_path, "import theirs\n@jitcache.memoize\ndef f(): return theirs.read('data')\n")
    installed(p)
    p.write("data", "one")
    out, _ = p.run()
    assert out.startswith("b'one' ")
    assert "looks outside: open 'data'" in out
    p.write("data", "two")
    assert p.run()[0].startswith("b'two'")
    p.write("main.py", "import jitcache._memoize.audit as a\na.HARMLESS |= {'open'}\nimport app\nprint(app.f())\n")
    assert p.run()[0] == "b'two'\n"
    p.write("data", "three")
    assert p.run()[0] == "b'two'\n"


def test_file_that_a_package_has_its_importer_read_is_seen(tmp_path: Path) -> None:
    p = program(tmp_path, "import theirs\n@jitcache.memoize\ndef f(): return theirs.look('../../data')\n")
    installed(p, PACKAGE + "import pkgutil\ndef look(name):\n    return pkgutil.get_data('theirs', name)\n")
    p.write("data", "one")
    out, _ = p.run()
    assert out.startswith("b'one' ")
    assert "looks outside: open " in out
    p.write("data", "two")
    assert p.run()[0].startswith("b'two'")
    # If everything that importers do counts as an import, the result is old.
    p.write(
        "main.py", "import jitcache._memoize.audit as a\na._imports = lambda frame: True\nimport app\nprint(app.f())\n"
    )
    assert p.run()[0] == "b'two'\n"
    p.write("data", "three")
    assert p.run()[0] == "b'two'\n"


def test_file_that_an_inner_function_reads_counts_for_the_outer(tmp_path: Path) -> None:
    p = program(tmp_path, """
        import theirs
        @jitcache.memoize
        def g(): return theirs.read('data')
        @jitcache.memoize
        def f(): return g()
    """)  # fmt: skip
    installed(p)
    p.write("data", "one")
    assert "looks outside" in p.run()[0]
    p.write("data", "two")
    assert p.run()[0].startswith("b'two'")


@pytest.mark.parametrize(
    "asked", ["hash('a')", "list(map(hash, 'a'))[0]", "'a'.__hash__()", "getattr('a', '__hash__')()"]
)
def test_hash_that_is_another_in_each_process_is_not_kept(tmp_path: Path, asked: str) -> None:
    p = program(tmp_path, f"@jitcache.memoize\ndef f(): return b'%d' % {asked}\n")
    first, second = (p.run(PYTHONHASHSEED="random")[0].split(None, 1) for _ in range(2))
    assert first[0] != second[0]
    assert first[1]
    # Processes with one seed have it in common, and the seed is in the key.
    if "__" not in asked:
        one = [p.run(PYTHONHASHSEED="1")[0].partition(" ") for _ in range(2)]
        assert one[0] == one[1]
        assert one[0][2] == "\n"
        assert p.run(PYTHONHASHSEED="2")[0].partition(" ")[0] != one[0][0]


def test_class_with_a_hash_is_kept(tmp_path: Path) -> None:
    p = program(tmp_path, """
        import dataclasses
        @dataclasses.dataclass(frozen=True)
        class A: name: str
        class B:
            def __eq__(self, other): return True
            def __hash__(self): return hash('b')
        class C(B):
            def __hash__(self): return super().__hash__()
        @jitcache.memoize
        def f(): return b'%d' % len({A('a'): 1, C(): 2})
    """)  # fmt: skip
    assert [p.run(PYTHONHASHSEED="random")[0] for _ in range(2)] == ["b'2' \n"] * 2


def test_miss_says_what_changed(tmp_path: Path) -> None:
    p = program(tmp_path, "import helper\nN = 1\n@jitcache.memoize\ndef f(x=1): return helper.g()\n")
    p.write("helper.py", "def g(): return b'one'\n")
    p.run()
    p.write("helper.py", "def g(): return b'two'\n")
    _, err = p.run(JITCACHE_LOG="miss")
    assert "changed helper.g, module helper" in err, err


def test_walk_is_the_same_in_every_process(tmp_path: Path) -> None:
    """Whatever the hashes of texts are."""
    p = program(tmp_path, """
        import enum, dataclasses, collections, re, struct, typing
        class P(typing.Protocol):
            def g(self) -> int: ...
        class Own(ValueError):
            def __init__(self, n): self.n = n
        class Doubled:
            def __get__(self, instance, owner): return 2 * instance.n
        class H:
            n = 1
            m = Doubled()
            def g(self): return super().__str__() and self.m
        header = struct.Struct("<I").pack
        class E(enum.Flag):
            A = 1
            B = 2
        @dataclasses.dataclass(frozen=True)
        class D:
            s: frozenset = frozenset("abcdef")
            e: E = E.A | E.B
        N = collections.namedtuple("N", "a b")
        r = re.compile("a")
        S = {E.A, E.B, int, str, P, H}
        T = {"x": {"p", "q", "r"}, "y": N(1, 2)}
        @jitcache.memoize
        def f():
            print("ran")
            try:
                raise Own(3)
            except Own as e:
                assert e.n == 3 and len(S) == 6 and header(1) == bytes((1, 0, 0, 0)) and H().g() == 2
            return b"%d" % (len(D().s) + len(T) + len({"a", "b"} & {"b", "c", "d"}) + (1 in {1, 2}))
    """)  # fmt: skip
    assert p.run()[0].startswith("ran")
    for _ in range(4):
        assert p.run()[0] == "b'10' \n"


#: What the samples of docs/memoize.md leave open.
PRELUDE = """
from __future__ import annotations
import dataclasses, pickle, subprocess
TEMPLATE = "void {name}(void) { tile({tile}); }"
def generate(template, **names):
    print("ran")
    for name, value in names.items():
        template = template.replace("{%s}" % name, str(value))
    return template.encode()
@dataclasses.dataclass
class Plan:
    steps: int
    @classmethod
    def best(cls, shape):
        print("ran")
        return cls(len(shape))
"""


def test_samples_of_the_manual_run_as_pasted(tmp_path: Path) -> None:
    if shutil.which("gcc") is None:  # zig writes no assembly to its output
        compilers.script(tmp_path / "bin" / "gcc", ["sh", "-c", "echo f:"])
    lines = "".join(sample.text for sample in samples.of("docs/memoize.md"))
    p = Program(tmp_path)
    p.write("app.py", PRELUDE + lines)
    p.write("main.py", """
        import app
        print(app.kernel("f", tile=4), app.plan((2, 3)), b"f:" in app.build("int f(void) { return 1; }", ("-O2",)))
        print(app.kernel.last_reason, app.plan.last_reason, app.build.last_reason)
    """)  # fmt: skip
    said = "b'void f(void) { tile(4); }' Plan(steps=2) True\n  \n"
    assert [p.run()[0], p.run()[0]] == ["ran\nran\n" + said, said]
    p.write("app.py", PRELUDE.replace("tile({tile})", "tiles({tile})") + lines)
    assert "tiles(4)" in p.run()[0]
