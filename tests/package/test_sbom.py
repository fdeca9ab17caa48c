"""The list of what is inside says what Go says of the built files."""

from __future__ import annotations

import base64
import hashlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

import build_library

ROOT = Path(build_library.__file__).parent
LIB = ROOT / "build" / "lib"
sys.path.append(str(ROOT / "packages"))
import sbom

LINKED = ["libjitcache.so", *build_library.COMMANDS, build_library.STORAGE]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict:
    return sbom.describe(LIB)


def by_ref(made: dict) -> dict[str, dict]:
    return {c["bom-ref"]: c for c in made["components"]}


def said_by_go(file: Path) -> dict[str, tuple[str, str]]:
    """Each module that a file was linked from, by `go version -m`: version, and its hash in hexadecimal."""
    go = build_library.choose_go()
    text = subprocess.run([go.command, "version", "-m", file], capture_output=True, text=True, check=True).stdout
    found = {}
    for line in text.splitlines():
        if m := re.match(r"\tdep\t(\S+)\t(\S+)(?:\t(\S+))?", line):
            digest = base64.b64decode(m[3].removeprefix("h1:")).hex() if m[3] else ""
            found[m[1]] = (m[2], digest)
    return found


@pytest.mark.parametrize("name", LINKED)
def test_modules_are_those_that_go_read_back_names(made: dict, name: str) -> None:
    (uses,) = [d["dependsOn"] for d in made["dependencies"] if d["ref"] == f"file:{name}"]
    modules = [by_ref(made)[ref] for ref in uses if ref.startswith("pkg:golang/") and "/std@" not in ref]
    stated = {c["name"]: (c["version"], c["hashes"][0]["content"] if "hashes" in c else "") for c in modules}
    assert stated == said_by_go(LIB / name)
    assert any("/std@" in ref for ref in uses)


def test_nothing_is_described_that_nothing_uses(made: dict) -> None:
    used = {ref for d in made["dependencies"] for ref in d["dependsOn"]}
    assert set(by_ref(made)) == used


def test_hashes_of_files_are_theirs(made: dict) -> None:
    files = [c for c in made["components"] if c["type"] == "file"]
    assert {c["name"] for c in files} == {*LINKED, *build_library.PROGRAMS}
    for c in files:
        assert c["hashes"][0]["content"] == hashlib.sha256((LIB / c["name"]).read_bytes()).hexdigest()
        for source in c["components"]:
            text = (ROOT / source["name"]).read_bytes()
            assert source["hashes"][0]["content"] == hashlib.sha256(text).hexdigest()


def test_every_c_source_of_the_library_is_named(made: dict) -> None:
    """Those that stand beside Go files that the library is linked from, but what its constraints leave out."""
    named = {s["name"] for s in by_ref(made)["file:libjitcache.so"]["components"]}
    assert {str(p.relative_to(ROOT)) for p in (ROOT / "capi").glob("*.c")} <= named
    assert all(name.endswith(".c") and "test" not in name for name in named)


def test_every_licence_is_known_and_its_text_is_there(made: dict) -> None:
    for c in made["components"]:
        if c["type"] == "library" and "hashes" in c:
            licences = [entry["license"] for entry in c["licenses"]]
            assert any("id" in licence for licence in licences), c["name"]
            assert any(len(licence.get("text", {}).get("content", "")) > 500 for licence in licences), c["name"]


@pytest.mark.parametrize(
    ("text", "name"),
    [("Apache License\nVersion 2.0, January 2004", "Apache-2.0"),
     ("Permission is hereby granted, free of charge, to any person", "MIT"),
     ("Redistribution and use in source and binary forms: a. b.", "BSD-2-Clause"),
     ("Redistribution and use in source and binary forms: a.\nNeither the name", "BSD-3-Clause")],
)  # fmt: skip
def test_licence_is_read_from_its_text(tmp_path: Path, text: str, name: str) -> None:
    (tmp_path / "LICENSE").write_text(text)
    (tmp_path / "NOTICE").write_text("somebody's")
    assert [entry["license"].get("id", "a notice") for entry in sbom.licences(tmp_path)] == [name, "a notice"]


def test_unknown_licence_builds_nothing(tmp_path: Path) -> None:
    (tmp_path / "LICENSE").write_text("all rights reserved")
    with pytest.raises(build_library.Missing, match="no licence"):
        sbom.licences(tmp_path)


def test_nothing_is_said_of_this_machine_and_of_now(made: dict) -> None:
    assert "timestamp" not in made["metadata"]
    assert "serialNumber" not in made
    for text in (str(ROOT), str(Path.home())):
        assert text not in str(made)
