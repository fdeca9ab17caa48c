"""What is forked from a prepared process is what starts anew, to whatever its code can ask.

Each row runs one piece of code in both, with the same environment, folder, arguments and input.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parent.parent / "frameworks"))

from prepared import FRESH, SOURCES, Prepared, Process

#: What the prepared process imports in place of a framework: one that starts threads would be as good.
IMPORTS = ["decimal", "logging"]

ROWS = {
    "output": "print('out'); import sys; print('err', file=sys.stderr)",
    "environment": "import os; print(sorted(os.environ.items()))",
    "C's environment": "import ctypes\nget = ctypes.CDLL(None).getenv\nget.restype = ctypes.c_char_p\n"
    "print(get(b'VALUE'), get(b'HOME'), get(b'PYTHONPATH'))",
    "the environment of its own processes": "import subprocess; print(subprocess.check_output(['env', '-0']).split(b'\\0')[0:0],"
    " sorted(subprocess.check_output(['env', '-0']).split(b'\\0')))",
    "folder": "import os; print(os.getcwd())",
    "arguments": "import sys; print(sys.argv, sys.orig_argv if hasattr(sys, 'orig_argv') else '')",
    "input": "import sys; print(repr(sys.stdin.read()))",
    "path": "import sys; print(sys.path)",
    "modules of the folder and of the path": "import here, mine; print(here.__file__, mine.__file__, mine.K)",
    "umask": "import os; print(os.umask(0))",
    "names": "print(sorted(dir()), __name__, __spec__, __loader__, __builtins__)",
    "main": "import __main__, sys; K = 1; print(__main__.K, sys.modules['__main__'] is __main__, vars(__main__) is globals())",
    "modules": "import sys; print(sorted({*sys.modules}))",
    "standard streams": "import sys\nfor s in (sys.stdin, sys.stdout, sys.stderr):\n"
    "    print(s.name, s.mode, s.encoding, s.errors, s.line_buffering, s.fileno(), s is getattr(sys, '__' + s.name[1:-1] + '__'))",
    "signals": "import signal\nfor n in signal.valid_signals():\n    print(n, signal.getsignal(n))\nprint(signal.pthread_sigmask(0, []), signal.set_wakeup_fd(-1))",
    "descriptors": "import os\nprint(sorted(os.listdir('/proc/self/fd'), key=int))",
    "warnings": "import warnings; print(warnings.filters); warnings.warn('beware')",
    "threads and finalization": "import atexit, threading, time\natexit.register(print, 'at exit')\n"
    "threading.Thread(target=lambda: (time.sleep(0.1), print('thread'))).start()\nprint('main')",
    "its groups": "import os; print(os.getpgrp(), os.getsid(0))",
    "limits": "import resource; print(resource.getrlimit(resource.RLIMIT_NOFILE), resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime)",
    "no future statement": "def f(x: int): pass\nprint(f.__annotations__)",
    "status": "import sys; sys.exit(7)",
    "a text as status": "import sys; sys.exit('so it ends')",
    "an end without finalization": "import os; print('lost', end=''); os._exit(3)",
    "an exception": "def f():\n    raise ValueError('no')\nf()",
    "an exception with a cause": "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    raise ValueError('no') from e",
    "an error of syntax": "print(1)\nx = = 2",
    "a hook for exceptions": "import sys\nsys.excepthook = lambda k, v, t: print('hook', k, t.tb_frame.f_code.co_name, t.tb_next)\nraise ValueError",
    "an exception when it is finalized": "import atexit\natexit.register(int, 'late')",
    "a signal": "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
    "SIGTERM": "import os, signal; os.kill(os.getpid(), signal.SIGTERM)",
    "an interrupt": "import os, signal; os.kill(os.getpid(), signal.SIGINT); print('not here')",
    "abort": "import os; os.abort()",
    "a broken pipe": "import os\nr, w = os.pipe()\nos.close(r)\ntry:\n    os.write(w, b'x')\nexcept BrokenPipeError:\n    print('told')",
    "children of its own": "import os\nif os.fork() == 0:\n    os._exit(5)\nprint(os.wait()[1])",
    "other processes of multiprocessing": "import multiprocessing as m\np = m.get_context('fork').Process(target=print, args=('child',), daemon=True)\n"
    "p.start()\np.join()\nprint(p.exitcode, m.parent_process())",
}  # fmt: skip


class Room:
    """A folder and an environment in which the same is run both ways."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "folder"
        mine = folder / "modules"
        for where, name in ((self.folder, "here"), (mine, "mine")):
            where.mkdir()
            (where / f"{name}.py").write_text("K = 1\n")
        plain = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
        self.plain = {**plain, "PYTHONDONTWRITEBYTECODE": "1"}
        self.prepared = Prepared(IMPORTS, self.plain, ["VALUE"])
        self.env = {**self.plain, "VALUE": "ä", "HOME": str(folder), "PYTHONPATH": f"{mine}:{mine}:{folder / 'none'}"}

    def start(self, code: str, fresh: str = "", **more: object) -> Process | subprocess.Popen[str]:
        more = {"env": self.env, "cwd": self.folder, **more}
        return self.prepared.start(code, ["an", "argument"], fresh=fresh, **more)

    def end(self, code: str, fresh: str = "", text: str | None = None) -> tuple[str, str, int]:
        p = self.start(code, fresh, stdin=subprocess.DEVNULL if text is None else subprocess.PIPE)
        assert isinstance(p, subprocess.Popen) == bool(fresh)
        return (*p.communicate(text, timeout=60), p.returncode)


