"""``Program.compile(cache=…)`` with the real NVRTC, and caches of both classes."""

from __future__ import annotations

import pytest
from conftest import CLASSES
from workspace import Workspace

COMPILE = """
cache = {kind}(os.environ["CACHE"])
o = ProgramOptions(arch="sm_80", define_macro=("VALUE", os.environ.get("VALUE", "1")))
code = Program(K, "c++", o).compile("cubin", cache=cache)
print(code.code.hex(), code.code_type, code.name)
"""


@pytest.fixture(params=CLASSES)
def name(request: pytest.FixtureRequest) -> str:
    return request.param


def test_miss_compiles_and_stores_and_a_hit_of_another_process_has_the_same_bytes(
    name: str, workspace: Workspace
) -> None:
    first = workspace.run(COMPILE.format(kind=name))
    assert workspace.compiled() == 1
    assert workspace.run(COMPILE.format(kind=name)) == first
    assert workspace.compiled() == 0
    assert workspace.run(COMPILE.format(kind=name), VALUE="2") != first
    assert workspace.compiled() == 1


def test_without_what_is_stored_it_compiles(workspace: Workspace) -> None:
    """The control."""
    for mode in ("0", "refresh"):
        for _ in range(2):
            workspace.run(COMPILE.format(kind="ProgramCache"), JITCACHE=mode)
        assert workspace.compiled() == 2


def test_hit_in_one_process_has_the_same_bytes(name: str, workspace: Workspace) -> None:
    hits = (
        COMPILE + "print(all(Program(K, 'c++', o).compile('cubin', cache=cache).code == code.code for _ in range(5)))"
    )
    assert workspace.run(hits.format(kind=name)).splitlines()[-1] == "True"
    assert workspace.compiled() == 1


def test_what_does_not_compile_is_not_stored(name: str, workspace: Workspace) -> None:
    code = """
cache = {kind}(os.environ["CACHE"])
for _ in range(2):
    try:
        Program("garbage", "c++", O).compile("cubin", cache=cache)
    except Exception as e:
        print(type(e).__name__)
print(len(cache))
"""
    assert workspace.run(code.format(kind=name)).split() == ["NVRTCError", "NVRTCError", "0"]
    assert workspace.compiled() == 2


def test_stored_code_makes_an_object_code_of_the_same_functions(name: str, workspace: Workspace) -> None:
    code = (
        COMPILE
        + "print(b'k' in ObjectCode.from_cubin(cache[next(iter([make_program_cache_key(code=K, code_type='c++', options=o, target_type='cubin')]))]).code)"
    )
    assert workspace.run(code.format(kind=name)).splitlines()[-1] == "True"


UNWRITABLE = """
import resource
cache = {kind}(os.environ["CACHE"])
resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200))
try:
    print(len(Program(K, "c++", ProgramOptions(arch="sm_80", define_macro=("VALUE", "1"))).compile("cubin", cache=cache).code) > 1000)
except OSError as e:
    print(type(e).__name__)
"""


def test_full_disk_loses_cuda_core_s_compile_and_not_ours(workspace: Workspace) -> None:
    assert workspace.run(UNWRITABLE.format(kind="FileStreamProgramCache")) == "OSError"
    assert workspace.run(UNWRITABLE.format(kind="ProgramCache"), CACHE=str(workspace.folder / "ours")) == "True"


def test_damaged_entry_is_compiled_again(workspace: Workspace) -> None:
    """Of cuda.core's own the damage comes back as code."""
    for kind, compiles, whole in (("FileStreamProgramCache", 0, False), ("ProgramCache", 1, True)):
        folder = workspace.folder / kind
        first = workspace.run(COMPILE.format(kind=kind), CACHE=str(folder))
        workspace.compiled()
        (path,) = [p for p in folder.rglob("*") if p.is_file() and p.read_bytes()[:4] == b"\x7fELF"]
        path.write_bytes(path.read_bytes()[:-300])
        assert (workspace.run(COMPILE.format(kind=kind), CACHE=str(folder)) == first) is whole
        assert workspace.compiled() == compiles


def test_each_of_many_processes_compiles(name: str, workspace: Workspace) -> None:
    """cuda.core asks, compiles and stores in three steps: nobody can wait for another. compile_program can."""
    code = "print('ready', flush=True); sys.stdin.readline()" + COMPILE.format(kind=name)
    processes = [workspace.start(code, STUBNVRTC_SLEEP_MS="1500") for _ in range(3)]
    for p in processes:
        assert p.stdout.readline() == "ready\n"
    for p in processes:
        p.stdin.write("go\n")
        p.stdin.flush()
    assert len({workspace.end(p) for p in processes}) == 1
    assert workspace.compiled() == 3
