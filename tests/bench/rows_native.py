"""Rows about compilers: from sources to what they compile to, warm, beside ccache."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Callable

from runs import BenchError, Calls, Contender, Series
from workplace import Workplace

C = "#include <math.h>\n#include <stdio.h>\ndouble f(double x) { return sqrt(x) + 1; }\n"
STL = "".join(f"#include <{h}>\n" for h in ("vector", "string", "map", "algorithm", "iostream")) + (
    "int f(int x) { std::vector<int> v(3, x); return v[1]; }\n"
)

#: Fresh processes of a compiler or of ccache are slow: so many of each round.
_SLOW = 7


def _cython(functions: int) -> dict[str, str]:
    """A module in the shape of a solver's: functions in a header, pointers to them handed out."""
    terms = " + ".join(f"c[{k}] * x[{k % 3}]" for k in range(40))
    names = [f"f{i}" for i in range(functions)]
    header = "".join(
        f"static void {n}(const double *x, const double *c, double *r) {{ r[0] = {terms}; }}\n" for n in names
    )
    pyx = (
        'cdef extern from "fns.h" nogil:\n' + "".join(f"    void {n}(const double *x, const double *c, double *r)\n" for n in names)
        + "def pointers():\n    return [" + ", ".join(f"<size_t>&{n}" for n in names) + "]\n"
    )  # fmt: skip
    return {"fns.h": header, "mod.pyx": pyx}


def _timed(command: list[str], env: dict[str, str]) -> Callable[[], float]:
    def run() -> float:
        start = time.perf_counter_ns()
        subprocess.run(command, env=env, check=True)
        return (time.perf_counter_ns() - start) / 1e3

    return run


def _rivals(w: Workplace, at: str, name: str, text: str, flags: list[str]) -> list[Contender]:
    """The compiler alone, and ccache's hit: a process each, as ccache is used."""
    compiler = "g++" if name.endswith(".cpp") else "gcc"
    folder = w.folder(f"native-{at}")
    (folder / name).write_text(text)
    command = [compiler, *flags, "-c", str(folder / name), "-o", str(folder / "out.o")]
    env = {**os.environ, "CCACHE_DIR": str(folder / "ccache")}
    found = [Contender("gcc", _timed(command, env))]
    ccache = shutil.which("ccache", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if ccache is None:
        w.notes["not measured"]["ccache"] = "ccache is not installed"
        return found
    hit = _timed([ccache, *command], env)
    time.sleep(0.1)  # or it finds the source too new
    for _ in range(3):
        hit()
    said = subprocess.run([ccache, "--print-stats"], env=env, capture_output=True, text=True, check=False).stdout
    if "direct_cache_hit\t2" not in said:
        raise BenchError(f"ccache does not hit: {said}")
    return [*found, Contender("ccache", hit)]


def native_hit(w: Workplace) -> Iterator[Series]:
    """A warm call, whole: texts and flags in, an entry out."""
    import jitcache
    from jitcache import native

    if shutil.which("gcc") is None or shutil.which("g++") is None:
        w.notes["not measured"]["native"] = "no gcc here"
        return
    with jitcache.Cache(w.folder("native"), memory_size=0) as cache:

        def build(sources: dict[str, str], **more: Any) -> Callable[[], Any]:
            def run() -> Any:
                return native.build(sources, flags=["-O2"], cache=cache, **more)

            return run

        for at, name, text in (("c", "f.c", C), ("stl", "f.cpp", STL)):
            hit = build({name: text}, kind="object")
            hit()
            before = cache.stats()["total"]
            calls = Calls(hit, 50)
            yield Series(at, [*_rivals(w, at, name, text, ["-O2"]), Contender("jitcache", calls)], _SLOW)
            cache.flush()
            if cache.stats()["total"]["misses"] != before["misses"]:
                raise BenchError(f"{at}: a warm build missed")
        if find_spec("Cython") is None:
            w.notes["not measured"]["cython"] = "Cython is not installed"
            return
        sources = _cython(18)
        start = time.perf_counter()
        module = build(sources, kind="extension")()
        w.notes["cython_cold_ms"] = round((time.perf_counter() - start) * 1e3)
        if len(native.load_extension(module, "mod").pointers()) != 18:
            raise BenchError("the module has other functions")
        yield Series("cython", [Contender("jitcache", Calls(build(sources, kind="extension"), 50))], _SLOW)
