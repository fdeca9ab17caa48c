"""What is replayed is what a run leaves: contents, modes, order, output, status."""

from __future__ import annotations

import os
import shutil
import stat
import time
from pathlib import Path
from typing import Any

import pytest


def test_second_process_replays(place: Any) -> None:
    first = place.run("random", "out")
    kept = place.read("out")
    (place.folder / "out").unlink()
    second = place.run("random", "out")
    assert (first.returncode, second.returncode) == (0, 0)
    assert second.stdout == first.stdout == kept == place.read("out")


def test_the_witness_is_one(place: Any) -> None:
    assert place.plain("random", "out").stdout != place.plain("random", "out").stdout


def test_output_over_an_older_one(place: Any) -> None:
    place.run("random", "out")
    again = place.run("random", "out")  # something stands there now
    third = place.run("random", "out")
    place.write(out_="else")
    assert again.stdout == third.stdout == place.read("out")


def test_compile_leaves_the_same_object(place: Any, gcc: str) -> None:
    place.write(a_c="int f(int x) { return x + 1; }\n")
    command = [gcc, "-O1", "-flto", "-c", "a.c", "-o", "a.o"]  # a random number is in the object
    place.run(*command)
    kept = place.read("a.o")
    (place.folder / "a.o").unlink()
    place.run(*command)
    assert place.read("a.o") == kept
    place.plain(*command)
    assert place.read("a.o") != kept


def test_compile_and_link_in_one_call(place: Any, gcc: str) -> None:
    place.write(a_c="#include <math.h>\ndouble f(double x) { return sqrt(x); }\n")
    command = [
        gcc,
        "-flto",
        "-ffat-lto-objects",
        "-g",
        "-shared",
        "-fPIC",
        "a.c",
        "-o",
        "liba.so",
        "-lm",
        "-Wl,--build-id=uuid",
    ]
    place.run(*command)
    kept = place.read("liba.so")
    (place.folder / "liba.so").unlink()
    place.run(*command)
    assert place.read("liba.so") == kept
    assert os.access(place.folder / "liba.so", os.X_OK)


def test_edits_are_noticed_and_taken_back(place: Any, gcc: str) -> None:
    place.write(a_c='#include "a.h"\nint main(void) { return A; }\n', a_h="#define A 3\n")
    command = [gcc, "-flto", "a.c", "-o", "a"]
    place.run(*command)
    kept = place.read("a")
    assert place.plain("./a").returncode == 3
    place.write(a_h="#define A 4\n")
    place.run(*command)
    assert place.plain("./a").returncode == 4
    place.write(a_h="#define A 3\n")
    place.run(*command)
    assert place.plain("./a").returncode == 3
    assert place.read("a") == kept


def test_times_are_fresh_and_in_order(place: Any) -> None:
    script = place.tool("both", "#!/bin/sh\nod -A n -N 9 /dev/urandom > second; sleep 0.01; echo x > first\n")
    place.run(script)
    kept = place.read("second")
    for name in ("first", "second"):
        (place.folder / name).unlink()
    before = time.time()
    time.sleep(0.02)
    place.run(script)
    times = [os.stat(place.folder / name).st_mtime for name in ("second", "first")]
    assert place.read("second") == kept
    assert before < times[0] <= times[1]


@pytest.mark.parametrize("mode", ["444", "600", "755"])
def test_modes(place: Any, mode: str) -> None:
    script = place.tool("makes", f"#!/bin/sh\nrandom out >/dev/null; chmod {mode} out\n")
    place.run(script)
    kept = place.read("out")
    (place.folder / "out").unlink()
    place.run(script)
    assert (place.read("out"), oct(stat.S_IMODE(os.stat(place.folder / "out").st_mode))) == (kept, f"0o{mode}")


def test_umask_is_another_command(place: Any) -> None:
    place.run("random", "out")
    (place.folder / "out").unlink()
    place.run("random", "out", umask=0o077)
    assert stat.S_IMODE(os.stat(place.folder / "out").st_mode) == 0o600


