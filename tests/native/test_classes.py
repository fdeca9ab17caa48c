"""What a model of compilers had missed: each is changed, beside a build without the cache."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import need, rest
from world import VALUE, World, remake

COMPILERS = ["gcc", "g++", pytest.param("clang", marks=rest), pytest.param("clang++", marks=rest)]

Case = Callable[[World, Any], Callable[[], None]]
CASES: dict[str, Case] = {}


def case(f: Case) -> Case:
    """Take a function that makes a world, and returns what changes it."""
    CASES[f.__name__.replace("_", " ")] = f
    return f


def source(w: World, text: str = VALUE) -> None:
    """The text, in the compiler's language."""
    cxx = w.compiler.endswith("++")
    name = "f.cpp" if cxx else "f.c"
    w.asked["sources"] = {name: text.replace("int value(void);", 'extern "C" int value(void);') if cxx else text}


# ---- libraries


@case
def static_library_named_by_its_path(w: World, _: Any) -> Callable[[], None]:
    library = w.archive("lib/libv.a", 1)
    source(w)
    w.asked["flags"] = [str(library)]
    return lambda: void(w.archive("lib/libv.a", 2))


@case
def library_through_a_variable(w: World, patch: Any) -> Callable[[], None]:
    w.archive("lib/libv.a", 1)
    patch.setenv("LIBRARY_PATH", str(w.folder / "lib"))
    source(w)
    w.asked["libraries"] = ["v"]
    return lambda: void(w.archive("lib/libv.a", 2))


@case
def library_that_appears_earlier(w: World, _: Any) -> Callable[[], None]:
    w.archive("late/libv.a", 1)
    (w.folder / "early").mkdir()
    source(w)
    w.asked |= {"libraries": ["v"], "flags": [f"-L{w.folder}/early", f"-L{w.folder}/late"]}
    return lambda: void(w.archive("early/libv.a", 2))


@case
def shared_library_that_appears_beside_the_static_one(w: World, _: Any) -> Callable[[], None]:
    w.archive("lib/libv.a", 1)
    source(w)
    w.asked |= {"libraries": ["v"], "flags": [f"-L{w.folder}/lib"]}
    return lambda: void(w.shared("lib/libv.so", 2))


@case
def static_library_that_appears_for_static_linking(w: World, _: Any) -> Callable[[], None]:
    w.archive("late/libv.a", 1)
    w.shared("early/libv.so", 3)
    source(w)
    w.asked |= {"libraries": ["v"], "flags": [f"-L{w.folder}/early", f"-L{w.folder}/late", "-Wl,-Bstatic"]}
    w.asked["flags"].append("-nodefaultlibs")
    return lambda: void(w.archive("early/libv.a", 2))


@case
def folder_of_libraries_that_appears(w: World, _: Any) -> Callable[[], None]:
    w.archive("late/libv.a", 1)
    source(w)
    w.asked |= {"libraries": ["v"], "flags": [f"-L{w.folder}/early", f"-L{w.folder}/late"]}
    return lambda: void(w.archive("early/libv.a", 2))


@case
def linker_script_in_place_of_a_library(w: World, _: Any) -> Callable[[], None]:
    w.object("lib/one.o", 1)
    w.object("lib/two.o", 2)
    w.put("lib/libv.so", f"INPUT({w.folder}/lib/one.o)\n")
    source(w)
    w.asked |= {"libraries": ["v"], "flags": [f"-L{w.folder}/lib"]}
    return lambda: void(w.put("lib/libv.so", f"INPUT({w.folder}/lib/two.o)\n"))


@case
def what_a_linker_script_names(w: World, _: Any) -> Callable[[], None]:
    w.archive("elsewhere/real.a", 1)
    w.put("lib/libv.so", f"INPUT({w.folder}/elsewhere/real.a)\n")
    source(w)
    w.asked |= {"libraries": ["v"], "flags": [f"-L{w.folder}/lib"]}
    return lambda: void(w.archive("elsewhere/real.a", 2))


