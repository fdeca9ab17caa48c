"""What the framework's own does in the same place, and ours beside it: other_jits' list of limits, and traps of its objects."""

from __future__ import annotations

import json
import time

import pytest
from project import Project

ADD = """
    import cutlass
    import cutlass.cute as cute
    a = 1
    @cute.jit
    def add(b: cutlass.Int32):
        cute.printf("%d\\n", a + b)
"""


@pytest.mark.parametrize("key", ["traced", "source"])
def test_global_variable_of_the_manual(project: Project, key: str) -> None:
    """Two values of a global are two instances, each right, in this process and in the next."""
    project.write(a=ADD)
    code = f"""
        import a
        from jitcache.adapters import cute_dsl
        for value in (1, 2, 1):
            a.a = value
            cute_dsl.compile(a.add, 2, key={key!r})(2)
        print(cute_dsl.count() if {key!r} == "traced" else cute_dsl.count() // 2)
    """
    first, second = project.check(code), project.check(code)
    # What the function prints comes when the process ends.
    assert first.out.split() == second.out.split() == ["2", "3", "4", "3"]
    assert (first.compiles, second.compiles) == (2, 0)


@pytest.mark.parametrize("key", ["traced", "source"])
@pytest.mark.parametrize(
    ("place", "name"), [("math", "math.scale"), ("builtins", "scale"), ("cutlass", "cutlass.scale")]
)
def test_value_that_somebody_puts_into_a_module_of_others_counts(
    project: Project, place: str, name: str, key: str
) -> None:
    project.write(a=ADD.replace("a = 1", "import math").replace("a + b", f"{name} + b"))
    code = f"""
        import a, {place}
        from jitcache.adapters import cute_dsl
        for {place}.scale in (1, 2, 1):
            cute_dsl.compile(a.add, 2, key={key!r})(2)
    """
    for _ in range(2):
        assert project.check(code).out.split() == ["3", "4", "3"]


def test_without_globals_the_manual_s_example_gives_the_first_answer(project: Project) -> None:
    project.write(a=ADD)
    code = """
        import a
        from jitcache.adapters import cute_dsl
        for a.a in (1, 2):
            cute_dsl.compile(a.add, 2, key="source")(2)
    """
    assert project.check(code, WITHOUT="label global,label module").out.split() == ["3", "3"]


def test_cute_compile_never_hits_by_itself(project: Project) -> None:
    """Not in one process, nor in the next: it turns both of the DSL's caches off."""
    code = "import app, cutlass.cute as cute\nfor _ in range(2):\n    fn, args, more, options = app.job(); cute.compile(fn, *args)"
    env = {"CUTE_DSL_CACHE_DIR": str(project.home / "own")}
    assert [project.check(code, **env).compiles for _ in range(2)] == [2, 2]
    ours = code.replace(
        "import app, cutlass.cute as cute", "import app; from jitcache.adapters import cute_dsl as cute"
    )
    assert [project.check(ours).compiles for _ in range(2)] == [1, 0]


def test_implicit_compile_traces_each_call(project: Project) -> None:
    """The framework's own in-memory cache needs a trace for each call; a result of ours none."""
    project.write(a=ADD)
    assert project.check("import a\nfor _ in range(3): a.add(2)").traces == 3
    code = "import a\nfrom jitcache.adapters import cute_dsl\nf = cute_dsl.compile(a.add, 2)\nfor _ in range(3): f(2)"
    assert project.check(code).traces == 1


def test_own_cache_key_of_a_fake_tensor_is_another_in_every_object(project: Project) -> None:
    """Two descriptions alike have two keys of the DSL's own, by address; one of ours."""
    code = """
        import cutlass, cutlass.cute as cute
        from cutlass.cute.runtime import make_fake_compact_tensor
        from jitcache.adapters.cute_dsl._arguments import describe_arguments
        kept = [make_fake_compact_tensor(cutlass.Float32, (cute.sym_int(),)) for _ in range(2)]
        print(len({t.__cache_key__ for t in kept}), len({describe_arguments((t,), {}) for t in kept}))
    """
    assert project.check(code).out == "2 1"