def test_folders_links_and_second_names(place: Any) -> None:
    script = place.tool("tree", "#!/bin/sh\nmkdir -p d/e && random d/e/f && ln -s e/f d/l && ln d/e/f d/g\n")
    place.run(script)
    kept = place.read("d/e/f")
    place.plain("rm", "-r", "d")
    place.run(script)
    assert place.read("d/e/f") == kept
    assert os.readlink(place.folder / "d/l") == "e/f"
    assert os.stat(place.folder / "d/g").st_ino == os.stat(place.folder / "d/e/f").st_ino


def test_both_streams_in_their_order(place: Any) -> None:
    script = place.tool("talks", "#!/bin/sh\nod -A n -N 4 -t x4 /dev/urandom; echo b >&2; echo c; echo d >&2\n")
    both = place.folder / "both"

    def said() -> bytes:
        with both.open("wb") as f:
            place.run(script, stdout=f, stderr=f, capture_output=False)
        return both.read_bytes()

    first = said()
    assert first.split()[1:] == [b"b", b"c", b"d"]
    assert said() == first


def test_binary_output_and_much_of_it(place: Any) -> None:
    script = place.tool("much", "#!/bin/sh\nhead -c 3000000 /dev/urandom\n")
    assert place.run(script).stdout == place.run(script).stdout


def test_warnings_are_said_again(place: Any, gcc: str) -> None:
    place.write(a_c="int f(void) { int unused; }\n")
    said = [place.run(gcc, "-Wall", "-c", "a.c").stderr for _ in range(2)]
    assert said[0] == said[1]
    assert b"unused" in said[0]


def test_failures_are_not_kept(place: Any, gcc: str) -> None:
    place.write(a_c="int f(void) { return }\n")
    said = [place.run(gcc, "-c", "a.c") for _ in range(2)]
    assert [p.returncode for p in said] == [1, 1]
    script = place.tool("fails", "#!/bin/sh\nrandom\nexit 3\n")
    said = [place.run(script) for _ in range(2)]
    assert [p.returncode for p in said] == [3, 3]
    assert said[0].stdout != said[1].stdout


def test_nothing_stands_half(place: Any) -> None:
    """An output that cannot be put in place: the command runs, and says so itself."""
    place.tool("makes", "#!/bin/sh\nset -e; mkdir -p d; echo x > d/out; random one\n")
    place.run("makes")
    for name in ("one", "d/out"):
        (place.folder / name).unlink()
    (place.folder / "d").rmdir()
    (place.folder / "d").write_text("in the way")
    p = place.run("makes")
    assert p.returncode != 0
    assert place.leftovers() == []


@pytest.mark.control("nolooks")
def test_link_that_stands_in_the_outputs_place_is_written_through(place: Any) -> None:
    place.run("random", "out")
    place.run("random", "out")
    out, other = place.folder / "out", place.folder / "other"
    out.unlink()
    other.write_text("else")
    out.symlink_to("other")
    place.run("random", "out")
    assert out.is_symlink()
    assert other.read_bytes() != b"else"


def test_output_that_has_another_name(place: Any) -> None:
    """The command writes into the file that stands there, whatever else it is called: so it has to be run."""
    place.run("random", "out")
    place.run("random", "out")
    os.link(place.folder / "out", place.folder / "other")
    (place.folder / "other").write_text("else")
    place.run("random", "out")
    assert place.read("other") == place.read("out") != b"else"


@pytest.mark.control("noadded")
def test_notes_that_a_compiler_adds_to(place: Any, gcc: str) -> None:
    """gcc writes the notes behind those that stand there."""
    place.write(a_c="int f(int *a, int n) { int s = 0; while (n--) s += a[n]; return s; }\n")
    command = [gcc, "-O2", "-fopt-info-all=notes", "-c", "a.c"]
    place.plain(*command)
    one = place.read("notes")
    (place.folder / "notes").unlink()
    place.run(*command)
    assert place.read("notes") == one
    place.run(*command)
    added = place.read("notes")
    assert added.startswith(one) and added != one
    (place.folder / "notes").unlink()
    before = place.plain(*command)
    (place.folder / "notes").unlink()
    assert place.run(*command).stderr == before.stderr
    assert place.read("notes") == one