@case
def member_of_a_thin_archive(w: World, _: Any) -> Callable[[], None]:
    w.archive("lib/libv.a", 1, thin=True)
    source(w)
    w.asked |= {"libraries": ["v"], "flags": [f"-L{w.folder}/lib"]}
    return lambda: void(w.object("lib/libv.a.value.o", 2))


@case
def link_to_a_library_that_is_retargeted(w: World, _: Any) -> Callable[[], None]:
    w.archive("lib/one.a", 1)
    w.archive("lib/two.a", 2)
    remake(w.folder / "lib/libv.a", "one.a")
    source(w)
    w.asked |= {"libraries": ["v"], "flags": [f"-L{w.folder}/lib"]}
    return lambda: remake(w.folder / "lib/libv.a", "two.a")


@case
def target_of_a_link_that_led_nowhere(w: World, _: Any) -> Callable[[], None]:
    (w.folder / "early").mkdir()
    remake(w.folder / "early/libv.a", "../far/libv.a")
    w.archive("late/libv.a", 1)
    source(w)
    w.asked |= {"libraries": ["v"], "flags": [f"-L{w.folder}/early", f"-L{w.folder}/late"]}
    return lambda: void(w.archive("far/libv.a", 2))


@case
def linker_option_with_a_file(w: World, _: Any) -> Callable[[], None]:
    w.put("v.map", "{ global: f; local: *; };\n")
    source(w, exported("f", "g"))
    w.asked["flags"] = [f"-Wl,--version-script,{w.folder}/v.map"]
    return lambda: void(w.put("v.map", "{ global: f; g; local: *; };\n"))


@case
def linker_option_joined_to_its_file(w: World, _: Any) -> Callable[[], None]:
    w.put("v.map", "{ global: f; local: *; };\n")
    source(w, exported("f", "g"))
    w.asked["flags"] = [f"-Wl,--version-script={w.folder}/v.map,-z,now"]
    return lambda: void(w.put("v.map", "{ global: g; local: *; };\n"))


@case
def linker_option_that_is_relative(w: World, patch: Any) -> Callable[[], None]:
    w.put("cwd/v.map", "{ global: f; local: *; };\n")
    patch.chdir(w.folder / "cwd")
    source(w, exported("f", "g"))
    w.asked["flags"] = ["-Wl,--version-script,v.map,-z,now"]
    return lambda: void(w.put("cwd/v.map", "{ global: g; local: *; };\n"))


def exported(*names: str) -> str:
    """Functions, with their names for the linker."""
    return "".join(
        f'#ifdef __cplusplus\nextern "C"\n#endif\nint {n}(void) {{ return {i}; }}\n' for i, n in enumerate(names)
    )


@case
def object_that_an_implicit_script_names(w: World, _: Any) -> Callable[[], None]:
    w.object("one.o", 1)
    w.put("t.ld", f"INPUT({w.folder}/one.o)\n")
    source(w)
    w.asked["flags"] = [f"{w.folder}/t.ld"]
    return lambda: void(w.object("one.o", 2))


# ---- tools


def tool(w: World, name: str, before: str = "") -> Callable[[], None]:
    """A tool in a folder that is searched first, which is there later."""
    (w.folder / "bin").mkdir(exist_ok=True)
    real = need(name)
    return lambda: void(w.script(f"bin/{name}", f'{before}\nexec {real} "$@"'))


@case
def assembler_that_appears_in_path(w: World, patch: Any) -> Callable[[], None]:
    patch.setenv("PATH", f"{w.folder}/bin{os.pathsep}{os.environ['PATH']}")
    if "clang" in w.compiler:
        pytest.skip("clang takes the one beside it")
    source(w, "int f(void) { return 1; }\n")
    w.asked["kind"] = "object"
    add = w.put("add.s", '.section .note.x,"",@progbits\n.byte 1\n')
    appears = tool(w, "as")
    real = need("as")

    def change() -> None:
        appears()
        w.script("bin/as", f'for a; do case $a in *.s) cat {add} >> "$a";; esac; done\nexec {real} "$@"')

    return change


