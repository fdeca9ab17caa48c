"""Libraries that LD_PRELOAD puts into a compiler: known ones change nothing that it makes, and others are named."""

from __future__ import annotations

from typing import Any

import pytest
from conftest import PROGRAM, need


@pytest.mark.control("nopreloads", rows=["fakeroot", "stdbuf"])
@pytest.mark.parametrize("how", ["fakeroot", "stdbuf"])
def test_compile_under_a_known_library_is_kept(place: Any, gcc: str, how: str) -> None:
    """fakeroot answers by a process of its own, which is another one each time."""
    before = {"fakeroot": [need("fakeroot")], "stdbuf": [need("stdbuf"), "-oL"]}[how]
    place.write(a_c="int a;\n")
    said, made = [], []
    for _ in range(3):
        (place.folder / "a.o").unlink(missing_ok=True)
        p = place.plain(*before, PROGRAM, "run", "--json", gcc, "-c", "a.c")
        assert p.returncode == 0, p.stderr
        said.append(p.stderr.decode())
        made.append(place.read("a.o"))
    assert '"kept"' in said[0] and all('"hit"' in text for text in said[1:]), said
    assert len(set(made)) == 1
    place.write(a_c="int b;\n")
    assert place.plain(*before, PROGRAM, "run", gcc, "-c", "a.c").returncode == 0
    assert place.read("a.o") != made[0]


def test_script_under_fakeroot_is_not_kept(place: Any) -> None:
    """It may depend on the owners that fakeroot's process tells."""
    for _ in range(2):
        p = place.plain(need("fakeroot"), PROGRAM, "run", "--json", "sh", "-c", "ls -ln . >out; random out")
        assert p.returncode == 0
        assert '"hit"' not in p.stderr.decode()


def test_other_library_is_named_and_is_not_in_the_observer(place: Any, gcc: str) -> None:
    """In the observer it could wait for the command, which waits for the observer."""
    place.write(
        a_c="int a;\n",
        own_c="""#include <errno.h>
        #include <stdio.h>
        __attribute__((constructor)) static void loaded(void)
        {
            FILE *f = fopen(LOG, "a");
            fprintf(f, "%s\\n", program_invocation_short_name);
            fclose(f);
        }""",
    )
    log = place.folder / "loaded"
    build = [gcc, "-D_GNU_SOURCE", f'-DLOG="{log}"', "-shared", "-fPIC", "own.c", "-o", "libown.so"]
    assert place.plain(*build).returncode == 0
    why = place.why(gcc, "-c", "a.c", env={"LD_PRELOAD": str(place.folder / "libown.so")})
    assert "libown.so" in why
    loaded = log.read_text().split()
    assert {"gcc", "cc1", "as"} <= set(loaded)
    assert not [name for name in loaded if name.startswith("jitcache")]
