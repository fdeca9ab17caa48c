"""Several users: numeric user ids through setresuid, so these need root."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import jitcache
import pytest
from processes import check

pytestmark = [pytest.mark.root, pytest.mark.filterwarnings("ignore::DeprecationWarning")]

ALICE, BOB, MALLORY, GROUP = 61001, 61002, 61003, 61100

AS_USER = """
import os, sys
uid, gid, umask = int(sys.argv[1]), int(sys.argv[2]), 0o022
os.setgroups([gid] if gid else []); os.setresgid(uid, uid, uid); os.setresuid(uid, uid, uid); os.umask(umask)
os.environ["HOME"] = "/nonexistent"
import logging
logging.basicConfig(format="%(levelname)s %(message)s", stream=sys.stdout)
import jitcache
def cache(**more): return jitcache.Cache(sys.argv[3], memory_size=0, **more)
def key(n): return jitcache.Key(n=n)
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder that every user can reach."""
    for p in [tmp_path, *tmp_path.parents]:
        if p == Path("/tmp") or p == Path("/"):
            break
        p.chmod(p.stat().st_mode | 0o755)
    return tmp_path


def as_user(uid: int, gid: int, directory: Path, code: str, **env: str) -> str:
    # The other user reads the library too, so it is in an open place.
    return check(AS_USER + code, uid, gid, directory, env={**env, "JITCACHE_LIBRARY": LIBRARY, "PYTHONPATH": PACKAGE})


LIBRARY = PACKAGE = ""


@pytest.fixture(autouse=True, scope="module")
def open_copy(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Copy package and library to a place where other users can read them, because the checkout may be private."""
    import shutil
    import tempfile

    global LIBRARY, PACKAGE
    PACKAGE = tempfile.mkdtemp(prefix="jitcache-test-")
    os.chmod(PACKAGE, 0o755)
    here = Path(jitcache.__file__).parent
    shutil.copytree(here, Path(PACKAGE) / "jitcache", ignore=shutil.ignore_patterns("*.so", "include", "__pycache__"))
    LIBRARY = str(Path(PACKAGE) / "libjitcache.so")
    shutil.copy(jitcache._library.path(), LIBRARY)
    os.chmod(LIBRARY, 0o755)
    yield
    shutil.rmtree(PACKAGE)


def user_python() -> bool:
    """Whether another user can run this Python at all."""
    pid = os.fork()
    if pid == 0:
        os.setresuid(ALICE, ALICE, ALICE)
        os._exit(0 if os.access(os.path.realpath(sys.executable), os.X_OK) else 1)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


