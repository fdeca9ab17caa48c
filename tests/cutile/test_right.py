"""Kernels of cuTile through the cache: whether they are right, and who compiles, beside cuTile's own cache."""

from __future__ import annotations

import pytest
from project import AT_ONCE, CALL, COLD, OURS, PROGRAM, QUESTION, Project


def test_fresh_process_starts_no_compiler_and_has_the_code_that_cutile_makes(project: Project) -> None:
    own = project.run(CALL)
    assert own["elf"]
    assert project.compiler.runs() == COLD
    assert project.run(CALL) == own
    assert project.compiler.runs() == QUESTION
    assert project.run(OURS + CALL) == own
    assert project.compiler.runs() == COLD
    project.compiler.started()
    assert project.run(OURS + CALL) == own
    assert not project.compiler.started()


# What changes: the program, the module it takes a number from, and the arguments of the compile.
CHANGES = {
    "number in another module": ({"factor": "3.0"}, ""),
    "body": ({"program": PROGRAM.replace("* F", "+ F")}, ""),
    "lines": ({"program": PROGRAM.replace("@ct", "# a remark\n@ct")}, ""),
    "hint": ({"program": PROGRAM.replace("@ct.kernel", "@ct.kernel(occupancy=4)")}, ""),
    "level": ({"program": PROGRAM.replace("@ct.kernel", "@ct.kernel(opt_level=1)")}, ""),
    "constant": ({}, "tile=128"),
    "architecture": ({}, "arch='sm_120'"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_what_changes_the_code_is_a_miss(project: Project, change: tuple[dict[str, str], str]) -> None:
    written, arguments = change
    project.run(OURS + CALL)
    project.write(**written)
    after = project.run(OURS + f"call({arguments})\n")
    assert project.compiler.runs() == COLD + 1
    assert after == project.run(f"call({arguments})\n")


@pytest.mark.parametrize(
    ("without", "change"), [("text", "body"), ("text,flags", "level"), ("text,flags", "architecture")]
)
def test_without_it_in_the_request_the_change_is_not_seen(project: Project, without: str, change: str) -> None:
    before = project.run(OURS + CALL, WITHOUT=without)
    written, arguments = CHANGES[change]
    project.write(**written)
    after = project.run(OURS + f"call({arguments})\n", WITHOUT=without)
    assert after["code"] == before["code"]
    assert project.compiler.runs() == COLD


@pytest.mark.parametrize(
    ("name", "without", "times"),
    [
        ("NVVM_IR_VER_CHK", "", 2),
        ("SLURM_JOB_ID", "", 1),
        ("HOME", "", 1),
        ("USER", "", 1),
        ("HOME", "strict", 2),
        ("NVVM_IR_VER_CHK", "variables", 1),
        ("SOMETHING", "strict", 2),
    ],
)
def test_variables_that_the_compiler_asks_for_count(project: Project, name: str, without: str, times: int) -> None:
    project.run(OURS + CALL, WITHOUT=without)
    project.run(OURS + CALL, WITHOUT=without, **{name: "3"})
    assert project.compiler.runs() == times * COLD


def test_compiler_that_was_replaced_compiles(project: Project) -> None:
    """cuTile's own key has the version that the compiler prints, and is the same."""
    project.run(CALL), project.run(OURS + CALL)
    assert project.compiler.runs() == 2 * COLD
    ptxas = project.compiler.toolkit / "bin" / "ptxas"
    content = ptxas.read_bytes()
    try:
        ptxas.unlink()
        ptxas.write_bytes(content + b"\0")
        ptxas.chmod(0o755)
        project.run(CALL)
        assert project.compiler.runs() == QUESTION
        project.run(OURS + CALL)
        assert project.compiler.runs() == COLD
    finally:
        ptxas.unlink()
        ptxas.write_bytes(content)
        ptxas.chmod(0o755)


@pytest.mark.control("nochecksum")
def test_code_that_is_damaged_is_compiled_again(project: Project) -> None:
    """That of the kernel, and that by which cuTile asks which bytecode its compiler reads."""
    before = project.run(OURS + CALL)
    for entry in project.entries():
        data = bytearray(entry.read_bytes())
        if (code := data.find(b"\x7fELF")) >= 0:
            data[code + 64] ^= 1
            entry.write_bytes(data)
    assert [project.run(OURS + CALL) for _ in range(2)] == [before] * 2
    assert project.compiler.runs() == 2 * COLD


def test_damaged_entries_are_compiled_again(project: Project) -> None:
    before = project.run(OURS + CALL)
    for entry in project.entries():
        data = bytearray(entry.read_bytes())
        data[len(data) // 2] ^= 1
        entry.write_bytes(data)
    assert [project.run(OURS + CALL) for _ in range(2)] == [before] * 2
    assert project.compiler.runs() == 2 * COLD


@pytest.mark.parametrize(("without", "times"), [("", 1), ("served", 3)])
def test_three_processes_at_once_compile_once(project: Project, without: str, times: int) -> None:
    """cuTile compiles in each of them, and so do we if its compiler is not run by us."""
    found = project.at_once([OURS + AT_ONCE] * 3, WITHOUT=without)
    assert len({answer["code"] for answer in found}) == 1
    assert project.compiler.runs() == times * COLD


@pytest.mark.parametrize(("without", "touched"), [("", False), ("own", True)])
def test_cutile_s_own_cache_is_left_alone(project: Project, without: str, touched: bool) -> None:
    """It is one database, which a reader deletes that finds it locked for five seconds."""
    project.run(OURS + CALL, WITHOUT=without)
    assert (project.own / "cache.db").exists() is touched


def test_what_the_compiler_makes_does_not_depend_on_the_time_of_day(project: Project) -> None:
    """tileiras asks for it. The same kernel is compiled 13 years earlier."""
    code = """
import ctypes, subprocess
source = '''
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>
int clock_gettime(clockid_t clock, struct timespec *at)
{
	int r = ((int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime"))(clock, at);
	at->tv_sec -= clock == CLOCK_REALTIME ? 400000000 : 0;
	return r;
}
'''
subprocess.run(["cc", "-shared", "-fPIC", "-w", "-x", "c", "-", "-o", "earlier.so", "-ldl"], input=source.encode(), check=True)
import program
now = made(program.k)
from cuda.tile import _compile
_compile.cache_lookup = lambda *_: None
os.environ["LD_PRELOAD"] = os.path.abspath("earlier.so")
then = made(program.k)
shown = subprocess.run(["date", "+%Y"], capture_output=True, text=True).stdout
import time
say(same=now == then, moved=int(shown) < time.gmtime().tm_year - 10)
"""
    assert project.run(code) == {"same": True, "moved": True}
    assert project.compiler.runs() == COLD + 1


REFUSED = PROGRAM.replace("ct.load(a, index=(i,), shape=(tile,)) * F", "ct.full((tile,), 1, dtype=ct.float32)")
ERROR = """
def error(arch):
    import program
    try:
        made(program.k, arch=arch)
    except Exception as e:
        return type(e).__name__ + ": " + str(e)
"""


@pytest.mark.parametrize(("without", "same"), [("", True), ("refused", False)])
def test_what_tileiras_refuses_is_cutile_s_error_and_is_not_kept(project: Project, without: str, same: bool) -> None:
    code = ERROR + "say(error=error('sm_75'), count=adapter.count())\n"
    theirs = project.run(code)["error"]
    found = project.run(OURS + code, WITHOUT=without)
    assert (found["error"] == theirs) is same
    assert theirs
    assert project.run(OURS + "say(names=[e['name'] for e in adapter.entries()])\n")["names"] != ["k"]


def test_directory_that_cannot_be_written_leaves_cutile_as_it_is(project: Project) -> None:
    (project.folder / "file").touch()
    answer = project.run(
        "say(installed=adapter.install())\n" + CALL, JITCACHE_DIR=str(project.folder / "file" / "cache")
    )
    assert answer["elf"]
    assert "cuTile's own stays as it is" in project.errors