def test_ninjas_dependencies_are_written(place: Any, gcc: str) -> None:
    place.write(a_c='#include "a.h"\nint f(void) { return A; }\n', a_h="#define A 3\n")
    command = [gcc, "-flto", "-MD", "-MF", "a.d", "-c", "a.c", "-o", "a.o"]
    place.run(*command)
    kept = [place.read(n) for n in ("a.o", "a.d")]
    for name in ("a.o", "a.d"):
        (place.folder / name).unlink()
    place.run(*command)
    assert [place.read(n) for n in ("a.o", "a.d")] == kept


def test_the_environment_counts(place: Any, gcc: str) -> None:
    place.write(a_c="#include <extra.h>\nint main(void) { return E; }\n")
    for n in (5, 6):
        (place.folder / f"i{n}").mkdir()
        (place.folder / f"i{n}" / "extra.h").write_text(f"#define E {n}\n")
    for n in (5, 6, 5):
        place.run(gcc, "a.c", "-o", "a", env={"CPATH": str(place.folder / f"i{n}")})
        assert place.plain("./a").returncode == n


def test_wrapper_that_obeys_any_variable(place: Any) -> None:
    script = place.tool("wraps", '#!/bin/sh\nrandom; echo "$SITE"\n')
    first, other, again = (place.run(script, env={"SITE": s}).stdout for s in ("a", "b", "a"))
    assert first != other
    assert again == first


def test_wrapper_over_its_older_output(place: Any, gcc: str) -> None:
    """It is the compiler that looks at the output, and compilers pass over what they find."""
    script = place.tool("wraps", f'#!/bin/sh\nexec {gcc} -flto "$@"\n')  # a random number is in the object
    place.write(a_c="int f(void) { return 1; }\n", a_o="older")
    kept = []
    for _ in range(2):
        assert place.run(script, "-c", "a.c", "-o", "a.o").returncode == 0
        kept.append(place.read("a.o"))
    assert kept[0] == kept[1]
    place.plain("touch", "a.o")
    place.run(script, "-c", "a.c", "-o", "a.o")
    assert place.read("a.o") == kept[0]


def test_wrapper_that_looks_at_its_older_output(place: Any, gcc: str) -> None:
    script = place.tool("wraps", f"#!/bin/sh\n[ a.o -nt a.c ] && exit\nexec {gcc} -flto -c a.c -o a.o\n")
    place.write(a_c="int f(void) { return 1; }\n", a_o="older")
    os.utime(place.folder / "a.o", (10**9, 10**9))
    assert place.run(script).returncode == 0
    kept = place.read("a.o")
    (place.folder / "a.c").write_text("int f(void) { return 2; }\n")
    os.utime(place.folder / "a.c", (10**9, 10**9))
    assert place.run(script).returncode == 0
    assert place.read("a.o") == kept


def test_programs_that_appear_earlier(place: Any) -> None:
    place.tool("top", "#!/bin/sh\nwork\n")
    later = place.folder.parent / "later"
    later.mkdir()
    (later / "work").write_text("#!/bin/sh\nrandom; echo later\n")
    (later / "work").chmod(0o755)
    env = {"PATH": f"{place.env['PATH']}:{later}"}
    first, second = (place.run("top", env=env).stdout for _ in range(2))
    assert first == second
    place.tool("work", "#!/bin/sh\nrandom; echo earlier\n")
    assert place.run("top", env=env).stdout.endswith(b"earlier\n")


def test_another_folder_is_another_command(place: Any) -> None:
    script = place.tool("where", "#!/bin/sh\nrandom; pwd\n")
    (place.folder / "sub").mkdir()
    first = place.run(script).stdout
    below = place.run(script, cwd=place.folder / "sub").stdout
    assert below.endswith(b"/sub\n")
    assert place.run(script).stdout == first


def test_compile_with_the_folder_in_it(place: Any, gcc: str) -> None:
    """-g writes the folder into the object: two folders, two objects."""
    objects = []
    for name in ("one", "two"):
        (place.folder / name).mkdir()
        (place.folder / name / "a.c").write_text("int f(void) { return 1; }\n")
        place.run(gcc, "-g", "-c", "a.c", "-o", "a.o", cwd=place.folder / name)
        objects.append(place.read(f"{name}/a.o"))
    assert b"/two" in objects[1]
    assert b"/one" not in objects[1]