FLIPS = """
    import json, app
    from jitcache import Cache, Key, default_cache
    from jitcache.adapters import cute_dsl
    from cutlass.cute.runtime import load_module
    fn, args, more, options = app.job()
    good = cute_dsl.compile(fn, *args).object
    path = cute_dsl.entries()[0]["path"]
    loads = hits = 0
    for i in range(14):
        bad = bytearray(good)
        bad[(2 * i + 1) * len(good) // 28] ^= 1 << (i % 8)
        with open("bad.o", "wb") as f:
            f.write(bad)
        try:
            load_module("bad.o")["jitcache"]
            loads += 1
        except BaseException:
            pass
        with open(path, "rb") as f:
            entry = f.read()
        assert entry[:len(good)] == good
        with open(path, "wb") as f:
            f.write(bytes(bad) + entry[len(good):])
        with Cache(memory_size=0) as cache:
            result = cute_dsl.compile(fn, *args, cache=cache)
        hits += result.hit
        assert result.object == good
    print(json.dumps([loads, hits]))
"""


def test_flipped_bit_is_a_miss_and_repaired(project: Project) -> None:
    """The DSL loads most objects with one bit flipped; ours compiles each time, and leaves a good entry."""
    loads, hits = json.loads(project.check(FLIPS).out)
    assert loads >= 7
    assert hits == 0
    assert (
        project.check(
            "import app; from jitcache.adapters import cute_dsl; f, a, m, o = app.job(); cute_dsl.compile(f, *a)"
        ).compiles
        == 0
    )


def test_without_the_checksum_a_flipped_bit_hits(project: Project) -> None:
    """The control: the same bits under a checksum that fits, as if nobody had looked."""
    code = """
        import app
        from jitcache import Key, default_cache
        from jitcache.adapters import cute_dsl
        fn, args, more, options = app.job()
        good = cute_dsl.compile(fn, *args).object
        entry = cute_dsl.entries()[0]
        hits = 0
        for i in range(14):
            bad = bytearray(good)
            bad[(2 * i + 1) * len(good) // 28] ^= 1 << (i % 8)
            default_cache().put(Key.from_hex(entry["key"]), bytes(bad), attributes=entry["attributes"], kind="cute-dsl", replace=True)
            hits += cute_dsl.compile(fn, *args).object == bytes(bad)
        print(hits)
    """
    assert int(project.check(code).out) >= 7


@pytest.mark.parametrize("damage", ["data[:100]", "b''", "bytes(len(data))", "data + b'more'"])
def test_damaged_entry_is_a_miss(project: Project, damage: str) -> None:
    code = f"""
        import app
        from jitcache import Cache
        from jitcache.adapters import cute_dsl
        fn, args, more, options = app.job()
        good = cute_dsl.compile(fn, *args).object
        path = cute_dsl.entries()[0]["path"]
        data = open(path, "rb").read()
        open(path, "wb").write({damage})
        with Cache(memory_size=0) as cache:
            result = cute_dsl.compile(fn, *args, cache=cache)
        print(result.hit, result.object == good)
    """
    assert project.check(code).out == "False True"


def test_entry_that_is_intact_but_cannot_be_loaded_is_compiled_and_replaced(project: Project) -> None:
    code = """
        import app
        from jitcache import Key, default_cache
        from jitcache.adapters import cute_dsl
        for key in ("traced", "source"):
            fn, args, more, options = app.job()
            cute_dsl.clear()
            good = cute_dsl.compile(fn, *args, key=key).object
            for entry in cute_dsl.entries():
                default_cache().put(Key.from_hex(entry["key"]), b"no object", attributes=entry["attributes"], kind="cute-dsl", replace=True)
            result = cute_dsl.compile(fn, *args, key=key)
            again = cute_dsl.compile(fn, *args, key=key)
            print(result.hit, result.object == good, again.hit, again.object == good, cute_dsl.uncached())
    """
    out = project.check(code).out.splitlines()
    assert out[0].startswith("False True True True {'entry cannot be loaded': 1}")
    assert out[1].startswith("False True True True")