@case
def assembler_that_appears_in_a_folder_of_tools(w: World, _: Any) -> Callable[[], None]:
    source(w, "int f(void) { return 1; }\n")
    (w.folder / "bin").mkdir()
    w.asked |= {
        "kind": "object",
        "flags": [f"-B{w.folder}/bin", *(["-fno-integrated-as"] if "clang" in w.compiler else [])],
    }
    real = need("as")
    return lambda: void(w.script("bin/as", f'exec {real} --defsym X=7 "$@"'))


@case
def linker_that_appears_in_a_folder_of_tools(w: World, _: Any) -> Callable[[], None]:
    source(w, "int f(void) { return 1; }\n")
    (w.folder / "bin").mkdir()
    w.asked["flags"] = [f"-B{w.folder}/bin"]
    real = need("ld")
    return lambda: void(w.script("bin/ld", f'exec {real} --defsym X=7 "$@"'))


@case
def compiler_that_appears_in_path(w: World, patch: Any) -> Callable[[], None]:
    patch.setenv("PATH", f"{w.folder}/bin{os.pathsep}{os.environ['PATH']}")
    source(w, "#ifndef V\n#define V 1\n#endif\nint f(void) { return V; }\n")
    (w.folder / "bin").mkdir()
    real = need(w.compiler)
    return lambda: void(w.script(f"bin/{w.compiler}", f'exec {real} -DV=2 "$@"'))


@case
def compiler_proper_that_appears_in_a_folder_of_tools(w: World, _: Any) -> Callable[[], None]:
    if "clang" in w.compiler:
        pytest.skip("clang is its own")
    source(w, "#ifndef V\n#define V 1\n#endif\nint f(void) { return V; }\n")
    (w.folder / "bin").mkdir()
    name = "cc1plus" if w.compiler.endswith("++") else "cc1"
    real = subprocess.run(
        [need("gcc"), f"-print-prog-name={name}"], capture_output=True, text=True, check=True
    ).stdout.strip()
    w.asked["flags"] = [f"-B{w.folder}/bin/"]
    return lambda: void(w.script(f"bin/{name}", f'exec {real} "$@" -DV=2'))


def wrapped(w: World, text: str) -> None:
    w.asked["compiler"] = str(w.script("wrapper", text))


@case
def wrapper_script(w: World, _: Any) -> Callable[[], None]:
    source(w, "int f(void) { return V; }\n")
    real = need(w.compiler)
    wrapped(w, f'exec {real} -DV=1 "$@"')
    return lambda: void(w.script("wrapper", f'exec {real} -DV=2 "$@"'))


@case
def variable_of_a_wrapper(w: World, patch: Any) -> Callable[[], None]:
    source(w, "int f(void) { return V; }\n")
    wrapped(w, f'exec {need(w.compiler)} -DV=${{SITE_WIDE:-1}} "$@"')
    return lambda: patch.setenv("SITE_WIDE", "2")


@case
def what_a_wrapper_calls(w: World, _: Any) -> Callable[[], None]:
    source(w, "int f(void) { return V; }\n")
    w.script("flags", "echo -DV=1")
    wrapped(w, f'exec {need(w.compiler)} $({w.folder}/flags) "$@"')
    return lambda: void(w.script("flags", "echo -DV=2"))


@case
def what_a_wrapper_reads(w: World, _: Any) -> Callable[[], None]:
    source(w, "int f(void) { return V; }\n")
    w.put("version", "1\n")
    wrapped(w, f'read v < {w.folder}/version\nexec {need(w.compiler)} -DV=$v "$@"')
    return lambda: void(w.put("version", "2\n"))


@case
def what_a_wrapper_looks_for(w: World, _: Any) -> Callable[[], None]:
    source(w, "int f(void) { return V; }\n")
    wrapped(w, f'v=1; [ -e {w.folder}/mark ] && v=2\nexec {need(w.compiler)} -DV=$v "$@"')
    return lambda: void(w.put("mark", ""))


@case
def what_a_wrapper_lists(w: World, _: Any) -> Callable[[], None]:
    source(w, "int f(void) { return V; }\n")
    w.put("many/1", "")
    wrapped(w, f'set -- "$#" "$@"; n=$1; shift\nv=$(ls {w.folder}/many | wc -l)\nexec {need(w.compiler)} -DV=$v "$@"')
    return lambda: void(w.put("many/2", ""))


