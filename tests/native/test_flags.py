"""Flags, compilers, libraries and the environment: what changes the result changes the key."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from conftest import COMPILERS, CountedCompiler, need, rest
from jitcache import native

TEXT = """#include <assert.h>
int f(int x) {
#ifdef TWICE
    x *= 2;
#endif
    return x;
}
"""


def hit(cache: Any, flags: list[str], compiler: Any = "gcc", text: str = TEXT, **more: Any) -> bool:
    return bool(native.build({"f.c": text}, flags=flags, compiler=compiler, cache=cache, **more).hit)


# Flags of a first build, and of a second. Other words are another request, whatever
# they mean.
PAIRS: list[tuple[list[str], list[str]]] = [
    (["-O2"], ["-O2"]),
    (["-O2"], ["-O3"]),
    ([], ["-DTWICE"]),
    (["-DTWICE"], ["-D", "TWICE"]),
    (["-DA=1", "-UA"], ["-UA", "-DA=1"]),
    (["-O2", "-O0"], ["-O0", "-O2"]),
    (["-lm"], ["-l", "m"]),
    (["-lm"], []),
    (["-g"], []),
    (["-std=c99"], ["-std=c11"]),
    (["-Wall"], []),
    (["-march=x86-64"], ["-march=native"]),
    (["-Wl,-z,now"], ["-Wl,-z,lazy"]),
    (["-Wl,-rpath,/a"], ["-Wl,-rpath,/b"]),
    (["-include", "/usr/include/stdio.h"], ["-include", "/usr/include/stdlib.h"]),
    (["-fvisibility=hidden"], []),
]


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_pairs(cache: Any, first: list[str], second: list[str], compiler: str) -> None:
    need(compiler)
    assert not hit(cache, first, compiler)
    assert hit(cache, second, compiler) is (first == second or (first, second) == (["-lm"], ["-l", "m"]))
    assert hit(cache, first, compiler)
    for flags in (first, second):
        asked: Any = {"sources": {"f.c": TEXT}, "flags": flags, "compiler": compiler}
        assert bytes(native.build(cache=cache, **asked)) == bytes(native.build(cache=False, **asked))


def test_compiler_that_is_replaced(tmp_path: Path, cache: Any) -> None:
    compiler = tmp_path / "cc"
    for value, expected in ((1, False), (1, True), (2, False), (1, True)):
        compiler.write_text(f'#!/bin/sh\nexec {need("gcc")} -DVALUE={value} "$@"\n')
        compiler.chmod(0o755)
        entry = native.build("int f(void) { return VALUE; }\n", compiler=compiler, cache=cache)
        assert entry.hit is expected
        assert native.load_shared(entry).f() == value


class Front:
    """A compiler that is a program before gcc, and has from a library of its own what it tells that."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "front-cc"
        (folder / "front.c").write_text(
            "#include <stdio.h>\n#include <unistd.h>\nint value(void);\nint main(int n, char **argv) {\n"
            'char text[40], *args[1000] = {"gcc", text};\nsprintf(text, "-DVALUE=%d", value());\n'
            f'for (int i = 1; i < n; i++) args[i + 1] = argv[i];\nexecv("{need("gcc")}", args);\nreturn 1; }}\n'
        )
        self.library("own", 1)
        command = [
            need("gcc"),
            folder / "front.c",
            "-o",
            self.path,
            f"-L{folder}/own",
            "-lpart",
            f"-Wl,-rpath,{folder}/own",
        ]
        subprocess.run([*command, "-Wl,--enable-new-dtags"], check=True)

    def library(self, where: str, value: int) -> None:
        """Put the library into a folder, with the same size whatever it returns."""
        (self.folder / where).mkdir(exist_ok=True)
        (self.folder / "part.c").write_text(f"int value(void) {{ return {value}; }}\n")
        new = self.folder / where / "new"
        subprocess.run([need("gcc"), "-shared", "-fPIC", self.folder / "part.c", "-o", new], check=True)
        new.rename(self.folder / where / "libpart.so")

    def build(self, cache: Any) -> tuple[bool, int]:
        entry = native.build("int f(void) { return VALUE; }\n", compiler=self.path, cache=cache)
        return entry.hit, native.load_shared(entry).f()