def test_text_of_options_does_not_say_the_route(project: Project) -> None:
    """The DSL's own text of the options is the same for both routes; with that for a key one would get the other's object."""
    code = """
        import app, cutlass.cute as cute
        from jitcache.adapters import cute_dsl
        texts = []
        hook = lambda owner, module, name: texts.append((owner.compile_options.to_str(), module.operation.get_asm()))
        for options in ("", "--enable-tvm-ffi"):
            fn, args, more, _ = app.job()
            cute.compile(fn, *args, options=options, trace_finalize_hooks=hook)
        print(texts[0] == texts[1])
        for key in ("traced", "source"):
            routes = []
            for options in ("", "--enable-tvm-ffi"):
                fn, args, more, _ = app.job()
                routes.append(type(cute_dsl.compile(fn, *args, options=options, key=key).function).__name__)
            print(*routes)
    """
    assert project.check(code).out.splitlines() == ["True", *["CudaDialectJitCompiledFunction Function"] * 2]


def test_bytecode_has_paths_in_it_and_the_key_has_not(project: Project) -> None:
    code = """
        import app, io
        from jitcache.adapters import cute_dsl
        def hook(owner, module, name):
            s = io.BytesIO()
            module.operation.write_bytecode(s)
            print(app.__file__.encode() in s.getvalue())
        fn, args, more, options = app.job()
        print(cute_dsl.compile(fn, *args, trace_finalize_hooks=hook).hit)
    """
    assert project.check(code).out.split() == ["True", "False"]
    project.move()
    assert project.check(code).out.split() == ["True", "True"]


@pytest.mark.parametrize("key", ["traced", "source"])
def test_no_architecture_is_not_cached(project: Project, key: str) -> None:
    """Without a device and without a word the DSL silently takes one: compiled as it does it, never kept."""
    code = f"""
        import app, cutlass.cute as cute
        from jitcache.adapters import cute_dsl
        fn, args, more, options = app.job()
        result = cute_dsl.compile(fn, *args, key={key!r})
        print([result.reason, result.hit, cute_dsl.count(), fn.__wrapped__._dsl_object.envar.arch])
    """
    for _ in range(2):
        ran = project.check(code, CUTE_DSL_ARCH="unset")
        assert ran.out == "['no architecture', False, 0, 'sm_100a']"
        assert ran.compiles == 1


def test_without_asking_for_a_device_the_architecture_is_anything(project: Project) -> None:
    """The control: what it made up is kept as if somebody had said it."""
    code = (
        "import app; from jitcache.adapters import cute_dsl; f, a, m, o = app.job(); print(cute_dsl.compile(f, *a).how)"
    )
    assert project.check(code, CUTE_DSL_ARCH="unset", WITHOUT="architecture").out == "traced"


def test_architecture_that_is_set_too_late(project: Project) -> None:
    """The DSL reads the variable once; setting it later looks right and is not."""
    code = """
        import app, os
        from jitcache.adapters import cute_dsl
        os.environ["CUTE_DSL_ARCH"] = "sm_100a"
        fn, args, more, options = app.job()
        print(cute_dsl.compile(fn, *args).reason, cute_dsl.count())
    """
    assert project.check(code).out == "architecture set too late 0"


@pytest.mark.parametrize(
    ("options", "reason"),
    [("'--keep-ptx'", "makes files"), ("'--keep-cubin --dump-dir ' + HOME", "makes files"), ("cute.FrontendNext", "other frontend"), ("'--host-target linux-aarch64'", "for another target")],
)  # fmt: skip
def test_options_that_ask_for_more_than_a_result(project: Project, options: str, reason: str) -> None:
    code = f"""
        import app, os, cutlass.cute as cute
        from cutlass.base_dsl.compiler import FrontendNext
        cute.FrontendNext = FrontendNext
        from jitcache.adapters import cute_dsl
        HOME = os.environ["HOME"]
        fn, args, more, _ = app.job()
        print(cute_dsl.compile(fn, *args, options={options}, key="source").reason, cute_dsl.count())
    """
    assert [project.check(code).out for _ in range(2)] == [f"{reason} 0"] * 2


