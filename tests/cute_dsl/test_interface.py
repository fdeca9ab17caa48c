"""The results: alike on hit and miss, and as the framework's own; entries, counts, reasons, and what the page says."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import pytest
import samples
from project import HERE, ROOT, Project

CALLED = """
    import ctypes, dataclasses, json, cutlass, cutlass.cute as cute
    from cutlass.cute.runtime import make_ptr, nullptr
    from jitcache.adapters import cute_dsl
    import called
    buffer = (ctypes.c_float * 4)()
    place = make_ptr(cutlass.Float32, ctypes.addressof(buffer), cute.AddressSpace.generic)
    options = {options!r}
    args = (place, 1.0, 7, 2.0)
    fresh = cute.compile(called.f, *args, options=options)
    ours = cute_dsl.compile(called.f, *args, options=options, key={key!r})
    said = {{"hit": ours.hit, "how": ours.how}}
    for name, f in (("fresh", fresh), ("ours", ours)):
        rows = said[name] = []
        for call in (
            lambda: f(place, 3.0, 2.0), lambda: f(p=place, a=3.0, b=4.0), lambda: f(place, b=5.0, a=1.0), lambda: f(place, 3.0),
            lambda: f(place, 3.0, 2.0, last=9.0), lambda: f(place), lambda: f(place, 1.0, 2.0, 3.0, 4.0), lambda: f(place, 1.0, nothing=2),
        ):
            buffer[0] = 0
            try:
                call()
                rows.append(buffer[0])
            except Exception as e:
                rows.append(type(e).__name__)
    print(json.dumps(said))
"""


@pytest.mark.parametrize("options", ["", "--enable-tvm-ffi"])
@pytest.mark.parametrize("key", ["traced", "source"])
def test_calls_are_those_of_cute_compile_on_hit_and_miss(project: Project, key: str, options: str) -> None:
    """By position, by name, with defaults, and wrong ones; values that a host function computes."""
    project.write(
        called="""
        import cutlass, cutlass.cute as cute
        @cute.jit
        def f(p: cute.Pointer, a: cutlass.Float32, k: cutlass.Constexpr, b: cutlass.Float32 = 6.0, *, last: cutlass.Float32 = 0.5):
            t = cute.make_tensor(p, cute.make_layout(4))
            t[0] = a * b + k + last
        """
    )
    code = CALLED.format(options=options, key=key)
    said = [json.loads(project.check(code).out) for _ in range(2)]
    assert [s["hit"] for s in said] == [False, True]
    assert said[0]["ours"] == said[1]["ours"] == said[0]["fresh"] == said[1]["fresh"]
    assert said[0]["ours"][0] == 13.5
    assert said[0]["ours"].count(13.5) < 3


def test_without_names_the_loaded_function_of_tvm_ffi_takes_none(project: Project) -> None:
    """The control, which is the framework's own load_module: a bare positional function."""
    project.write(
        called="""
        import cutlass, cutlass.cute as cute
        @cute.jit
        def f(p: cute.Pointer, a: cutlass.Float32, k: cutlass.Constexpr, b: cutlass.Float32 = 6.0, *, last: cutlass.Float32 = 0.5):
            t = cute.make_tensor(p, cute.make_layout(4))
            t[0] = a * b + k + last
        """
    )
    said = json.loads(project.check(CALLED.format(options="--enable-tvm-ffi", key="traced"), WITHOUT="names").out)
    assert said["ours"] != said["fresh"]


def test_dataclass_with_tvm_ffi(project: Project) -> None:
    """What the TVM FFI route takes apart is the same on hit and miss."""
    project.write(
        data="""
        import dataclasses
        import cutlass, cutlass.cute as cute
        @dataclasses.dataclass
        class Both:
            a: cutlass.Float32
            b: cutlass.Float32
        @cute.jit
        def f(p: cute.Pointer, both: Both, c: cutlass.Float32 = 1.0):
            t = cute.make_tensor(p, cute.make_layout(4))
            t[0] = both.a * both.b + c
        """
    )
    code = """
        import ctypes, cutlass, cutlass.cute as cute, data
        from cutlass.cute.runtime import make_ptr
        from jitcache.adapters import cute_dsl
        buffer = (ctypes.c_float * 4)()
        place = make_ptr(cutlass.Float32, ctypes.addressof(buffer), cute.AddressSpace.generic)
        found = []
        for compile_ in (cute.compile, cute_dsl.compile):
            f = compile_(data.f, place, data.Both(1.0, 2.0), options="--enable-tvm-ffi")
            f(place, data.Both(2.0, 3.0))
            found.append(buffer[0])
            f(place, both=data.Both(2.0, 3.0), c=4.0)
            found.append(buffer[0])
        print(found, f.hit)
    """
    assert [project.check(code).out for _ in range(2)] == [f"[7.0, 10.0, 7.0, 10.0] {hit}" for hit in (False, True)]


