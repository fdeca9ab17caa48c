"""Many processes at one program cache, of both classes."""

from __future__ import annotations

import pytest
from conftest import CLASSES, class_of
from workspace import Workspace

OPEN = "cache = {kind}(os.environ['CACHE'], max_size_bytes={cap})\n"
# All begin at once.
READY = "print('ready', flush=True)\nsys.stdin.readline()\n"


def script(kind: str, code: str, cap: int | None = None) -> str:
    return OPEN.format(kind=kind, cap=cap) + READY + code


def at_once(workspace: Workspace, scripts: list[str]) -> list[str]:
    """Run them together, and return what each printed."""
    processes = [workspace.start(s) for s in scripts]
    for p in processes:
        assert p.stdout.readline() == "ready\n", p.stderr.read()
    for p in processes:
        p.stdin.write("go\n")
        p.stdin.flush()
    return [workspace.end(p) for p in processes]


@pytest.fixture(params=CLASSES)
def name(request: pytest.FixtureRequest) -> str:
    return request.param


def opened(name: str, workspace: Workspace):
    return class_of(name)(workspace.cache)


def test_six_writers_of_one_key_leave_one_value_whole(name: str, workspace: Workspace) -> None:
    write = "for i in range(30): cache['k'] = bytes([{n}]) * (20_000 + {n})\n"
    at_once(workspace, [script(name, write.format(n=n)) for n in range(6)])
    left = opened(name, workspace)["k"]
    assert left in [bytes([n]) * (20_000 + n) for n in range(6)]
    assert len(opened(name, workspace)) == 1


def test_keys_of_four_writers_are_all_there(name: str, workspace: Workspace) -> None:
    write = "for i in range(25): cache[f'{n} {{i}}'] = b'%d %d' % ({n}, i) * 100\n"
    at_once(workspace, [script(name, write.format(n=n)) for n in range(4)])
    cache = opened(name, workspace)
    assert [cache.get(f"{n} {i}") for n in range(4) for i in range(25)] == [
        b"%d %d" % (n, i) * 100 for n in range(4) for i in range(25)
    ]
    assert len(cache) == 100


def test_reader_beside_a_writer_sees_whole_values_and_never_none(name: str, workspace: Workspace) -> None:
    """Neither a torn one, nor none between the old and the new."""
    opened(name, workspace)["k"] = b"0" * 50_000
    write = "for i in range(150): cache['k'] = (b'%d' % (i % 10)) * 50_000\n"
    read = """
wrong = 0
for i in range(400):
    again = cache if i % 2 else {kind}(os.environ['CACHE'])
    data = again.get('k')
    if data is None or len(data) != 50_000 or len(set(data)) != 1:
        wrong += 1
print(wrong)
"""
    out = at_once(workspace, [script(name, write), *[script(name, read.format(kind=name)) for _ in range(2)]])
    assert out == ["", "0", "0"]


def test_without_atomic_replacement_a_reader_sees_it(workspace: Workspace) -> None:
    """The control: removed and put, in two steps, there is none in between."""
    opened("ProgramCache", workspace)["k"] = b"0" * 50_000
    write = """
for i in range(300):
    del cache['k']
    cache['k'] = b'1' * 50_000
"""
    read = "print(sum(cache.get('k') is None for _ in range(3000)))\n"
    out = at_once(workspace, [script("ProgramCache", write), script("ProgramCache", read)])
    assert int(out[1]) > 0


def test_eviction_beside_a_writer_leaves_what_was_just_written(name: str, workspace: Workspace) -> None:
    """One writes its key over and over, while another fills the cache several times over."""
    rewrite = """
i = 0
while not os.path.exists('done'):
    i += 1
    cache['mine'] = b'mine %d ' % i * 50
    assert cache.get('mine') is not None
print(i)
"""
    churn = """
import time
for i in range(250):
    cache[f'other {i}'] = b'x' * 500
    time.sleep(0.003)
open('done', 'w').close()
print(len(cache))
"""
    last, left = map(int, at_once(workspace, [script(name, rewrite, 40_000), script(name, churn, 40_000)]))
    assert left < 90
    assert opened(name, workspace).get("mine") == b"mine %d " % last * 50


def test_removers_and_writers_leave_a_whole_value_or_none(name: str, workspace: Workspace) -> None:
    write = "for i in range(60): cache['k'] = b'x' * 10_000\n"
    remove = """
for i in range(60):
    try:
        del cache['k']
    except KeyError:
        pass
    assert cache.get('k') in (None, b'x' * 10_000)
"""
    at_once(workspace, [script(name, write), script(name, remove), script(name, write)])
    assert opened(name, workspace).get("k") in (None, b"x" * 10_000)


def test_forked_child_uses_its_parent_s_cache(name: str, workspace: Workspace) -> None:
    code = """
cache['before'] = b'1'
assert cache['before'] == b'1'
pid = os.fork()
if pid == 0:
    assert cache['before'] == b'1'
    cache['child'] = b'2'
    os._exit(0)
print(os.waitpid(pid, 0)[1], cache['child'], cache['before'])
"""
    assert at_once(workspace, [script(name, code)]) == ["0 b'2' b'1'"]


def test_killed_writer_leaves_the_old_value(name: str, workspace: Workspace) -> None:
    opened(name, workspace)["k"] = b"0" * 100_000
    p = workspace.start(script(name, "while True: cache['k'] = b'1' * 100_000\n"))
    assert p.stdout.readline() == "ready\n"
    p.stdin.write("go\n")
    p.stdin.flush()
    cache = opened(name, workspace)
    while cache["k"] == b"0" * 100_000:
        pass
    p.kill()
    p.communicate()
    assert cache["k"] == b"1" * 100_000
    cache["k"] = b"2"
    assert cache["k"] == b"2"
