"""What was made before, and is read by a compiler: profiles, plugins, precompiled headers, modules, what is embedded."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import need
from rows import case, source, void
from world import World

# ---- profiles

PROFILED = """int f(int x)
{
	if (x > 3)
		return x * 7;
	int s = 0;
	for (int i = 0; i < x; i++)
		s += i * i;
	return s;
}
"""


def profiled(w: World) -> Callable[[int], None]:
    """Ask for a compile with a profile; return how to make one of a run with a number."""
    clang, cxx = "clang" in w.compiler, w.compiler.endswith("++")
    text = w.put(f"f.{'cpp' if cxx else 'c'}", 'extern "C" ' + PROFILED if cxx else PROFILED)
    main = w.put("main.c", "#include <stdlib.h>\nint f(int); int main(int c, char **v) { return f(atoi(v[1])) < 0; }\n")
    # gcc names the file after the object, clang is told.
    names = ["-dumpdir", f"{w.folder}/", "-dumpbase", text.name, "-dumpbase-ext", text.suffix]
    use = [f"-fprofile-use={w.folder}/f.profdata"] if clang else ["-fprofile-use", *names]
    make = [f"-fprofile-instr-generate={w.folder}/f.profraw"] if clang else ["-fprofile-generate", *names]
    w.asked |= {"sources": [str(text)], "kind": "object", "flags": ["-O2", *use, "-Wno-missing-profile"]}
    w.run(need(w.compiler), "-O2", *make, "-c", text, "-o", "counting.o")
    link = ["-fprofile-instr-generate"] if clang else ["-fprofile-generate"]
    if clang and not list(Path("/usr/lib").glob("llvm-*/lib/clang/*/lib/*/libclang_rt.profile*")):
        pytest.skip("clang's runtime is not installed")
    w.run(need("clang" if clang else "gcc"), "-O2", *link, main, "counting.o", "-o", "count")

    def run(number: int) -> None:
        for old in ("f.gcda", "f.profdata"):
            (w.folder / old).unlink(missing_ok=True)
        w.run(w.folder / "count", number)
        if clang:
            w.run(need("llvm-profdata"), "merge", "f.profraw", "-o", "f.profdata")

    return run


@case
def profile_of_another_run(w: World, _: Any) -> Callable[[], None]:
    run = profiled(w)
    run(2)
    return lambda: run(1000)


@case
def profile_that_appears(w: World, _: Any) -> Callable[[], None]:
    if "clang" in w.compiler:
        pytest.skip("an error with clang")
    run = profiled(w)
    return lambda: run(1000)


@case
def profile_that_goes(w: World, _: Any) -> Callable[[], None]:
    run = profiled(w)
    run(1000)
    return lambda: void([p.unlink() for p in w.folder.glob("f.*") if p.suffix in (".gcda", ".profdata")])


# ---- plugins

PLUGIN = """#include "gcc-plugin.h"
#include "tree.h"
#include "c-family/c-common.h"
#include "c-family/c-pragma.h"
#include "cpplib.h"
#include <cstdio>
#include <cstdlib>
int plugin_is_GPL_compatible;
static void start(void *, void *) { static char text[99]; WHAT; cpp_define(parse_in, text); }
int plugin_init(struct plugin_name_args *info, struct plugin_gcc_version *)
{
	register_callback(info->base_name, PLUGIN_START_UNIT, start, nullptr);
	return 0;
}
"""


def plugin(w: World, what: str) -> None:
    """Make a plugin of gcc's that defines V, and ask for a compile with it."""
    if "clang" in w.compiler:
        pytest.skip("gcc only")
    said = subprocess.run([need("gcc"), "-print-file-name=plugin"], capture_output=True, text=True, check=True)
    headers = Path(said.stdout.strip()) / "include"
    if not (headers / "gcc-plugin.h").exists():
        pytest.skip("no headers of gcc's for plugins")
    text = w.put("plugin.cpp", PLUGIN.replace("WHAT", what))
    w.run(need("g++"), "-shared", "-fPIC", "-fno-rtti", f"-I{headers}", text, "-o", "new.so")
    (w.folder / "new.so").rename(w.folder / "plugin.so")
    source(w, "int f(void) { return V; }\n")
    w.asked["flags"] = [f"-fplugin={w.folder}/plugin.so"]


@case
def plugin_that_is_built_anew(w: World, _: Any) -> Callable[[], None]:
    plugin(w, 'sprintf(text, "V=1")')
    return lambda: plugin(w, 'sprintf(text, "V=2")')


@case
def what_a_plugin_reads(w: World, _: Any) -> Callable[[], None]:
    w.put("value", "1\n")
    plugin(
        w, f'int v; FILE *f = fopen("{w.folder}/value", "r"); if (fscanf(f, "%d", &v) == 1) sprintf(text, "V=%d", v)'
    )
    return lambda: void(w.put("value", "2\n"))


@case
def variable_that_a_plugin_obeys(w: World, patch: Any) -> Callable[[], None]:
    plugin(w, 'sprintf(text, "V=%s", getenv("SITE_OWN") ? getenv("SITE_OWN") : "1")')
    return lambda: patch.setenv("SITE_OWN", "2")