@case
def time_that_a_wrapper_compares(w: World, _: Any) -> Callable[[], None]:
    source(w, "int f(void) { return V; }\n")
    w.put("old", "")
    w.put("new", "")
    os.utime(w.folder / "old", (10**9, 10**9))
    os.utime(w.folder / "new", (10**9 + 9, 10**9 + 9))
    wrapped(w, f'v=1; [ {w.folder}/old -nt {w.folder}/new ] && v=2\nexec {need(w.compiler)} -DV=$v "$@"')
    return lambda: os.utime(w.folder / "old", (10**9 + 99, 10**9 + 99))


@case
def mode_that_a_wrapper_looks_at(w: World, _: Any) -> Callable[[], None]:
    source(w, "int f(void) { return V; }\n")
    w.put("tool", "")
    wrapped(w, f'v=1; [ -x {w.folder}/tool ] && v=2\nexec {need(w.compiler)} -DV=$v "$@"')
    return lambda: (w.folder / "tool").chmod(0o755)


@case
def text_of_a_link_that_a_wrapper_reads(w: World, _: Any) -> Callable[[], None]:
    source(w, "int f(void) { return V; }\n")
    for name in ("1", "2"):
        w.put(name, "")
    remake(w.folder / "current", "1")
    wrapped(w, f'exec {need(w.compiler)} -DV=$(readlink {w.folder}/current) "$@"')
    return lambda: remake(w.folder / "current", "2")


@case
def lock_that_a_wrapper_finds(w: World, _: Any) -> Callable[[], None]:
    source(w, "int f(void) { return V; }\n")
    lock = w.folder / "lock"
    wrapped(
        w,
        f'v=1; [ -e {lock} ] && v=2 || : > {lock}\n{need(w.compiler)} -DV=$v "$@"; s=$?\n[ $v = 1 ] && rm {lock}\nexit $s',
    )
    return lambda: void(w.put("lock", ""))


@case
def folder_that_a_wrapper_links_to(w: World, _: Any) -> Callable[[], None]:
    source(w, '#include "v.h"\nint f(void) { return V; }\n')
    w.put("real/v.h", "#define V 1\n")
    wrapped(w, f'ln -s {w.folder}/real $TMPDIR/inc\nexec {need(w.compiler)} -I$TMPDIR/inc "$@"')
    return lambda: void(w.put("real/v.h", "#define V 2\n"))


@case
def tool_of_a_wrapper_that_is_a_program(w: World, _: Any) -> Callable[[], None]:
    source(w, "int f(void) { return V; }\n")

    def make(v: int) -> None:
        text = w.put("say.c", f'#include <stdio.h>\nint main(void) {{ return !printf("-DV={v}\\n"); }}\n')
        w.run(need("gcc"), text, "-o", w.folder / "new")
        (w.folder / "new").rename(w.folder / "say")

    make(1)
    wrapped(w, f'exec {need(w.compiler)} $({w.folder}/say) "$@"')
    return lambda: make(2)


# ---- headers


@case
def response_file(w: World, _: Any) -> Callable[[], None]:
    source(w, "int f(void) { return V; }\n")
    w.put("flags", "-DV=1\n")
    w.asked["flags"] = [f"@{w.folder}/flags"]
    return lambda: void(w.put("flags", "-DV=2\n"))


@case
def response_file_of_a_response_file(w: World, _: Any) -> Callable[[], None]:
    source(w, "int f(void) { return V; }\n")
    w.put("inner", "-DV=1\n")
    w.put("flags", f"@{w.folder}/inner\n")
    w.asked["flags"] = [f"@{w.folder}/flags"]
    return lambda: void(w.put("inner", "-DV=2\n"))


