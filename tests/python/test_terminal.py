"""The command on a terminal: keys, Ctrl-C, and completion in shells."""

from __future__ import annotations

import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import jitcache
import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
ENV = {"PYTHONPATH": os.pathsep.join(sys.path), "TERM": "xterm"}


def on_terminal(*command: str, keys: bytes = b"", until: bytes = b"", env: dict[str, str]) -> tuple[bytes, int]:
    """Run a command on a terminal that it controls; once it has printed ``until``, type keys until it ends; return output and status."""
    pid, fd = pty.fork()
    if pid == 0:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.execvpe(command[0], command, env)
    text, ready = b"", False
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if not ready and keys and until in text:
            ready = True
            time.sleep(0.3)
        if ready:
            os.write(fd, keys)
        if not select.select([fd], [], [], 0.1)[0]:
            continue
        try:
            piece = os.read(fd, 65536)
        except OSError:
            break
        if not piece:
            break
        text += piece
    os.close(fd)
    _, status = os.waitpid(pid, 0)
    return text, os.waitstatus_to_exitcode(status)


COMMANDS = [
    ["stats"], ["ls"], ["show", "evil*"], ["path", "evil*"], ["export", "evil*", "/dev/null"], ["explain", "evil*"], ["rm", "none"], ["trim"],
    ["clear", "-kind", "none"], ["verify"], ["metrics"], ["top", "-n", "1"],
    ["evict", "-kind", "none"], ["remote", "push"], ["trust", "list"], ["config"], ["doctor"], ["dir"], ["version"], ["completion", "bash"],
    ["help"], ["--version"], ["ls", "--json"], ["report", "FOLDER/page.html"], ["init", "FOLDER/another"], ["sign", "-key", "FOLDER/secret"],
    ["trust", "new", "FOLDER/new"], ["trust", "add", "ed25519:x"], ["trust", "remove", "ed25519:x"], ["remote", "status"], ["remote", "flush"],
    ["remote", "ccache-link", "FOLDER"], ["bundle", "create", "FOLDER/new.jcb"], ["bundle", "add", "-unsigned", "FOLDER/made.jcb"],
    ["bundle", "list", "FOLDER/made.jcb"], ["bundle", "verify", "FOLDER/made.jcb"], ["run", "true"],
]  # fmt: skip

#: What top begins each view with: the cursor home, and nothing below.
VIEW = b"\x1b[H\x1b[J"

#: Those of which the answer is no, and wrong use.
STATUS = {"rm none": 1, "trust add": 2, "trust remove": 2, "remote status": 1, "remote push": 1, "bundle verify": 1}


def test_every_command_is_tried_on_a_terminal() -> None:
    tried = {" ".join(words[:n]) for words in COMMANDS for n in (1, 2)}
    waiting = [(name,) for name in described()[0]]
    while waiting:
        words = waiting.pop()
        below = described(*words)[0]
        waiting.extend((*words, name) for name in below)
        # a command that runs until it is stopped prints nothing
        assert below or " ".join(words) in tried or words == ("remote", "serve")


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_command_on_a_terminal_shows_no_escape_but_its_own(words: list[str], tmp_path: Path) -> None:
    name = "evil\x1b]0;owned\x07\x1b[2J"
    cache = jitcache.Cache(tmp_path / "cache")
    cache.put(jitcache.Key(n=1).named(name), b"code")
    cache.close()
    asked("-directory", str(tmp_path / "cache"), "bundle", "create", str(tmp_path / "made.jcb"))
    asked("trust", "new", str(tmp_path / "secret"))
    words = [name if w == "evil*" else w.replace("FOLDER", str(tmp_path)) for w in words]
    text, status = on_terminal(
        sys.executable,
        "-m",
        "jitcache",
        *words,
        env={**ENV, "JITCACHE_DIR": str(tmp_path / "cache"), "HOME": str(tmp_path)},
    )
    assert status == STATUS.get(" ".join(words[:2]), 0), text
    for own in (b"\x1b[0m", b"\x1b[1m", b"\x1b[31m", b"\x1b[33m", VIEW, b"\r\n"):
        text = text.replace(own, b"")
    assert b"\x1b" not in text
    assert b"\x07" not in text
    plain, _ = on_terminal(
        sys.executable,
        "-m",
        "jitcache",
        *words,
        env={**ENV, "JITCACHE_DIR": str(tmp_path / "cache"), "HOME": str(tmp_path), "NO_COLOR": "1"},
    )
    assert b"\x1b" not in plain.replace(VIEW, b"")


