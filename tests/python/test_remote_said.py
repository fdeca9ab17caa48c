"""What the command says of remotes: who sends nothing, and why; and what is no remote."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Callable

import pytest
from processes import run
from remotes import Machine
from test_cli import command
from test_remote import machine

__all__ = ["machine"]

NOTHING = "sends nothing: no signing key"


@pytest.mark.parametrize(
    ("attributes", "trusts", "signs", "said"),
    [
        ("", True, False, f"read; {NOTHING}"),
        ("", False, False, f"not read: no key is trusted; {NOTHING}"),
        ("", True, True, "read and written"),
        ("", False, True, "written only: no key is trusted"),
        ("|trust=unsigned", True, False, "read and written"),
        ("|read-only", True, False, "read only"),
    ],
)
def test_machine_without_a_signing_key_is_told_that_it_sends_nothing(
    machine: Callable[..., Machine], tmp_path: Path, attributes: str, trusts: bool, signs: bool, said: str
) -> None:
    (tmp_path / "server").mkdir(mode=0o700)
    url = f"file://{tmp_path}/server"
    one = machine(url + attributes)
    public = command("trust", "new", one.folder / "secret", **one.env).stdout.strip()
    if trusts:
        one.env["JITCACHE_KEYS"] = public
    if signs:
        one.env["JITCACHE_SIGNING_KEY_FILE"] = str(one.folder / "secret")
    one.compile("a")
    for words in (("doctor",), ("stats",), ("remote", "status")):
        out = command(*words, **one.env).stdout
        (line,) = (text for text in out.splitlines() if f": {said}" in text)
        assert url in line, words
    flushed = command("remote", "flush", **one.env)
    assert (flushed.returncode, flushed.stdout) == (0, f"{url}: {NOTHING}\n" if NOTHING in said else "")
    answer = json.loads(command("remote", "flush", "-json", **one.env).stdout)
    assert answer["no_signing_key"] == ([url] if NOTHING in said else [])
    (row,) = json.loads(command("remote", "status", "-json", **one.env).stdout)
    assert (row["writes"], row["sends"]) == (said != "read only", "written" in said)
    # A witness: what is in the remote.
    assert any(p.is_file() and p.stat().st_size > 100 for p in (tmp_path / "server").rglob("*")) == ("written" in said)


def test_state_of_remotes_is_a_table(machine: Callable[..., Machine], tmp_path: Path) -> None:
    (tmp_path / "server").mkdir(mode=0o700)
    one = machine(f"file://{tmp_path}/server|trust=unsigned")
    one.compile("a")
    one.sent()
    head, row, *_ = command("remote", "status", **one.env).stdout.splitlines()
    columns = dict(zip(head.split(), row.replace(" KiB", "").replace(" B", "").split()))
    assert columns["REMOTE"] == f"file://{tmp_path}/server"
    assert (columns["STATE"], columns["HITS"], columns["ERRORS"], columns["WAITING"]) == ("up", "0", "0", "0")
    assert float(columns["SENT"]) > 100


def test_what_is_no_remote_is_named_without_its_password(machine: Callable[..., Machine]) -> None:
    one = machine("cache.example:6379 ftp://ada:hunter2@files.example")
    p = run("import logging; logging.basicConfig()\nimport jitcache; jitcache.Cache()", env=one.env)
    assert p.returncode == 0
    assert "the remote cache.example:6379 is no URL of redis" in p.stderr
    assert "the remote ftp://ada:…@files.example is no URL of redis" in p.stderr
    assert "hunter2" not in p.stderr


def test_signing_key_that_others_may_read_is_warned_of(machine: Callable[..., Machine]) -> None:
    one = machine("")
    secret = one.folder / "secret"
    command("trust", "new", secret, **one.env)
    code = "import logging; logging.basicConfig()\nimport jitcache; jitcache.Cache(); jitcache.Cache()"
    for mode in (0o600, 0o644):
        secret.chmod(mode)
        p = run(code, env={**one.env, "JITCACHE_SIGNING_KEY_FILE": str(secret)})
        assert p.returncode == 0
        assert p.stderr.count(f"{secret}: others may read the signing key") == (mode == 0o644), p.stderr