@case
def specs_of_a_flag(w: World, _: Any) -> Callable[[], None]:
    if "clang" in w.compiler:
        pytest.skip("gcc only")
    source(w, "int f(void) { return V; }\n")
    text = "*cpp_options:\n+ -DV={0}\n\n*cc1_options:\n+ -DV={0}\n\n"
    w.put("my.specs", text.format(1))
    w.asked["flags"] = [f"-specs={w.folder}/my.specs"]
    return lambda: void(w.put("my.specs", text.format(2)))


@case
def file_of_incbin(w: World, _: Any) -> Callable[[], None]:
    w.put("blob", "one")
    source(w, f'__asm__(".section x\\n.incbin \\"{w.folder}/blob\\"\\n.text");\nint f(void) {{ return 1; }}\n')
    w.asked["kind"] = "object"
    return lambda: void(w.put("blob", "two"))


@case
def file_of_the_assemblers_include(w: World, _: Any) -> Callable[[], None]:
    w.put("more.s", ".byte 1\n")
    source(w, f'__asm__(".section x\\n.include \\"{w.folder}/more.s\\"\\n.text");\nint f(void) {{ return 1; }}\n')
    w.asked["kind"] = "object"
    return lambda: void(w.put("more.s", ".byte 2\n"))


@case
def imacros(w: World, _: Any) -> Callable[[], None]:
    w.put("m.h", "#define V 1\n")
    source(w, "int f(void) { return V; }\n")
    w.asked["flags"] = ["-imacros", f"{w.folder}/m.h"]
    return lambda: void(w.put("m.h", "#define V 2\n"))


@case
def header_named_twice_that_becomes_another(w: World, _: Any) -> Callable[[], None]:
    """Two names of one header: #pragma once leaves the second out as long as they are one file."""
    body = "#pragma once\n#ifdef SEEN\n#define TWICE\n#endif\n#define SEEN\n"
    w.put("one/h.h", body)
    (w.folder / "two").mkdir()
    os.link(w.folder / "one/h.h", w.folder / "two/h.h")
    source(
        w,
        f'#include "{w.folder}/one/h.h"\n#include "{w.folder}/two/h.h"\n#ifdef TWICE\nint f(void) {{ return 2; }}\n#else\nint f(void) {{ return 1; }}\n#endif\n',
    )
    os.utime(w.folder / "one/h.h", (10**9, 10**9))

    def change() -> None:
        (w.folder / "two/h.h").unlink()
        w.put("two/h.h", body)
        if "clang" in w.compiler:
            os.utime(w.folder / "two/h.h", (10**9, 10**9))

    return change


@case
def date_by_a_flag(w: World, _: Any) -> Callable[[], None]:
    source(w, "const char *f(void) { return V; }\n")
    w.asked["flags"] = ["-DV=__TIME__", "-Wno-builtin-macro-redefined"]
    return lambda: None


@case
def source_that_shows_its_name_in_a_constant(w: World, _: Any) -> Callable[[], None]:
    text = "int f(void) { return sizeof(__FILE__) > 0 ? __FILE__[sizeof __FILE__ - 6] : 0; }\n"
    suffix = ".cpp" if w.compiler.endswith("++") else ".c"
    w.asked["sources"] = [str(w.put(f"a/one{suffix}", text))]

    def change() -> None:
        w.asked["sources"] = [str(w.put(f"a/two{suffix}", text))]

    return change


@case
def file_that_a_sanitizer_obeys(w: World, _: Any) -> Callable[[], None]:
    if "clang" not in w.compiler:
        pytest.skip("clang only")
    w.put("ignore", "fun:g\n")
    source(w, "int f(int *p) { return *p; }\n")
    w.asked |= {"kind": "object", "flags": ["-fsanitize=address", f"-fsanitize-ignorelist={w.folder}/ignore"]}
    return lambda: void(w.put("ignore", "fun:*\n"))


