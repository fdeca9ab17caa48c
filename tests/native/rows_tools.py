"""Compilers, assemblers, linkers, and what stands before them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from typing import Any

import pytest
from conftest import need
from rows import case, source, void
from world import World, remake


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


def by_mode(w: World, condition: str) -> Callable[[], None]:
    """A wrapper that goes by the mode of a file, as a condition of the shell has it."""
    source(w, "int f(void) { return V; }\n")
    w.put("tool", "")
    wrapped(w, f'v=1; {condition} && v=2\nexec {need(w.compiler)} -DV=$v "$@"')
    return lambda: (w.folder / "tool").chmod(0o755)


@case
def mode_that_a_wrapper_looks_at(w: World, _: Any) -> Callable[[], None]:
    return by_mode(w, f'[ "$(stat -c %a {w.folder}/tool)" = 755 ]')


@case
def what_a_wrapper_may_run(w: World, _: Any) -> Callable[[], None]:
    return by_mode(w, f"[ -x {w.folder}/tool ]")


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


@case
def linker_that_appears_in_path(w: World, patch: Any) -> Callable[[], None]:
    patch.setenv("PATH", f"{w.folder}/bin{os.pathsep}{os.environ['PATH']}")
    if "clang" in w.compiler:
        pytest.skip("clang takes the one beside it")
    source(w, "int f(void) { return 1; }\n")
    (w.folder / "bin").mkdir()
    real = need("ld")
    return lambda: void(w.script("bin/ld", f'exec {real} --defsym X=7 "$@"'))


@case
def assembler_that_appears_by_a_variable(w: World, patch: Any) -> Callable[[], None]:
    patch.setenv("COMPILER_PATH", f"{w.folder}/bin")
    source(w, "int f(void) { return 1; }\n")
    (w.folder / "bin").mkdir()
    w.asked |= {"kind": "object", "flags": ["-fno-integrated-as"] if "clang" in w.compiler else []}
    real = need("as")
    return lambda: void(w.script("bin/as", f'exec {real} --defsym X=7 "$@"'))


@case
def link_to_the_compiler_that_is_retargeted(w: World, _: Any) -> Callable[[], None]:
    source(w, "#ifndef V\n#define V 1\n#endif\nint f(void) { return V; }\n")
    real = need(w.compiler)
    w.script("other", f'exec {real} -DV=2 "$@"')
    remake(w.folder / w.compiler, real)
    w.asked["compiler"] = str(w.folder / w.compiler)
    return lambda: remake(w.folder / w.compiler, "other")


@case
def front_that_only_looks_at_its_compiler(w: World, _: Any) -> Callable[[], None]:
    """ccache asks for the time and size of the compiler, and may not run it."""
    source(w, "int f(void) { return V; }\n")
    w.put("compiler", "1")
    os.utime(w.folder / "compiler", (10**9, 10**9))
    wrapped(w, f'exec {need(w.compiler)} -DV=$(stat -c %Y {w.folder}/compiler | cut -c 10) "$@"')
    return lambda: os.utime(w.folder / "compiler", (10**9 + 7, 10**9 + 7))


@case
def variable_of_open_mpis_wrapper(w: World, patch: Any) -> Callable[[], None]:
    wrapper = need("mpicxx.openmpi" if w.compiler.endswith("++") else "mpicc.openmpi")
    patch.setenv("OMPI_CXX" if w.compiler.endswith("++") else "OMPI_CC", w.compiler)
    source(w, "#ifndef V\n#define V 1\n#endif\n#include <mpi.h>\nint f(void) { return V; }\n")
    w.asked["compiler"] = wrapper
    return lambda: patch.setenv("OMPI_CPPFLAGS", subprocess_flags(wrapper, "compile") + " -DV=2")


def subprocess_flags(wrapper: str, which: str) -> str:
    return subprocess.run([wrapper, f"--showme:{which}"], capture_output=True, text=True, check=True).stdout.strip()


@case
def compiler_of_open_mpis_wrapper(w: World, patch: Any) -> Callable[[], None]:
    wrapper = need("mpicxx.openmpi" if w.compiler.endswith("++") else "mpicc.openmpi")
    source(w, "#ifndef V\n#define V 1\n#endif\nint f(void) { return V; }\n")
    w.asked["compiler"] = wrapper
    other = w.script("other", f'exec {need(w.compiler)} -DV=2 "$@"')
    return lambda: patch.setenv("OMPI_CXX" if w.compiler.endswith("++") else "OMPI_CC", str(other))


@case
def compiler_of_mpichs_wrapper(w: World, patch: Any) -> Callable[[], None]:
    wrapper = need("mpicxx.mpich" if w.compiler.endswith("++") else "mpicc.mpich")
    source(w, "#ifndef V\n#define V 1\n#endif\nint f(void) { return V; }\n")
    w.asked["compiler"] = wrapper
    other = w.script("other", f'exec {need(w.compiler)} -DV=2 "$@"')
    return lambda: patch.setenv("MPICH_CXX" if w.compiler.endswith("++") else "MPICH_CC", str(other))


@case
def variable_by_which_clang_rewrites_its_words(w: World, patch: Any) -> Callable[[], None]:
    if "clang" not in w.compiler:
        pytest.skip("clang only")
    source(w, "#ifndef V\n#define V 1\n#endif\nint f(void) { return V; }\n")
    return lambda: patch.setenv("CCC_OVERRIDE_OPTIONS", "# +-DV=2")


@case
def program_that_tools_are_run_by(w: World, _: Any) -> Callable[[], None]:
    if "clang" in w.compiler:
        pytest.skip("gcc only")
    source(w, "int f(void) { return V; }\n")
    text = 'case $1 in *cc1*) exec "$@" -DV={0};; *) exec "$@";; esac'
    w.script("by", text.format(1))
    w.asked["flags"] = ["-wrapper", f"{w.folder}/by"]
    return lambda: void(w.script("by", text.format(2)))


# ---- ccache in front


def behind_ccache(w: World, patch: Any, text: str = "int f(void) { return V; }\n") -> None:
    """The compiler is found by ccache, whose own files are in a folder of this world."""
    patch.setenv("CCACHE_DIR", str(w.folder / "ccache"))
    patch.setenv("PATH", f"{w.folder}/bin{os.pathsep}{os.environ['PATH']}")
    (w.folder / "bin").mkdir()
    source(w, text)
    w.asked["compiler"] = f"{need('ccache')} {w.compiler}"


@case
def header_behind_ccache(w: World, patch: Any) -> Callable[[], None]:
    behind_ccache(w, patch, '#include "v.h"\nint f(void) { return V; }\n')
    w.put("v.h", "#define V 1\n")
    w.asked["flags"] = [f"-I{w.folder}"]
    return lambda: void(w.put("v.h", "#define V 2\n"))


@case
def compiler_that_ccache_finds_earlier(w: World, patch: Any) -> Callable[[], None]:
    behind_ccache(w, patch, "#ifndef V\n#define V 1\n#endif\nint f(void) { return V; }\n")
    real = need(w.compiler)
    return lambda: void(w.script(f"bin/{w.compiler}", f'exec {real} -DV=2 "$@"'))


@case
def compiler_that_a_variable_of_ccaches_names(w: World, patch: Any) -> Callable[[], None]:
    behind_ccache(w, patch, "#ifndef V\n#define V 1\n#endif\nint f(void) { return V; }\n")
    other = w.script("other", f'exec {need(w.compiler)} -DV=2 "$@"')
    return lambda: patch.setenv("CCACHE_COMPILER", str(other))


@case
def compiler_that_ccaches_configuration_names(w: World, patch: Any) -> Callable[[], None]:
    behind_ccache(w, patch, "#ifndef V\n#define V 1\n#endif\nint f(void) { return V; }\n")
    other = w.script("other", f'exec {need(w.compiler)} -DV=2 "$@"')
    return lambda: void(w.put("ccache/ccache.conf", f"compiler = {other}\n"))


@case
def link_of_ccaches_by_the_compilers_name(w: World, patch: Any) -> Callable[[], None]:
    """As distributions have them: a folder of such links is first in PATH."""
    behind_ccache(w, patch, "#ifndef V\n#define V 1\n#endif\nint f(void) { return V; }\n")
    real = need(w.compiler)  # before the link is there
    (w.folder / "links").mkdir()
    remake(w.folder / "links" / w.compiler, need("ccache"))
    patch.setenv("PATH", f"{w.folder}/links{os.pathsep}{os.environ['PATH']}")
    w.asked["compiler"] = w.compiler
    return lambda: void(w.script(f"bin/{w.compiler}", f'exec {real} -DV=2 "$@"'))


def obeyed(w: World) -> tuple[str, list[str]]:
    """A variable that the compiler obeys, and two values: of clang one that its manual does not name."""
    if "clang" in w.compiler:
        source(w, "int f(void) { return 1; }\n")
        w.asked |= {"kind": "object", "flags": ["--target=x86_64-apple-darwin"]}
        return "MACOSX_DEPLOYMENT_TARGET", ["10.15", "11.0"]
    source(
        w, "#if __has_include(<named.h>)\n#include <named.h>\n#else\n#define N 0\n#endif\nint f(void) { return N; }\n"
    )
    return "CPATH", [str(w.put(f"inc{n}/named.h", f"#define N {n}\n").parent) for n in (1, 2)]


@case
def variable_that_is_set_later(w: World, patch: Any) -> Callable[[], None]:
    name, values = obeyed(w)
    return lambda: patch.setenv(name, values[0])


@case
def variable_that_has_another_value(w: World, patch: Any) -> Callable[[], None]:
    name, values = obeyed(w)
    patch.setenv(name, values[0])
    return lambda: patch.setenv(name, values[1])


@case
def variable_that_specs_ask_for(w: World, patch: Any) -> Callable[[], None]:
    if "clang" in w.compiler:
        pytest.skip("clang is its own")
    source(w, "int f(void) { return V; }\n")
    specs = w.put("specs", "*cc1:\n+ -DV=%:getenv(site_wide 1)\n\n*cc1plus:\n+ -DV=%:getenv(site_wide 1)\n\n")
    w.asked["flags"] = [f"-specs={specs}"]
    patch.setenv("site_wide", "1")
    return lambda: patch.setenv("site_wide", "2")
