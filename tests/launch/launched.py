"""Commands as the table and the walk run them: through the launcher, and beside it without."""

from __future__ import annotations

import ctypes
import hashlib
import os
import re
import shlex
import shutil
import stat
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import conftest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "tests" / "native")]  # the worlds of native's tables

from world import World

#: Compilers name temporary files where they complain of them.
INVENTED = re.compile(rb"/cc[A-Za-z0-9]{6}\b|-[0-9a-f]{6}\.o\b")


class Outcome(NamedTuple):
    """What a command comes to."""

    status: int
    out: bytes
    err: bytes
    files: dict[str, tuple[int, int, bytes]]  # by name: mode, how many names it has, and content or text


#: A longer content is compared by its digest: pytest took a quarter of an hour to show how two precompiled headers differ.
SHOWN = 4096


def content(file: Path) -> bytes:
    """Return what is in a file, or the digest of that if it is long."""
    data = file.read_bytes()
    if len(data) <= SHOWN:
        return data
    return b"%d bytes, BLAKE2b %s" % (len(data), hashlib.blake2b(data).hexdigest().encode())


def left(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """What there is in a folder."""
    found = {}
    for f in sorted(folder.rglob("*")):
        st = f.lstat()
        if stat.S_ISREG(st.st_mode):
            found[str(f.relative_to(folder))] = (st.st_mode, st.st_nlink, content(f))
        else:
            found[str(f.relative_to(folder))] = (st.st_mode, 0, os.fsencode(os.readlink(f)) if f.is_symlink() else b"")
    return found


class Names:
    """The names that appear in a folder: the kernel tells."""

    _CREATE, _MOVED_TO = 0x100, 0x80

    def __init__(self, folder: Path) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._fd = self._libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        assert self._libc.inotify_add_watch(self._fd, os.fsencode(folder), self._CREATE) >= 0

    def read(self) -> list[str]:
        """Return them, and stop to watch."""
        names = []
        try:
            data = os.read(self._fd, 1 << 16)
        except BlockingIOError:
            data = b""
        while data:
            _, _, _, size = struct.unpack_from("iIII", data)
            names.append(data[16 : 16 + size].rstrip(b"\0").decode())
            data = data[16 + size :]
        os.close(self._fd)
        return names


class Launched(World):
    """A world whose commands leave files in the folder out: as words, or as what native builds."""

    def __init__(self, folder: Path, compiler: str, cache: Path) -> None:
        super().__init__(folder, compiler)
        self.cache = cache
        self.words: list[str] = []
        self.out = folder / "out"
        self.out.mkdir()
        self.log = ""  # of the last launch

    def command(self) -> list[str]:
        """The words: those that were given, else a compile, and link, of what is asked."""
        if self.words:
            return self.words
        asked = self.asked
        sources = asked["sources"]
        if isinstance(sources, dict):
            for name, text in sources.items():
                path = self.folder / "sources" / name
                if not path.exists() or path.read_text() != text:
                    self.put(f"sources/{name}", text)
            sources = [self.folder / "sources" / name for name in sources]
        kind = ["-c"] if asked.get("kind") == "object" else ["-shared"]
        libraries = [f"-l{name}" for name in asked.get("libraries", ())]
        compiler = str(asked["compiler"])
        words = [
            *([compiler] if os.path.exists(compiler) else shlex.split(compiler)),
            "-O1",
            "-fPIC",
            *kind,
            *sources,
            *asked.get("flags", ()),
            *libraries,
        ]
        return [*map(str, words), "-o", f"{self.out}/f"]

    def _clear(self) -> None:
        for entry in self.out.iterdir():
            shutil.rmtree(entry) if entry.is_dir() and not entry.is_symlink() else entry.unlink()

    def _run(self, *before: Any, **env: str) -> Outcome:
        words = [str(w) for w in (*before, *self.command())]
        p = subprocess.run(
            words, env={**os.environ, **env}, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=300
        )
        said = [INVENTED.sub(b"/cc", text) for text in (p.stdout, p.stderr)]
        return Outcome(p.returncode, *said, left(self.out))

    def plain(self) -> Outcome:
        """Run it without the launcher, where nothing stands."""
        self._clear()
        return self._run()

    def over(self) -> Outcome:
        """Run it without the launcher, over what stands there."""
        return self._run()

    def launched(self) -> tuple[Outcome, bool, str]:
        """Run it through the launcher; return whether it was a replay, and why it is not kept."""
        self._clear()
        return self.again()

    def again(self) -> tuple[Outcome, bool, str]:
        """The same, over what stands there."""
        log = self.cache.with_name("log")
        log.unlink(missing_ok=True)
        names = Names(self.out)
        outcome = self._run(
            conftest.PROGRAM, "run", JITCACHE_DIR=str(self.cache), JITCACHE_LOG="miss", JITCACHE_LOG_FILE=str(log)
        )
        made = names.read()
        assert not [name for name in outcome.files if ".jitcache" in name]
        replayed = bool(made) and all(name.startswith(".jitcache-") or (self.out / name).is_dir() for name in made)
        self.log = log.read_text() if log.exists() else ""
        return outcome, replayed, "\n".join(line for line in self.log.splitlines() if "not stored" in line)