def test_path_of_the_source(place: Any, gcc: str) -> None:
    """__FILE__ of an absolute name."""
    for name in ("one", "two"):
        (place.folder / name).mkdir()
        path = place.folder / name / "a.c"
        path.write_text("#include <stdio.h>\nint main(void) { puts(__FILE__); }\n")
        place.run(gcc, path, "-o", "a")
        assert place.plain("./a").stdout == f"{path}\n".encode()


def test_a_program_of_its_own(place: Any, gcc: str) -> None:
    """Nobody knows it: a code generator that reads, writes, and prints."""
    place.write(
        gen_c='#include <stdio.h>\n#include <stdlib.h>\nint main(void) { FILE *i = fopen("in", "r"), *r = fopen("/dev/urandom", "r"), *o = fopen("out", "w"); fprintf(o, "%c%d", fgetc(i), fgetc(r) * 65536 + fgetc(r) * 256 + fgetc(r)); return fclose(o); }\n'
    )
    assert place.plain(gcc, "gen.c", "-o", "gen").returncode == 0
    (place.folder / "in").write_text("a")
    place.run("./gen")
    kept = place.read("out")
    (place.folder / "out").unlink()
    place.run("./gen")
    assert place.read("out") == kept
    (place.folder / "in").write_text("b")
    place.run("./gen")
    assert place.read("out") != kept


def test_names_in_a_folder_that_is_made(place: Any) -> None:
    """They were looked for before there was the folder."""
    script = place.tool("makes", "#!/bin/sh\n[ -e d/x ] || [ -e d/y ]\nmkdir d && random d/x\n")
    said = []
    for _ in range(2):
        said.append((place.run(script).stdout, place.read("d/x")))
        shutil.rmtree(place.folder / "d")
    assert said[0] == said[1]
    (place.folder / "d").mkdir()
    assert b"exist" in place.run(script).stderr


def test_link_with_a_library_by_its_name(place: Any, gcc: str) -> None:
    """It is read and not loaded, so the compiler is still known, and passes over the objects' times."""
    place.write(f_c="int f(void) { return 7; }\n", a_c="int f(void);\nint main(void) { return f(); }\n")
    assert place.plain(gcc, "-shared", "-fPIC", "f.c", "-o", "libf.so").returncode == 0
    link = [gcc, "-Wl,--build-id=uuid", "a.o", "libf.so", "-o", "a"]
    kept = []
    for _ in range(2):
        assert place.plain(gcc, "-c", "a.c", "-o", "a.o").returncode == 0
        place.run(*link)
        kept.append(place.read("a"))
        (place.folder / "a").unlink()
    assert kept[0] == kept[1]


def test_fortran_assembler_archiver_and_linker(place: Any, gcc: str) -> None:
    place.write(a_c="int f(void) { return 7; }\nint main(void) { return f(); }\n")
    place.plain(gcc, "-S", "a.c", "-o", "a.s")
    assert place.run("as", "a.s", "-o", "a.o").returncode == 0
    assert place.run(gcc, "-Wl,--build-id=uuid", "a.o", "-o", "a").returncode == 0
    kept = place.read("a")
    (place.folder / "a").unlink()
    assert place.run(gcc, "-Wl,--build-id=uuid", "a.o", "-o", "a").returncode == 0
    assert place.read("a") == kept
    assert place.plain("./a").returncode == 7


@pytest.mark.parametrize(
    "words", [["--version"], ["-dumpversion"], ["-print-file-name=libc.so"], ["-v"], ["-E", "-P", "a.h"], ["-M", "a.h"]]
)
def test_probes_say_the_same(place: Any, gcc: str, words: list[str]) -> None:
    place.write(a_h="#define A 1\nA\n")
    plain = place.plain(gcc, *words)
    for _ in range(2):
        p = place.run(gcc, *words)
        assert (p.returncode, p.stdout, p.stderr) == (plain.returncode, plain.stdout, plain.stderr)


def test_files_beside_are_left_alone(place: Any) -> None:
    place.run("random", "out")
    (place.folder / "out").unlink()
    before = sorted(os.listdir(place.folder))
    place.run("random", "out")
    assert sorted(os.listdir(place.folder)) == sorted([*before, "out"])
    assert Path(place.folder / "out").stat().st_uid == os.geteuid()