@pytest.fixture(autouse=True)
def reachable_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the users' code in forked children, because this Python's files may be private."""
    if not user_python():
        monkeypatch.setattr(sys.modules[__name__], "as_user", forked_as_user)


def forked_as_user(uid: int, gid: int, directory: Path, code: str, **env: str) -> str:
    r, w = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.dup2(w, 1)
        os.dup2(w, 2)
        os.environ.update(env)
        sys.argv = ["-c", str(uid), str(gid), str(directory)]
        status = 1
        try:
            import io
            import logging

            sys.stdout = io.TextIOWrapper(os.fdopen(os.dup(1), "wb"), line_buffering=True)
            logging.getLogger().handlers.clear()
            import textwrap

            exec(compile(AS_USER + textwrap.dedent(code), "user", "exec"), {"__name__": "user"})
            status = 0
        except BaseException:
            import traceback

            traceback.print_exc(file=sys.stdout)
        finally:
            sys.stdout.flush()
            os._exit(status)
    os.close(w)
    out = b""
    while chunk := os.read(r, 65536):
        out += chunk
    os.close(r)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert status == 0, out.decode()
    return out.decode()


def test_readable_cache_of_root_is_read_by_a_user(place: Path) -> None:
    """A cache in an image is used there under another id."""
    directory = place / "baked"
    directory.mkdir(mode=0o755)
    directory.chmod(0o755)
    jitcache.Cache(directory).put(jitcache.Key(n=1), b"from root")
    out = as_user(
        ALICE,
        0,
        directory,
        """
    c = cache()
    assert c.get(key(1)) == b"from root", c.last_miss
    assert not c.put(key(2), b"x") and c.last_reason == "read-only", c.last_reason
    assert c.get_or_compile(key(2), lambda: b"compiled") == b"compiled"
    print("ok")
    """,
    )
    assert out == "ok\n"  # and no warning


def shared(place: Path, mode: int = 0o2775) -> Path:
    directory = place / "shared"
    directory.mkdir()
    os.chown(directory, 0, GROUP)
    directory.chmod(mode)
    return directory


def test_group_directory_serves_two_users_who_agree(place: Path) -> None:
    directory = shared(place)
    as_user(ALICE, GROUP, directory, 'assert cache().put(key(1), b"from alice")', JITCACHE_SHARED="1")
    out = as_user(
        BOB,
        GROUP,
        directory,
        """
    c = cache()
    assert c.get(key(1)) == b"from alice", c.last_miss
    assert c.put(key(2), b"from bob")
    assert c.get_or_compile(key(3), lambda: b"compiled by bob") == b"compiled by bob"
    print("ok")
    """,
        JITCACHE_SHARED="1",
    )
    assert out == "ok\n"
    out = as_user(
        ALICE,
        GROUP,
        directory,
        """
    c = cache(shared=True)      # consent in the code
    assert c.get(key(2)) == b"from bob" and c.get(key(3)) == b"compiled by bob"
    assert c.put(key(2), b"from alice", replace=True)
    c.trim(); assert c.verify()["bad"] == [] and len(c) == 3
    c.clear(); assert len(c) == 0
    print("ok")
    """,
    )
    assert out == "ok\n"


def test_group_directory_without_consent_is_refused_and_says_why(place: Path) -> None:
    directory = shared(place)
    as_user(ALICE, GROUP, directory, 'assert cache().put(key(1), b"from alice")', JITCACHE_SHARED="1")
    out = as_user(
        BOB,
        GROUP,
        directory,
        """
    c = cache(); c = cache()
    assert c.get(key(1)) is None and c.last_miss == "no directory"
    """,
    )
    assert out.count("WARNING") == 1
    assert "JITCACHE_SHARED=1" in out
    assert f"group {GROUP} may write it" in out


def test_another_users_directory_is_used_only_if_named(place: Path) -> None:
    directory = place / "alices"
    directory.mkdir()
    os.chown(directory, ALICE, ALICE)
    directory.chmod(0o755)
    as_user(ALICE, 0, directory, 'assert cache().put(key(1), b"from alice")')
    out = as_user(BOB, 0, directory, "assert cache().get(key(1)) is None")
    assert f"belongs to user {ALICE}" in out
    assert f"JITCACHE_TRUST={ALICE}" in out
    out = as_user(BOB, 0, directory, 'assert cache().get(key(1)) == b"from alice"', JITCACHE_TRUST=f"1,{ALICE}")
    assert out == ""


def test_root_does_not_use_a_users_cache(place: Path) -> None:
    directory = place / "alices"
    directory.mkdir()
    os.chown(directory, ALICE, ALICE)
    directory.chmod(0o700)
    as_user(ALICE, 0, directory, 'assert cache().put(key(1), b"from alice")')
    assert jitcache.Cache(directory, memory_size=0).get(jitcache.Key(n=1)) is None


def test_third_user_cannot_put_an_entry_into_a_shared_directory(place: Path) -> None:
    directory = shared(place)
    as_user(ALICE, GROUP, directory, 'assert cache().put(key(1), b"good")', JITCACHE_SHARED="1")
    as_user(
        MALLORY,
        0,
        directory,
        """
    c = cache(shared=True)
    assert c.get(key(1)) == b"good"            # it is readable
    assert not c.put(key(1), b"evil", replace=True), "stored"
    assert not c.put(key(2), b"evil")
    for path in (sys.argv[3], sys.argv[3] + "/v1", sys.argv[3] + "/v1/entries", sys.argv[3] + "/v1/tmp", sys.argv[3] + "/v1/locks"):
        assert not os.access(path, os.W_OK), path
    """,
    )
    out = as_user(
        BOB, GROUP, directory, 'assert cache().get(key(1)) == b"good"; print(cache().get(key(2)))', JITCACHE_SHARED="1"
    )
    assert out == "None\n"


@pytest.mark.parametrize("how", ["owner", "group", "others"])
def test_entry_that_somebody_else_may_have_written_is_not_used(place: Path, how: str) -> None:
    """The directory itself is fine, as after a restored backup or a careless chmod -R."""
    directory = place / "cache"
    cache = jitcache.Cache(directory, memory_size=0)
    cache.put(jitcache.Key(n=1), b"x")
    (entry,) = directory.glob("v1/entries/*/*.jce")
    if how == "owner":
        os.chown(entry, MALLORY, MALLORY)
    else:
        entry.chmod({"group": 0o660, "others": 0o606}[how])
    assert cache.get(jitcache.Key(n=1)) is None
    assert cache.last_miss == "wrong owner"
    assert cache.put(jitcache.Key(n=1), b"x")
    assert cache.get(jitcache.Key(n=1)) == b"x"


def test_init_makes_a_shared_directory(place: Path) -> None:
    import subprocess

    directory = place / "made"
    subprocess.run(
        [sys.executable, "-m", "jitcache", "init", "-shared", "-group", str(GROUP), "-max-size", "10M", str(directory)],
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    s = directory.stat()
    assert (s.st_gid, s.st_mode & 0o7777) == (GROUP, 0o2770)
    as_user(ALICE, GROUP, directory, 'assert cache().put(key(1), b"x")', JITCACHE_SHARED="1")
    as_user(BOB, GROUP, directory, 'assert cache().get(key(1)) == b"x"', JITCACHE_SHARED="1")
    for path in directory.rglob("*"):
        assert path.stat().st_gid == GROUP, path
        assert path.stat().st_mode & 0o007 == 0, path
        assert path.stat().st_mode & 0o060 == 0o060, path