def test_library_of_the_compiler_that_is_replaced(tmp_path: Path, cache: Any) -> None:
    front = Front(tmp_path)
    assert [front.build(cache), front.build(cache)] == [(False, 1), (True, 1)]
    front.library("own", 2)
    assert [front.build(cache), front.build(cache)] == [(False, 2), (True, 2)]
    front.library("own", 1)
    assert front.build(cache) == (True, 1)


def test_library_that_comes_first_for_the_loader(tmp_path: Path, cache: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    front = Front(tmp_path)
    (tmp_path / "late").mkdir()
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path / "late"))
    assert [front.build(cache), front.build(cache)] == [(False, 1), (True, 1)]
    front.library("late", 3)
    assert [front.build(cache), front.build(cache)] == [(False, 3), (True, 3)]
    monkeypatch.delenv("LD_LIBRARY_PATH")
    assert [front.build(cache), front.build(cache)] == [(False, 1), (True, 1)]


@rest
@pytest.mark.parametrize("ending", ["pch", "gch"])
def test_precompiled_header_of_clang(tmp_path: Path, cache: Any, ending: str) -> None:
    need("clang")
    header = tmp_path / "h.h"
    flags = ["-include", str(header)]

    def build() -> tuple[bool, int]:
        entry = native.build({"f.c": "int f(void) { return V; }\n"}, flags=flags, compiler="clang", cache=cache)
        return entry.hit, native.load_shared(entry).f()

    header.write_text("#define V 1\n")
    assert [build(), build()] == [(False, 1), (True, 1)]
    subprocess.run(["clang", "-fPIC", "-x", "c-header", header, "-o", f"{header}.{ending}"], check=True)
    # clang looks at times and sizes, and refuses one that is older than its header: so it is right, and compiled again.
    assert build() == (False, 1)
    assert build() == (True, 1)


