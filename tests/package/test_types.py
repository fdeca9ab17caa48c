"""The dump of the interface's types is rewritten when they have changed, and only then."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
SOURCE = '__attribute__((visibility("default"))) int f(%s x) { return (int)x; }\n'


@pytest.fixture
def check():
    spec = importlib.util.spec_from_file_location("abi_check", ROOT / "tests" / "abi" / "check.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def library(folder: Path, argument: str) -> Path:
    (folder / "p.c").write_text(SOURCE % argument)
    out = folder / "libp.so"
    subprocess.run(["gcc", "-g", "-shared", "-fPIC", "-o", out, folder / "p.c"], check=True)
    return out


@pytest.mark.rest
def test_dump_is_rewritten_only_when_types_change(check, tmp_path: Path) -> None:
    if shutil.which("abidw") is None:
        pytest.skip("no abidw")
    recorded = tmp_path / "recorded.abi"
    subprocess.run(["abidw", "--no-corpus-path", "--out-file", recorded, library(tmp_path, "int")], check=True)
    # Another dump of the same: numbers and all else that says nothing.
    text = re.sub(r"type-id-(\d+)", lambda m: f"type-id-{int(m[1]) + 500}", recorded.read_text())
    recorded.write_text(text)
    assert check.types(library(tmp_path, "int"), recorded, write=True)[0]
    assert recorded.read_text() == text
    assert not check.types(library(tmp_path, "long"), recorded, write=False)[0]
    assert recorded.read_text() == text
    assert check.types(library(tmp_path, "long"), recorded, write=True)[0]
    assert recorded.read_text() != text
    assert check.types(library(tmp_path, "long"), recorded, write=False)[0]
