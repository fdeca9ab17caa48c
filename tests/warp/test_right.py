"""What is found is what would be compiled."""

from __future__ import annotations

import contextlib

import pytest
from project import CALL, OURS, PROGRAM, Project


def test_fresh_process_compiles_nothing_and_says_the_same(project: Project) -> None:
    first = project.run(OURS + CALL)
    assert project.compiled() == 1
    assert project.run(OURS + CALL) == first
    project.forget()
    assert project.run(OURS + CALL) == first
    assert project.compiled() == 0
    project.forget()
    assert project.run(CALL) == first
    assert project.compiled() == 1


def test_kernel_that_changed_is_compiled(project: Project) -> None:
    first = project.run(OURS + CALL)
    project.write("3.0")
    assert project.run(OURS + CALL) != first
    assert project.compiled() == 2
    project.write()
    project.forget()
    assert project.run(OURS + CALL) == first
    assert project.compiled() == 0


def test_option_that_changed_is_compiled_for(project: Project) -> None:
    project.run(OURS + CALL)
    project.run(OURS + "wp.config.mode = 'debug'\n" + CALL)
    assert project.compiled() == 2


def test_code_for_another_processor_is_not_used(project: Project) -> None:
    """Of one whose features are the same, too: LLVM schedules by the name."""
    for cpu, compiles in (("skylake", 1), ("znver4", 1), ("skylake", 0)):
        project.forget()
        project.run(OURS + CALL, CPU=cpu)
        assert project.compiled() == compiles


def test_code_of_another_compiler_is_not_used(project: Project) -> None:
    """Of the same version, as one has who builds Warp."""
    library = project.folder / "library.so"
    for build, compiles in (("a", 1), ("b", 1), ("a", 0)):
        library.write_text(build)
        project.forget()
        project.run(OURS + CALL, TOOLCHAIN=str(library))
        assert project.compiled() == compiles


def test_names_that_collide_are_two_modules(project: Project) -> None:
    """Warp's names have 28 bits of the hash; here all names are one, and only the rest of the hash differs."""
    collide = """
from warp._src.context import Module
Module.get_module_identifier = lambda self, block_dim=None: "wp_one_name"
"""
    first = project.run(collide + OURS + CALL)
    project.write("3.0")
    second = project.run(collide + OURS + CALL)
    assert second != first
    project.write()
    assert project.run(collide + OURS + CALL) == first
    assert project.compiled() == 2


def test_with_warp_s_own_cache_they_are_one(project: Project) -> None:
    """The other column of the table in docs/warp.md."""
    collide = 'from warp._src.context import Module\nModule.get_module_identifier = lambda self, block_dim=None: "wp_one_name"\n'
    project.run(collide + CALL)
    project.write("3.0")
    with contextlib.suppress(AssertionError):  # the kernel is not in the object
        project.run(collide + CALL)
    assert project.compiled() == 1


CONSTANT = """
import warp as wp

C = {value}

@wp.kernel
def k(a: wp.array(dtype=float)):
    i = wp.tid()
    a[i] = {use}
"""

#: Pairs of values of C that Warp's hash takes for one, and how the kernel uses it.
TWINS = {
    "of two types": ("wp.constant(1065353216)", "wp.constant(1.0)", "a[i] * float(C)"),
    "of more than 32 bits": ("wp.constant(3)", "wp.constant(2**32 + 3)", "a[i] * float(wp.int64(C))"),
    "vectors": ("wp.constant(wp.vec2i(1065353216, 0))", "wp.constant(wp.vec2f(1.0, 0.0))", "a[i] * float(C[0])"),
    "a name for another function": ("wp.sin", "wp.cos", "C(a[i])"),
    "a function that is handed to another": (
        *[f"{n}\n\n@wp.func\ndef g(x: float):\n    return x * {n}\n" for n in (2.0, 3.0)],
        "wp.tile_extract(wp.tile_map(g, wp.tile_ones(shape=2, dtype=float)), 0)",
    ),
    "two such functions": (
        *[
            "9.0\n\ndef of(c):\n    @wp.func\n    def g(x: float):\n        return x * c\n    return g\n\n"
            f"{names} = of(2.0), of(3.0)\n"
            for names in ("f, g", "g, f")
        ],
        "wp.tile_extract(wp.tile_map(f, wp.tile_map(g, wp.tile_map(f, wp.tile_ones(shape=2, dtype=float)))), 0)",
    ),
    "a default": (
        *[f"{n}\n\n@wp.func\ndef g(x: float, y: float = C):\n    return x * y\n\nC = 9.0\n" for n in (2.0, 3.0)],
        "g(a[i])",
    ),
    "two types": ("wp.types.matrix((1, 23), float)", "wp.types.matrix((12, 3), float)", "wp.ddot(C(1.0), C(2.0))"),
    "a name that is read before it is the function's own": ("2.0", "3.0", "C\n    C = a[i]"),
    "what a transformer makes of a function": (
        *[
            "9.0\n\nimport ast\nclass Replaced(ast.NodeTransformer):\n    def visit_Constant(self, node):\n"
            f"        return ast.copy_location(ast.Constant({n}), node)\n\ndef g(x: float):\n    return x * 5.0\n\n"
            'g = wp._src.context.Function(g, "g", "", module=wp.get_module(__name__), code_transformers=[Replaced()])\n'
            for n in (2.0, 3.0)
        ],
        "g(a[i])",
    ),
}


