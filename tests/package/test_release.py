"""The version has one place, and a release what it has to have."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
TOOL = ROOT / "tests" / "release.py"


def git(tree: Path, *args: str) -> str:
    who = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"}
    p = subprocess.run(["git", *args], cwd=tree, env={**os.environ, **who}, capture_output=True, text=True, check=True)
    return p.stdout


def commit(tree: Path) -> None:
    git(tree, "add", "-A")
    git(tree, "commit", "-q", "-m", "x")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """This checkout as a repository of its own, whose next version is 0.1.0."""
    names = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for name in names.stdout.splitlines():
        if (ROOT / name).is_file() and not name.startswith("docs/"):
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    header = (tmp_path / "include" / "jitcache.h").read_text()
    version = re.search(r'#define JITCACHE_VERSION "(.*)"', header)[1]
    for path in ("include/jitcache.h", "python/jitcache/_version.py", "CHANGELOG.md"):
        (tmp_path / path).write_text((tmp_path / path).read_text().replace(version, "0.1.0"))
    text = re.sub(r"(JITCACHE_VERSION_(MAJOR|PATCH)) \d+", r"\1 0", (tmp_path / "include" / "jitcache.h").read_text())
    (tmp_path / "include" / "jitcache.h").write_text(re.sub(r"(JITCACHE_VERSION_MINOR) \d+", r"\1 1", text))
    (tmp_path / "CHANGELOG.md").write_text("# Changes\n\n## 0.1.0, unreleased\n\n- The first.\n")
    git(tmp_path, "init", "-q")
    commit(tmp_path)
    return tmp_path


def release(tree: Path, *args: str) -> tuple[int, str]:
    p = subprocess.run(
        [sys.executable, str(TOOL), "--root", str(tree), *args], capture_output=True, text=True, check=False
    )
    return p.returncode, p.stdout + p.stderr


def released(tree: Path) -> None:
    assert release(tree, "--close")[0] == 0
    commit(tree)
    git(tree, "tag", "-a", "v0.1.0", "-m", "x")


def test_this_checkout_could_be_released() -> None:
    p = subprocess.run([sys.executable, str(TOOL)], capture_output=True, text=True, check=False)
    assert p.returncode == 0, p.stdout


def test_release_and_what_follows_it(tree: Path) -> None:
    released(tree)
    assert re.search(r"^## 0\.1\.0, \d{4}-\d\d-\d\d$", (tree / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert release(tree) == (0, release(tree)[1])
    assert release(tree, "--open", "0.2.0")[0] == 0
    assert (tree / "CHANGELOG.md").read_text().startswith("# Changes\n\n## 0.2.0, unreleased\n\n## 0.1.0, 2")
    commit(tree)
    assert release(tree)[0] == 0


def test_version_reaches_wheel_and_command(tree: Path) -> None:
    released(tree)
    release(tree, "--open", "7.8.9")
    wheel = subprocess.run(
        [sys.executable, "-m", "hatchling", "version"], cwd=tree, capture_output=True, text=True, check=True
    )
    assert wheel.stdout.strip() == "7.8.9"
    import build_library

    go = build_library.choose_go()
    env = build_library.go_environment(go, build_library.find_cc())
    test = [go.command, "test", "./tests/arch", "-run", "TestVersionIsOne"]  # the command's, the header's and Python's
    assert subprocess.run(test, cwd=tree, env=env, check=False).returncode == 0


@pytest.mark.parametrize(
    ("file", "before", "after", "says"),
    [
        ("python/jitcache/_version.py", '"0.1.0"', '"0.1.1"', "_version.py does not say 0.1.0"),
        ("include/jitcache.h", "VERSION_MINOR 1", "VERSION_MINOR 2", "says 0.2.0 and 0.1.0"),
        ("CHANGELOG.md", "## 0.1.0", "## 0.3.0", "begins with 0.3.0, not 0.1.0"),
        ("CHANGELOG.md", "unreleased", "soon", "soon is no date"),
        ("core/key/builder.go", "schema = ", "schema2 = ", "does not state the key schema"),
    ],
)
def test_places_that_differ_are_named(tree: Path, file: str, before: str, after: str, says: str) -> None:
    text = (tree / file).read_text()
    assert before in text
    (tree / file).write_text(text.replace(before, after, 1))
    status, said = release(tree)
    assert (status, says in said) == (1, True), said


def test_interface_that_moves_is_said(tree: Path) -> None:
    released(tree)
    release(tree, "--open", "0.2.0")
    header = tree / "include" / "jitcache.h"
    header.write_text(re.sub(r"(JITCACHE_ABI_VERSION) \d+", r"\1 77", header.read_text()))
    status, said = release(tree)
    assert (status, "does not say that this is C interface 77" in said) == (1, True)
    changes = tree / "CHANGELOG.md"
    changes.write_text(changes.read_text().replace("unreleased\n", "unreleased\n\n- C\n  interface 77.\n"))
    assert release(tree)[0] == 0


def test_tag_is_that_of_the_version(tree: Path) -> None:
    git(tree, "tag", "v0.1.0")
    assert "tagged v0.1.0 and is 0.1.0, unreleased" in release(tree)[1]
    git(tree, "tag", "-d", "v0.1.0")
    assert release(tree, "--close")[0] == 0
    commit(tree)
    git(tree, "tag", "v0.1.1")
    assert "tagged v0.1.1" in release(tree)[1]


def test_released_version_is_not_used_again(tree: Path) -> None:
    released(tree)
    assert release(tree, "--close") == (1, "release: 0.1.0 was released\n")
    assert (
        release(tree, "--open", "0.1.0")[0]
        == release(tree, "--open", "0.0.9")[0]
        == release(tree, "--open", "1")[0]
        == 1
    )
    text = (tree / "CHANGELOG.md").read_text()
    (tree / "CHANGELOG.md").write_text(re.sub(r"## 0\.1\.0, .*", "## 0.1.0, unreleased", text))
    assert "does not follow 0.1.0, which was released" in release(tree)[1]


def test_nothing_is_released_that_is_empty_or_changed(tree: Path) -> None:
    (tree / "CHANGELOG.md").write_text("# Changes\n\n## 0.1.0, unreleased\n")
    assert "not committed" in release(tree, "--close")[1]
    commit(tree)
    assert "says nothing of 0.1.0" in release(tree, "--close")[1]
    (tree / "CHANGELOG.md").write_text("# Changes\n\n## 0.1.0, unreleased\n\n- One.\n")
    commit(tree)
    assert release(tree, "--open", "0.2.0") == (1, "release: 0.1.0 is not released yet\n")
