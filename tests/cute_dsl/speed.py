"""What a program's compile takes in a fresh process, by cute.compile and found by source: the table of docs/cute_dsl.md.

    python tests/cute_dsl/speed.py [RUNS]

Importing the DSL is not counted, which both have. The least of the runs of each, which are taken in turn.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "python"), str(HERE.parent / "frameworks"), str(HERE)]

from project import Project
from test_programs import PROGRAMS, prepare

RUN = """
    import importlib, time
    import cutlass.cute as cute
    from jitcache.adapters import cute_dsl
    job = getattr(importlib.import_module({module!r}), {job!r})
    fn, args, kwargs, options = job()
    start = time.perf_counter()
    if {plain}:
        compile = cute.compile[() if isinstance(options, str) else options]
        compile(fn, *args, **(kwargs | ({{"options": options}} if isinstance(options, str) else {{}})))
    else:
        assert cute_dsl.compile(fn, *args, **kwargs, options=options, key="source").hit
    print(time.perf_counter() - start)
"""


def main(runs: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name in PROGRAMS:
            project = prepare(Project(Path(folder) / name / "project"))
            project.program(name)
            module, _, job = name.partition(".")
            took: dict[bool, list[float]] = {True: [], False: []}
            for _ in range(runs):
                for plain, times in took.items():
                    code = RUN.format(module=module, job=job or "job", plain=plain)
                    times.append(float(project.check(code, fresh="it is timed").out.splitlines()[-1]))
            plain, found = (1000 * min(times) for times in took.values())
            print(f"| {name} | {plain:.0f} ms | {found:.0f} ms | {plain / found:.0f} x |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