def constant(project: Project, value: str, use: str) -> None:
    (project.folder / "program.py").write_text(CONSTANT.format(value=value, use=use))
    project.forget()


@pytest.mark.parametrize("what", TWINS)
def test_constants_that_have_one_hash_are_two_modules(project: Project, what: str) -> None:
    one, other, use = TWINS[what]
    constant(project, one, use)
    first = project.run(OURS + CALL)
    constant(project, other, use)
    second = project.run(OURS + CALL)
    project.forget()
    assert second == project.run(CALL) != first
    assert project.compiled() == 3
    constant(project, one, use)
    assert project.run(OURS + CALL) == first
    assert project.compiled() == 0


def test_function_of_a_tile_is_kept(project: Project) -> None:
    """Warp changes the type of a tile while it generates code, and the key stays the same."""
    takes = "9.0\n\n@wp.func\ndef g(t: wp.tile(dtype=float, shape=(2,))):\n    return wp.tile_extract(t, 0)\n"
    for compiles in (1, 0):
        constant(project, takes, "g(wp.tile_ones(shape=(2,), dtype=float))")
        assert project.run(OURS + CALL)["result"] == [1.0, 1.0, 1.0]
        assert project.compiled() == compiles


def test_with_warp_s_own_cache_such_constants_are_one(project: Project) -> None:
    """The other column of the table in docs/warp.md."""
    one, other, use = TWINS["vectors"]
    constant(project, one, use)
    first = project.run(CALL)
    (project.folder / "program.py").write_text(CONSTANT.format(value=other, use=use))
    assert project.run(CALL) == first
    assert project.compiled() == 1


def test_constant_that_changed_since_the_hash_is_seen(project: Project) -> None:
    """Warp hashes a module once, and compiles it later."""
    changes = (
        "import program; [program.k.module.get_module_hash(size) for size in (1, 256)]; program.C = wp.constant(3.0)\n"
    )
    constant(project, "wp.constant(2.0)", "a[i] * C")
    first = project.run(OURS + CALL)
    project.forget()
    second = project.run(OURS + changes + CALL)
    assert second != first
    project.forget()
    assert project.run(OURS + CALL) == first
    assert project.compiled() == 2


def test_module_of_which_a_name_cannot_be_looked_up_is_left_to_warp(project: Project) -> None:
    """Warp may never look at it."""
    fails = "from jitcache.adapters.warp import _meanings\n_meanings._value = lambda adj, path: 1 // 0\n"
    said = project.end(project.start(OURS + fails + CALL + "say(why=adapter.uncached(), count=adapter.count())\n"))
    assert said[0] == project.run(CALL)
    assert said[1] == {"why": {"ZeroDivisionError": 1}, "count": 0}


def test_function_that_moved_is_compiled_where_its_place_shows(project: Project) -> None:
    """A failed assertion shows the line."""
    for begin, compiles in (("wp.config.mode = 'debug'\n", [1, 1, 0]), ("", [1, 0, 0])):
        for lines, expected in zip(("", "\n", "\n"), compiles):
            (project.folder / "program.py").write_text(lines + PROGRAM.format(factor="2.0"))
            project.forget()
            project.run(begin + OURS + CALL)
            assert project.compiled() == expected


def test_module_that_was_hashed_before_install_is_left_to_warp(project: Project) -> None:
    said = project.run(
        "import program; [program.k.module.get_module_hash(size) for size in (1, 256)]\n" + OURS + CALL
        + "say(why=adapter.uncached(), count=adapter.count())\n"
    )  # fmt: skip
    assert said == {"why": {"hashed before install": 1}, "count": 0}


def test_all_of_warp_that_is_imported_is_in_the_key(project: Project) -> None:
    """What generates the source has the same version after an edit."""
    said = project.run("""
from jitcache.adapters.warp import _key
known = {os.path.realpath(tool.path) for tool in _key._compilers().values()}
loaded = [m.__file__ for name, m in sorted(sys.modules.items()) if name.startswith("warp._src") and m.__file__]
mapped = {line.split()[-1] for line in open("/proc/self/maps") if "/warp/bin/" in line}
say(loaded=len(loaded), missing=[f for f in [*loaded, *mapped] if os.path.realpath(f) not in known])
""")
    assert said["loaded"] > 10
    assert said["missing"] == []


