"""A control of the front that is misspelled would take nothing out."""

from __future__ import annotations

import subprocess

import builds
import pytest


def test_control_that_is_misspelled_does_not_build(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(subprocess.CalledProcessError):
        builds.control("misspelled", front="JC_NO_SINGALS")
    assert "JC_NO_SINGALS" in capfd.readouterr().err
