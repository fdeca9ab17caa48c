"""The action for GitHub, the job for GitLab and the lines for upkeep: what they run, where a service would run it."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import yaml
from checkout import ROOT

sys.path.append(str(ROOT / "tests"))
import samples

ACTION = ROOT / "packages" / "action"
PAGE = "docs/sharing.md"

#: No two runs make the same: equal bytes are a replay.
DICE = "#!/bin/sh\nod -A n -N 16 -t x1 /dev/urandom >made\n"


class Runner:
    """A machine that a job gets: a workspace, the files by which steps talk, and jitcache and a compiler in PATH."""

    def __init__(self, folder: Path) -> None:
        self.top, self.workspace, tools = folder / "runner", folder / "workspace", folder / "tools"
        shutil.rmtree(self.top, ignore_errors=True)
        for path in (self.top / "temp", self.workspace, tools):
            path.mkdir(parents=True, exist_ok=True)
        if not (tools / "jitcache").exists():
            (tools / "jitcache").symlink_to(ROOT / "build" / "lib" / "jitcache")
            for compiler in ("gcc", "dice"):
                (tools / compiler).write_text(DICE)
                (tools / compiler).chmod(0o755)
            (tools / "pip").write_text("#!/bin/sh\n")
            (tools / "pip").chmod(0o755)
        self.env = {
            "PATH": f"{tools}:/usr/bin:/bin",
            "HOME": str(folder),
            "GITHUB_WORKSPACE": str(self.workspace),
            "RUNNER_TEMP": str(folder / "temp"),
            **{name: str(self.top / name) for name in ("GITHUB_ENV", "GITHUB_PATH", "GITHUB_STEP_SUMMARY")},
        }

    def sh(self, text: str, **env: str) -> str:
        p = subprocess.run(
            ["bash", "-ec", text],
            cwd=self.workspace,
            env={**self.env, **env},
            capture_output=True,
            text=True,
            check=False,
        )
        assert p.returncode == 0, p.stdout + p.stderr
        return p.stdout

    def uses(self, folder: Path, **given: str) -> None:
        """Run the steps of an action, then do what the runner does with what they have written."""
        action = yaml.safe_load((folder / "action.yml").read_text())
        inputs = {name: i["default"] for name, i in action.get("inputs", {}).items()} | given
        for step in action["runs"]["steps"]:
            if "run" not in step:
                continue
            env = {
                name: re.sub(r"\$\{\{ inputs\.([a-z-]+) \}\}", lambda m: inputs[m[1]], value)
                for name, value in step.get("env", {}).items()
            }
            assert step["shell"] == "bash"
            self.sh(step["run"], GITHUB_ACTION_PATH=str(folder), **env)
        if (self.top / "GITHUB_ENV").exists():
            self.env |= dict(line.split("=", 1) for line in (self.top / "GITHUB_ENV").read_text().splitlines())
            added = (self.top / "GITHUB_PATH").read_text().split()
            self.env["PATH"] = ":".join([*reversed(added), self.env["PATH"]])


def job(runner: Runner) -> bytes:
    """Run the steps of the page's job; return what was made."""
    for step in yaml.safe_load(samples.under("docs/sharing.md", "Continuous integration", 1))["steps"]:
        if step.get("uses", "").startswith("./"):
            runner.uses(ROOT / step["uses"], install="", **step.get("with", {}))
        elif "run" in step:
            runner.sh(step["run"].replace("make", "rm -f made; gcc -c a.c"))
    return (runner.workspace / "made").read_bytes()


def test_second_job_finds_what_the_first_has_made_and_counts_for_itself(tmp_path: Path) -> None:
    first = Runner(tmp_path)
    made = job(first)
    assert re.search(r"^total +0 +1 +1 ", (first.top / "GITHUB_STEP_SUMMARY").read_text(), re.MULTILINE)
    second = Runner(tmp_path)  # with the workspace's .jitcache as actions/cache has restored it
    assert job(second) == made
    assert re.search(r"^total +1 +0 +0 ", (second.top / "GITHUB_STEP_SUMMARY").read_text(), re.MULTILINE)
    assert "of 1.9 GiB" in (second.top / "GITHUB_STEP_SUMMARY").read_text()


def test_cache_of_the_action_is_saved_by_each_run_and_restored_from_the_last(tmp_path: Path) -> None:
    action = yaml.safe_load((ACTION / "action.yml").read_text())
    (step,) = [s for s in action["runs"]["steps"] if "uses" in s]
    key, prefix = step["with"]["key"], step["with"]["restore-keys"]
    assert key.startswith(prefix)
    assert "github.run_id" in key.removeprefix(prefix)
    assert step["with"]["path"] == "${{ inputs.directory }}"


def test_text_of_an_input_is_never_a_part_of_a_script() -> None:
    for file in ACTION.rglob("action.yml"):
        for step in yaml.safe_load(file.read_text())["runs"]["steps"]:
            assert "${{" not in step.get("run", "")


def test_job_of_gitlab_finds_what_the_last_has_made(tmp_path: Path) -> None:
    runner = Runner(tmp_path)
    stated = yaml.safe_load(samples.under("docs/sharing.md", "Continuous integration", 2))["build"]
    made = []
    for _ in range(2):
        env = {
            name: value.replace("$CI_PROJECT_DIR", str(runner.workspace)) for name, value in stated["variables"].items()
        }
        assert [str(runner.workspace / path) for path in stated["cache"]["paths"]] == [env["JITCACHE_DIR"]]
        script = "\n".join([*stated["before_script"], *stated["script"]])
        runner.sh(re.sub(r"^make CC=\"(.*)\"", r"rm -f made; \1 -c a.c", script, flags=re.MULTILINE), **env)
        made.append((runner.workspace / "made").read_bytes())
        assert "total" in runner.sh("\n".join(stated["after_script"]), **env)
    assert made[0] == made[1]


def test_lines_of_the_crontab_run(tmp_path: Path) -> None:
    runner = Runner(tmp_path)
    runner.env["JITCACHE_DIR"] = str(tmp_path / "cache")
    runner.sh("jitcache dice")
    lines = samples.under("docs/sharing.md", "Upkeep").splitlines()
    commands = [re.sub(r"^(@daily|\* \* \* \* \*) +", "", line) for line in lines]
    for command in commands:
        runner.sh(command.replace("/var/lib/node_exporter/textfile", str(tmp_path)))
    assert "jitcache_entries{" in (tmp_path / "jitcache.prom").read_text()
    rule = yaml.safe_load(samples.under("docs/sharing.md", "Upkeep", 1))["groups"][0]["rules"][0]
    assert re.findall(r"jitcache_\w+", rule["expr"]) == ["jitcache_compiles_total"]
    assert "# TYPE jitcache_compiles_total counter" in (tmp_path / "jitcache.prom").read_text()