def test_warp_that_was_changed_since_the_process_started_is_not_kept(project: Project) -> None:
    """What is imported is not what is there: here all files are younger than the process."""
    began = "from jitcache import _module_files; _module_files._START = 0.0\n"
    said = project.run(began + OURS + CALL + "say(why=adapter.uncached(), count=adapter.count())\n")
    assert said == {"why": {"changed since the process started": 1}, "count": 0}


def test_header_that_changes_while_a_module_is_compiled(project: Project) -> None:
    """A process that goes on keys by the header that is there: here another toolchain at each look."""
    other = """
import itertools
from jitcache.adapters.warp import _key
numbers = itertools.count()
_key._toolchain = lambda: str(next(numbers))
"""
    said = project.run(other + OURS + CALL + "say(why=adapter.uncached(), count=adapter.count())\n")
    assert said == {"why": {"changed while it was compiled": 1}, "count": 0}


SNIPPET = """
import warp as wp

@wp.func_native(snippet=\"\"\"
{include}
return x * VALUE;
\"\"\")
def scaled(x: float) -> float: ...

@wp.kernel
def k(a: wp.array(dtype=float)):
    i = wp.tid()
    a[i] = scaled(a[i])
"""


def test_module_whose_snippet_includes_a_file_is_compiled_by_warp_and_not_kept(project: Project) -> None:
    """What is in that file nobody has hashed."""
    header = project.folder / "value.h"
    (project.folder / "program.py").write_text(SNIPPET.format(include=f'#include "{header}"'))
    results = []
    for value in ("2.0f", "5.0f"):
        header.write_text(f"#define VALUE {value}\n")
        project.forget()
        code = OURS + CALL.replace("call()", "call(); say(result=0, why=adapter.uncached(), count=adapter.count())")
        said = project.end(project.start(code))
        results.append(said[0]["result"])
        assert said[1]["count"] == 0
        assert said[1]["why"] == {"include": 1}
    assert results == [[2.0, 4.0, 6.0], [5.0, 10.0, 15.0]]
    assert project.compiled() == 2


def test_text_of_warp_s_sources_that_a_program_has_set_counts(project: Project) -> None:
    (project.folder / "program.py").write_text(SNIPPET.format(include=""))
    sets = "from warp._src import codegen\ncodegen.cpu_module_header += '\\n#define VALUE {}\\n'\n"
    for value, result in (("2.0f", [2.0, 4.0, 6.0]), ("5.0f", [5.0, 10.0, 15.0])):
        project.forget()
        assert project.run(sets.format(value) + OURS + CALL)["result"] == result
    assert project.compiled() == 2


#: Lines of a snippet that make the compiler look at a file or the clock; FILE is the file.
UNSEEN = {
    "an include": '#include "FILE"',
    "an import": '#import "FILE"',
    "an include of a name": '#define H "FILE"\n#include H',
    "an include over two lines": '#inc\\\nlude "FILE"',
    "an include over two lines, with a blank": '#inc\\ \nlude "FILE"',
    "an include with another sign": '%:include "FILE"',
    "an include behind a comment": '/* // */ # /* */ include "FILE"',
    "an include behind a number": "int v = 1'0; /* '\n*/ #include \"FILE\"",
    "an include behind a raw text": 'const char *t = R"(" /* )";\n#include "FILE"\n/* */',
    "whether a file is there": '#if __has_include("FILE")\n#endif',
    "a file as numbers": 'char t[] = {\n#embed "FILE"\n};',
    "when a file was written": '#pragma GCC dependency "FILE"',
    "a file by the assembler": 'asm(".incbin \\"FILE\\"");',
    "the date": "const char *t = __DATE__;",
    "the time, of two words": "#define JOIN(a, b) a##b\nconst char *t = JOIN(__TI, ME__);",
}
SEEN = (
    '#define TWICE(v) ((v) * 2)\n#pragma unroll 4\n// as __TIME__, and #include\nconst char *t = "#asm";\n#undef TWICE'
)


def test_what_a_snippet_looks_at_is_found_however_it_is_written(project: Project) -> None:
    """And what looks at nothing is left alone."""
    said = project.run(f"""
from jitcache.adapters.warp._unseen import unseen
def asked(lines):
    return unseen("\\n".join([wp._src.codegen.cpu_module_header, "float f() {{", lines, "return 1.0f; }}"]).encode())
say(unseen={{what: asked(text) for what, text in {UNSEEN!r}.items()}}, seen=asked({SEEN!r}))
""")
    assert [what for what, why in said["unseen"].items() if not why] == []
    assert said["seen"] == ""


