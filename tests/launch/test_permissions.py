"""What somebody may do with files and folders decides outcomes: it is asked again, of whoever wants the result."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import conftest
import pytest
from conftest import need

#: Root may do almost anything.
NOBODY = 65534

#: One that everybody may run: that of the tests may stand in somebody's home.
PYTHON = next(iter(filter(os.path.exists, ("/usr/bin/python3", "/usr/local/bin/python3"))), sys.executable)
ASK = f"{PYTHON} -I -S -c"


class Own:
    """A folder, a cache and commands of a user who is not root."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "work"
        self.as_whom: dict[str, Any] = {}
        if os.geteuid() == 0:
            self.as_whom = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        # The user may not come to where it is built.
        self.program = folder / "jitcache"
        shutil.copy(conftest.PROGRAM, self.program)
        shutil.copy(conftest.PROGRAM.parent / "jitcache-observe", folder / "jitcache-observe")
        for path in (folder, self.folder, folder / "tmp"):
            path.mkdir(exist_ok=True)
            path.chmod(0o755)
            self.give(path)
        self.env = {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": str(folder),
            "JITCACHE_DIR": str(folder / "cache"),
            "TMPDIR": str(folder / "tmp"),
            "JITCACHE_LOG": "miss",
            "JITCACHE_LOG_FILE": str(folder / "log"),
        }
        self.log = folder / "log"

    def give(self, path: Path) -> None:
        if self.as_whom:
            os.chown(path, NOBODY, NOBODY)

    def plain(self, *words: Any, **more: Any) -> tuple[int, bytes]:
        given = {**self.as_whom, **more}
        p = subprocess.run(
            [str(w) for w in words], cwd=self.folder, env=self.env, stdin=subprocess.DEVNULL, capture_output=True,
            check=False, timeout=120, **given,
        )  # fmt: skip
        return p.returncode, p.stdout

    def run(self, *words: Any) -> tuple[tuple[int, bytes], bool]:
        """Launch a command; return what it comes to, and whether it was a hit."""
        self.log.unlink(missing_ok=True)
        outcome = self.plain(self.program, "run", *words)
        return outcome, not self.log.exists() or " miss" not in self.log.read_text()

    def make(self, name: str, mode: int) -> None:
        path = self.folder / name
        if name.startswith("file"):
            path.write_text("echo ran\n")
        elif not path.exists():
            path.mkdir()
        self.give(path)
        path.chmod(mode)


@pytest.fixture
def own() -> Iterator[Own]:
    folder = Path(tempfile.mkdtemp(prefix="jitcache-permissions-"))
    try:
        yield Own(folder)
    finally:
        shutil.rmtree(folder)


#: What is asked for or done, and of what: permissions before, and after.
ROWS: dict[str, tuple[str, str, int, int]] = {
    "folder that may be written, test": ("sh -c", "test -w d && echo yes || echo no", 0o755, 0o555),
    "folder that may be written, bash": ("bash -c", "test -w d && echo yes || echo no", 0o755, 0o555),
    "folder that may be written, access": (ASK, "import os; print(os.access('d', os.W_OK))", 0o755, 0o555),
    "folder that may not be written, access": (ASK, "import os; print(os.access('d', os.W_OK))", 0o555, 0o755),
    "folder that may not be listed, sh": ("sh -c", "echo d/*", 0o311, 0o755),
    "folder that may not be listed, bash": ("bash -c", "echo d/*", 0o311, 0o755),
    "folder that may be listed": ("sh -c", "echo d/*", 0o755, 0o311),
    "folder that may not be entered": ("sh -c", "cd d 2>/dev/null && echo yes || echo no", 0o644, 0o755),
    "folder that may be entered": ("sh -c", "cd d 2>/dev/null && echo yes || echo no", 0o755, 0o644),
    "file that may not be made": ("sh -c", "(echo x > d/f) 2>/dev/null || echo no", 0o555, 0o755),
    "folder that may not be made": ("sh -c", "mkdir d/f 2>/dev/null || echo no", 0o555, 0o755),
    "file that may not be removed": ("sh -c", "rm -f d/a 2>/dev/null || echo no", 0o555, 0o755),
    "file that may be made and removed": (
        "sh -c",
        "(echo x > d/f) 2>/dev/null && rm d/f && echo yes || echo no",
        0o755,
        0o555,
    ),
    "folder that may be made and removed": (
        "sh -c",
        "cd d; mkdir f 2>/dev/null && rmdir f && echo yes || echo no",
        0o755,
        0o555,
    ),
    "file that may not be changed": ("sh -c", "(echo x >> file) 2>/dev/null || echo no", 0o444, 0o644),
}