@case
def preloaded_library(w: World, patch: Any) -> Callable[[], None]:
    """One that obeys a variable of its own is loaded into a known compiler."""
    text = w.put(
        "pre.c",
        "#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <stdlib.h>\n#include <string.h>\n"
        'char *getenv(const char *n) { static char *(*real)(const char *); if (!real) *(void **)&real = dlsym(RTLD_NEXT, "getenv");\n'
        'return strcmp(n, "CPATH") ? real(n) : real("SITE_OWN"); }\n',
    )
    w.run(need("gcc"), "-shared", "-fPIC", text, "-o", w.folder / "pre.so")
    for v in (1, 2):
        w.put(f"inc{v}/v.h", f"#define V {v}\n")
    patch.setenv("LD_PRELOAD", str(w.folder / "pre.so"))
    patch.setenv("SITE_OWN", str(w.folder / "inc1"))
    source(w, "#include <v.h>\nint f(void) { return V; }\n")
    return lambda: patch.setenv("SITE_OWN", str(w.folder / "inc2"))


@case
def header_above_the_private_folder(w: World, patch: Any) -> Callable[[], None]:
    w.put("tmp/v.h", "#define V 1\n")
    patch.setenv("TMPDIR", str(w.folder / "tmp"))
    patch.setattr("tempfile.tempdir", str(w.folder / "tmp"))
    source(w, '#include "../v.h"\nint f(void) { return V; }\n')
    return lambda: void(w.put("tmp/v.h", "#define V 2\n"))


@case
def folder_of_headers_that_appears(w: World, _: Any) -> Callable[[], None]:
    w.put("late/v.h", "#define V 1\n")
    source(w, "#include <v.h>\nint f(void) { return V; }\n")
    w.asked["flags"] = [f"-I{w.folder}/early/deep", f"-I{w.folder}/late"]
    return lambda: void(w.put("early/deep/v.h", "#define V 2\n"))


@case
def folder_behind_a_link_that_led_nowhere(w: World, _: Any) -> Callable[[], None]:
    w.put("late/v.h", "#define V 1\n")
    remake(w.folder / "early", "far/deep")
    source(w, "#include <v.h>\nint f(void) { return V; }\n")
    w.asked["flags"] = [f"-I{w.folder}/early", f"-I{w.folder}/late"]
    return lambda: void(w.put("far/deep/v.h", "#define V 2\n"))


@case
def relative_folder_that_appears(w: World, patch: Any) -> Callable[[], None]:
    w.put("cwd/x", "")
    w.put("late/v.h", "#define V 1\n")
    patch.chdir(w.folder / "cwd")
    source(w, "#include <v.h>\nint f(void) { return V; }\n")
    w.asked["flags"] = ["-Iearly", f"-I{w.folder}/late"]
    return lambda: void(w.put("cwd/early/v.h", "#define V 2\n"))


@case
def folder_that_a_variable_leaves_empty(w: World, patch: Any) -> Callable[[], None]:
    w.put("cwd/v.h", "#define V 1\n")
    patch.chdir(w.folder / "cwd")
    patch.setenv("CPATH", f"/nowhere{os.pathsep}")
    source(w, "#include <v.h>\nint f(void) { return V; }\n")
    return lambda: void(w.put("cwd/v.h", "#define V 2\n"))


def void(_: object) -> None:
    """Drop a value."""


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("name", CASES)
def test_change_is_noticed(
    tmp_path: Path, cache: Any, monkeypatch: pytest.MonkeyPatch, name: str, compiler: str
) -> None:
    """After the change the result is what a fresh build's is; it was kept before and after, or refused by name."""
    need(compiler)
    w = World(tmp_path / "world", compiler)
    change = CASES[name](w, monkeypatch)
    before = w.fresh()
    assert before is not None
    first, hit, refused = w.cached(cache)
    assert not hit
    if name in REFUSED and not ("preload" in name and "clang" in compiler):
        assert REFUSED[name] in refused
        assert not w.cached(cache)[1]
        return
    assert (first, refused) == (before, "")
    assert w.cached(cache) == (before, True, "")
    change()
    after = w.fresh()
    assert after != before, "the row changes nothing, and proves nothing"
    got, hit, _ = w.cached(cache)
    assert (got, hit) == (after, False)
    if after is not None:
        assert w.cached(cache)[:2] == (after, True)


#: What is made and not kept, by what is said.
REFUSED = {"date by a flag": "time of day", "preloaded library": "time of day"}
