"""Numba's general suite with everything cached, cold and warm, against the same tests without us.

    python tests/numba/suite.py FOLDER [--small | --shard N/M | --modules NAME,NAME] [--without MECHANISM]

Each module of MODULES runs in processes of its own: "plain" without us, "cold" with
JITCACHE_NUMBA=everything and an empty cache, "warm" with the cache that "cold" left.
A test has to end alike in all three: passed, failed, raised, skipped. One that does
not is run again in all three, by itself, and counts if it differs again; what ends
differently without us too says nothing and is named; those of ARGUED may differ when
warm, each for its reason. Compiles are counted by
Numba's own events: warm processes that compile more than half of what the cold ones
do prove nothing, and have failed. Prints "N run, M failed".
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent

#: Modules of numba.tests, the shards of which take about as long.
MODULES = [
    "test_closure", "test_generators", "test_recursion", "test_dispatcher", "test_extending", "test_array_methods",
    "test_dyn_array", "test_jitclasses", "test_typedlist", "test_dictobject", "test_listobject",
    "test_ufuncs.TestUFuncs", "test_parfors_passes", "test_indexing", "test_tuples", "test_record_dtype",
    "test_try_except", "test_exceptions", "test_globals", "test_nested_calls", "test_optional",
    "test_array_manipulation", "test_array_attr", "test_array_exprs", "test_array_iterators", "test_fancy_indexing",
    "test_slices", "test_comprehension", "test_withlifting", "test_function_type", "test_ir_inlining",
    "test_literal_dispatch", "test_enums", "test_struct_ref", "test_cfunc", "test_stencils", "test_looplifting",
    "test_object_mode", "test_extending_types", "test_parfors",
    "test_flow_control", "test_builtins", "test_array_analysis", "test_ssa", "test_unpack_sequence",
    "test_iteration", "test_dataflow",
    "npyufunc.test_dufunc", "npyufunc.test_gufunc", "npyufunc.test_vectorize_decor", "npyufunc.test_ufunc",
]  # fmt: skip

#: About a hundred tests that take seconds.
SMALL = [
    "test_closure", "test_recursion", "test_globals", "test_enums", "test_nested_calls", "test_optional", "test_cfunc",
]  # fmt: skip

#: Tests that ask for which signatures a function was compiled that only another one calls. What is found again has its
#: callees in it, so that none is compiled; Numba's own cache does the same.
_CALLEES = "asks for the signatures of a function that is compiled into what is found again"
#: A test that counts what refers to an array that is a global: a compile leaves a reference, in what it knows of the
#: function. What is found again leaves none, in Numba's own cache neither.
_REFERENCES = "counts the reference that a compile leaves to a global"
ARGUED = {
    "test_dyn_array.TestDynArray.test_return_global_array": _REFERENCES,
    "test_literal_dispatch.TestLiteralDispatch.test_literal_nested": _CALLEES,
    "test_literal_dispatch.TestLiteralDispatch.test_mutual_recursion_literal": _CALLEES,
    "test_array_exprs.TestOptionals.test_optional_array_type": _CALLEES,
    "test_array_exprs.TestOptionals.test_optional_scalar_type": _CALLEES,
    "test_array_exprs.TestOptionalsExceptions.test_optional_array_type_exception_on_none": _CALLEES,
    "test_array_exprs.TestOptionalsExceptions.test_optional_scalar_type_exception_on_none": _CALLEES,
}

MODES = ("plain", "cold", "warm")


class Result(unittest.TestResult):
    """Writes how each test begins and ends, so that a crash can be told."""

    def __init__(self, out) -> None:
        super().__init__()
        self._out = out

    def note(self, test, how: str, what: object = "") -> None:
        self._out.write(json.dumps([test.id(), how, str(what)]) + "\n")
        self._out.flush()

    def startTest(self, test):  # noqa: N802
        self.note(test, "starts")

    def stopTest(self, test):  # noqa: N802
        pass

    def addSuccess(self, test):  # noqa: N802
        self.note(test, "passed")

    def addError(self, test, err):  # noqa: N802
        self.note(test, "raised", self._exc_info_to_string(err, test))

    def addFailure(self, test, err):  # noqa: N802
        self.note(test, "failed", self._exc_info_to_string(err, test))

    def addSkip(self, test, reason):  # noqa: N802
        self.note(test, "skipped", reason)

    def addExpectedFailure(self, test, err):  # noqa: N802
        self.note(test, "failed as expected")

    def addUnexpectedSuccess(self, test):  # noqa: N802
        self.note(test, "passed unexpectedly")

    def addSubTest(self, test, subtest, err):  # noqa: N802
        if err is not None:
            self.note(test, "failed in part", self._exc_info_to_string(err, test))


def tests_of(suite):
    for item in suite:
        if isinstance(item, unittest.TestSuite):
            yield from tests_of(item)
        else:
            yield item


def work(names: list[str], out: str, done: set[str]) -> None:
    """Be one process: run the tests of some names but those that are done."""
    import numba
    from numba.core import event

    assert ("jitcache.adapters.numba._hooks" in sys.modules) == bool(os.environ.get("JITCACHE_NUMBA"))
    if os.environ.get("WITHOUT"):
        os.environ |= {"CACHE": "", "PROJECT": "/nowhere"}
        import instrument  # which takes it out

        assert instrument

    # Numba's own, for while a listener of others listens, nothing is found by its source alone.
    compiles = event.RecordingListener()
    event.register("numba:compile", compiles)
    assert numba
    # Which tests there are does not depend on what passed before.
    suite = unittest.defaultTestLoader.loadTestsFromNames(names)
    with open(out, "a") as f:
        result = Result(f)
        chosen = unittest.TestSuite(t for t in tests_of(suite) if t.id() not in done)
        chosen.run(result)
        f.write(json.dumps(["compiles", sum(e.is_start for _, e in compiles.buffer), ""]) + "\n")
    if os.environ.get("JITCACHE_NUMBA"):
        from jitcache.adapters import numba as adapter

        Path(out + ".uncached").write_text(json.dumps(adapter.uncached()))


def environment(folder: Path, mode: str, without: str) -> dict[str, str]:
    env = {k: v for k, v in os.environ.items() if not k.startswith(("JITCACHE_", "NUMBA_", "XDG_"))}
    if "JITCACHE_LIBRARY" in os.environ:
        env["JITCACHE_LIBRARY"] = os.environ["JITCACHE_LIBRARY"]
    for place in ("home", "tmp"):
        (folder / place).mkdir(parents=True, exist_ok=True)
    env |= {
        "PYTHONPATH": os.pathsep.join([str(HERE / "startup"), str(HERE), str(ROOT / "python")]),
        "HOME": str(folder / "home"),
        "TMPDIR": str(folder / "tmp"),
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    if mode != "plain":
        env |= {"JITCACHE_NUMBA": "everything", "JITCACHE_DIR": str(folder / "cache"), "WITHOUT": without}
    return env


class Ran:
    """How each test ended, how many functions were compiled, and how long it took."""

    def __init__(self) -> None:
        self.ends: dict[str, str] = {}
        self.why: dict[str, str] = {}
        self.compiles = 0
        self.seconds = 0.0


def run(names: list[str], folder: Path, mode: str, without: str = "", most: float = 3600) -> Ran:
    """Run tests in one mode, in as many processes as crash and one more."""
    ran, out = Ran(), folder / f"{mode}.jsonl"
    out.unlink(missing_ok=True)
    start = time.monotonic()
    for _ in range(20):
        done = folder / "done.json"
        done.write_text(json.dumps(sorted(ran.ends)))
        command = [sys.executable, str(Path(__file__)), "--work", str(out), str(done), *names]
        left = most - (time.monotonic() - start)
        with open(folder / f"{mode}.log", "a") as log:
            try:
                subprocess.run(
                    command, env=environment(folder, mode, without), cwd=folder, stdin=subprocess.DEVNULL,
                    stdout=log, stderr=log, timeout=max(left, 1), check=False,
                )  # fmt: skip
            except subprocess.TimeoutExpired:
                print(f"{mode}: no end in {most:.0f} s")
        ended, last = False, ""
        for line in out.read_text().splitlines() if out.exists() else ():
            name, how, why = json.loads(line)
            if name == "compiles":
                ended, ran.compiles = True, ran.compiles + how
            elif how == "starts":
                last = name
                ran.ends.setdefault(name, "")
            elif ran.ends.get(name, "") in ("", how) or how != "passed":
                ran.ends[name], ran.why[name] = how, why
        if ended:
            break
        if last:
            ran.ends[last] = "crashed"
        out.write_text("")
    # A test whose subtests passed is passed.
    ran.ends = {name: how or "passed" for name, how in ran.ends.items()}
    ran.seconds = time.monotonic() - start
    return ran


def compare(module: str, names: list[str], folder: Path, without: str) -> tuple[int, list[str], tuple[int, int]]:
    """Run tests in all modes; return how many tests ran, what differs, and the compiles cold and warm."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(folder / "cache", ignore_errors=True)
    ran = {mode: run(names, folder, mode, without) for mode in MODES}
    differ = {
        name
        for name in set().union(*(r.ends for r in ran.values()))
        if len({r.ends.get(name) for r in ran.values()}) > 1
    }
    times = ", ".join(f"{mode} {r.seconds:.0f} s {r.compiles} compiles" for mode, r in ran.items())
    print(f"{module}: {len(ran['plain'].ends)} tests, {times}", flush=True)
    problems = []
    for name in sorted(differ):
        if name.removeprefix("numba.tests.") in ARGUED and ran["cold"].ends.get(name) == ran["plain"].ends.get(name):
            print(f"  {name}: argued: {ARGUED[name.removeprefix('numba.tests.')]}")
            continue
        again = folder / "again" / name.split(".", 2)[-1]
        again.mkdir(parents=True, exist_ok=True)
        # Without us twice: what wobbles by itself is no difference.
        more = [run([name], again, "plain").ends.get(name)]
        more += [run([name], again, mode, without).ends.get(name) for mode in MODES]
        ends = [ran[mode].ends.get(name) for mode in MODES]
        if len({ends[0], *more[:2]}) > 1:
            print(f"  {name}: wobbles without us: {ends[0]}, {more[:2]}")
        else:
            problems.append(f"{name}: plain, cold, warm: {ends}, by itself {more[1:]}")
        for mode in ("cold", "warm"):
            if ran[mode].ends.get(name) != ends[0]:
                print(f"  {name} {mode}: {ran[mode].ends.get(name)}: {ran[mode].why.get(name, '')[-1500:]}", flush=True)
    return len(ran["plain"].ends), problems, (ran["cold"].compiles, ran["warm"].compiles)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--shard", default="1/1")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--modules", default=",".join(MODULES))
    parser.add_argument("--without", default="")
    args = parser.parse_args()
    shard, shards = map(int, args.shard.split("/"))
    count, problems, compiles = 0, [], [0, 0]
    modules = SMALL if args.small else args.modules.split(",")
    for module in modules[shard - 1 :: shards]:
        folder = args.folder.resolve() / module
        ran, found, (cold, warm) = compare(module, [f"numba.tests.{module}"], folder, args.without)
        count, problems = count + ran, problems + found
        compiles = [compiles[0] + cold, compiles[1] + warm]
    if compiles[1] > compiles[0] / 2:
        problems.append("warm processes compile as if nothing were kept")
    print(f"{count} tests; compiles cold {compiles[0]}, warm {compiles[1]}")
    print("\n".join(problems))
    print(f"{count} run, {len(problems)} failed")
    return int(bool(problems))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        work(sys.argv[4:], sys.argv[2], set(json.loads(Path(sys.argv[3]).read_text())))
    else:
        sys.exit(main())