@pytest.mark.parametrize("name", ["verify", "trim", "ls", "stats"])
def test_ctrl_c_on_a_terminal_ends_it(name: str, tmp_path: Path) -> None:
    """Ctrl-C is typed, and the terminal sends the signal. The directory is intact afterwards."""
    cache = jitcache.Cache(tmp_path / "cache", memory_size=0)
    for n in range(200):
        cache.put(jitcache.Key(n=n), bytes(1 << 16))
    cache.close()
    # bash goes on if the command did not die of the signal.
    command = f"{ROOT / 'build/lib/jitcache'} -directory {tmp_path / 'cache'} {name} >/dev/null"
    began = time.monotonic()
    _, status = on_terminal(
        "bash", "-c", f"echo ready; while :; do {command}; done", keys=b"\x03", until=b"ready", env=ENV
    )
    assert status == -signal.SIGINT
    assert time.monotonic() - began < 20
    after = jitcache.Cache(tmp_path / "cache")
    assert after.verify()["bad"] == []
    assert len(after) == 200


ASKS = {
    "bash": ["bash", "--norc", "-c", """
        eval "$(jitcache completion bash)"
        ask() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _jitcache; printf '%s\\n' "${COMPREPLY[@]}"; }
        ask jitcache exp; ask jitcache show st; ask jitcache ls --so; ask jitcache show ax"""],
    "zsh": ["zsh", "-f", "-c", """
        compdef() { :; }; compadd() { print -l -- $found; }
        eval "$(jitcache completion zsh)"
        ask() { words=("$@"); CURRENT=$#; _jitcache; }
        ask jitcache exp; ask jitcache show st; ask jitcache ls --so; ask jitcache show ax"""],
    "fish": ["fish", "--no-config", "-c", """
        jitcache completion fish | source
        complete -C 'jitcache exp'; complete -C 'jitcache show st'; complete -C 'jitcache ls --so'
        complete -C 'jitcache show ax'"""],
}  # fmt: skip


@pytest.mark.parametrize("shell", ASKS)
def test_shell_completes_commands_names_and_flags(shell: str, tmp_path: Path) -> None:
    program = ROOT / "build" / "lib" / "jitcache"
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell}")
    cache = jitcache.Cache(tmp_path / "cache")
    cache.put(jitcache.Key(n=1).named("stokes residual"), b"code")
    cache.put(jitcache.Key(n=2).named("axpy<float[3]>"), b"code")
    cache.close()
    (tmp_path / "axpy<float3>").touch()  # a file that the name, taken as a pattern, matches
    env = {
        "PATH": f"{program.parent}:{os.environ['PATH']}",
        "JITCACHE_DIR": str(tmp_path / "cache"),
        "HOME": str(tmp_path),
        "TERM": "dumb",
    }
    p = subprocess.run(ASKS[shell], env=env, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    for want in ("explain", "export", "stokes", "--sort"):
        assert want in p.stdout, p.stdout + p.stderr
    assert "residual" in p.stdout
    words = p.stdout.replace("\\", "").splitlines()
    assert "axpy<float[3]>" in words, p.stdout + p.stderr
    assert ("axpy<float3>" in words) == (shell == "fish")  # fish offers files too
    assert "Traceback" not in p.stderr


def asked(*words: str, status: int = 0) -> str:
    """Return what the command prints."""
    p = subprocess.run(
        [str(ROOT / "build" / "lib" / "jitcache"), *words],
        env={"PATH": os.environ["PATH"]}, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert p.returncode == status, p.stderr
    return p.stdout


def described(*words: str) -> tuple[list[str], list[str]]:
    """Return the commands and the flags that the manual of a command lists."""
    text = asked("help", *words)
    commands = text.partition("\ncommands:\n")[2].partition("\n\n")[0]
    flags = text.partition("\nflags:\n")[2]
    return re.findall(r"^  ([\w-]+) +\S", commands, re.MULTILINE), re.findall(r"^  -([\w-]+)", flags, re.MULTILINE)


def test_shells_are_offered_each_command_and_each_flag_of_the_manuals() -> None:
    """Including those of bundles, which another program has."""
    seen, waiting = 0, [()]
    while waiting:
        words = waiting.pop()
        commands, flags = described(*words)
        assert "json" in flags, words
        if commands:
            offered = asked("complete", *words, "").splitlines()
            assert set(offered) == {*commands, *(() if words else ("help",))}, words
            assert asked("complete", "help", *words, "").splitlines() == [c for c in offered if c != "help"]
        offered = asked("complete", *words, "-").splitlines()
        assert set(offered) == {
            f"--{f}" for f in (*flags, *(f for n in range(len(words)) for f in described(*words[:n])[1]))
        }
        assert asked("complete", *words, "--json") == "--json\n"
        waiting.extend((*words, c) for c in commands)
        seen += 1
    assert seen > 30


def test_each_command_has_its_manual_by_a_flag(tmp_path: Path) -> None:
    for words in ((), ("ls",), ("run",), ("trust", "add"), ("remote", "flush"), ("bundle",), ("bundle", "create")):
        for flag in ("-h", "--help"):
            p = subprocess.run(
                [str(ROOT / "build" / "lib" / "jitcache"), *words, flag], env={"HOME": str(tmp_path)}, capture_output=True, text=True, timeout=60, check=False,
            )  # fmt: skip
            assert p.returncode == 0, (words, p.stderr)
            assert (p.stdout.strip(), p.stderr) == (asked("help", *words).strip(), "")