# ---- precompiled headers


@case
def precompiled_header_that_is_made_anew(w: World, _: Any) -> Callable[[], None]:
    """The header itself is never read."""
    clang, cxx = "clang" in w.compiler, w.compiler.endswith("++")

    def make(v: int) -> None:
        text = w.put("real.h", f"#define V {v}\n")
        words = ["-fPIC", "-x", "c++-header" if cxx else "c-header", text, "-o", "new"]
        w.run(need(w.compiler), *words)
        (w.folder / "new").rename(w.folder / ("p.pch" if clang else "p.h.gch"))
        if not clang:
            text.unlink()

    make(1)
    source(w, "int f(void) { return V; }\n" if clang else '#include "p.h"\nint f(void) { return V; }\n')
    w.asked["flags"] = ["-include-pch", f"{w.folder}/p.pch"] if clang else [f"-I{w.folder}", "-Winvalid-pch", "-Werror"]
    return lambda: make(2)


# ---- modules


@case
def map_of_a_module(w: World, _: Any) -> Callable[[], None]:
    if w.compiler != "clang++":
        pytest.skip("clang++ only")
    for v in (1, 2):
        w.put(f"v{v}.h", f"inline int v() {{ return {v}; }}\n")

    def module(v: int) -> None:
        w.put("module.modulemap", f'module m {{ header "v{v}.h" }}\n')
        words = ["-fmodules", "-fno-implicit-modules", "-Xclang", "-emit-module", "-fmodule-name=m", "-fPIC"]
        w.run(need("clang++"), *words, "-x", "c++", "-c", "module.modulemap", "-o", "m.pcm")

    module(1)
    source(w, "#pragma clang module import m\nint f() { return v(); }\n")
    w.asked["flags"] = ["-fmodules", "-fno-implicit-modules", f"-fmodule-map-file={w.folder}/module.modulemap"]
    w.asked["flags"].append(f"-fmodule-file=m={w.folder}/m.pcm")
    return lambda: module(2)


@case
def modules_that_a_compiler_keeps(w: World, _: Any) -> Callable[[], None]:
    if w.compiler != "clang++":
        pytest.skip("clang++ only")
    w.put("module.modulemap", 'module m { header "v.h" }\n')
    w.put("v.h", "inline int v() { return 1; }\n")
    source(w, '#include "v.h"\nint f() { return v(); }\n')
    w.asked["flags"] = ["-fmodules", f"-fmodules-cache-path={w.folder}/modules", f"-I{w.folder}"]
    return lambda: void(w.put("v.h", "inline int v() { return 2; }\n"))


# ---- lists of sanitizers


@case
def list_that_a_sanitizer_looks_for_by_itself(w: World, _: Any) -> Callable[[], None]:
    if "clang" not in w.compiler:
        pytest.skip("clang only")
    said = subprocess.run([need("clang"), "-print-resource-dir"], capture_output=True, text=True, check=True)
    (w.folder / "share").mkdir()
    (w.folder / "include").symlink_to(f"{said.stdout.strip()}/include")
    source(w, "int f(int *p) { return *p; }\n")
    w.asked |= {"kind": "object", "flags": ["-fsanitize=address", "-resource-dir", str(w.folder)]}
    return lambda: void(w.put("share/asan_ignorelist.txt", "fun:*\n"))


@case
def list_of_what_is_counted(w: World, _: Any) -> Callable[[], None]:
    if "clang" not in w.compiler:
        pytest.skip("clang only")
    w.put("list", "src:*\nfun:*\n")
    source(w, "int f(int *p) { return *p; }\n")
    flags = ["-fsanitize-coverage=trace-pc-guard", f"-fsanitize-coverage-allowlist={w.folder}/list"]
    w.asked |= {"kind": "object", "flags": flags}
    return lambda: void(w.put("list", "src:nothing\n"))


# ---- what is embedded


def embedding(w: World) -> None:
    if w.compiler != "clang":
        pytest.skip("clang only")
    w.asked["compiler"] = need("clang-19")


@case
def embedded_file(w: World, _: Any) -> Callable[[], None]:
    embedding(w)
    w.put("blob", "1")
    source(w, f'const char f[] = {{\n#embed "{w.folder}/blob"\n}};\n')
    return lambda: void(w.put("blob", "2"))


@case
def file_that_may_be_embedded(w: World, _: Any) -> Callable[[], None]:
    embedding(w)
    (w.folder / "data").mkdir()
    source(w, "#if __has_embed(<blob>)\nint f(void) { return 2; }\n#else\nint f(void) { return 1; }\n#endif\n")
    w.asked["flags"] = [f"--embed-dir={w.folder}/data"]
    return lambda: void(w.put("data/blob", "x"))


@case
def embedded_file_that_appears_earlier(w: World, _: Any) -> Callable[[], None]:
    embedding(w)
    (w.folder / "early").mkdir()
    w.put("late/blob", "1")
    source(w, "const char f[] = {\n#embed <blob>\n};\n")
    w.asked["flags"] = [f"--embed-dir={w.folder}/early", f"--embed-dir={w.folder}/late"]
    return lambda: void(w.put("early/blob", "2"))
