"""More rows of commands: what a system call says beside contents and names."""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

from commands import becomes_a_link, row, words
from conftest import need
from launched import Launched

#: A time zone that no folder of zones has: its name is a path.
ZONE = b"TZif2" + bytes(15) + b"".join(n.to_bytes(4, "big") for n in (0, 0, 0, 0, 1, 4)) + bytes(6) + b"UTC\0"
ZONE += ZONE + b"\nUTC0\n"

OLD, LATE = 1_000_000_000, 1_500_000_000


@row
def type_of_a_name_that_a_script_lists(w: Launched, _: Any) -> Callable[[], Any]:
    """A listing says what is a folder: nobody has to ask."""
    w.put("in/a", "")
    script = "import os; print(sorted((e.name, e.is_dir()) for e in os.scandir('in')), file=open('out/all', 'w'))"
    words(w, "python3 -c", script)

    def change() -> None:
        (w.folder / "in" / "a").unlink()
        (w.folder / "in" / "a").mkdir()

    return change


@row
def permissions_of_a_folder_that_is_copied(w: Launched, _: Any) -> Callable[[], Any]:
    w.put("in/a", "1\n")
    (w.folder / "in").chmod(0o755)
    words(w, "sh -c", "cp -r in out && cp in/a out/b")
    return lambda: (w.folder / "in").chmod(0o700)


@row
def permissions_of_a_folder_that_is_open(w: Launched, _: Any) -> Callable[[], Any]:
    """It is asked for them by its descriptor, as the C library asks whether it is one."""
    w.put("in/a", "1\n")
    (w.folder / "in").chmod(0o755)
    words(w, "python3 -c", "import os; print(os.fstat(os.open('in', 0)).st_mode, file=open('out/mode', 'w'))")
    return lambda: (w.folder / "in").chmod(0o700)


@row
def folder_that_anybody_may_write(w: Launched, _: Any) -> Callable[[], Any]:
    """Whatever the umask says: a replay gives it the same permissions."""
    w.put("a", "1\n")
    words(w, "sh -c", "mkdir -p -m 1777 out/all && cp a out/b")
    return lambda: w.put("a", "2\n")


@row
def file_that_python_made_and_others_read(w: Launched, _: Any) -> Callable[[], Any]:
    w.put("m.py", "a = 1\n")
    made = "__pycache__/m.cpython-399.pyc"
    w.put(made, "\0" * 16 + "1\n")
    words(w, "sh -c", f"cat m.py {made} > out/all")
    return lambda: w.put(made, "\0" * 16 + "2\n")


@row
def time_of_a_source_of_python_that_is_not_imported(w: Launched, _: Any) -> Callable[[], Any]:
    source = w.put("m.py", "a = 1\n")
    os.utime(source, (OLD, OLD))
    words(w, "python3 -c", "import os; print(os.stat('m.py').st_mtime, file=open('out/time', 'w'))")
    return lambda: os.utime(source, (LATE, LATE))


@row
def another_name_of_a_file(w: Launched, _: Any) -> Callable[[], Any]:
    for name in ("a", "b"):
        w.put(name, "1\n")
    words(w, "sh -c", "test a -ef b && echo one > out/a || echo two > out/a")

    def change() -> None:
        (w.folder / "b").unlink()
        os.link(w.folder / "a", w.folder / "b")

    return change


@row
def file_that_is_made_for_a_moment(w: Launched, _: Any) -> Callable[[], Any]:
    """Who makes a lock finds out whether there was one."""
    script = "import os\ntry: os.close(os.open('lock', os.O_CREAT | os.O_EXCL)); os.unlink('lock'); held = 0\n"
    script += "except FileExistsError: held = 1\nprint(held, file=open('out/held', 'w'))"
    words(w, "python3 -c", script)
    return lambda: w.put("lock", "")


