"""Output that is used as a file, or asked whether it is one, beside the same without the launcher."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from conftest import PROGRAM

#: What a command does to its output, as a script of Python.
SCRIPTS = {
    "place": "w(b'abcdef'); s(2, 0); w(b'X')",
    "end": "w(str(s(0, 2)).encode())",
    "shorter": "w(b'abcdef'); os.ftruncate(1, 2)",
    "elsewhere": "w(b'abcdef'); os.pwrite(1, b'X', 0)",
    "read": "w(b'abcdef'); os.write(2, os.pread(os.open('/dev/stdout', os.O_RDWR), 99, 0))",
    "opened anew": "w(b'one'); os.write(os.open('/dev/stdout', os.O_WRONLY | os.O_TRUNC), b'2'); w(b'three')",
    "opened to append": "w(b'one'); os.write(os.open('/dev/stdout', os.O_WRONLY | os.O_APPEND), b'2'); w(b'three')",
    "asked what it is": "w(str(os.stat('/dev/stdout').st_mode).encode())",
    "errors opened anew": "w(b'one'); os.write(2, b'two'); os.write(os.open('/dev/stderr', os.O_WRONLY | os.O_TRUNC), b'3'); w(b'4')",
    "by another descriptor": "os.write(2, b'one'); os.write(os.open('/dev/stdout', os.O_WRONLY), b'two')",
    "archive": "z = zipfile.ZipFile(sys.stdout.buffer, 'w'); z.writestr(zipfile.ZipInfo('a'), 'hello' * 99); z.close()",
    "beside the tracer's clock": "d = os.dup(1); s(0, 2); [os.write(d, b'%06d\\n' % i) for i in range(100_000)]",
    "much": "w(b'abcdef' * 500_000); s(3, 0); w(b'X' * 1000); s(0, 2); w(b'end')",
}

BEGIN = """import os, sys, zipfile
def do(f, *words):
    try: return f(1, *words)
    except OSError as e: os.write(2, e.strerror.encode())
def w(text): do(os.write, text)
def s(*words): return do(os.lseek, *words)
"""


TO = {"pipe": "| cat >", "file": ">", "added": ">>", "both": "2>&1 >>", "joined": "| cat >"}


def printed(place: Any, to: str, *words: Any) -> tuple[int, bytes, bytes]:
    """Run it between two others that print to the same."""
    redirect = TO[to]
    out = place.folder / "out"
    out.write_bytes(b"before\n")
    more = "2>&1" if to in ("both", "joined") else ""
    line = (
        f'{{ echo first; "$@" {more}; echo $?; echo last; }} {redirect.split()[-1] if to == "both" else redirect} out'
    )
    p = place.plain("sh", "-c", line, "sh", *words)
    return p.returncode, p.stderr, out.read_bytes()


#: Who reads from its own pipe waits for itself.
CASES = [(what, to) for what in SCRIPTS for to in TO if what != "read" or "cat" not in TO[to]]


@pytest.mark.parametrize(("what", "to"), CASES)
def test_output_is_what_it_stands_for(place: Any, what: str, to: str) -> None:
    words = ("python3", "-c", f"{BEGIN}{SCRIPTS[what]}")
    plain = printed(place, to, *words)
    for _ in range(3):
        assert printed(place, to, PROGRAM, "run", *words) == plain


def test_output_that_may_not_be_read_is_written_to_all_the_same(place: Any, tmp_path: Path) -> None:
    path = tmp_path / "out"
    words = ("python3", "-c", f"{BEGIN}{SCRIPTS['place']}")
    for before in ((), (PROGRAM, "run")):
        path.unlink(missing_ok=True)
        fd = os.open(path, os.O_WRONLY | os.O_CREAT, 0o200)
        place.plain(*before, *words, stdout=fd, capture_output=False)
        os.close(fd)
        path.chmod(0o600)
        assert path.read_bytes() == b"abXdef"
