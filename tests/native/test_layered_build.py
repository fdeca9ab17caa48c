"""A warmed image serves compiles of C that are observed: the record and the result, in another process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, in_process

SOURCE = '#include <stdio.h>\n#include "own.h"\nint f(void) { return OWN; }\n'


def asked(folder: Path, compiler: Any) -> dict[str, Any]:
    return {"sources": SOURCE, "compiler": str(compiler.path), "flags": [f"-I{folder}"]}


@pytest.mark.control("nolayers")
def test_warmed_image_compiles_nothing(tmp_path: Path, counted: Any) -> None:
    (tmp_path / "own.h").write_text("#define OWN 1\n")
    image, own = tmp_path / "image", tmp_path / "own"
    first = in_process(image, **asked(tmp_path, counted))
    assert (first["hit"], first["refused"], counted.compiles()) == (False, "", 1)
    for path in [image, *image.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    env = {"JITCACHE_LAYERS": str(image)}
    for _ in range(2):
        again = in_process(own, env=env, **asked(tmp_path, counted))
        assert (again["hit"], again["bytes"]) == (True, first["bytes"])
    nowhere = in_process(tmp_path / "none", env={**env, "JITCACHE": "readonly"}, **asked(tmp_path, counted))
    assert (nowhere["hit"], nowhere["bytes"]) == (True, first["bytes"])
    assert counted.compiles() == 1


@pytest.mark.control("nolayers")
def test_own_lists_and_those_of_layers_are_tried(tmp_path: Path, counted: Any) -> None:
    header = tmp_path / "own.h"
    image, own = tmp_path / "image", tmp_path / "own"
    header.write_text("#define OWN 1\n")
    in_process(image, **asked(tmp_path, counted))
    env = {"JITCACHE_LAYERS": str(image)}
    header.write_text("#define OWN 2\n")
    changed = in_process(own, env=env, **asked(tmp_path, counted))
    assert not changed["hit"]
    assert "own.h" in changed["missed"]
    assert counted.compiles() == 2
    for value in (1, 2, 1, 2):  # one is in the layer, the other in the own directory, under one request's key
        header.write_text(f"#define OWN {value}\n")
        assert in_process(own, env=env, **asked(tmp_path, counted))["hit"], value
    assert counted.compiles() == 2
    assert set(os.listdir(image)) == {"CACHEDIR.TAG", "README.txt", "v1"}


def command(*words: Any, **env: str) -> str:
    """Run the command jitcache, and return what it printed."""
    given = {**os.environ, "PYTHONPATH": str(ROOT / "python"), **env}
    words = (sys.executable, "-m", "jitcache", *map(str, words))
    return subprocess.run(words, env=given, capture_output=True, text=True, check=True).stdout


def test_signed_image_compiles_nothing_until_its_key_is_withdrawn(tmp_path: Path, counted: Any) -> None:
    """The record in it is signed too, and what was merged from it goes with the key."""
    (tmp_path / "own.h").write_text("#define OWN 1\n")
    image, own, secret = tmp_path / "image", tmp_path / "own", tmp_path / "secret"
    first = in_process(image, **asked(tmp_path, counted))
    public = command("trust", "new", secret).strip()
    command("-directory", image, "sign", "-key", secret)
    image.chmod(0o777)
    env = {"JITCACHE_LAYERS": str(image), "JITCACHE_KEYS": public}
    for _ in range(2):
        again = in_process(own, env=env, **asked(tmp_path, counted))
        assert (again["hit"], again["bytes"]) == (True, first["bytes"])
    assert in_process(tmp_path / "none", env={**env, "JITCACHE": "readonly"}, **asked(tmp_path, counted))["hit"]
    assert counted.compiles() == 1
    env["JITCACHE_KEYS"] = f"withdrawn {public}"
    assert not in_process(own, env=env, **asked(tmp_path, counted))["hit"]
    assert in_process(own, env=env, **asked(tmp_path, counted))["hit"]
    assert counted.compiles() == 2
