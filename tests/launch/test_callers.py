"""What compiles at run time, from PyPI, unchanged: twice, each time with its own caches gone.

The witness of a compile is the kernel: it says how often cc1, cc1plus and the
linker were opened. A replay only stats them.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import conftest
import pytest
from opens import Opens

HERE = Path(__file__).resolve().parent
PYTHON = os.environ.get("JITCACHE_TEST_CALLERS", "")

pytestmark = pytest.mark.skipif(not PYTHON, reason="JITCACHE_TEST_CALLERS names no Python with the callers")

#: Rules for the names that a caller invents; and what is run the second time too, with the reason.
CALLERS = {
    "cffi": ("TMP=@/tmp/*", []),
    "sympy": ("TMP=@/tmp/*", []),
    "pytensor": (
        "TMP=@/tmp/*:BUILD=@/own/pytensor/compiledir_*/tmp*",
        ["reads its standard input"] * 2,  # its probe of -march=native
    ),
    "devito": ("", []),
    "brian2": ("TMP=@/tmp/*", []),
    "ffcx": ("", []),
    "pythran": ("TMP=@/tmp/*", [r"gcc tmp\w+ \(\w+\): absent"]),  # asks whether -lomp links; failures are not kept
}


@pytest.fixture(scope="session")
def compilers(tmp_path_factory: Any) -> Path:
    """The compilers proper, as copies, which nobody else on the machine runs."""
    folder = tmp_path_factory.mktemp("compilers")
    for name in ("cc1", "cc1plus", "collect2"):
        p = subprocess.run(["gcc", f"-print-prog-name={name}"], capture_output=True, text=True, check=True)
        if os.path.isabs(p.stdout.strip()):
            shutil.copy(p.stdout.strip(), folder / name)
            plugin = Path(p.stdout.strip()).with_name("liblto_plugin.so")
            shutil.copy(plugin, folder)  # a linker's plugin elsewhere than beside collect2 may obey anything
    return folder


@pytest.fixture
def compiles(gcc: str, compilers: Path, place: Any) -> Any:
    place.env["COMPILER_PATH"] = str(compilers)
    opens = Opens(*map(str, compilers.iterdir()))
    yield opens
    opens.close()


class Caller:
    """A program that compiles, in a folder of its own."""

    def __init__(self, place: Any) -> None:
        self.top = place.folder.parent
        self.env = {**place.env}
        links = self.top / "links"
        links.mkdir()
        for name in ("gcc", "g++", "cc", "c++"):
            (links / name).symlink_to(conftest.PROGRAM)
        self.env["PATH"] = f"{links}:{Path(PYTHON).parent}:/usr/bin:/bin"
        self.env |= {
            "HOME": str(self.top / "home"),
            "OWN": str(self.top / "own"),
            "PYTHONHASHSEED": "0",
            "PYTENSOR_FLAGS": f"cxx={links}/g++,base_compiledir={self.top}/own/pytensor",
            "JITCACHE_MAP": "-ffile-prefix-map",
            "JITCACHE_LOG": "miss",
        }

    def run(self, *words: Any, fresh: bool = True, **env: str) -> tuple[str, list[str]]:
        """Run it with no caches of its own; return what it prints, and what the log says of compiles."""
        for name in ("own", "tmp", "home") if fresh else ():
            shutil.rmtree(self.top / name, ignore_errors=True)
            (self.top / name).mkdir()
        log = self.top / "log"
        log.unlink(missing_ok=True)
        env = {**self.env, "JITCACHE_LOG_FILE": str(log), **env}
        p = subprocess.run(
            [str(w) for w in words],
            cwd=self.top / "own",
            env=env,
            capture_output=True,
            text=True,
            check=False,
            timeout=560,
        )
        assert p.returncode == 0, p.stdout + p.stderr
        return p.stdout, log.read_text().splitlines() if log.exists() else []

    def rules(self, text: str) -> str:
        return text.replace("@", str(self.top))


@pytest.mark.parametrize("name", CALLERS)
def test_second_process_compiles_nothing(compiles: Opens, place: Any, name: str) -> None:
    caller = Caller(place)
    rules, rest = CALLERS[name]
    said, ran = [], []
    log: list[str] = []
    for _ in range(2):
        text, log = caller.run(PYTHON, HERE / "callers" / f"use_{name}.py", JITCACHE_PLACEHOLDER=caller.rules(rules))
        said.append(text)
        ran.append(compiles.count())
    assert said[0] == said[1]
    assert len(log) == len(rest), "\n".join(log)
    assert all(re.search(why, line) for why, line in zip(rest, log)), "\n".join(log)
    if not rest:
        assert ran[0] > 0
        assert ran[1] == 0


def test_without_rules_an_invented_folder_misses(place: Any, compiles: Opens) -> None:
    caller = Caller(place)
    for _ in range(2):
        _, log = caller.run(PYTHON, HERE / "callers" / "use_cffi.py")
    assert len(log) == 2
    assert all("is another working folder" in line for line in log)


def test_a_variable_instead_of_links(place: Any, compiles: Opens) -> None:
    """CC="jitcache run gcc", as setuptools reads it."""
    caller = Caller(place)
    program = f"{conftest.PROGRAM} run gcc"
    env = {"PATH": f"{Path(PYTHON).parent}:/usr/bin:/bin", "CC": program, "LDSHARED": f"{program} -shared"}
    for _ in range(2):
        compiles.count()
        _, log = caller.run(PYTHON, HERE / "callers" / "use_ffcx.py", **env)
    assert log == []
    assert compiles.count() == 0


LISTS = """
cmake_minimum_required(VERSION 3.16)
project(demo C CXX)
add_custom_command(OUTPUT made.h COMMAND ${CMAKE_COMMAND} -E copy_if_different ${CMAKE_SOURCE_DIR}/made.in made.h DEPENDS made.in)
add_library(parts SHARED one.c two.c made.h)
target_include_directories(parts PRIVATE ${CMAKE_BINARY_DIR})
add_executable(demo main.cpp)
target_link_libraries(demo parts)
"""


def test_cmake_and_ninja(place: Any, compiles: Opens) -> None:
    """-MD, restat, -j; then a header changes, and only what includes it is compiled."""
    caller = Caller(place)
    source = place.folder
    for name, text in {
        "CMakeLists.txt": LISTS,
        "made.in": "#define MADE 1\n",
        "h.h": "#define H 1\n",
        "one.c": '#include "made.h"\n#include "h.h"\nint one(void) { return MADE + H; }\n',
        "two.c": "int two(void) { return 2; }\n",
        "main.cpp": '#include <vector>\n#include <cstdio>\nextern "C" int one(void); extern "C" int two(void);\nint main() { std::printf("%d\\n", one() + two()); }\n',
    }.items():
        (source / name).write_text(text)
    build = caller.top / "own" / "build"
    launcher = ";".join([str(conftest.PROGRAM), "run"])
    configure = ["cmake", "-G", "Ninja", "-S", source, "-B", build, f"-DCMAKE_C_COMPILER_LAUNCHER={launcher}",
                 f"-DCMAKE_CXX_COMPILER_LAUNCHER={launcher}", f"-DCMAKE_C_LINKER_LAUNCHER={launcher}", f"-DCMAKE_CXX_LINKER_LAUNCHER={launcher}"]  # fmt: skip
    env = {"PATH": f"{Path(PYTHON).parent}:/usr/bin:/bin"}

    def make(fresh: bool) -> tuple[int, list[str]]:
        caller.run(*configure, fresh=fresh, **env)
        compiles.count()
        _, log = caller.run("ninja", "-C", build, "-j", "4", fresh=False, **env)
        assert "no work to do" in caller.run("ninja", "-C", build, fresh=False, **env)[0]
        return compiles.count(), log

    first = make(fresh=True)
    assert first[0] > 0
    second = make(fresh=True)
    assert second == (0, [])
    assert subprocess.run([build / "demo"], capture_output=True, check=True).stdout == b"4\n"
    (source / "h.h").write_text("#define H 2\n")
    _, log = make(fresh=False)
    missed = " ".join(re.findall(r"(\S+) \(\w+\): ", "\n".join(log)))  # the last word of each command
    assert "one.c" in missed.split(), log
    assert not {"two.c", "main.cpp"} & set(missed.split()), log
    assert subprocess.run([build / "demo"], capture_output=True, check=True).stdout == b"5\n"


PARTS = {
    "h.h": "#define H 1\n",
    "one.c": '#include "h.h"\nint one(void) { return H; }\n',
    "main.c": '#include <stdio.h>\nint one(void);\nint main(void) { return printf("%d\\n", one()) < 0; }\n',
}


@pytest.fixture
def builds(place: Any, compiles: Opens) -> Caller:
    """Where `jitcache` is in PATH, as builds name it, and nothing else of ours."""
    caller = Caller(place)
    (place.tools / "jitcache").symlink_to(conftest.PROGRAM)
    caller.env["PATH"] = f"{place.tools}:{Path(PYTHON).parent}:/usr/bin:/bin"
    del caller.env["JITCACHE_MAP"]
    return caller


def settings(build: str) -> dict[str, str]:
    """Return the variables that docs/launcher.md sets for a build."""
    page = (conftest.ROOT / "docs" / "launcher.md").read_text()
    (cell,) = re.findall(rf"^\| {re.escape(build)} \| (.+) \|$", page, re.MULTILINE)
    words = [word for span in re.findall(r"`([^`]+)`", cell) for word in shlex.split(span)]
    return dict(word.split("=", 1) for word in words if re.match(r"[A-Z_]+=", word))


def written(folder: Path, **files: str) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def test_cmake_in_another_build_folder(place: Any, builds: Caller, compiles: Opens) -> None:
    written(place.folder, **PARTS)
    (place.folder / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.16)\nproject(demo C)\nadd_library(parts one.c)\n"
        "add_executable(demo main.c)\ntarget_link_libraries(demo parts)\n"
    )
    page = settings("CMake, in another build folder each time")
    named = {name: value.replace("$PWD", str(place.folder)) for name, value in page.items()}
    ran = []
    for name, env in (("build-1", named), ("build-2", named), ("build-3", {})):
        launched = [f"-DCMAKE_C_{part}_LAUNCHER=jitcache" for part in ("COMPILER", "LINKER")]
        build = place.folder / name
        builds.run("cmake", "-G", "Ninja", "-S", place.folder, "-B", build, "-DCMAKE_BUILD_TYPE=Debug", *launched)
        compiles.count()
        builds.run("ninja", "-C", build, fresh=False, **env)
        ran.append(compiles.count())
        assert subprocess.run([build / "demo"], capture_output=True, check=True).stdout == b"1\n"
    assert ran[0] > 0 == ran[1]
    assert ran[2] > 0  # without the settings another folder is another result


def test_meson(place: Any, builds: Caller, compiles: Opens) -> None:
    written(place.folder, **PARTS)
    (place.folder / "meson.build").write_text(
        "project('demo', 'c')\nparts = static_library('parts', 'one.c')\nexecutable('demo', 'main.c', link_with: parts)\n"
    )
    build, ran = place.folder / "build", []
    for _ in range(2):
        shutil.rmtree(build, ignore_errors=True)
        builds.run(PYTHON, "-m", "mesonbuild.mesonmain", "setup", build, place.folder, **settings("meson"))
        compiles.count()
        builds.run("ninja", "-C", build, fresh=False)
        ran.append(compiles.count())
    assert ran[0] > 0 == ran[1]
    assert subprocess.run([build / "demo"], capture_output=True, check=True).stdout == b"1\n"


def test_setuptools(place: Any, builds: Caller, compiles: Opens) -> None:
    module = '#include <Python.h>\nstatic struct PyModuleDef m = {PyModuleDef_HEAD_INIT, "demo"};\n'
    written(
        place.folder,
        **{
            "setup.py": "from setuptools import Extension, setup\nsetup(name='demo', ext_modules=[Extension('demo', ['demo.c'])])\n",
            "demo.c": f"{module}PyMODINIT_FUNC PyInit_demo(void) {{ return PyModule_Create(&m); }}\n",
        },
    )
    ran = []
    for _ in range(2):
        command = f"cd {place.folder} && rm -rf build *.so && {PYTHON} setup.py -q build_ext --inplace"
        builds.run("sh", "-c", command, **settings("setuptools"))
        ran.append(compiles.count())
    assert ran[0] > 0 == ran[1]
    assert list(place.folder.glob("demo*.so"))


def test_local_action_of_bazel_has_few_variables_and_a_link_for_a_compiler(place: Any, compiles: Opens) -> None:
    """What Bazel runs; Bazel itself is in no registry that the tests may use."""
    links = place.folder.parent / "links"
    links.mkdir()
    (links / "gcc").symlink_to(conftest.PROGRAM)
    out = place.folder / "bazel-out" / "k8"
    ran = []
    for _ in range(2):
        shutil.rmtree(out, ignore_errors=True)
        written(place.folder, **PARTS, **{"bazel-out/k8/keep": ""})
        env = [
            "env",
            "-i",
            f"PATH={place.env['PATH']}",
            f"COMPILER_PATH={place.env['COMPILER_PATH']}",
            "PWD=/proc/self/cwd",
        ]
        flags = [
            "-MD",
            "-MF",
            "bazel-out/k8/one.d",
            "-frandom-seed=one",
            "-iquote",
            ".",
            "-c",
            "one.c",
            "-o",
            "bazel-out/k8/one.o",
        ]
        p = place.plain(*env, f"JITCACHE_DIR={place.cache}", links / "gcc", *flags)
        assert p.returncode == 0, p.stderr
        assert (out / "one.o").exists()
        ran.append(compiles.count())
    assert ran[0] > 0 == ran[1]


def toolchain() -> Path:
    """Return the folder of Rust's toolchain, without rustup's programs before it."""
    rustc = shutil.which("rustc") or str(Path.home() / ".cargo" / "bin" / "rustc")
    if not os.access(rustc, os.X_OK):
        pytest.skip("no rustc")
    p = subprocess.run([rustc, "--print", "sysroot"], capture_output=True, text=True, check=True)
    return Path(p.stdout.strip())


#: A crate that nothing needs first, one with a build script that needs it, one of macros, and a program that needs all.
CRATES = {
    "Cargo.toml": '[workspace]\nmembers = ["one", "two", "macros", "app"]\nresolver = "2"\n',
    "one/src/lib.rs": "pub fn one() -> u32 { 1 }\n",
    "two/src/lib.rs": "pub fn two() -> u32 { one::one() + 1 }\n",
    "two/build.rs": 'fn main() { println!("cargo:rerun-if-changed=build.rs"); }\n',
    "macros/src/lib.rs": '#[proc_macro] pub fn three(_: proc_macro::TokenStream) -> proc_macro::TokenStream { "3".parse().unwrap() }\n',
    "app/src/main.rs": 'fn main() { println!("{}", two::two() + macros::three!()); }\n',
}
NEEDED = {"one": "", "two": "[dependencies]\none.path = '../one'\n", "macros": "[lib]\nproc-macro = true\n"}
NEEDED["app"] = "[dependencies]\ntwo.path = '../two'\nmacros.path = '../macros'\n"


def test_cargo(place: Any, builds: Caller) -> None:
    """Also where the sources have other times, except for what loads macros, which may ask for them."""
    rust = toolchain()
    package = '[package]\nname = "{0}"\nversion = "0.1.0"\nedition = "2021"\n{1}'
    written(
        place.folder, **CRATES, **{f"{name}/Cargo.toml": package.format(name, more) for name, more in NEEDED.items()}
    )
    (driver,) = (rust / "lib").glob("librustc_driver-*.so")
    compiles = Opens(str(driver))
    page = settings("cargo")

    def build(**env: str) -> tuple[int, bytes]:
        shutil.rmtree(place.folder / "target", ignore_errors=True)
        compiles.count()
        command = f"cd {place.folder} && cargo build -q --offline"
        builds.run("sh", "-c", command, PATH=f"{place.tools}:{rust}/bin:/usr/bin:/bin", **env)
        return compiles.count(), place.plain("target/debug/app").stdout

    first, again = build(**page), build(**page)
    assert first[0] > 0 == again[0]
    assert first[1] == again[1] == b"5\n"
    for source in place.folder.glob("*/src/lib.rs"):
        os.utime(source, (1_000_000_000, 1_000_000_000))
    assert build(**page)[0] == 0
    os.utime(place.folder / "app/src/main.rs", (1_000_000_000, 1_000_000_000))
    assert build(**page)[0] > 0
    (place.folder / "one/src/lib.rs").write_text("pub fn one() -> u32 { 2 }\n")
    assert build(**page)[1] == b"6\n"
    assert build(RUSTC_WRAPPER="jitcache")[0] > 0
    compiles.close()