def test_specs_of_gcc_that_appear_and_change(tmp_path: Path, cache: Any) -> None:
    need("gcc")
    machine, version = (
        subprocess.run(["gcc", f"-dump{what}"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
        for what in ("machine", "version")
    )
    text = "#ifndef V\n#define V 1\n#endif\nint f(void) { return V; }\n"

    def build(where: Path) -> tuple[bool, int]:
        entry = native.build({"f.c": text}, flags=[f"-B{where}/"], compiler="gcc", cache=cache)
        assert not entry.refused
        return entry.hit, native.load_shared(entry).f()

    for name, below, values in (("one", ".", (2, 3)), ("two", f"{machine}/{version}", (4, 5))):
        where = tmp_path / name
        specs = where / below / "specs"
        specs.parent.mkdir(parents=True)
        build(where)
        assert build(where) == (True, 1)
        for value in values:
            specs.write_text(f"*cpp_options:\n+ -DV={value}\n\n*cc1_options:\n+ -DV={value}\n\n")
            assert [build(where), build(where)] == [(False, value), (True, value)]
        specs.unlink()
        assert build(where) == (True, 1)


@rest
def test_configuration_of_clang_that_appears_and_changes(tmp_path: Path, cache: Any) -> None:
    # It is looked for beside the program, so the program is a copy.
    found = next(filter(None, (shutil.which(f"clang-{n}") for n in range(16, 24))), None)
    if found is None:
        pytest.skip("no clang 16 or later")
    shutil.copy(Path(found).resolve(), tmp_path / "clang")
    text = "#ifndef V\n#define V 1\n#endif\nint f(void) { return V; }\n"

    def build() -> tuple[bool, int]:
        entry = native.build({"f.c": text}, compiler=tmp_path / "clang", cache=cache)
        assert not entry.refused
        return entry.hit, native.load_shared(entry).f()

    assert [build(), build()] == [(False, 1), (True, 1)]
    for value in (2, 3):
        (tmp_path / "clang.cfg").write_text(f"-DV={value}\n")
        assert [build(), build()] == [(False, value), (True, value)]
    (tmp_path / "clang.cfg").unlink()
    assert build() == (True, 1)


def test_folder_of_precompiled_headers(tmp_path: Path, cache: Any) -> None:
    text = '#include "h.h"\nint f(void) { return V; }\n'

    def build() -> tuple[bool, int]:
        entry = native.build(text, flags=[f"-I{tmp_path}", "-O1"], cache=cache)
        return entry.hit, native.load_shared(entry).f()

    (tmp_path / "h.h").write_text("#define V 1\n")
    assert [build(), build()] == [(False, 1), (True, 1)]
    (tmp_path / "h.h.gch").mkdir()
    (tmp_path / "other.h").write_text("#define V 4242\n")
    for name in ("a", "b"):
        out = tmp_path / "h.h.gch" / name
        subprocess.run([need("gcc"), "-fPIC", "-O1", "-x", "c-header", tmp_path / "other.h", "-o", out], check=True)
        assert [build(), build()] == [(False, 4242), (True, 4242)]
    shutil.rmtree(tmp_path / "h.h.gch")
    assert build() == (True, 1)


def test_compiler_that_comes_first_in_path(tmp_path: Path, cache: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    need("gcc")
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    text = "#ifndef VALUE\n#define VALUE 1\n#endif\nint f(void) { return VALUE; }\n"
    assert not hit(cache, [], text=text)
    real = shutil.which("gcc")
    (tmp_path / "bin" / "gcc").write_text(f'#!/bin/sh\nexec {real} -DVALUE=2 "$@"\n')
    (tmp_path / "bin" / "gcc").chmod(0o755)
    entry = native.build({"f.c": text}, compiler="gcc", cache=cache)
    assert not entry.hit
    assert native.load_shared(entry).f() == 2


@pytest.mark.control("noenvironment", rows=["CPATH"])
@pytest.mark.parametrize("variable", ["CPATH", "C_INCLUDE_PATH"])
def test_include_path_of_the_environment(
    tmp_path: Path, cache: Any, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    for name, value in (("one", 1), ("two", 2)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "v.h").write_text(f"#define V {value}\n")
    text = "#include <v.h>\nint f(void) { return V; }\n"
    for folders, value, expected in ((["one"], 1, False), (["two", "one"], 2, False), (["one"], 1, True)):
        monkeypatch.setenv(variable, os.pathsep.join(str(tmp_path / f) for f in folders))
        entry = native.build({"f.c": text}, cache=cache)
        assert entry.hit is expected
        assert native.load_shared(entry).f() == value


def test_long_include_path_counts_to_its_end(tmp_path: Path, cache: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the modules of a cluster make it."""
    for name, value in (("one", 1), ("two", 2)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "v.h").write_text(f"#define V {value}\n")
    before = os.pathsep.join(f"/apps/{i:04}/{'x' * 60}/include" for i in range(300))
    assert len(before) > 20_000
    for name, value in (("one", 1), ("two", 2)):
        monkeypatch.setenv("CPATH", f"{before}{os.pathsep}{tmp_path / name}")
        entry = native.build({"f.c": "#include <v.h>\nint f(void) { return V; }\n"}, cache=cache)
        assert not entry.hit
        assert native.load_shared(entry).f() == value


@pytest.mark.parametrize("how", ["-L", "LIBRARY_PATH"])
def test_library_that_is_linked(tmp_path: Path, cache: Any, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    need("gcc")
    folder = tmp_path / "lib"
    folder.mkdir()
    flags = [f"-L{folder}"] if how == "-L" else []
    if how != "-L":
        monkeypatch.setenv(how, str(folder))
    text = "int value(void);\nint f(void) { return value(); }\n"

    def archive(value: int) -> None:
        (tmp_path / "v.c").write_text(f"int value(void) {{ return {value}; }}\n")
        os.system(
            f"gcc -fPIC -c {tmp_path}/v.c -o {tmp_path}/v.o && rm -f {folder}/libv.a && ar rc {folder}/libv.a {tmp_path}/v.o"
        )

    for value, expected in ((1, False), (1, True), (2, False)):
        archive(value)
        entry = native.build({"f.c": text}, flags=flags, libraries=["v"], cache=cache)
        assert native.load_shared(entry).f() == value
        assert entry.hit is (expected and True) or value == 1  # ar writes the time


@pytest.mark.parametrize("variable", ["CFLAGS", "CPPFLAGS", "LDFLAGS"])
def test_flags_of_the_environment(cache: Any, monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    need("gcc")
    flag = "-Wl,-z,now" if variable == "LDFLAGS" else "-DTWICE"
    assert not hit(cache, [])
    monkeypatch.setenv(variable, flag)
    assert not hit(cache, [])
    assert hit(cache, [])
    monkeypatch.delenv(variable)
    assert hit(cache, [])


def test_cc_and_cxx_are_obeyed(tmp_path: Path, cache: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    counted = CountedCompiler(tmp_path, "gcc")
    monkeypatch.setenv("CC", f"{counted.path} -DTWICE")
    entry = native.build({"f.c": TEXT}, cache=cache)
    assert native.load_shared(entry).f(21) == 42
    assert counted.compiles() == 1


@rest
def test_zig_is_a_compiler(cache: Any) -> None:
    import sys
    from importlib.util import find_spec

    if find_spec("ziglang") is None:
        pytest.skip("no ziglang")
    compiler = [sys.executable, "-m", "ziglang", "cc"]
    assert not hit(cache, ["-O2"], compiler)
    entry = native.build({"f.c": TEXT}, flags=["-O2"], compiler=compiler, cache=cache)
    assert entry.hit or entry.refused
    assert native.load_shared(entry).f(7) == 7


#: LDFLAGS as distributions set them.
LDFLAGS = {
    "conda": "-Wl,-O2 -Wl,--sort-common -Wl,--as-needed -Wl,-z,relro -Wl,-z,now -Wl,--disable-new-dtags -Wl,--gc-sections"
    " -Wl,--allow-shlib-undefined -Wl,-rpath,/opt/conda/lib -Wl,-rpath-link,/opt/conda/lib -L/opt/conda/lib",
    "Fedora": "-Wl,-z,relro -Wl,--as-needed -Wl,-z,pack-relative-relocs -Wl,-z,now -specs={0}/redhat-hardened-ld"
    " -Wl,--build-id=sha1 -specs={0}/redhat-package-notes",
    "Debian": "-Wl,-Bsymbolic-functions -flto=auto -ffat-lto-objects -Wl,-z,relro",
}


@pytest.mark.parametrize("whose", LDFLAGS)
def test_flags_of_distributions_work_and_are_kept(
    tmp_path: Path, cache: Any, monkeypatch: pytest.MonkeyPatch, whose: str
) -> None:
    for name in ("ld", "package-notes"):
        (tmp_path / f"redhat-{'hardened-' if name == 'ld' else ''}{name}").write_text("*self_spec:\n+ \n\n")
    monkeypatch.setenv("LDFLAGS", LDFLAGS[whose].format(tmp_path))
    without = native.build({"f.c": TEXT}, compiler="gcc", cache=False)
    for expected in (False, True):
        entry = native.build({"f.c": TEXT}, compiler="gcc", cache=cache)
        assert (entry.hit, entry.refused) == (expected, "")
        assert bytes(entry) == bytes(without)


def test_words_behind_the_compiler_may_name_folders_of_the_caller(
    tmp_path: Path, cache: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("one", 1), ("two", 2)):
        (tmp_path / name / "inc").mkdir(parents=True)
        (tmp_path / name / "inc" / "v.h").write_text(f"#define V {value}\n")
    monkeypatch.setenv("CC", "gcc -Iinc")
    for name, value, expected in (("one", 1, False), ("two", 2, False), ("one", 1, True), ("two", 2, True)):
        monkeypatch.chdir(tmp_path / name)
        entry = native.build({"f.c": "#include <v.h>\nint f(void) { return V; }\n"}, cache=cache)
        assert (entry.hit, entry.refused, native.load_shared(entry).f()) == (expected, "", value)
