"""Numba's own caching tests, with our storage in place.

    python tests/numba/upstream.py FOLDER

Each test gets a cache of its own. Two methods of their base class look at files
in __pycache__; they are replaced by our listing, in the shape of those files.
Nothing else of the tests is changed, except that children install the adapter
(child/sitecustomize.py). Prints what did not pass, and "N run, M failed": those
of DIFFERENT have to differ, everything else has to pass.
"""

from __future__ import annotations

import os
import sys
import tempfile
import unittest
from datetime import datetime
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent

MODULES = ["numba.tests.test_caching", "numba.tests.npyufunc.test_caching", "numba.tests.test_parfors_caching"]

#: What does not pass, and why that is right.
DIFFERENT = {
    # A global is changed and the stale result expected, until recompile().
    "TestCache.test_recompile",
    # Looks for "__pycache__/guf-…" in Numba's log of files.
    "TestGUfuncCacheTest.test_filename_prefix",
    # Reads .nbi files, of which there are none.
    "TestCache.test_nbi_reproducible_after_touch",
}


def listing(cache) -> dict[str, float]:
    """The entries as the files that Numba would have made: an index for each function, a file for each entry."""
    from jitcache.adapters import numba as adapter

    found = {}
    for e in adapter.entries():
        a = e["attributes"]
        name = f"{Path(a['file']).name}.{a['function']}-{a['line']}.{a['how']}"
        created = datetime.fromisoformat(e["created"][:19]).timestamp()
        found[f"{name}.nbi"] = max(created, found.get(f"{name}.nbi", 0))
        found[f"{name}.{e['key'][:12]}.nbc"] = created
    return found


class Result(unittest.TextTestResult):
    """Gives each test a new cache, and counts the entries it leaves."""

    entries = 0

    def startTest(self, test):  # noqa: N802
        import jitcache
        from jitcache.adapters import numba as adapter

        os.environ["JITCACHE_DIR"] = tempfile.mkdtemp(prefix="root")
        self.cache = jitcache.Cache(os.environ["JITCACHE_DIR"])
        adapter.install(self.cache)
        super().startTest(test)

    def stopTest(self, test):  # noqa: N802
        super().stopTest(test)
        Result.entries += len(self.cache)


def name_of(test) -> str:
    return ".".join(test.id().split(".")[-2:])


def run() -> int:
    from numba.tests.test_caching import BaseCacheTest

    BaseCacheTest.cache_contents = lambda self: list(listing(self))
    BaseCacheTest.get_cache_mtimes = lambda self: dict(sorted(listing(self).items()))
    suite = unittest.defaultTestLoader.loadTestsFromNames(MODULES)
    result = unittest.TextTestRunner(resultclass=Result, verbosity=2).run(suite)
    bad = {name_of(t) for t, _ in result.failures + result.errors}
    files = Path(os.environ["NUMBA_FILES"])
    problems = sorted(bad - DIFFERENT)
    if result.entries == 0:
        problems.append("nothing was stored")
    if files.exists() and files.stat().st_size:
        problems.append(f"files of Numba's own: {files.read_text().splitlines()[:5]}")
    problems += [str(p) for p in Path(tempfile.gettempdir()).rglob("*.nb[ic]")][:5]
    ran = result.testsRun - len(result.skipped)
    print(
        f"{result.testsRun} tests, {len(result.skipped)} skipped, {result.entries} entries; not passed: {sorted(bad)}"
    )
    print("\n".join(problems))
    print(f"{ran} run, {len(problems)} failed")
    return int(bool(problems))


def main() -> int:
    folder = Path(sys.argv[1]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    env = {k: v for k, v in os.environ.items() if not k.startswith(("JITCACHE", "NUMBA_"))}
    env |= {
        "PYTHONPATH": os.pathsep.join([str(HERE / "child"), str(ROOT / "python")]),
        "NUMBA_FILES": str(folder / "files"),
        "TMPDIR": str(folder),
        "HOME": str(folder),
        "UPSTREAM": "1",
    }
    os.execve(sys.executable, [sys.executable, str(Path(__file__)), str(folder)], env)


if __name__ == "__main__":
    sys.exit(run() if os.environ.get("UPSTREAM") else main())
