"""The program of a prepared process: imports a framework once, and forks a child for each row.

    python forking.py DESCRIPTOR MODULE...

DESCRIPTOR is a Unix socket. First the names of what was imported are a line on it. Each request on it is a length and a JSON object, with four descriptors: a socket for
this row, and its standard input, output and error. The row's socket gets the child's number, and a returncode as
Popen's when the child has ended; the child stays a zombie, so that its number is nobody else's, until the other end
is closed. The prepared process ends when DESCRIPTOR is closed, as it is when the test session ends.

A child is what ``python -c CODE`` would be after it had imported the modules, except that frames of this file are
below its own, that /proc has this command line, and that the parent is this process.
"""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def import_modules(names: list[str]) -> None:
    """Import modules as a program does that is not in this folder."""
    if sys.path[:1] == [HERE]:
        del sys.path[0]
    for name in names:
        __import__(name)


GIVEN = dict(os.environ)
import_modules(sys.argv[2:])
#: Variables that the imports have set, as JAX's do.
SET = {name: value for name, value in os.environ.items() if GIVEN.get(name) != value}
IMPORTED = {*sys.modules}  # what is imported after this line is this program's own

import builtins
import importlib.machinery
import json
import linecache
import select
import signal
import socket
import struct
import types
import warnings

#: What an interrupted child does, which a prepared process does not: the session ends that.
INTERRUPTED = signal.getsignal(signal.SIGINT)


class Children:
    """The children of this process, each with the socket that is told how it ends."""

    def __init__(self) -> None:
        self.running: dict[int, socket.socket] = {}
        self.ended: dict[socket.socket, int] = {}

    def report(self) -> None:
        """Tell the returncodes of those that have ended."""
        for pid, row in [*self.running.items()]:
            ended = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if ended is None:
                continue
            del self.running[pid]
            self.ended[row] = pid
            code = ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status
            try:
                row.sendall(b"%d\n" % code)
            except OSError:  # nobody waits for it
                self.reap(row)

    def reap(self, row: socket.socket) -> None:
        """Let a child go whose end was read."""
        os.waitpid(self.ended.pop(row), 0)
        row.close()

    def forget(self) -> None:
        """Close the sockets, in a child."""
        for row in (*self.running.values(), *self.ended):
            row.close()


def receive(control: socket.socket):
    """Return the next request and its descriptors, or None at the end of the session."""
    head, descriptors, _, _ = socket.recv_fds(control, 4, 4)
    if len(head) < 4:
        return None
    left, parts = struct.unpack(">I", head)[0], []
    while left:
        parts.append(control.recv(left))
        left -= len(parts[-1])
    return json.loads(b"".join(parts)), list(descriptors)


def fork() -> int:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # NumPy's threads are ready for a fork
        return os.fork()


def serve(control: socket.socket):
    """Fork a child for each request. Return None at the end of the session, and, in a child, its request."""
    children = Children()
    bell, ring = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(ring)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    control.sendall(" ".join(sorted({name.partition(".")[0] for name in IMPORTED})).encode() + b"\n")
    while True:
        ready = select.select([control, bell, *children.ended], [], [])[0]
        if bell in ready:
            os.read(bell, 4096)
            children.report()
        for row in ready:
            if row in children.ended and not row.recv(1):
                children.reap(row)
        if control not in ready:
            continue
        received = receive(control)
        if received is None:
            return None
        request, (end, *streams) = received
        row = socket.socket(fileno=end)
        pid = fork()
        if pid == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.signal(signal.SIGINT, INTERRUPTED)
            for number, stream in enumerate(streams):
                os.dup2(stream, number)
            for descriptor in (*streams, bell, ring):
                os.close(descriptor)
            for own in (row, control):
                own.close()
            children.forget()
            return request
        for stream in streams:
            os.close(stream)
        children.running[pid] = row
        row.sendall(b"%d\n" % pid)
        children.report()


def become(request: dict) -> types.ModuleType:
    """Make this process as fresh as it can be; return its empty ``__main__``."""
    coerced = {
        name: os.environ[name] for name in ("LC_CTYPE",) if name in os.environ
    }  # by Python, where there is no locale
    os.environ.clear()
    os.environ.update({**request["environment"], **coerced, **SET})
    os.umask(request["umask"])
    os.chdir(request["folder"])
    sys.argv = ["-c", *request["arguments"]]
    if hasattr(sys, "orig_argv"):
        sys.orig_argv = [request["python"], "-c", request["code"], *request["arguments"]]
    entries = os.environ.get("PYTHONPATH")
    given = dict.fromkeys(os.path.abspath(entry) for entry in entries.split(os.pathsep)) if entries else ()
    first = [] if getattr(sys.flags, "safe_path", False) else [""]
    sys.path[:] = [*first, *given, *(entry for entry in sys.path if entry not in given)]
    for name in {*sys.modules} - IMPORTED:
        del sys.modules[name]
    if "numpy.random" in sys.modules:  # Python's own random numbers begin anew by themselves
        sys.modules["numpy.random"].seed()
    main = types.ModuleType("__main__")
    main.__builtins__, main.__loader__ = builtins, importlib.machinery.BuiltinImporter
    if "__annotations__" in globals():
        main.__annotations__ = {}
    sys.modules["__main__"] = main
    return main


def hide_this_file() -> None:
    """Let tracebacks begin where the row's code does."""
    show = sys.excepthook

    def hook(kind, value, trace) -> None:
        while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
            trace = trace.tb_next
        show(kind, value.with_traceback(trace), trace)

    sys.excepthook = hook


def remember_lines(compiled: types.CodeType, code: str) -> None:
    """Let tracebacks show the lines of the code, as they do from Python 3.13 on."""
    if hasattr(linecache, "_interactive_cache"):  # from 3.13.1 on
        linecache._register_code(compiled, code, "<string>")
    elif hasattr(linecache, "_register_code"):
        linecache._register_code("<string>", code, "<string>")


def run(code: str, main: types.ModuleType) -> None:
    """Run code as ``python -c`` does. The interpreter does the rest, as this is the last thing that the program does."""
    try:
        compiled = compile(code, "<string>", "exec")
        remember_lines(compiled, code)
        exec(compiled, vars(main))
    except BaseException:
        hide_this_file()
        raise


ITSELF = sys.modules["__main__"]  # the functions here need it until the end
CHOSEN = serve(socket.socket(fileno=int(sys.argv[1])))
if CHOSEN is None:
    os._exit(0)
run(CHOSEN["code"], become(CHOSEN))
