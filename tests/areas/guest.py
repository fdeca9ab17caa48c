"""A good guest in its host: fork, signals and exits; and the controls of these tests."""

from __future__ import annotations

import re
import struct
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from . import c, without
from .common import BUILD, Count, at_once, build_library, counted, environment, log_of, pytest, run, total
from .control import TRIES, python_red, red

FOLDER = "tests/guest"

# Source, standard, and the arguments after the folder, for the short and the long variant:
# numbers of children, rounds or seconds.
PROGRAMS = [
    ("masks.c", "gnu99", [], []),
    ("signal_storm.c", "gnu99", ["2"], ["60"]),
    ("fork_threads.c", "gnu99", ["20"], ["120"]),
    ("fork_exits.c", "gnu99", ["20"], ["200"]),
    ("fork_loads.c", "gnu99", ["20"], ["100"]),
    ("fork_cost.c", "gnu99", ["20"], ["100"]),
    ("fork_refused.c", "gnu99", [], []),
    ("fork_replaced.c", "gnu99", [], []),
    ("limits.c", "gnu99", [], []),
    ("exits.cpp", "c++11", ["20"], ["200"]),
]

# Together with those of the area c, and of fork_cost.c and fork_refused.c.
FORKS = 500


class Control(NamedTuple):
    """A mechanism that is taken out, and what must then fail."""

    name: str
    out: str = ""  # of core/control/controls.txt
    front: str = ""  # of capi/controls.h
    ranks: bool = False  # the order of locks is checked
    plain: bool = False  # the runtime is Go's own
    unloads: bool = False  # dlclose unmaps the library
    c: tuple[str, ...] = ()  # "source: test"
    python: tuple[str, ...] = ()  # pytest node ids


CONTROLS = [
    Control("host's signals at the start", front="no_signals", c=("signals.c: dispositions_are_as_they_were", "signals.c: threads_take_no_signals")),
    Control("room for handlers", front="no_enter", c=("signal_storm.c: handlers_with_large_frames_do_no_harm", "masks.c: thread_keeps_its_mask")),
    Control("stack for signals", front="no_stack", c=("signal_storm.c: handlers_with_a_stack_of_their_own_do_no_harm",)),
    Control("stack given back", front="keep_stack", c=("signal_storm.c: stacks_for_signals_go_with_their_threads",)),
    Control("changes to the runtime", plain=True, c=("masks.c: signal_that_is_waited_for_reaches_its_waiter", "signals.c: threads_take_no_signals"), python=("test_descriptors.py::test_process_that_closes_all_goes_on",)),
    Control("runtime of a child", front="no_copy", c=("fork_threads.c: children_of_threads_that_run_in_go", "fork_refused.c: child_without_memfd_and_temp_files_is_told")),
    Control("locks at fork", front="no_locks", c=("fork_threads.c: children_while_locks_of_the_front_are_taken",)),
    Control("order of locks at exit", front="old_order", c=("fork_exits.c: child_that_exits_beside_fork_ends",)),
    Control("order of locks is seen", front="old_order", ranks=True, c=("fork_exits.c: child_that_exits_has_counted",)),
    Control("own file kept open", front="no_own_file", python=("test_copies.py::test_child_runs_its_parents_version_or_none[deleted-open-from the parent True compiled\\n]",)),
    Control("own file found by its path", front="no_path", python=("test_descriptors.py::test_child_of_a_process_that_closes_all_has_a_cache",)),
    Control("own version only", front="no_version", c=("fork_replaced.c: child_of_a_library_replaced_while_it_loads_is_told",), python=("test_copies.py::test_child_runs_its_parents_version_or_none[replaced-closed-fork False compiled\\n]",)),
    Control("no handlers of fork in a copy", front="copy_watches", c=("fork_loads.c: first_call_beside_fork_ends_with_an_older_glibc",)),
    Control("leftovers are swept", front="no_sweep", python=("test_leftovers.py::test_copy_of_a_killed_process_is_swept",)),
    Control("leftovers have no owner", front="sweeps_all", python=("test_leftovers.py::test_what_is_no_leftover_of_ours_is_not_swept",)),
    Control("paths and folders are swept", out="notempsweep", python=("test_leftovers.py::test_path_of_a_killed_process_is_swept", "test_leftovers.py::test_folder_of_a_killed_process_is_swept")),
    Control("paths and folders have no owner", out="sweepliving", python=("test_leftovers.py::test_folder_of_a_living_process_stays", "test_leftovers.py::test_path_of_a_living_process_stays", "test_leftovers.py::test_path_that_is_not_certainly_a_leftover_stays")),
    Control("quick copy", front="slow_copy", c=("fork_cost.c: first_call_of_a_child_is_quick",)),
    Control("limits before a copy", front="no_limits", c=("fork_refused.c: child_without_file_size_is_told", "fork_refused.c: child_without_address_space_is_told")),
    Control("limit of file size", out="nolimit", c=("limits.c: put_beyond_the_limit_of_file_size_is_not_stored",)),
    Control("nothing freed at exit", front="tears_down", c=("exits.cpp: exit_with_threads_inside_ends_at_once", "exits.cpp: exit_handlers_use_the_cache", "exits.cpp: static_destructor_uses_the_cache", "exits.cpp: forked_child_exits")),
    Control("nothing waited for at exit", front="lingers", python=("test_exits.py::test_daemon_threads_in_the_library_do_not_keep_the_interpreter[0-return]",)),
    Control("no unloading", unloads=True, python=("test_exits.py::test_library_stays_loaded_after_dlclose",)),
    Control("short waits", out="longslice", python=("test_signals.py::test_ctrl_c_ends_a_wait",)),
]  # fmt: skip


