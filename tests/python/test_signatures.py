"""Signatures: an independent verifier agrees, and CI's entries serve those who trust CI's key, and nobody else."""

from __future__ import annotations

import json
from pathlib import Path

import jitcache
import pytest
from format import signatures
from processes import check
from test_cli import command

ROOT = Path(__file__).resolve().parents[2]
VECTORS = json.loads((ROOT / "tests" / "golden" / "signatures.json").read_text())


@pytest.mark.parametrize("vector", VECTORS, ids=range(len(VECTORS)))
def test_golden_vector_holds_for_an_independent_verifier(vector: dict[str, object]) -> None:
    v = {name: str(value) for name, value in vector.items()}
    message = signatures.message(
        v["namespace"], bytes.fromhex(v["key"]), v["kind"], int(v["created"]), int(v["cost"]),
        bytes.fromhex(v["payload"]), bytes.fromhex(v["attributes"]),
    )  # fmt: skip
    assert message.hex() == v["message"]
    public, signature = bytes.fromhex(v["signature"])[:32], bytes.fromhex(v["signature"])[32:]
    assert public == signatures.public_key(v["public"])
    assert signatures.holds(public, message, signature)
    assert not signatures.holds(public, message + b"x", signature)
    assert not signatures.holds(public, message, signature[:-1] + bytes([signature[-1] ^ 1]))


class CI:
    """A directory that CI has filled and signed, and that everybody may write now."""

    def __init__(self, folder: Path, namespace: str = "") -> None:
        self.folder, self.directory = folder, folder / "image"
        self.secret, self.env = folder / "secret", {"JITCACHE_NAMESPACE": namespace, "HOME": str(folder / "ci")}
        self.public = command("trust", "new", self.secret, **self.env).stdout.strip()
        with jitcache.Cache(self.directory) as cache:
            for n in range(3):
                key = jitcache.Key(n=n).named(f"entry {n}")
                cache.put(key, b"payload %d" % n, kind="cubin", attributes={"n": n})
        signed = command("-directory", self.directory, "sign", **self.env, JITCACHE_SIGNING_KEY_FILE=str(self.secret))
        assert (signed.returncode, signed.stdout) == (
            0,
            "3 signed, 0 were signed already, 0 are from others, 0 cannot be used\n",
        )
        self.directory.chmod(0o777)

    def files(self) -> list[Path]:
        return sorted(self.directory.rglob("*.jce"))


USE = """
import sys, jitcache
made = []
with jitcache.Cache(sys.argv[1]) as cache:
    for n in range(3):
        cache.get_or_compile(jitcache.Key(n=n), lambda: made.append(n) or b"payload %d" % n)
print(len(made))
"""


def compiled(own: Path, **env: str) -> int:
    """Return how many of the three entries a process has compiled."""
    return int(check(USE, own, env=env))


@pytest.mark.parametrize("namespace", ["", "a project"])
def test_independent_verifier_sees_what_was_signed(tmp_path: Path, namespace: str) -> None:
    ci = CI(tmp_path, namespace)
    for file in ci.files():
        assert signatures.signers(file, namespace) == [(signatures.public_key(ci.public), True)]
        assert signatures.signers(file, "another") == [(signatures.public_key(ci.public), False)]


def test_signed_image_serves_who_trusts_the_key(tmp_path: Path) -> None:
    ci = CI(tmp_path)
    env = {"JITCACHE_LAYERS": str(ci.directory), "HOME": str(tmp_path / "home")}
    (tmp_path / "home").mkdir()
    assert compiled(tmp_path / "nobody", **env) == 3
    assert compiled(tmp_path / "inline", **env, JITCACHE_KEYS=ci.public) == 0
    assert command("trust", "add", ci.public, "our", "CI", **env).returncode == 0
    listed = command("trust", "list", **env).stdout
    assert "our CI" in listed
    assert "trusted" in listed
    assert compiled(tmp_path / "own", **env) == 0
    assert "it is used" not in command("doctor", **env, JITCACHE_DIR=str(tmp_path / "own")).stdout
    copied = sorted((tmp_path / "own").rglob("*.jce"))
    assert [f.read_bytes() for f in copied] == [f.read_bytes() for f in ci.files()]
    # The trust is withdrawn: the copies are misses too, and are compiled again, once.
    assert command("trust", "remove", ci.public, **env).returncode == 0
    assert compiled(tmp_path / "own", **env) == 3
    assert compiled(tmp_path / "own", **env) == 0


@pytest.mark.control("anysignature")
def test_entries_in_another_namespace_are_compiled(tmp_path: Path) -> None:
    ci = CI(tmp_path, "one project")
    env = {"JITCACHE_LAYERS": str(ci.directory), "JITCACHE_KEYS": ci.public, "HOME": str(tmp_path)}
    assert compiled(tmp_path / "other", **env, JITCACHE_NAMESPACE="another") == 3
    assert compiled(tmp_path / "none", **env) == 3
    assert compiled(tmp_path / "own", **env, JITCACHE_NAMESPACE="one project") == 0


def test_layer_that_brings_settings_of_its_own_is_not_obeyed(tmp_path: Path) -> None:
    ci = CI(tmp_path)
    for name in ("config", "keys", "v1/config", "v1/keys"):
        path = ci.directory / name
        path.write_text(f"{ci.public}\nkeys = {ci.public}\nlayers = {ci.directory}\nshared = true\n")
    env = {"JITCACHE_LAYERS": str(ci.directory), "HOME": str(tmp_path)}
    assert compiled(tmp_path / "own", **env) == 3


def test_verify_says_which_entries_no_trusted_key_has_signed(tmp_path: Path) -> None:
    ci = CI(tmp_path)
    ci.directory.chmod(0o755)
    with jitcache.Cache(ci.directory) as cache:
        cache.put(jitcache.Key(n="unsigned"), b"x")
    env = {"HOME": str(tmp_path)}
    p = command("-directory", ci.directory, "verify", "-signatures", **env, JITCACHE_KEYS=ci.public)
    assert p.returncode == 1
    assert "4 entries, 3 signed by a key that is trusted" in p.stdout
    assert p.stdout.count("not signed") == 1
    p = command("-directory", ci.directory, "verify", "-signatures", **env)
    assert p.stdout.count("signed by strangers") == 3
    p = command("-directory", ci.directory, "verify", **env)
    assert (p.returncode, "0 bad" in p.stdout) == (0, True)


def test_a_secret_key_is_private_and_is_not_written_over(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    public = command("trust", "new", secret).stdout
    assert public.startswith("ed25519:")
    assert secret.stat().st_mode & 0o777 == 0o600
    again = command("trust", "new", secret)
    assert again.returncode == 2
    assert public.strip() in secret.read_text()