@row
def time_of_a_file_by_its_path_alone(w: Launched, _: Any) -> Callable[[], Any]:
    a = w.put("a", "1\n")
    os.utime(a, (OLD, OLD))
    script = "import os; print(os.fstat(os.open('a', os.O_PATH)).st_mtime, file=open('out/time', 'w'))"
    words(w, "python3 -c", script)
    return lambda: os.utime(a, (LATE, LATE))


def _date_in_a_zone(w: Launched, patch: Any, zone: str, folder: str = "") -> Callable[[], Any]:
    need("gcc")
    (w.folder / "zones").mkdir()
    (w.folder / "zones" / "own").write_bytes(ZONE)
    patch.setenv("TZ", zone)
    if folder:
        patch.setenv("TZDIR", folder)
    a = w.put("a.c", "const char *f(void) { return __TIMESTAMP__; }\n")
    os.utime(a, (OLD, OLD))
    words(w, "gcc -c a.c -o out/a.o")
    return lambda: os.utime(a, (LATE, LATE))


@row
def date_in_a_zone_that_is_a_path(w: Launched, patch: Any) -> Callable[[], Any]:
    return _date_in_a_zone(w, patch, f":{w.folder}/zones/own")


@row
def date_in_a_zone_of_a_folder(w: Launched, patch: Any) -> Callable[[], Any]:
    return _date_in_a_zone(w, patch, "own", f"{w.folder}/zones")


@row
def system_that_clang_compiles_for(w: Launched, patch: Any) -> Callable[[], Any]:
    w.put("a.c", "int f(void) { return 1; }\n")
    words(w, "clang --target=x86_64-apple-darwin -c a.c -o out/a.o")
    return lambda: patch.setenv("MACOSX_DEPLOYMENT_TARGET", "10.15")


@row
def headers_that_clang_prints(w: Launched, patch: Any) -> Callable[[], Any]:
    w.put("a.c", '#include "a.h"\n')
    w.put("a.h", "int a;\n")
    words(w, "clang -c a.c -o out/a.o")
    return lambda: patch.setenv("CC_PRINT_HEADERS", "1")


@row
def width_of_what_gcc_prints(w: Launched, patch: Any) -> Callable[[], Any]:
    words(w, "sh -c", "gcc --help=common > out/a")
    return lambda: patch.setenv("COLUMNS", "50")


# ---- what a file has beside all that


def _asked_of_a_file(w: Launched, ask: str, change: Callable[[int], Any]) -> Callable[[], Any]:
    """Where the file system has nothing of the kind, the content changes."""
    w.put("a", "1\n")
    script = f"import fcntl, os\nf = open('a')\ntold = {ask}\nprint(told, f.read(), file=open('out/told', 'w'))"
    words(w, "python3 -c", script)

    def changed() -> None:
        with (w.folder / "a").open("r+") as f:
            try:
                change(f.fileno())
            except OSError:
                f.write("2")

    return changed


def _attribute(fd: int) -> None:
    os.setxattr(fd, "user.told", b"1")


@row
def attribute_that_a_file_gets(w: Launched, _: Any) -> Callable[[], Any]:
    return _asked_of_a_file(w, "os.listxattr('a')", _attribute)


@row
def attribute_that_an_open_file_gets(w: Launched, _: Any) -> Callable[[], Any]:
    return _asked_of_a_file(w, "os.listxattr(f.fileno())", _attribute)


@row
def attribute_beside_another(w: Launched, _: Any) -> Callable[[], Any]:
    """It is asked for by its name, and not there."""
    script = "import os\ntry: told = os.getxattr('a', 'user.told')\nexcept OSError: told = b''\nprint(told, open('a').read(), file=open('out/told', 'w'))"
    changed = _asked_of_a_file(w, "", _attribute)
    w.words[-1] = script
    with contextlib.suppress(OSError):  # then there are none
        os.setxattr(w.folder / "a", "user.other", b"1")
    return changed


