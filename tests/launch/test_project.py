"""jitcache.toml: what a project sets for its own commands."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import conftest
import pytest
import samples


def settings(place: Any, text: str, folder: Path | None = None) -> None:
    ((folder or place.folder) / "jitcache.toml").write_text(text)


def test_variable_that_the_project_withholds_is_not_given(place: Any) -> None:
    place.tool("shows", "#!/bin/sh\necho ${LAB-none} ${JOB-none}\n")
    settings(place, 'withhold = ["LAB"]\n')
    below = place.folder / "a" / "b"
    below.mkdir(parents=True)
    for folder in (place.folder, below):
        assert place.run("shows", env={"LAB": "1", "JOB": "2"}, cwd=folder).stdout == b"none 2\n"


@pytest.mark.parametrize("names", ['base-dir = "one*"', 'placeholders = { HERE = "one*" }'])
def test_folder_that_means_nothing_to_the_project_is_one_result(place: Any, names: str) -> None:
    place.tool("dice", "#!/bin/sh\nod -A n -N 16 -t x1 /dev/urandom > made\npwd >/dev/null\n")

    def made() -> list[bytes]:
        out = []
        for name in ("one1", "one2"):
            folder = place.folder / name
            folder.mkdir(exist_ok=True)
            (folder / "made").unlink(missing_ok=True)
            assert place.run("dice", cwd=folder).returncode == 0
            out.append((folder / "made").read_bytes())
        return out

    without = made()
    assert without[0] != without[1]
    settings(place, names + "\n")
    first, second = made()
    assert first == second


def test_variable_of_the_user_comes_before_the_project(place: Any) -> None:
    place.tool("shows", "#!/bin/sh\necho ${LAB-none} ${JOB-none}\n")
    settings(place, 'withhold = ["LAB"]\n')
    for value, said in (("JOB", b"1 none\n"), ("", b"1 2\n")):
        env = {"LAB": "1", "JOB": "2", "JITCACHE_WITHHOLD": value}
        assert place.run("shows", env=env).stdout == said


@pytest.mark.control("allprograms")
def test_only_results_of_programs_that_the_project_names_are_kept(place: Any) -> None:
    """What is run leaves other bytes each time."""
    settings(place, 'keep = ["cc-*"]\n')
    kept = {}
    for name in ("cc-one", "dice"):
        place.tool(name, "#!/bin/sh\nod -A n -N 16 -t x1 /dev/urandom > made\n")
        for value in (None, "", "dice:x"):  # the variable comes before the project, and an empty one keeps all
            made = []
            for _ in range(2):
                (place.folder / "made").unlink(missing_ok=True)
                assert place.run(name, env={} if value is None else {"JITCACHE_KEEP": value}).returncode == 0
                made.append((place.folder / "made").read_bytes())
            kept[name, value] = made[0] == made[1]
    assert kept == {
        ("cc-one", None): True, ("cc-one", ""): True, ("cc-one", "dice:x"): False,
        ("dice", None): False, ("dice", ""): True, ("dice", "dice:x"): True,
    }  # fmt: skip


def test_log_of_the_project(place: Any) -> None:
    settings(place, 'log = "miss"\nlog-file = "log"\n')
    place.run("random")
    assert b"miss: random" in place.read("log")


def test_setting_that_loosens_trust_is_said_and_nothing_of_the_file_counts(place: Any, tmp_path: Path) -> None:
    place.tool("shows", "#!/bin/sh\necho ${LAB-none}\n")
    settings(place, f'withhold = ["LAB"]\nremotes = "file://{tmp_path}|trust=unsigned"\n')
    p = place.run("shows", env={"LAB": "1"})
    assert (p.returncode, p.stdout) == (0, b"1\n")
    assert p.stderr.startswith(f"jitcache: {place.folder}/jitcache.toml is ignored: remotes is no setting".encode())


def test_file_that_changes_while_a_command_runs_is_read_once(place: Any) -> None:
    """The result is kept for the request that was made, not for one with the new settings."""
    place.tool("changes", '#!/bin/sh\necho ${LAB-none}\necho "withhold = [\\"LAB\\"]" > jitcache.toml\n')
    env = {"LAB": "1"}
    assert place.run("changes", env=env).stdout == b"1\n"
    assert place.run("changes", env=env).stdout == b"none\n"


def test_sample_of_the_page_is_read(place: Any) -> None:
    settings(place, samples.under("docs/launcher.md", "jitcache.toml"))
    p = place.plain(conftest.PROGRAM, "config")
    assert (p.returncode, p.stderr) == (0, b"")
    for name in ("base-dir", "placeholders", "map", "withhold", "hermetic", "log", "log-file"):
        assert re.search(rf"^{name} = \S.*  {place.folder}/jitcache.toml$", p.stdout.decode(), re.MULTILINE), name


def test_config_says_where_each_setting_comes_from(place: Any) -> None:
    settings(place, 'map = "-ffile-prefix-map"\nwithhold = ["LAB"]\n')
    env = {"JITCACHE_WITHHOLD": "JOB", "HOME": str(place.folder.parent)}
    p = place.plain(conftest.PROGRAM, "config", env=env)
    assert (p.returncode, p.stderr) == (0, b"")
    rows = {line.split(" = ")[0]: line.split(" = ")[1].split("  ") for line in p.stdout.decode().splitlines()}
    of = {name: (row[0].strip(), row[-1].strip()) for name, row in rows.items()}
    assert of["directory"] == (str(place.cache), "JITCACHE_DIR")
    assert of["map"] == ("-ffile-prefix-map", f"{place.folder}/jitcache.toml")
    assert of["withhold"] == ("JOB", "JITCACHE_WITHHOLD")
    assert of["remotes"][1] == "default"
    assert of["max-size"][1] == f"{place.cache}/v1/config"
    said = json.loads(place.plain(conftest.PROGRAM, "config", "-json", env=env).stdout)
    assert {"name": "withhold", "value": "JOB", "source": "JITCACHE_WITHHOLD"} in said["settings"]


def test_config_says_what_is_wrong_with_the_file(place: Any) -> None:
    settings(place, "keys = []\n")
    p = place.plain(conftest.PROGRAM, "config")
    assert p.returncode == 1
    assert b"jitcache.toml is ignored: keys is no setting of a project" in p.stderr
