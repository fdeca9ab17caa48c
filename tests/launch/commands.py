"""Rows of commands that are not one compile of C: each makes a world and words, and returns what changes it."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from typing import Any

from conftest import need
from launched import Launched

Row = Callable[[Launched, Any], Callable[[], Any]]
COMMANDS: dict[str, Row] = {}

#: What is run each time, by what the log says of it.
REFUSED: dict[str, str] = {"plugin of gcc": "time of day", "source that python compiles": "py_compile"}


def row(f: Row) -> Row:
    COMMANDS[f.__name__.replace("_", " ")] = f
    return f


def words(w: Launched, line: str, *more: str) -> None:
    """A command by its words; the first is a program that has to be there."""
    w.words = [*line.split(), *more]
    need(w.words[0])


# ---- C, by a shell's words


@row
def precompiled_header_is_made_and_used(w: Launched, _: Any) -> Callable[[], Any]:
    """Two of the same text differ in where the program was loaded, so it is not left behind."""
    w.put("p.h", "static int p = 1;\n")
    w.put("a.c", "int f(void) { return p; }\n")
    words(w, "sh -c", "gcc -x c-header p.h -o out/p.h.gch && gcc -include out/p.h -c a.c -o out/a.o && rm out/p.h.gch")
    return lambda: w.put("p.h", "static int p = 2;\n")


@row
def precompiled_header_is_used(w: Launched, _: Any) -> Callable[[], Any]:
    w.put("a.c", "int f(void) { return V; }\n")

    def make(v: int) -> None:
        w.put("inc/p.h", f"#define V {v}\n")
        w.run("gcc", "-x", "c-header", "inc/p.h", "-o", "inc/p.h.gch")
        w.put("inc/p.h", "#error not precompiled\n")

    make(1)
    words(w, "gcc -Iinc -include p.h -c a.c -o out/a.o")
    return lambda: make(2)


@row
def precompiled_header_appears(w: Launched, _: Any) -> Callable[[], Any]:
    w.put("a.c", '#include "p.h"\nint f(void) { return V; }\n')
    w.put("p.h", "#define V 2\n")
    w.put("inc/p.h", "#define V 1\n")
    w.run("gcc", "-x", "c-header", "p.h", "-o", "p.gch")
    (w.folder / "p.h").unlink()
    words(w, "gcc -Iinc -c a.c -o out/a.o")
    return lambda: (w.folder / "p.gch").rename(w.folder / "inc/p.h.gch")


@row
def profile_that_a_compile_uses(w: Launched, _: Any) -> Callable[[], Any]:
    text = "#include <stdlib.h>\nint main(int n, char **a) { int s = 0; for (int i = 0; i < atoi(a[1]); i++) s += i % 7 ? i * s : i / 3; return s == 1; }\n"
    w.put("a.c", text)

    def profile(n: int) -> None:
        shutil.rmtree(w.folder / "prof", ignore_errors=True)
        w.run("gcc", "-O2", f"-fprofile-generate={w.folder}/prof", "-c", "a.c", "-o", "out/a.o")
        w.run("gcc", "-fprofile-generate", "out/a.o", "-o", "gen")
        w.run(w.folder / "gen", n)

    profile(0)
    words(w, f"gcc -O2 -fprofile-use={w.folder}/prof -c a.c -o out/a.o")
    return lambda: profile(100000)


@row
def plugin_of_gcc(w: Launched, _: Any) -> Callable[[], Any]:
    def plugin(v: int) -> None:
        w.put(
            "plug.c",
            f'#include <stdio.h>\nint plugin_is_GPL_compatible;\nint plugin_init(void *i, void *v) {{ fprintf(stderr, "plugin {v}\\n"); return 0; }}\n',
        )
        w.run("gcc", "-shared", "-fPIC", "plug.c", "-o", "new.so")
        (w.folder / "new.so").rename(w.folder / "plug.so")

    plugin(1)
    w.put("a.c", "int f(void) { return 1; }\n")
    words(w, "gcc -fplugin=./plug.so -c a.c -o out/a.o")
    return lambda: plugin(2)


@row
def object_and_its_dependencies(w: Launched, _: Any) -> Callable[[], Any]:
    w.put("a.c", '#include "a.h"\nint f(void) { return A; }\n')
    w.put("a.h", "#define A 1\n")
    words(w, "gcc -MD -MF out/a.d -c a.c -o out/a.o")

    def change() -> None:
        w.put("b.h", "")
        w.put("a.h", '#include "b.h"\n#define A 1\n')

    return change


@row
def debugging_information_in_a_file_of_its_own(w: Launched, _: Any) -> Callable[[], Any]:
    w.put("a.c", "int f(int x) { return x; }\n")
    words(w, "gcc -g -gsplit-dwarf -c a.c -o out/a.o")
    return lambda: w.put("a.c", "int f(int y) { return y; }\n")


@row
def temporary_files_are_saved(w: Launched, _: Any) -> Callable[[], Any]:
    w.put("a.c", "int f(int x) { return x; }\n")
    words(w, "gcc -save-temps=obj -c a.c -o out/a.o")
    return lambda: w.put("a.c", "int f(int y) { return y; }\n// more\n")


@row
def notes_for_coverage(w: Launched, _: Any) -> Callable[[], Any]:
    w.put("a.c", "int f(int x) { return x; }\n")
    words(w, "gcc -frandom-seed=1 --coverage -c a.c -o out/a.o")
    return lambda: w.put("a.c", "int f(int x) { return x ? 1 : 2; }\n")


@row
def two_sources_in_one_call(w: Launched, _: Any) -> Callable[[], Any]:
    w.put("a.c", "int g(void);\nint f(void) { return g(); }\n")
    w.put("b.c", "int g(void) { return 1; }\n")
    words(w, "gcc -shared -fPIC a.c b.c -o out/ab.so")
    return lambda: w.put("b.c", "int g(void) { return 2; }\n")


@row
def optimized_at_link_time(w: Launched, _: Any) -> Callable[[], Any]:
    for name, text in (("a", "int g(void);\nint main(void) { return g(); }\n"), ("b", "int g(void) { return 1; }\n")):
        w.put(f"{name}.c", text)
        w.run("gcc", "-O2", "-flto", "-frandom-seed=1", "-c", f"{name}.c", "-o", f"{name}.o")
    words(w, "gcc -O2 -flto=1 -frandom-seed=1 a.o b.o -o out/ab")

    def change() -> None:
        w.put("b.c", "int g(void) { return 2; }\n")
        w.run("gcc", "-O2", "-flto", "-frandom-seed=1", "-c", "b.c", "-o", "b.o")

    return change


@row
def cache_of_somebody_else_before_the_compiler(w: Launched, patch: Any) -> Callable[[], Any]:
    patch.setenv("CCACHE_DIR", str(w.folder / "ccache"))
    w.put("a.c", '#include "a.h"\nint f(void) { return A; }\n')
    w.put("a.h", "#define A 1\n")
    words(w, "ccache gcc -c a.c -o out/a.o")
    return lambda: w.put("a.h", "#define A 2\n")


REFUSED["cache of somebody else before the compiler"] = ""  # what it does depends on what is in its cache


@row
def preprocessed_text_to_a_pipe(w: Launched, _: Any) -> Callable[[], Any]:
    w.put("a.h", "1\n")
    words(w, "sh -c", "gcc -E -P a.h | tee out/text")
    return lambda: w.put("a.h", "2\n")


# ---- assemblers, linkers, archives


@row
def text_that_an_assembler_includes(w: Launched, _: Any) -> Callable[[], Any]:
    w.put("a.s", '.include "b.s"\n')
    w.put("b.s", ".byte 1\n")
    words(w, "as a.s -o out/a.o")
    return lambda: w.put("b.s", ".byte 2\n")


@row
def folder_of_an_assembler_that_comes_first(w: Launched, _: Any) -> Callable[[], Any]:
    w.put("a.s", '.incbin "blob"\n')
    w.put("late/blob", "one")
    words(w, "as -I early -I late a.s -o out/a.o")
    return lambda: w.put("early/blob", "two")


@row
def library_of_a_linker(w: Launched, _: Any) -> Callable[[], Any]:
    w.put("a.c", "int value(void);\nint f(void) { return value(); }\n")
    w.run("gcc", "-c", "a.c", "-o", "a.o")
    w.archive("late/libv.a", 1)
    (w.folder / "early").mkdir()
    words(w, "ld -shared a.o -Learly -Llate -lv -o out/a.so")
    return lambda: w.archive("early/libv.a", 2)


@row
def objects_are_joined(w: Launched, _: Any) -> Callable[[], Any]:
    w.object("a.o", 1)
    words(w, "ld -r a.o -o out/all.o")
    return lambda: w.object("a.o", 2)


@row
def script_of_a_linker(w: Launched, _: Any) -> Callable[[], Any]:
    w.object("a.o", 1)
    w.put("inner.ld", "here = 1;\n")
    w.put("own.ld", "SECTIONS { .text : { *(.text*) } INCLUDE inner.ld }\n")
    words(w, "ld -T own.ld a.o -o out/a")
    return lambda: w.put("inner.ld", "here = 2;\n")


@row
def archive_is_made(w: Launched, _: Any) -> Callable[[], Any]:
    w.object("a.o", 1)
    words(w, "ar rcD out/a.a a.o")
    return lambda: w.object("a.o", 2)


@row
def archive_by_a_script(w: Launched, _: Any) -> Callable[[], Any]:
    w.archive("one.a", 1)
    w.put("words", "create out/all.a\naddlib one.a\nsave\nend\n")
    words(w, "sh -c", "ar -M < words")
    return lambda: w.archive("one.a", 2)


@row
def symbols_are_stripped(w: Launched, _: Any) -> Callable[[], Any]:
    w.object("a.o", 1)
    words(w, "strip -g a.o -o out/a.o")
    return lambda: w.object("a.o", 2)


@row
def bytes_become_an_object(w: Launched, _: Any) -> Callable[[], Any]:
    w.put("blob", "one")
    words(w, "objcopy -I binary -O elf64-x86-64 blob out/blob.o")
    return lambda: w.put("blob", "two")


# ---- Fortran


@row
def module_of_fortran_is_made(w: Launched, _: Any) -> Callable[[], Any]:
    text = "module m\n integer, parameter :: v = {}\nend module\n"
    w.put("m.f90", text.format(1))
    words(w, "gfortran -J out -c m.f90 -o out/m.o")
    return lambda: w.put("m.f90", text.format(2))


@row
def module_of_fortran_is_used(w: Launched, _: Any) -> Callable[[], Any]:
    need("gfortran")

    def module(v: int) -> None:
        w.put("m.f90", f"module m\n integer, parameter :: v = {v}\nend module\n")
        w.run("gfortran", "-c", "m.f90", "-o", "m.o")

    module(1)
    w.put("a.f90", "integer function f()\n use m\n f = v\nend function\n")
    words(w, "gfortran -c a.f90 -o out/a.o")
    return lambda: module(2)


@row
def text_that_fortran_includes(w: Launched, _: Any) -> Callable[[], Any]:
    w.put("late/v.inc", "      f = 1\n")
    w.put("a.f", "      integer function f()\n      include 'v.inc'\n      end\n")
    words(w, "gfortran -Iearly -Ilate -c a.f -o out/a.o")
    return lambda: w.put("early/v.inc", "      f = 2\n")


@row
def program_of_fortran(w: Launched, _: Any) -> Callable[[], Any]:
    w.put("a.F90", '#include "v.h"\nprogram p\n print *, V\nend program\n')
    w.put("v.h", "#define V 1\n")
    words(w, "gfortran -Wl,--build-id=none a.F90 -o out/a")
    return lambda: w.put("v.h", "#define V 2\n")


# ---- code generators and scripts


@row
def parser_is_generated(w: Launched, _: Any) -> Callable[[], Any]:
    text = "%%\nall: '{}';\n%%\n"
    w.put("a.y", text.format("a"))
    words(w, "bison -d a.y -o out/a.c")
    return lambda: w.put("a.y", text.format("b"))


@row
def scanner_is_generated(w: Launched, _: Any) -> Callable[[], Any]:
    w.put("a.l", "%%\na return 1;\n")
    words(w, "flex -o out/a.c a.l")
    return lambda: w.put("a.l", "%%\na return 2;\n")


@row
def module_that_a_generator_in_python_imports(w: Launched, patch: Any) -> Callable[[], Any]:
    patch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    w.put("gen.py", "import part\nopen('out/a.c', 'w').write(part.text)\n")
    w.put("part.py", "text = 'int a = 1;'\n")
    words(w, sys.executable, "gen.py")
    return lambda: w.put("part.py", "text = 'int a = 22;'\n")


@row
def module_that_appears_before_another(w: Launched, patch: Any) -> Callable[[], Any]:
    patch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    patch.setenv("PYTHONPATH", f"{w.folder}/early:{w.folder}/late")
    w.put("gen.py", "import part\nopen('out/a.c', 'w').write(part.text)\n")
    w.put("late/part.py", "text = 'int a = 1;'\n")
    words(w, sys.executable, "gen.py")
    return lambda: w.put("early/part.py", "text = 'int a = 22;'\n")


@row
def source_that_python_compiles(w: Launched, _: Any) -> Callable[[], Any]:
    w.put("a.py", "x = 1\n")
    compiled = "python3 -m compileall -q --invalidation-mode unchecked-hash out/a.py"
    words(w, "sh -c", f"cp a.py out/a.py && {compiled}")
    return lambda: w.put("a.py", "x = 2\n")


@row
def files_that_a_script_finds_by_a_pattern(w: Launched, _: Any) -> Callable[[], Any]:
    w.put("in/a.c", "int a;\n")
    w.put("gen", "cat in/*.c > out/all.c\n", 0o755)
    words(w, "sh gen")
    return lambda: w.put("in/b.c", "int b;\n")


@row
def script_that_compiles_and_links(w: Launched, _: Any) -> Callable[[], Any]:
    w.put("gen", "set -e\ncpp -P v.h > out/v.c\ngcc -c out/v.c -o out/v.o\nar rcD out/v.a out/v.o\nrm out/v.o\n", 0o755)
    w.put("v.h", "#define V 1\nint v = V;\n")
    words(w, "sh gen")
    return lambda: w.put("v.h", "#define V 2\nint v = V;\n")


@row
def version_that_a_script_greps(w: Launched, _: Any) -> Callable[[], Any]:
    w.put("VERSION", "major 1\nminor 2\n")
    w.put("a.c", "const char *f(void) { return V; }\n")
    w.put("gen", "v=$(sed -n 's/minor //p' VERSION)\nexec gcc -DV=\\\"$v\\\" -c a.c -o out/a.o\n", 0o755)
    words(w, "sh gen")
    return lambda: w.put("VERSION", "major 1\nminor 3\n")


@row
def macros_of_m4(w: Launched, _: Any) -> Callable[[], Any]:
    w.put("a.m4", "include(`b.m4')dnl\nint a = V;\n")
    w.put("late/b.m4", "define(`V', 1)dnl\n")
    words(w, "sh -c", "m4 -I early -I late a.m4 > out/a.c")
    need("m4")
    return lambda: w.put("early/b.m4", "define(`V', 2)dnl\n")


@row
def target_of_make(w: Launched, _: Any) -> Callable[[], Any]:
    w.put("Makefile", "out/a.o: a.c\n\tgcc -c a.c -o out/a.o\n")
    w.put("a.c", "int f(void) { return 1; }\n")
    words(w, "make -s")
    return lambda: w.put("a.c", "int f(void) { return 2; }\n")


@row
def link_that_a_script_follows(w: Launched, _: Any) -> Callable[[], Any]:
    for v in (1, 2):
        w.put(f"v{v}/v.h", f"int v = {v};\n")
    current = w.folder / "current"
    os.symlink("v1", current)
    words(w, "gcc -x c -c current/v.h -o out/v.o")

    def change() -> None:
        current.unlink()
        os.symlink("v2", current)

    return change


@row
def link_that_leads_nowhere_appears(w: Launched, _: Any) -> Callable[[], Any]:
    words(w, "sh -c", "if [ -L here ]; then echo yes; else echo no; fi > out/a")
    return lambda: os.symlink("nowhere", w.folder / "here")


@row
def link_that_leads_nowhere_is_left(w: Launched, _: Any) -> Callable[[], Any]:
    """Where it stands already, the script does something else."""
    w.put("v", "1\n")
    words(w, "sh -c", "cat v; if [ -L out/l ]; then echo again; else ln -s nowhere out/l; fi")
    return lambda: w.put("v", "2\n")


# ---- programs that ask where they are


def becomes_a_link(w: Launched, name: str) -> None:
    """Something becomes a link to what it was."""
    path = w.folder / name
    path.rename(f"{path}-2")
    path.symlink_to(f"{path.name}-2")


def says_where_it_is(w: Launched, becomes: str) -> Callable[[], None]:
    """A program that does; one of its names becomes a link to what it was."""
    text = '#include <stdio.h>\n#include <unistd.h>\nint main(void) { char s[4096]; int n = readlink("/proc/self/exe", s, sizeof s); return fwrite(s, 1, n, fopen("out/a", "w")) != n; }\n'
    w.put("gen.c", text)
    (w.folder / "bin").mkdir()
    w.run("gcc", "gen.c", "-o", "bin/gen")
    words(w, f"{w.folder}/bin/gen")
    return lambda: becomes_a_link(w, becomes)


@row
def program_that_asks_where_it_is_becomes_a_link(w: Launched, _: Any) -> Callable[[], Any]:
    return says_where_it_is(w, "bin/gen")


@row
def folder_of_a_program_that_asks_where_it_is_becomes_a_link(w: Launched, _: Any) -> Callable[[], Any]:
    return says_where_it_is(w, "bin")