def test_stream_of_the_environment_is_no_parameter(project: Project) -> None:
    code = """
        import app, inspect
        from cutlass.cute.runtime import make_fake_stream
        from jitcache.adapters import cute_dsl
        fn, args, more, options = app.job()
        found = []
        for stream in (make_fake_stream(use_tvm_ffi_env_stream=True), make_fake_stream()):
            result = cute_dsl.compile(fn, *args, stream=stream, options="--enable-tvm-ffi")
            found.append("stream" in inspect.signature(result._call).parameters)
        print(found, result.hit)
    """
    project.edit("app", "stream=None", "stream: cuda.bindings.driver.CUstream = None")
    project.edit("app", "import cutlass\n", "import cuda.bindings.driver\nimport cutlass\n")
    assert [project.check(code).out for _ in range(2)] == [f"[False, True] {hit}" for hit in (False, True)]


def test_attributes_of_a_result(project: Project) -> None:
    code = """
        import app
        from jitcache.adapters import cute_dsl
        fn, args, more, options = app.job()
        result = cute_dsl.compile(fn, *args)
        print(result.hit, result.how, result.reason == "", result.object[:4], result.function_name == result.function.function_name)
        for name in ("export_to_c", "ir_module", "dump_to_object", "artifacts", "nothing", "__nothing__"):
            try:
                getattr(result, name)
            except AttributeError as e:
                print(name in str(e))
        print(repr(result))
    """
    for hit in (False, True):
        first, *rows, last = project.check(code).out.splitlines()
        assert first.startswith(f"{hit} traced True b'\\x7fELF' True")
        assert rows == ["True"] * 6
        assert last == f"<jitcache cute-dsl {'hit' if hit else 'compiled'}, traced>"


def test_two_results_in_one_process_do_not_mix(project: Project) -> None:
    """All objects have the same symbols; each is loaded into a space of its own."""
    project.write(
        a="import cutlass, cutlass.cute as cute\nN = 1\n@cute.jit\ndef f(x: cutlass.Int32):\n    cute.printf('%d\\n', x + N)\n"
    )
    code = """
        import a
        from jitcache.adapters import cute_dsl
        found = []
        for a.N in range(10, 15):
            found.append(cute_dsl.compile(a.f, 1))
        for f in (*found, *reversed(found)):
            f(1)
    """
    for _ in range(2):
        assert project.check(code).out.split() == [str(n) for n in (11, 12, 13, 14, 15, 15, 14, 13, 12, 11)]


def test_entries_count_and_clear_see_only_their_own(project: Project) -> None:
    code = """
        import app, json, jitcache
        from jitcache.adapters import cute_dsl
        jitcache.default_cache().put(jitcache.Key(n=1), b"other")
        fn, args, more, options = app.job()
        cute_dsl.compile(fn, *args, key="source")
        rows = cute_dsl.entries()
        print(json.dumps([cute_dsl.count(), [r["kind"] for r in rows], [r["name"] for r in rows], [r["attributes"] for r in rows]]))
        cute_dsl.clear()
        print(cute_dsl.count(), len(jitcache.default_cache()))
    """
    first, second = project.check(code).out.splitlines()
    count, kinds, names, attributes = json.loads(first)
    names.sort()
    want = ["app.closed.<locals>.launch", "app.closed.<locals>.launch traced"]
    assert (count, kinds, names) == (2, ["cute-dsl"] * 2, want)
    assert {(a["function"], a["route"], a["architecture"], a["how"]) for a in attributes} == {
        ("app.closed.<locals>.launch", "abi", "sm_90a", how) for how in ("source", "traced")
    }  # fmt: skip
    assert second == "0 1"


def test_what_changed_is_said(project: Project) -> None:
    """By source which global; by trace only that the module did."""
    project.edit("app", "kernel(x, y, k + extra)", "kernel(x, y, k + extra + SCALE)")
    code = "import app; from jitcache.adapters import cute_dsl; f, a, m, o = app.job(); cute_dsl.compile(f, *a, key='source')"
    project.check(code)
    project.edit("app", "SCALE = 2", "SCALE = 3")
    project.check(code)
    for name, want in (("", ["changed global SCALE, global kernel"]), (" traced", ["changed module"])):
        command = [sys.executable, "-m", "jitcache", "explain", f"app.closed.<locals>.launch{name}"]
        said = subprocess.run(command, env=project.environment(), capture_output=True, text=True, check=True).stdout
        rows = [line.split(maxsplit=1)[1] for line in said.splitlines() if line.startswith("difference")]
        assert rows == want


def test_options_that_are_no_text(project: Project) -> None:
    code = """
        import app, cutlass.cute as cute
        from jitcache.adapters import cute_dsl
        found = []
        for options in (cute.OptLevel(2), (cute.OptLevel(2), cute.EnableTVMFFI), cute.EnableTVMFFI, ""):
            for key in ("source", "traced"):
                fn, args, more, _ = app.job()
                result = cute_dsl.compile(fn, *args, options=options, key=key)
                found.append((result.how, result.hit, type(result.function).__name__))
        print([f[1] for f in found])
        print(found[2][2], found[4][2], found[6][2])
    """
    out = project.check(code).out.splitlines()
    assert out == [str([False, True] * 4), "Function Function CudaDialectJitCompiledFunction"]


