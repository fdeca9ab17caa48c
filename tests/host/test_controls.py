"""The controls of the front are those of capi/controls.h, and each is run."""

from __future__ import annotations

import re
import subprocess

import builds
import programs
import pytest

LIST = (programs.ROOT / "capi" / "controls.h").read_text()
NAMES = [name.lower() for name in re.findall(r"^\tJC_(\w+),", LIST, re.MULTILINE) if name != "EVERYTHING"]


@pytest.mark.parametrize("name", NAMES)
def test_control_is_run(name: str) -> None:
    places = [*(programs.ROOT / "tests" / "areas").glob("*.py"), *(programs.ROOT / "tests" / "host").glob("*.py")]
    assert any(f'"{name}"' in path.read_text() for path in places)


def test_control_that_is_misspelled_does_not_build(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(subprocess.CalledProcessError):
        builds.control("misspelled", front="no_singals")
    assert "JC_NO_SINGALS" in capfd.readouterr().err