LINKED = """
    import app, os, cutlass.cute as cute
    from jitcache.adapters import cute_dsl
    from jitcache.adapters.cute_dsl import _trace as trace
    keys, said = [], []
    key = trace.Key
    def noted(components):
        found = key(components)
        keys.append(found.hex)
        return found
    trace.Key = noted
    path = os.environ["HOME"] + "/code.bc"
    for text in ("one", "two", "one"):
        with open(path, "w") as f:
            f.write(text)
        fn, args, more, _ = app.job()
        try:
            said.append(cute_dsl.compile(fn, *args, options=cute.LinkLibraries(path), key="source").reason)
        except Exception as e:
            said.append(type(e).__name__)
    print(keys[0] == keys[2] != keys[1], len(keys), said)
    os.unlink(path)
    fn, args, more, _ = app.job()
    try:
        said.append(cute_dsl.compile(fn, *args, options=cute.LinkLibraries(path), key="source").reason)
    except Exception as e:
        said.append(type(e).__name__)
    print(len(keys), cute_dsl.count())
"""


def test_file_that_is_linked_counts_by_what_is_in_it(project: Project) -> None:
    out = project.check(LINKED).out.splitlines()
    assert out[0].startswith("True 3 ")
    assert out[1].startswith("3 ")


def test_without_its_content_a_linked_file_is_its_path(project: Project) -> None:
    assert project.check(LINKED, WITHOUT="label linked").out.startswith("False 3 ")


def test_options_of_an_earlier_compile_do_not_stay(project: Project) -> None:
    """cute.compile keeps what a compile has put in its options; each of ours begins anew."""
    code = """
        import app, cutlass.cute as cute
        from cutlass.base_dsl.compiler import OptLevel
        from jitcache.adapters import cute_dsl
        cute.compile._compile_options.options[OptLevel].value = 0
        fn, args, more, options = app.job()
        result = cute_dsl.compile(fn, *args, key="source")
        fn, args, more, options = app.job()
        print(cute_dsl.compile(fn, *args).hit, result.object == cute.compile[()](fn, *args).dump_to_object("jitcache"))
    """
    assert project.check(code).out == "True True"


def test_older_version_is_compiled_uncached(project: Project) -> None:
    code = """
        import app
        from jitcache.adapters import cute_dsl
        fn, args, more, options = app.job()
        for key in ("traced", "source"):
            print(cute_dsl.compile(fn, *args, key=key).reason, cute_dsl.count())
    """
    assert project.check(code, VERSION="4.5.2").out.splitlines() == ["too old 0"] * 2


def test_compiler_that_was_edited_in_place(project: Project) -> None:
    """The content of the DSL's files is in every key, remembered by their time stamps if those prove something."""
    code = """
        import os
        from jitcache import default_cache
        from jitcache.adapters.cute_dsl import _tools as tools
        tools.packages = lambda: (os.environ["HOME"] + "/cutlass",)
        print(tools.compiler(default_cache(), ()), default_cache().count("_cute-dsl-files"))
    """
    path = project.home / "cutlass" / "a.py"
    path.parent.mkdir()
    digests = []
    for text in ("one", "two", "one"):
        path.write_text(text)
        digest, remembered = project.check(code).out.split()
        # Where a process takes longer to come to that, the file is old enough.
        assert int(remembered) == 0 or time.time() - path.stat().st_mtime > 2
        digests.append(digest)
    assert digests[0] == digests[2] != digests[1]
    time.sleep(2.5)
    for _ in range(2):
        digest, remembered = project.check(code).out.split()
        assert digest == digests[0]
        assert int(remembered) > 0