@row
def flags_of_a_file(w: Launched, _: Any) -> Callable[[], Any]:
    """It is not to be dumped, says chattr."""
    get, put, dumped = 0x80086601, 0x40086602, 0x40

    def undumped(fd: int) -> None:
        flags = int.from_bytes(fcntl.ioctl(fd, get, bytes(8)), "little") | dumped
        fcntl.ioctl(fd, put, flags.to_bytes(8, "little"))

    return _asked_of_a_file(w, f"fcntl.ioctl(f, {get}, bytes(8))[0]", undumped)


@row
def type_of_a_name_that_is_no_file(w: Launched, _: Any) -> Callable[[], Any]:
    """A listing tells pipes from sockets."""
    w.put(
        "list.c",
        """#include <dirent.h>
        #include <stdio.h>
        int main(void) {
            DIR *d = opendir("in");
            FILE *out = fopen("out/all", "w");
            for (struct dirent *e; (e = readdir(d)) != NULL;)
                if (e->d_name[0] != '.')
                    fprintf(out, "%s %d\\n", e->d_name, e->d_type);
            return fclose(out);
        }""",
    )
    w.run("gcc", "list.c", "-o", "list")
    (w.folder / "in").mkdir()
    os.mkfifo(w.folder / "in" / "a")
    words(w, "./list")

    def change() -> None:
        (w.folder / "in" / "a").unlink()
        with socket.socket(socket.AF_UNIX) as s:
            s.bind("in/a")

    return change


# ---- paths without links


@row
def script_that_asks_for_its_folder_without_links(w: Launched, _: Any) -> Callable[[], Any]:
    w.put("bin/gen", 'here=$(cd "$(dirname "$0")" && pwd -P)\necho "$here" > out/a\n', 0o755)
    words(w, "sh bin/gen")
    return lambda: becomes_a_link(w, "bin")


@row
def folder_in_which_a_compiler_starts(w: Launched, _: Any) -> Callable[[], Any]:
    w.put("bin/a.c", "int a;\n")
    words(w, f"env -C bin gcc -g -c a.c -o {w.out}/a.o")
    return lambda: becomes_a_link(w, "bin")


@row
def file_that_a_script_has_open(w: Launched, _: Any) -> Callable[[], Any]:
    w.put("bin/a", "")
    words(w, "sh -c", "exec 5< bin/a; readlink /proc/$$/fd/5 > out/a")
    return lambda: becomes_a_link(w, "bin")


# ---- what holds the times of what it was made from


@row
def time_in_a_precompiled_header_of_clang(w: Launched, _: Any) -> Callable[[], Any]:
    header = w.put("a.h", "int a;\n")
    os.utime(header, (10**9, 10**9))
    words(w, "clang -x c-header a.h -o out/a.pch")
    return lambda: os.utime(header, (10**9 + 9, 10**9 + 9))


@row
def time_of_an_object_for_apples_debugger(w: Launched, _: Any) -> Callable[[], Any]:
    linker = max(map(str, Path("/usr/lib").glob("llvm-*/bin/ld64.lld")), default="ld64.lld")
    w.put("a.c", "int main(void) { return 0; }\n")
    w.run(need("clang"), "--target=x86_64-apple-macos11", "-g", "-c", "a.c", "-o", "a.o")
    os.utime(w.folder / "a.o", (10**9, 10**9))
    words(w, f"{linker} -arch x86_64 -platform_version macos 11 11 -undefined dynamic_lookup a.o -o out/a")
    return lambda: os.utime(w.folder / "a.o", (10**9 + 9, 10**9 + 9))


# ---- what a program gets open


@row
def time_of_what_a_program_gets_open(w: Launched, _: Any) -> Callable[[], Any]:
    """gzip writes it, and asks for it by fstat. The shell that opens the file does not care."""
    os.utime(w.put("a", "text\n"), (10**9, 10**9))
    words(w, "sh -c", "gzip < a > out/a.gz")
    return lambda: os.utime(w.folder / "a", (10**9 + 9, 10**9 + 9))