@pytest.mark.parametrize("what", ["an import", "the date"])
def test_module_whose_snippet_looks_at_what_is_not_seen_is_not_kept(project: Project, what: str) -> None:
    header = project.folder / "value.h"
    header.write_text("#define UNUSED\n")
    lines = UNSEEN[what].replace("FILE", str(header)) + "\nconst float VALUE = 2.0f;"
    (project.folder / "program.py").write_text(SNIPPET.format(include=lines))
    said = project.run(OURS + CALL + "say(why=adapter.uncached(), count=adapter.count())\n")
    assert (said["count"], len(said["why"])) == (0, 1)


@pytest.mark.parametrize(
    "setting", ["wp.config.cache_kernels = False", "wp.config.verify_autograd_array_access = True"]
)
def test_settings_by_which_warp_compiles_each_time_count(project: Project, setting: str) -> None:
    for _ in range(2):
        said = project.run(OURS + setting + "\n" + CALL + "say(why=adapter.uncached(), count=adapter.count())\n")
        assert said["count"] == 0
        assert len(said["why"]) == 1
    assert project.compiled() == 2


def test_files_that_a_build_option_names_are_not_guessed_at(project: Project) -> None:
    folder = project.folder / "include"
    folder.mkdir()
    code = f"""
import program
if not hasattr(wp, "ModuleBuildOptions"):
    say(count=0, why={{"build options": 1}}); sys.exit()
wp.set_module_options({{"extra_build_options": wp.ModuleBuildOptions(extra_cpu_include_dirs=[{str(folder)!r}])}}, module=program)
{CALL}
say(count=adapter.count(), why=adapter.uncached())
"""
    said = project.run(OURS + code)
    assert said == {"count": 0, "why": {"build options": 1}}


FLAGS = {
    "": [
        "-march=native -mllvm=-inline-threshold=9000 -mllvm -slp-recursion-max-depth=4",
        "-O1 -g -DN=2 -mavx2 -fno-vectorize -fno-slp-vectorize -ffast-math -ffp-contract=off -Wno-unused",
    ],
    "build options": [
        "-include FILE", "-imacros FILE", "-IFOLDER", "-I FOLDER", "-isystem FOLDER", "-DT=__TIME__", "-fprofile-use",
        "-fplugin=FILE", "-mllvm -load=FILE", "-Xclang -load", "@FILE", "FILE",
    ],
}  # fmt: skip


def test_flags_of_the_compiler_that_name_files_are_not_guessed_at(project: Project) -> None:
    said = project.run(f"""
from jitcache.adapters.warp import _key
import program
options = program.k.module.resolve_options(wp.config)
def why(flags):
    return _key.refused(program.k.module, options | {{"cpu_compiler_flags": flags}})
adapter.install()
say(why={{flags: why(flags) for flags in {[*FLAGS[""], *FLAGS["build options"]]!r}}})
""")
    assert said["why"] == {flags: why for why, several in FLAGS.items() for flags in several}


def test_file_that_a_flag_includes_is_read_each_time(project: Project) -> None:
    header = project.folder / "value.h"
    (project.folder / "program.py").write_text(SNIPPET.format(include=""))
    results = []
    for value in ("2.0f", "5.0f"):
        header.write_text(f"#define VALUE {value}\n")
        project.forget()
        results.append(project.run(OURS + f"wp.config.cpu_compiler_flags = '-include {header}'\n" + CALL)["result"])
    assert results == [[2.0, 4.0, 6.0], [5.0, 10.0, 15.0]]


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("LIBMATHDX_NVRTC_ARGS_EXTRA", True),
        ("NO_OPT", True),
        ("OUR_OWN_SETTING", False),
        ("HOME", False),
        ("SLURM_JOB_ID", False),
    ],
)
def test_variables_that_the_library_for_cuda_names_count(project: Project, name: str, counts: bool) -> None:
    """The library has NO_OPT by ROT13, and OUR_OWN_SETTING not at all."""
    said = project.run(
        OURS
        + f"""
import program
from jitcache.adapters.warp._key import key_of
module = program.k.module
options = module.resolve_options(wp.config, block_dim=64)
module.get_module_hash(64)
keys = []
for arch in (90, None):
    for text in ("", "-maxrregcount=16"):
        os.environ[{name!r}] = text
        keys.append(key_of(module, "m", arch, options).hex)
say(cuda=keys[0] != keys[1], cpu=keys[2] != keys[3])
"""
    )
    assert (said["cuda"], said["cpu"]) == (counts, False)
