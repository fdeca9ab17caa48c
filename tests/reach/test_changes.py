"""Which files have changed since .ci/base, and when that is not known: then everything runs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.append(str(ROOT / "tests"))

from reach import changes, machine

DAY = 86400


class Checkout:
    """A checkout whose commits are made here, a day after each other if nothing else is said."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.time = folder, 1_700_000_000
        self.git("init", "-q", "-b", "main")

    def git(self, *words: str) -> str:
        time = f"{self.time} +0000"
        env = {**os.environ, "GIT_AUTHOR_DATE": time, "GIT_COMMITTER_DATE": time, "HOME": str(self.folder)}
        command = ["git", "-c", "user.name=n", "-c", "user.email=e", *words]
        return subprocess.run(command, cwd=self.folder, env=env, check=True, capture_output=True, text=True).stdout

    def write(self, name: str, text: str = "x\n") -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def commit(self, *files: str, text: str = "", after: float = 1 / 24) -> str:
        self.time += int(after * DAY)
        for name in files:
            self.write(name, text or f"{self.time}\n")
        self.git("add", "-A")
        self.git("commit", "-qm", "m", "--allow-empty")
        return self.git("rev-parse", "HEAD").strip()

    def begin(self) -> str:
        """Begin a piece of work."""
        base = self.git("rev-parse", "HEAD").strip()
        self.commit(changes.BASE, text=f"{base}\n")
        return base

    def files(self) -> set[str]:
        return set(changes.since_base(self.folder).files)


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Checkout:
    monkeypatch.delenv(changes.VARIABLE, raising=False)
    checkout = Checkout(tmp_path)
    checkout.commit("a", "b", changes.WHOLE)
    return checkout


def test_files_of_all_commits_since_the_base_have_changed(checkout: Checkout) -> None:
    base = checkout.begin()
    checkout.commit("a")
    checkout.commit("deep/c")
    assert checkout.files() == {changes.BASE, "a", "deep/c"}
    assert changes.since_base(checkout.folder).base == base
    assert changes.since_base(checkout.folder).head == checkout.git("rev-parse", "HEAD").strip()


def test_file_that_was_moved_has_changed_at_both_places(checkout: Checkout) -> None:
    checkout.begin()
    checkout.git("mv", "a", "moved")
    checkout.commit()
    assert checkout.files() == {changes.BASE, "a", "moved"}


def test_files_that_are_not_committed_have_changed(checkout: Checkout) -> None:
    checkout.begin()
    checkout.write("a", "other\n")
    checkout.write("new/file")
    checkout.write("staged")
    checkout.git("add", "staged")
    checkout.git("mv", "b", "c")
    assert checkout.files() == {changes.BASE, "a", "new/file", "staged", "b", "c"}


def unknown(checkout: Checkout) -> str:
    with pytest.raises(changes.Unknown) as e:
        changes.since_base(checkout.folder)
    return str(e.value)


def test_without_a_base_nothing_is_known(checkout: Checkout) -> None:
    assert unknown(checkout) == "there is no .ci/base"


def test_base_that_names_nothing_is_none(checkout: Checkout) -> None:
    checkout.commit(changes.BASE, text="main\n")
    assert unknown(checkout) == ".ci/base names no commit: 'main'"
    checkout.commit(changes.BASE, text="0" * 40)
    assert "is no ancestor" in unknown(checkout)


def test_base_on_another_branch_is_none(checkout: Checkout) -> None:
    checkout.git("checkout", "-qb", "other")
    elsewhere = checkout.commit("a")
    checkout.git("checkout", "-q", "main")
    checkout.commit(changes.BASE, text=f"{elsewhere}\n")
    assert unknown(checkout).endswith("is no ancestor of this commit")


def test_base_has_to_be_set_by_the_commit_after_it(checkout: Checkout) -> None:
    """Else one could name a commit of the same work, whose answers nobody has."""
    base = checkout.git("rev-parse", "HEAD").strip()
    checkout.commit("a")
    checkout.commit(changes.BASE, text=f"{base}\n")
    assert "was not set by the first commit after" in unknown(checkout)


def test_variable_names_another_base(checkout: Checkout, monkeypatch: pytest.MonkeyPatch) -> None:
    base = checkout.commit("a")
    checkout.commit("b")
    monkeypatch.setenv(changes.VARIABLE, base)
    assert checkout.files() == {"b"}
    monkeypatch.setenv(changes.VARIABLE, "")
    assert "names no commit" in unknown(checkout)


def test_where_the_record_of_the_machine_changes_everything_runs(checkout: Checkout) -> None:
    checkout.begin()
    checkout.commit(changes.WHOLE)
    assert unknown(checkout) == ".ci/whole.json has changed"


def test_without_that_record_everything_runs(checkout: Checkout) -> None:
    checkout.git("rm", "-q", changes.WHOLE)
    checkout.commit()
    checkout.begin()
    assert unknown(checkout) == "there is no .ci/whole.json: no run of all tests is known"


def test_answers_are_inherited_for_a_week(checkout: Checkout) -> None:
    checkout.begin()
    checkout.commit("a", after=changes.DAYS - 0.1)
    assert "a" in checkout.files()
    checkout.commit("a", after=0.2)
    assert unknown(checkout) == "all tests ran 7 days ago; want at most 7"


def test_answers_are_inherited_through_twenty_pieces_of_work(checkout: Checkout) -> None:
    for n in range(changes.STEPS):
        checkout.begin()
        checkout.commit("a", after=0.01)
        assert checkout.files() == {changes.BASE, "a"}, n
    checkout.begin()
    assert unknown(checkout) == "all tests ran 21 pieces of work ago; want at most 20"


def test_changed_lines_of_a_list(checkout: Checkout) -> None:
    checkout.commit("list", text="one 1\ntwo 2\n--- three\n")
    base = checkout.begin()
    checkout.commit("list", text="one 1\ntwo 3\n")
    assert changes.changed_lines(base, "list", checkout.folder) == ["two 2", "--- three", "two 3"]


def test_another_machine_is_told() -> None:
    then = machine.now()
    assert machine.differences(then, machine.now()) == []
    assert machine.differences(then, {**then, "kernel": "1"}) == [f"kernel: {then['kernel']} by then, 1 here"]
    packages = dict(then["packages"])
    packages["pytest"] = "0"
    assert machine.differences(then, {**then, "packages": packages})[0].startswith("packages: pytest ")
    del packages["pytest"]
    assert machine.differences(then, {**then, "packages": packages})[0].endswith("absent here")
    assert machine.differences(then, {**then, "packages": {**then["packages"], "more": "1"}}) == []


def test_record_of_this_machine_has_what_tests_use() -> None:
    now = machine.now()
    assert {"kernel", "processor", "python", "debian", "packages"} == set(now)
    assert {"pytest", "pluggy", "numpy"} <= set(now["packages"])
    assert "; " in now["processor"]
