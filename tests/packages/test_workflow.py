"""The workflow that publishes a release calls what there is, and publishes nothing that was not tested."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import recipes
from checkout import ROOT, run

FILE = ROOT / ".github" / "workflows" / "release.yml"
CHANGE = FILE.with_name("change.yml")
BIN = Path(sys.executable).parent


@pytest.fixture(scope="module")
def jobs() -> dict:
    import yaml

    return yaml.safe_load(FILE.read_text())["jobs"]


def commands(jobs: dict) -> list[str]:
    rows = [row for job in jobs.values() for row in job.get("strategy", {}).get("matrix", {}).get("include", [])]
    return [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step] + [r["tests"] for r in rows]


def test_targets_and_files_are_there(jobs: dict) -> None:
    text = "\n".join(commands(jobs))
    helped = subprocess.run(["make", "-C", str(ROOT), "help"], capture_output=True, text=True, check=True).stdout
    targets = re.findall(r"make (?:-C \S+ )?([a-z-]+)", text)
    assert {"release", "wheels", "test"} <= set(targets)
    for target in targets:
        assert re.search(rf"^  {target} ", helped, re.MULTILINE), target
    files = re.findall(r"(?<![\w/])((?:tests|packages|\.ci)/[\w./-]+)", text)
    assert {".ci/run", "tests/start.py", "packages/requirements.txt"} <= set(files)
    for file in files:
        assert (ROOT / file).exists(), file


def test_what_is_uploaded_is_what_make_wheels_makes(jobs: dict) -> None:
    (release,) = [c for c in commands(jobs) if c.startswith("gh release")]
    given = set(re.findall(r"dist/(\S+)", release))
    assert given == {"*.whl", "*.tar.gz", "SHA256SUMS", *recipes.NAMES}


def test_tools_that_publish_know_their_options(jobs: dict) -> None:
    text = "\n".join(commands(jobs))
    for tool, words in re.findall(r"tools/bin/(twine|pypi-attestations) (.*)", text):
        action, *rest = words.split()
        helped = run(BIN / tool, action, "--help")
        for option in [word for word in rest if word.startswith("--")]:
            assert option in helped, (tool, action, option)
    assert "twine upload" in text
    assert "pypi-attestations sign" in text


def test_only_a_tag_is_published_and_only_after_all_else(jobs: dict) -> None:
    publish = jobs["publish"]
    assert publish["if"] == "github.ref_type == 'tag'"
    assert set(publish["needs"]) == set(jobs) - {"publish"}
    assert publish["environment"] == "release"
    for name, job in jobs.items():
        assert ("permissions" in job) == (name == "publish"), name
    assert not re.search(r"secrets\.", FILE.read_text())


def test_pull_request_is_compared_with_where_its_branch_began() -> None:
    import yaml

    ((job,), text) = (yaml.safe_load(CHANGE.read_text())["jobs"].values(), CHANGE.read_text())
    assert job["steps"][-1]["run"] == 'sudo JITCACHE_TEST_BASE="$(git merge-base HEAD "origin/$BRANCH")" .ci/run'
    assert job["steps"][0]["with"]["fetch-depth"] == 0
    # A branch's name is whatever somebody has chosen: the shell gets it as a variable.
    assert not re.search(r"run: .*\$\{\{", text)


@pytest.mark.parametrize(("file", "least"), [(FILE, 8), (CHANGE, 1)], ids=["release", "change"])
def test_actions_are_named_by_their_commits(file: Path, least: int) -> None:
    used = re.findall(r"uses: (\S+)(.*)", file.read_text())
    assert len(used) >= least
    for action, remark in used:
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", action), action
        assert re.fullmatch(r" # v\d+\.\d+\.\d+", remark), action