def tests() -> Count:
    """The short variant, of at most 60 seconds."""
    return _all("guest", 2, 20)


def soak() -> Count:
    """The long variant; prints its figures."""
    count = _all("guest-soak", 3, 200)
    text = log_of("guest-soak").read_text()
    for line in re.findall(r"^figure (?!forks_).*$", text, re.MULTILINE):
        print(line)
    forks = sum(int(n) for n in re.findall(r"^figure forks_\w+ (\d+) forks$", text, re.MULTILINE))
    print(f"figure forks_in_all {forks} forks")
    return total([count, Count(1, 0, int(forks < FORKS))])


def controls() -> Count:
    """Each mechanism is taken out, and the tests of its promise must fail."""
    log_of("guest-controls").unlink(missing_ok=True)
    return at_once(_control, CONTROLS)


def ranks() -> Count:
    """The C programs, and forks from Python, in a build that aborts if the order of locks is broken."""
    area, folder = "ranks", BUILD / "ranks"
    library = build_library.build(folder, ranks=True)
    # This build has the check, and the released one has not.
    looks = [b"takes lock" in file.read_bytes() for file in (library, BUILD / "lib" / "libjitcache.so")]
    counts = [Count(1, 0, int(looks != [True, False]))]
    for source, standard in c.SOURCES:
        program = c.build(area, source, standard, library=folder, out=folder)
        counts.append(c.execute(area, program, folder) if program else Count(0, 0, 1))
    for source, standard, short, _ in PROGRAMS:
        program = c.build(area, source, standard, library=folder, out=folder)
        counts.append(counted(*_run(area, program, short)) if program else Count(0, 0, 1))
    env = environment(JITCACHE_LIBRARY=str(library), GUEST_TIMES="5")
    counts.append(pytest(area, sys.executable, FOLDER, env=env))
    counts.append(pytest(area, sys.executable, "tests/python/test_fork.py", "tests/python/test_lease.py", env=env))
    return total(counts)


def _all(area: str, arguments: int, times: int) -> Count:
    log_of(area).unlink(missing_ok=True)
    counts = []
    for row in PROGRAMS:
        program = c.build(area, row[0], row[1])
        counts.append(counted(*_run(area, program, row[arguments])) if program else Count(0, 0, 1))
    with tempfile.TemporaryDirectory() as folder:
        figures = Path(folder) / "figures"
        env = environment(GUEST_TIMES=str(times), GUEST_FIGURES=str(figures))
        counts.append(pytest(area, sys.executable, FOLDER, env=env))
        if figures.exists():
            with open(log_of(area), "a") as log:
                log.write(figures.read_text())
    return total(counts)


def _run(area: str, program: Path, arguments: list[str]) -> tuple[int, str]:
    """Run a program in a folder of its own. It has failed if it was killed or hangs."""
    with tempfile.TemporaryDirectory() as folder:
        return run(area, ["timeout", "-k", "5", "600", str(program), folder, *arguments])


def _control(control: Control) -> Count:
    area = "guest-controls"
    folder = BUILD / "controls" / control.name.replace(" ", "-").replace("'", "")
    if control.out:
        library = without.library(folder, control.out)
    elif control.front:
        library = without.front(folder, control.front, ranks=control.ranks)
    else:
        library = without.built(folder, plain=control.plain, command=False)
    if control.unloads:
        _let_unload(library)
    counts = []
    for source in dict.fromkeys(row.split(": ")[0] for row in control.c):
        names = [row.split(": ")[1] for row in control.c if row.startswith(f"{source}: ")]
        failed = _failed_in(area, source, folder, names)
        counts += [red(area, control.name, f"{source}: {name}", name in failed) for name in names]
    counts += [python_red(area, control.name, f"{FOLDER}/{node}", folder, GUEST_TIMES="3") for node in control.python]
    return total(counts)


def _let_unload(library: Path) -> None:
    """Remove the flag that keeps dlclose from unmapping a library. Go's linker always sets it."""
    section, tag, nodelete = 2, 0x6FFFFFFB, 8  # PT_DYNAMIC, DT_FLAGS_1, DF_1_NODELETE
    data = bytearray(library.read_bytes())
    (headers,) = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    for header in range(headers, headers + size * count, size):
        kind, _, offset, _, _, length = struct.unpack_from("<IIQQQQ", data, header)
        for at in range(offset, offset + length, 16) if kind == section else ():
            if struct.unpack_from("<Q", data, at)[0] == tag:
                data[at + 8] &= ~nodelete
    library.write_bytes(data)


def _failed_in(area: str, source: str, folder: Path, names: list[str]) -> set[str]:
    """Return which of a program's tests failed in one of TRIES runs; all of them, if the program was killed."""
    program = c.build(area, source, "c++11" if source.endswith("cpp") else "gnu99", library=folder, out=folder)
    failed: set[str] = set()
    if program is None:
        return failed
    # Numbers of children, rounds or seconds; then the seconds after which a child counts as hanging.
    arguments = {"signals.c": [str(folder / "libjitcache.so")], "fork_threads.c": ["100", "3"]}.get(source, ["10", "3"])
    # Whether threads are in Go when the process forks is a matter of luck: with one child in seven on
    # an idle machine, with fewer on a busy one. A test ends with the first child that hangs.
    for _ in range(TRIES):
        status, text = _run(area, program, arguments)
        if status < 0 or status > 128:
            return set(names)
        failed.update(re.findall(r"^FAILED (\w+)$", text, re.MULTILINE))
        if failed.issuperset(names):
            break
    return failed
