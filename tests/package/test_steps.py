"""What takes long says so: on a terminal and elsewhere, with the time that it takes."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from samples import ROOT

import build_steps

STEP = [sys.executable, str(ROOT / "build_steps.py"), "building it"]


def on_terminal(*command: str) -> tuple[str, int]:
    """Run a command whose standard error is a terminal; return what that was sent, and the status."""
    own, its = pty.openpty()
    p = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=its)
    os.close(its)
    text = b""
    while True:
        try:
            piece = os.read(own, 65536)
        except OSError:  # all have closed it
            break
        text += piece
    os.close(own)
    p.communicate()
    return text.decode(), p.returncode


def test_on_a_terminal_a_step_is_one_line_that_is_written_anew() -> None:
    text, status = on_terminal(*STEP, "sleep", "2.3")
    assert status == 0
    *drawn, last = text.replace("\r\n", "\n").split("\r")[1:]
    assert drawn[0] == "building it 0 s\x1b[K"
    assert "building it 1 s\x1b[K" in drawn
    assert re.fullmatch(r"building it \d+ s\x1b\[K\n", last)
    assert text.count("\n") == 1


def test_elsewhere_a_step_is_plain_lines(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(build_steps, "_shown", True)
    monkeypatch.setattr(build_steps, "REPEATED", 1.1)
    with build_steps.step("building it"):
        time.sleep(1.6)
    begin, *again = capsys.readouterr().err.splitlines()
    assert begin == "building it"
    assert again[0] == "building it 1 s"
    assert build_steps.REPEATED <= 10


def test_steps_of_a_program_that_has_not_asked_are_silent(capsys: pytest.CaptureFixture[str]) -> None:
    with build_steps.step("building it"):
        pass
    assert capsys.readouterr() == ("", "")


def test_command_of_a_step_keeps_its_output_and_its_status() -> None:
    p = subprocess.run([*STEP, "sh", "-c", "echo said; exit 3"], capture_output=True, text=True)
    assert (p.returncode, p.stdout, p.stderr) == (3, "said\n", "building it\n")


def test_step_that_fails_ends_its_line(tmp_path: Path) -> None:
    program = "import build_steps\nbuild_steps.show()\nwith build_steps.step('building it'):\n    raise SystemExit(1)\n"
    text, status = on_terminal(sys.executable, "-c", f"import sys\nsys.path.insert(0, {str(ROOT)!r})\n{program}")
    assert status == 1
    assert text.endswith("\x1b[K\r\n")


def test_build_tells_of_every_part(tmp_path: Path) -> None:
    """A build of what is built already: seconds, in which each part is named."""
    text, status = on_terminal(sys.executable, str(ROOT / "build_library.py"), "--output", str(tmp_path / "lib"))
    assert status == 0, text
    for part in (
        "libjitcache.so, jitcache, jitcache-bundle, jitcache-storage by go",
        "jitcache-observe",
        "jitcache-nvrtc",
    ):
        assert f"building {part}" in text


def test_every_step_of_make_that_installs_is_told() -> None:
    """pip is quiet, and takes as long as the network does."""
    lines = (ROOT / "Makefile").read_text().splitlines()
    installs = [line for line in lines if "$(PIP)" in line or "pip install" in line]
    assert [line for line in installs if "$(STEP)" not in line and not line.startswith("PIP :=")] == []