@pytest.mark.control("nopermits", rows=["folder that may be entered", "file that may be made and removed"])
@pytest.mark.parametrize("name", ROWS)
def test_change_of_permissions_is_noticed(own: Own, name: str) -> None:
    words, script, before, after = ROWS[name]
    line = [*words.split(), script]
    need(line[0])

    def set_up(mode: int) -> None:
        """Everything as it was, but for permissions."""
        shutil.rmtree(own.folder / "d", ignore_errors=True)
        own.make("d", 0o755)
        (own.folder / "d" / "a").write_text("")
        own.give(own.folder / "d" / "a")
        (own.folder / "d").chmod(mode)
        own.make("file", mode & 0o666)

    plain = {}
    for mode in (after, before):
        set_up(mode)
        plain[mode] = (own.plain(*line), sorted(p.name for p in (own.folder / "d").iterdir()))
    assert plain[before] != plain[after], "the row changes nothing, and proves nothing"
    set_up(before)
    for _ in range(2):
        assert own.run(*line)[0] == plain[before][0]
    (own.folder / "d").chmod(after)
    own.make("file", after & 0o666)
    assert (own.run(*line)[0], sorted(p.name for p in (own.folder / "d").iterdir())) == plain[after]


@pytest.mark.parametrize(
    ("script", "mode"), [("test -w file && echo yes || echo no", 0o644), ("./file 2>/dev/null || echo no", 0o744)]
)
@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_file_of_another_user_is_another_matter(own: Own, shell: str, script: str, mode: int) -> None:
    if os.geteuid() != 0:
        pytest.skip("nobody else may give a file away")
    need(shell)
    own.make("file", mode)
    before = own.run(shell, "-c", script)[0]
    assert own.run(shell, "-c", script) == (before, True)
    os.chown(own.folder / "file", 0, 0)
    assert own.run(shell, "-c", script)[0] == own.plain(shell, "-c", script) != before


@pytest.mark.parametrize("name", ["test -w d", "cd d", "echo d/*", "test -r file", "test -w file"])
def test_question_is_asked_and_nothing_more(own: Own, name: str) -> None:
    """When a file was modified does not count for who asks what may be done with it."""
    own.make("d", 0o755)
    own.make("file", 0o644)
    first = own.run("sh", "-c", name)[0]
    for what in ("d", "file"):
        os.utime(own.folder / what, (10**9, 10**9))
    assert own.run("sh", "-c", name) == (first, True)


@pytest.mark.skipif(os.geteuid() != 0, reason="nobody else is two users")
def test_what_root_has_made_serves_others_as_far_as_they_may(own: Own) -> None:
    own.make("d", 0o555)
    own.make("file", 0o644)
    os.chown(own.folder / "d", 0, 0)
    scripts = {"test -r file && cat file": True, "test -w d && echo yes || echo no": False}
    for script, serves in scripts.items():
        own.plain(own.program, "run", "sh", "-c", script, user=0, group=0)
        for path in (own.folder.parent / "cache").rglob("*"):
            own.give(path)
        own.give(own.folder.parent / "cache")
        outcome, hit = own.run("sh", "-c", script)
        assert outcome == own.plain("sh", "-c", script)
        assert hit == serves, script


def test_python_that_may_not_keep_what_it_makes_of_sources_is_kept(own: Own) -> None:
    own.make("d", 0o755)
    (own.folder / "d" / "m.py").write_text("print(1)\n")
    (own.folder / "d").chmod(0o555)
    line = [PYTHON, "-S", "-c", "import sys; sys.path[:0] = ['d']; import m"]
    assert own.run(*line) == ((0, b"1\n"), False)
    assert own.run(*line) == ((0, b"1\n"), True)


def test_size_of_a_file_that_cannot_be_read_is_asked_for_each_time(own: Own) -> None:
    """Its content is not seen, so nothing would tell that it is another."""
    path = own.folder / "u"
    path.write_text("one")
    path.chmod(0)
    own.give(path)
    words = (PYTHON, "-I", "-S", "-c", "import os\nprint(os.stat('u').st_size)\ntry: open('u')\nexcept OSError: pass")
    assert own.run(*words)[0] == own.run(*words)[0] == (0, b"3\n")
    path.chmod(0o600)
    path.write_text("three")
    path.chmod(0)
    assert own.run(*words)[0] == own.plain(*words) == (0, b"5\n")


def default_list(mask: int) -> bytes:
    """A default access list by which the group of daemon may do what the mask says (acl(5), posix_acl_xattr.h)."""
    nobody = 0xFFFFFFFF
    entries = [(0x01, 7, nobody), (0x04, 5, nobody), (0x08, 7, 1), (0x10, mask, nobody), (0x20, 0, nobody)]
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *e) for e in entries)


@pytest.mark.control("nogiven")
def test_permissions_that_a_folder_gives_to_what_is_made_in_it(own: Own) -> None:
    """A default access list takes the place of the umask."""
    own.make("d", 0o755)
    place, made = own.folder / "d", own.folder / "d" / "f"
    words = ("sh", "-c", "echo x > d/f")

    def fresh() -> int:
        made.unlink(missing_ok=True)
        own.plain(*words)
        mode = made.stat().st_mode
        made.unlink()
        return mode

    def launched() -> tuple[int, bool]:
        made.unlink(missing_ok=True)
        _, hit = own.run(*words)
        return made.stat().st_mode, hit

    before = fresh()
    assert [launched(), launched()] == [(before, False), (before, True)]
    for mask in (7, 5):
        try:
            os.setxattr(place, "system.posix_acl_default", default_list(mask))
        except OSError as e:
            pytest.skip(f"no access lists here: {e}")
        want = fresh()
        assert want != before
        assert [launched(), launched()] == [(want, False), (want, True)]
        before = want
    os.removexattr(place, "system.posix_acl_default")
    assert launched()[0] == fresh()