@pytest.fixture(autouse=True)
def forking(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(FRESH, raising=False)


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    room = Room(tmp_path)
    yield room
    room.prepared.close()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Room]:
    room = Room(tmp_path_factory.mktemp("shared"))
    for _ in range(SOURCES):
        room.end("pass")
    yield room
    room.prepared.close()


@pytest.mark.parametrize("code", ROWS.values(), ids=list(ROWS))
def test_forked_row_is_as_a_fresh_one(shared: Room, code: str) -> None:
    code = "import decimal, logging\n" + code
    text = "a line\nand more" if "stdin.read" in code else None
    before = os.umask(0o27)
    try:
        assert shared.end(code, text=text) == shared.end(code, "the one to compare with", text=text)
    finally:
        os.umask(before)


def test_row_has_nothing_of_the_environment_that_the_imports_had(room: Room) -> None:
    del room.env["HOME"]
    code = "import ctypes, os; print(ctypes.CDLL(None).getenv(b'HOME'), 'HOME' in os.environ)"
    assert room.end(code)[0] == "0 False\n"


def test_forked_row_is_as_a_fresh_one_where_there_is_no_locale(tmp_path: Path) -> None:
    room = Room(tmp_path)
    room.env = {k: v for k, v in room.env.items() if not k.startswith(("LANG", "LC_")) and k != "VALUE"}
    room.prepared = Prepared(IMPORTS, room.env, [])
    asked = "import locale, os, sys; print(os.environ, sys.stdout.encoding, sys.stdout.errors, locale.setlocale(locale.LC_CTYPE))"
    assert room.end(asked) == room.end(asked, "the one to compare with")
    room.prepared.close()


def test_rows_that_follow_each_other_have_other_seeds_and_addresses(room: Room) -> None:
    room.env.pop("PYTHONHASHSEED", None)
    asked = "import decimal; print(hash('text'), id(decimal.Decimal.__add__), id(None))"
    said = [room.end(asked)[0].split() for _ in range(SOURCES)]
    assert [len({*answers}) for answers in zip(*said)] == [SOURCES] * 3


def test_row_whose_environment_might_be_read_at_import_starts_anew(room: Room) -> None:
    code = "print(1)"
    for env in (
        {**room.env, "OTHER": "1"},
        {**room.env, "PYTHONHASHSEED": "1"},
        {k: v for k, v in room.env.items() if k != "PATH"},
    ):
        p = room.start(code, env=env)
        assert isinstance(p, subprocess.Popen)
        p.communicate()
    assert [*room.prepared.counts] == [f"{name} may be read at import" for name in ("OTHER", "PYTHONHASHSEED", "PATH")]
    assert room.prepared.told().startswith("0 processes forked, 3 started anew: OTHER may be read at import (1), ")


