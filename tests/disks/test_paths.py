"""How files of a cache are reached: what the kernel is asked, as strace sees it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from member import ROOT

pytestmark = pytest.mark.strace

#: Everything that the library does with a directory.
CALLS = """
import sys, jitcache
root = sys.argv[1]
def key(n): return jitcache.Key(n=n).named(f"entry {n}")
for memory in ("0", "1Mi"):
    cache = jitcache.Cache(root, memory_size=memory, durable=memory == "0", max_size=100_000)
    for n in range(5):
        cache.get_or_compile(key(n), lambda: b"\\x7fELF" + bytes(30_000))
        cache.put(key(n), b"\\x7fELF" + bytes(40_000), replace=True)
        cache.get(key(n)), cache.explain(key(n)), cache.explain(jitcache.Key(other=n).named(f"entry {n}"))
        entry = cache.entry(key(n))
        entry.path, entry.close()
    cache.remove(key(4)), list(cache.entries()), len(cache), cache.stats(), cache.flush()
    cache.trim(), cache.verify(), cache.clear("cubin"), cache.clear(), cache.put(key(1), b"x"), cache.close()
"""
COMMANDS = [
    ["stats"],
    ["ls"],
    ["ls", "-last", "3"],
    ["doctor"],
    ["config"],
    ["config", "max-size", "1G"],
    ["trim"],
    ["verify"],
    ["stats", "-zero"],
    ["clear"],
]

#: Calls that follow no link at the end of a path, and those that must be told not to.
NEVER = {"unlinkat", "renameat", "renameat2", "mkdirat", "linkat", "readlinkat", "symlinkat", "mknodat"}
TOLD = {"openat": "O_NOFOLLOW", "newfstatat": "AT_SYMLINK_NOFOLLOW", "statx": "AT_SYMLINK_NOFOLLOW"}


def calls_of(text: str) -> list[str]:
    """The lines of strace, those in one that another process comes between."""
    calls: list[str] = []
    begun: dict[str, str] = {}
    for line in text.splitlines():
        process, _, rest = line.partition(" ")
        if line.endswith(" <unfinished ...>"):
            begun[process] = line.removesuffix(" <unfinished ...>")
        elif (resumed := re.match(r" *<\.\.\. \w+ resumed>(.*)", rest)) and process in begun:
            calls.append(begun.pop(process) + resumed[1])
        else:
            calls.append(line)
    return [*calls, *begun.values()]


def test_call_that_another_process_comes_between_is_one() -> None:
    text = (
        '1  newfstatat(4</r/v1>, "a",  <unfinished ...>\n'
        '2  openat(AT_FDCWD, "/x", O_RDONLY) = 3\n'
        "1  <... newfstatat resumed>0x7f, AT_SYMLINK_NOFOLLOW) = 0\n"
        '1  newfstatat(4</r/v1>, "b", 0x7f, 0 <unfinished ...>'
    )
    assert [follows(call, "/r") for call in calls_of(text)] == [False, False, True]


def follows(line: str, root: str) -> bool:
    """Whether a call may reach what is below the root through a link."""
    call = re.match(r"(?:\d+ +)?(\w+)\((.*)", line)
    if call is None or call[1] == "execve":
        return False
    name, arguments = call[1], call[2]
    if f'"{root}/' in arguments:
        return not (name == "openat2" and "RESOLVE_NO_SYMLINKS" in arguments)
    for path in re.findall(rf'<{re.escape(root)}[^>]*>, "([^"]*)"', arguments):
        if path in ("", ".") or name == "openat2":
            continue
        if "/" in path or (name not in NEVER and TOLD.get(name, "?") not in arguments):
            return True
    return False


@pytest.mark.control("follow", rows=["openat2"])
@pytest.mark.parametrize("inject", [[], ["-e", "inject=openat2:error=ENOSYS"]], ids=["openat2", "an old kernel"])
def test_no_call_goes_through_a_link_below_the_root(tmp_path: Path, inject: list[str]) -> None:
    root, log, seen = tmp_path / "cache", tmp_path / "log", 0
    env = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "TMPDIR": str(tmp_path)}
    for command in [["-c", CALLS, str(root)], *(["-m", "jitcache", "-directory", str(root), *c] for c in COMMANDS)]:
        strace = ["strace", "-f", "-y", "-s", "500", "-e", "trace=%file", *inject, "-o", str(log)]
        p = subprocess.run([*strace, sys.executable, *command], env=env, capture_output=True, text=True, timeout=120)
        assert p.returncode == 0, f"{command}: {p.stdout}{p.stderr}"
        lines = [line for line in calls_of(log.read_text(errors="replace")) if str(root) in line]
        seen += len(lines)
        wrong = [line for line in lines if follows(line, str(root))]
        assert not wrong, f"{command}: {len(wrong)} calls, the first {wrong[0]}"
    assert seen > 3000


def test_init_gives_group_and_mode_to_what_it_has_looked_at(tmp_path: Path) -> None:
    """The path may lead elsewhere by then."""
    root, log = tmp_path / "cache", tmp_path / "log"
    env = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    init = ["-m", "jitcache", "init", "-shared", "-group", str(os.getgid()), str(root)]
    strace = ["strace", "-f", "-e", "trace=/ch(mod|own)", "-o", str(log)]
    subprocess.run([*strace, sys.executable, *init], env=env, check=True, capture_output=True, timeout=60)
    calls = re.findall(r"\w*ch(?:mod|own)\w*\(.*", log.read_text())
    assert len(calls) >= 2
    assert [call for call in calls if not call.startswith(("fchmod(", "fchown("))] == []