def test_uncached_counts_reasons(project: Project) -> None:
    code = """
        import app, logging
        logging.basicConfig(level=logging.INFO, format="%(message)s")
        from jitcache.adapters import cute_dsl
        for options in ("--keep-ptx", "--keep-ptx", ""):
            fn, args, more, _ = app.job()
            cute_dsl.compile(fn, *args, options=options, cache=False if not options else None)
        print(sorted(cute_dsl.uncached().items()))
    """
    ran = project.check(code)
    assert ran.out == "[('makes files', 2), ('no cache', 1)]"
    assert ran.err.count("cute-dsl: closed.<locals>.launch is not cached: makes files: KeepPTX") == 2


def test_arguments_of_ours(project: Project) -> None:
    code = """
        import app
        from jitcache.adapters import cute_dsl
        fn, args, more, _ = app.job()
        try:
            cute_dsl.compile(fn, *args, key="both")
        except ValueError as e:
            print(e)
        print(cute_dsl.compile(fn, *args, cache=False).reason, cute_dsl.count())
        print(cute_dsl.compile(fn, *args, export_name="mine").reason, cute_dsl.count())
    """
    assert project.check(code).out.splitlines() == [
        "key 'both': want 'traced' or 'source'",
        "no cache 0",
        "compile control 0",
    ]


def test_object_loads_as_the_manual_says(project: Project) -> None:
    """The stored bytes are the framework's own object: its load_module takes them, and the entry's file."""
    project.write(
        a="import cutlass, cutlass.cute as cute\n@cute.jit\ndef f(x: cutlass.Int32):\n    cute.printf('%d\\n', x + 1)\n"
    )
    code = """
        import a, os
        from cutlass.cute.runtime import load_module
        from jitcache.adapters import cute_dsl
        result = cute_dsl.compile(a.f, 1)
        with open("f.o", "wb") as f:
            f.write(result.object)
        load_module("f.o")["jitcache"](1)
    """
    assert project.check(code).out == "2"


def test_cute_dsl_is_imported_when_it_is_needed() -> None:
    code = "import sys, jitcache.adapters.cute_dsl; print('cutlass' in sys.modules)"
    env = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    assert subprocess.check_output([sys.executable, "-c", code], env=env, text=True) == "False\n"


def test_example_runs_and_prints_its_table(project: Project) -> None:
    command = [sys.executable, str(ROOT / "examples" / "cute_dsl" / "demo.py"), str(project.home / "demo")]
    # Settings of the user's that would spoil it are kept out.
    env = {**os.environ, "JITCACHE": "0", "CUTE_DSL_KEEP": "ptx"}
    p = subprocess.run(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    assert p.returncode == 0, p.stdout
    head, *rows = p.stdout.splitlines()
    assert [word in head for word in ("cold", "by trace", "by source", "own")] == [True] * 4
    for name, row in zip(["matmul", "axpy", "power"], rows):
        assert re.fullmatch(rf"{name} +[\d.]+ ms +[\d.]+ ms +[\d.]+ ms +none", row)


def test_lines_of_the_page(project: Project) -> None:
    """What docs/cute_dsl.md tells to write runs, and what it names is there."""
    page = (ROOT / "docs" / "cute_dsl.md").read_text()
    for sample in samples.of("docs/cute_dsl.md"):
        setting = "import app\nfunction, args, more, options = app.job()\n"
        p = subprocess.run(
            [sys.executable, "-c", setting + sample.text],
            env=project.environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        assert p.returncode == 0, p.stderr
    from jitcache.adapters import cute_dsl

    for name in re.findall(r"`(uncached|entries|count|clear|compile)\(", page):
        assert name in cute_dsl.__all__
        assert callable(getattr(cute_dsl, name))
    cells = re.findall(
        r"^\| (`[^|]+) \|", page.partition("## What is traced")[2].partition("## Results")[0], re.MULTILINE
    )
    reasons = {reason for cell in cells for reason in re.findall(r"`([^`]+)`", cell)}
    package = ROOT / "python" / "jitcache"
    shared = [package / name for name in ("_dependency_walk.py", "_remembered.py")]
    files = (*shared, *(package / "adapters" / "cute_dsl").glob("*.py"))
    sources = "".join(p.read_text() for p in files)
    raised = set(re.findall(r'Unkeyable\(\s*"([^"]+)"', sources))
    assert raised - reasons == set(), "a reason that the page does not have"
    assert {r for r in reasons if f'"{r}"' not in sources} == set(), "a reason that nothing raises"


assert HERE.name == "cute_dsl"