@pytest.mark.parametrize("name", ["decimal.py", "sitecustomize.py", "logging"])
def test_row_with_a_module_of_its_own_in_place_of_one_that_is_imported_starts_anew(room: Room, name: str) -> None:
    hides = room.folder.parent / "modules" / name
    hides.mkdir() if "." not in name else hides.touch()
    p = room.start("print(1)")
    assert isinstance(p, subprocess.Popen)
    p.communicate()


def test_all_rows_start_anew_if_one_says_so(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FRESH, "1")
    p = room.start("print(1)")
    assert isinstance(p, subprocess.Popen)
    assert p.communicate()[0] == "1\n"


def test_frameworks_are_imported_once(room: Room) -> None:
    count = "import decimal; print(decimal.__dict__.setdefault('row', 1)); decimal.row = 2"
    assert [room.end(count)[0] for _ in range(3)] == ["1\n"] * 3
    kept = "import decimal, os, time; print(os.getppid(), time.thread_time() < 10)"
    parents = [room.end(kept)[0] for _ in range(2 * SOURCES)]
    assert parents[:SOURCES] == parents[SOURCES:]
    assert len({*parents}) == SOURCES


def test_process_that_is_killed_has_that_as_its_end(room: Room) -> None:
    p = room.start("print('here', flush=True); import time; time.sleep(60)")
    assert p.stdout.readline() == "here\n"
    assert p.poll() is None
    with pytest.raises(subprocess.TimeoutExpired):
        p.wait(0.05)
    with pytest.raises(subprocess.TimeoutExpired):
        p.communicate(timeout=0.05)
    p.kill()
    assert p.communicate() == ("", "")
    assert p.returncode == -signal.SIGKILL
    p.kill()  # which is nobody else


def test_number_of_a_process_is_nobody_else_s_until_its_end_is_read(room: Room) -> None:
    p = room.start("pass")
    end = time.monotonic() + 60
    while Path(f"/proc/{p.pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z":
        assert time.monotonic() < end
    p.communicate()
    while Path(f"/proc/{p.pid}").exists():
        assert time.monotonic() < end


def test_rows_run_side_by_side(room: Room) -> None:
    code = "import os, sys; sys.stdin.readline(); print({}, len(os.listdir('/proc/self/fd')))"
    processes = [room.start(code.format(n), stdin=subprocess.PIPE) for n in range(3 * SOURCES)]
    said = [p.communicate("go\n")[0] for p in reversed(processes)]
    assert said == [f"{n} 4\n" for n in reversed(range(3 * SOURCES))]


def test_row_does_not_hear_of_others_that_run(tmp_path: Path) -> None:
    """Not even by the warning of a socket that nobody has closed."""
    room = Room(tmp_path)
    env = {**room.plain, "PYTHONWARNINGS": "always"}
    room.prepared = Prepared(IMPORTS, env, [])
    held = [room.start("input()", env=env, stdin=subprocess.PIPE) for _ in range(SOURCES)]
    p = room.start("pass", env=env)
    assert (p.communicate(), p.returncode) == (("", ""), 0)
    for other in held:
        other.communicate("go\n")
    room.prepared.close()


def test_much_is_written_and_read_at_once(room: Room) -> None:
    p = room.start(
        "import sys; text = sys.stdin.read(); print(text); print(text, file=sys.stderr)", stdin=subprocess.PIPE
    )
    out, err = p.communicate("x" * 10**6)
    assert (len(out), len(err)) == (10**6 + 1,) * 2


def test_prepared_processes_end_with_the_session(room: Room) -> None:
    session = f"""
import os, sys
sys.path[:0] = {sys.path!r}
from prepared import Prepared
p = Prepared({IMPORTS!r}, os.environ, []).start("import os; print(os.getppid())", env=os.environ, cwd="/")
print(p.communicate()[0], flush=True)
os.kill(os.getpid(), 9)
"""
    ran = subprocess.run([sys.executable, "-c", session], env=room.plain, capture_output=True, text=True, check=False)
    assert ran.returncode == -9, ran.stderr
    end = time.monotonic() + 60
    while Path(f"/proc/{int(ran.stdout)}").exists():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_prepared_process_that_cannot_import_says_why(tmp_path: Path) -> None:
    prepared = Prepared(["nosuchmodule"], os.environ, [])
    with pytest.raises(RuntimeError, match="No module named 'nosuchmodule'"):
        prepared.start("pass", env={**os.environ}, cwd=tmp_path)
    prepared.close()
