"""What a compiler reads beside its source."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest
from conftest import need
from rows import case, source, void
from world import World, remake


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
def header_that_is_a_text_too(w: World, _: Any) -> Callable[[], None]:
    """To gcc files of one content and one time are one: that of texts is 1980."""
    body = "#pragma once\n#ifdef SEEN\n#define TWICE\n#endif\n#define SEEN\n"
    header = w.put("two/h.h", body)
    os.utime(header, (10**9, 10**9))
    source(
        w,
        f'#include "h.h"\n#include "{header}"\n#ifdef TWICE\nint f(void) {{ return 2; }}\n#else\nint f(void) {{ return 1; }}\n#endif\n',
    )
    w.asked["sources"]["h.h"] = body

    def change() -> None:
        if "clang" in w.compiler:
            w.put("two/h.h", "#define THRICE\n")
        else:
            os.utime(header, (315532800, 315532800))

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


@case
def name_of_the_source_by_a_flag(w: World, _: Any) -> Callable[[], None]:
    text = "const char *f(void) { return V; }\n"
    suffix = ".cpp" if w.compiler.endswith("++") else ".c"
    w.asked |= {"sources": [str(w.put(f"a/one{suffix}", text))], "flags": ["-DV=__FILE__"]}

    def change() -> None:
        w.asked["sources"] = [str(w.put(f"a/two{suffix}", text))]

    return change


@case
def header_that_nobody_names(w: World, _: Any) -> Callable[[], None]:
    if "clang" in w.compiler:
        pytest.skip("gcc only")
    (w.folder / "inc").mkdir()
    source(w, "#ifndef V\n#define V 1\n#endif\nint f(void) { return V; }\n")
    w.asked["flags"] = [f"-I{w.folder}/inc"]
    return lambda: void(w.put("inc/stdc-predef.h", "#define V 2\n"))


@case
def header_of_another_root(w: World, _: Any) -> Callable[[], None]:
    (w.folder / "root").mkdir()
    w.put("late/v.h", "#define V 1\n")
    source(w, "#include <v.h>\nint f(void) { return V; }\n")
    w.asked |= {"kind": "object", "flags": [f"--sysroot={w.folder}/root", "-idirafter", f"{w.folder}/late"]}
    return lambda: void(w.put("root/usr/include/v.h", "#define V 2\n"))


@case
def configuration_of_an_option(w: World, _: Any) -> Callable[[], None]:
    if "clang" not in w.compiler:
        pytest.skip("clang only")
    w.put("own.cfg", "-DV=1\n")
    source(w, "int f(void) { return V; }\n")
    w.asked["flags"] = ["--config", f"{w.folder}/own.cfg"]
    return lambda: void(w.put("own.cfg", "-DV=2\n"))


@case
def file_that_lays_files_over_others(w: World, _: Any) -> Callable[[], None]:
    if "clang" not in w.compiler:
        pytest.skip("clang only")
    for v in (1, 2):
        w.put(f"v{v}.h", f"#define V {v}\n")
    (w.folder / "inc").mkdir()
    source(w, "#include <v.h>\nint f(void) { return V; }\n")
    w.asked["flags"] = [f"-I{w.folder}/inc", "-ivfsoverlay", f"{w.folder}/over.yaml"]

    def over(v: int) -> None:
        file = f"{{'name': '{w.folder}/inc/v.h', 'type': 'file', 'external-contents': '{w.folder}/v{v}.h'}}"
        w.put("over.yaml", f"{{'version': 0, 'roots': [{file}]}}\n")

    over(1)
    return lambda: over(2)


@case
def module_that_was_built_before(w: World, _: Any) -> Callable[[], None]:
    if w.compiler != "clang++":
        pytest.skip("clang++ only")

    def module(v: int) -> None:
        w.put("m.cppm", f"export module m;\nexport inline int v() {{ return {v}; }}\n")
        (w.folder / "modules").mkdir(exist_ok=True)
        w.run(need("clang++"), "-std=c++20", "-fPIC", "--precompile", "m.cppm", "-o", "modules/m.pcm")

    module(1)
    source(w, "import m;\nint f() { return v(); }\n")
    w.asked["flags"] = ["-std=c++20", f"-fprebuilt-module-path={w.folder}/modules"]
    return lambda: module(2)


@case
def module_that_a_map_names(w: World, _: Any) -> Callable[[], None]:
    if w.compiler != "g++":
        pytest.skip("g++ only")

    def module(v: int) -> None:
        w.put("m.cpp", f"export module m;\nexport inline int v() {{ return {v}; }}\n")
        words = ["-std=c++20", "-fmodules-ts", "-fPIC", f"-fmodule-mapper={w.folder}/map", "-c", "m.cpp", "-o", "m.o"]
        w.run(need("g++"), *words)

    w.put("map", f"m {w.folder}/m.gcm\n")
    module(1)
    source(w, "import m;\nint f() { return v(); }\n")
    w.asked["flags"] = ["-std=c++20", "-fmodules-ts", f"-fmodule-mapper={w.folder}/map"]
    return lambda: module(2)


@case
def folder_that_debugging_information_names(w: World, patch: Any) -> Callable[[], None]:
    for name in ("one", "two"):
        w.put(f"{name}/inc/v.h", "#define V 1\n")
    patch.chdir(w.folder / "one")
    source(w, '#include "v.h"\nint f(void) { return V; }\n')
    w.asked |= {"kind": "object", "flags": ["-g", "-Iinc"]}
    return lambda: patch.chdir(w.folder / "two")


@case
def header_in_whose_place_there_is_a_folder(w: World, _: Any) -> Callable[[], None]:
    w.put("early/v.h", "#define V 1\n")
    w.put("late/v.h", "#define V 2\n")
    source(w, "#include <v.h>\nint f(void) { return V; }\n")
    w.asked["flags"] = [f"-I{w.folder}/early", f"-I{w.folder}/late"]

    def change() -> None:
        (w.folder / "early/v.h").unlink()
        (w.folder / "early/v.h").mkdir()

    return change


@case
def header_of_an_option_in_full(w: World, _: Any) -> Callable[[], None]:
    w.put("v.h", "#define V 1\n")
    source(w, "int f(void) { return V; }\n")
    w.asked["flags"] = [f"--include={w.folder}/v.h"]
    return lambda: void(w.put("v.h", "#define V 2\n"))


@case
def header_of_the_preprocessors_own_option(w: World, _: Any) -> Callable[[], None]:
    w.put("v.h", "#define V 1\n")
    source(w, "int f(void) { return V; }\n")
    w.asked["flags"] = [f"-Wp,-imacros,{w.folder}/v.h"]
    return lambda: void(w.put("v.h", "#define V 2\n"))


@case
def time_of_the_source_by_a_flag(w: World, _: Any) -> Callable[[], None]:
    suffix = ".cpp" if w.compiler.endswith("++") else ".c"
    path = w.put(f"f{suffix}", "const char *f(void) { return V; }\n")
    os.utime(path, (10**9, 10**9))
    w.asked |= {"sources": [str(path)], "flags": ["-DV=__TIMESTAMP__", "-Wno-builtin-macro-redefined"]}
    return lambda: os.utime(path, (10**9 + 99, 10**9 + 99))
