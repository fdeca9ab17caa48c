"""What is weak in underworld3's own cache, shown on a model of it, and what becomes of it with jitcache.

Each test takes both. ``old`` is the model: what it shows there is why the adapter
exists, and that the test would notice.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from job import ROOT, VENVS
from site_folder import G, Site, both

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
OTHER = VENVS / "other-python" / "bin" / "python"


@both
def test_1_renamed_constant(site: Site, old: bool) -> None:
    """The first name wins for ever: every other one compiles in each process."""
    compiles = [site.solve(old=old, constants=[name]) for name in "AABBA"]
    assert compiles == ([1, 0, 1, 1, 0] if old else [1, 0, 0, 0, 0])


def _truncate(file: Path) -> None:
    os.truncate(file, 8192)


def _zero(file: Path) -> None:
    with open(file, "r+b") as f:
        f.seek(0x1000)
        f.write(bytes(4 * 4096))


def _garble(file: Path) -> None:
    file.write_text("this is no module")


@both
@pytest.mark.parametrize("damage", [_truncate, _zero, _garble])
def test_2_damaged_module(site: Site, old: bool, damage: Callable[[Path], None]) -> None:
    """Damage kills the process, or is a miss for ever."""
    site.solve(old=old)
    (file,) = site.modules()
    damage(file)
    seen = [site.tried(old=old) for _ in range(2)]
    if old:
        assert seen in (["died", "died"], ["right 1", "right 1"])
    else:
        assert seen == ["right 1", "right 0"]


@as_root
@both
def test_3_directory_that_cannot_be_written(site: Site, old: bool) -> None:
    """The run fails behind a compile that succeeded."""
    site.cache.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "ro", "tmpfs", str(site.cache)], check=True)
    try:
        assert site.tried(old=old) == ("error" if old else "right 1")
    finally:
        subprocess.run(["umount", "-l", str(site.cache)], check=True)


@as_root
@both
def test_4_several_users(site: Site, old: bool, tmp_path: Path) -> None:
    """The second user of a directory cannot read what the first one stored, and fails to store."""
    owner, user, group = 12345, 12346, 12347
    for folder in (site.folder, *list(site.folder.parents)[:2]):
        folder.chmod(0o755)
    env: dict[str, object] = {}
    if old:
        site.cache.mkdir()
    else:
        command = [
            sys.executable,
            "-m",
            "jitcache",
            "init",
            "-shared",
            "-mode",
            "2770",
            "-group",
            str(group),
            str(site.cache),
        ]
        subprocess.run(command, check=True, capture_output=True, env={**os.environ, "PYTHONPATH": str(ROOT / "python")})
        env["JITCACHE_SHARED"] = "1"
    os.chown(site.cache, owner, group)
    site.cache.chmod(0o2770)
    site.solve(old=old, env=env)
    for file in [site.cache, *site.cache.rglob("*")]:
        if file.stat().st_uid == 0:
            os.chown(file, owner, group)  # root has solved in the owner's place
    fake = tmp_path / "fake"
    fake.mkdir(mode=0o755)
    (fake / "other.so").write_bytes(b"x")
    ended = site.run(old=old, env=env, do="load", uid=user, gid=group, then_store=str(fake))
    (said,) = ended.said
    if old:
        assert said["error"] == "PermissionError"
    else:
        # It is there for who may read what the build has read: this Python is often below a home.
        found = Path(VENVS / "mpich" / "bin" / "python").resolve()
        assert said["loaded"] == all(folder.stat().st_mode & 1 for folder in found.parents)


@both
def test_5_planted_module(site: Site, old: bool) -> None:
    """A directory that others may write: what they left there is run."""
    if not old:
        site.solve()
    assert site.run(old=old, do="build", planted=[G], folder=str(site.folder / "planted")).status == 0
    if not old:
        assert site.tried() == "wrong"  # as long as only its owner may write there
    site.cache.chmod(0o777)
    assert site.tried(old=old) == ("wrong" if old else "right 1")


@both
def test_5_folder_of_the_build(site: Site, old: bool) -> None:
    """It is in /tmp under a name that can be guessed in part, may be read by all, and stays."""
    ended = site.run(old=old, do="folder", env={"UW_JIT_CACHE": "0"})
    (said,) = ended.said
    folder = Path(said["folder"])
    if old:
        assert folder.parent == Path("/tmp") and said["mode"] & stat.S_IRGRP and folder.exists()
        shutil.rmtree(folder)
    else:
        assert folder.parent == site.temp and said["mode"] == 0o700 and not folder.exists()
        *texts, module = said["files"][:3]
        assert texts == ["cy_ext.h", "cy_ext.pyx"]
        assert folder.name.startswith(module.replace(".so", "_"))  # and ends at random, with underscores too
        assert not list(site.temp.iterdir())


@pytest.mark.skipif(not OTHER.exists(), reason="no other version of Python")
@both
def test_6_other_python(site: Site, old: bool) -> None:
    """A module of another Python is loaded: the process dies, or compiles for ever."""
    seen = [site.tried(old=old), *[site.tried(old=old, mpi="other-python") for _ in range(2)], site.tried(old=old)]
    if old:
        assert seen[1] == "died" or seen[2] == "right 1"
    else:
        assert seen == ["right 1", "right 1", "right 0", "right 0"]


@both
def test_6_flags_of_the_environment(site: Site, old: bool) -> None:
    """CFLAGS reach the compiler and not the key: a wrong result."""
    scaled = "constants[0]*u[0]*SCALE"
    seen = [site.tried(old=old, callbacks=[scaled], scale=n, env={"CFLAGS": f"-DSCALE={n}"}) for n in (2, 3, 2)]
    assert seen == (["right 1", "wrong", "right 0"] if old else ["right 1", "right 1", "right 0"])


@both
def test_7_content_of_another_key(site: Site, old: bool) -> None:
    """A file under another one's name is a miss for ever."""
    site.solve(old=old)
    (first,) = site.modules()
    site.solve(old=old, callbacks=(G,))
    (second,) = (file for file in site.modules() if file != first)
    shutil.copyfile(first, second)
    seen = [site.tried(old=old, callbacks=[G]) for _ in range(2)]
    assert seen == (["right 1", "right 1"] if old else ["right 1", "right 0"])


@both
def test_8_size_is_bounded(site: Site, old: bool) -> None:
    """Nothing ever goes."""
    site.solve(old=old)
    cap = 5 * site.modules()[0].stat().st_size // 2
    for n in range(4):
        site.solve(old=old, callbacks=(f"constants[0]*u[0] + {n}.5",), env={"JITCACHE_SIZE": str(cap)})
    size = sum(file.stat().st_size for file in site.modules())
    assert (size > cap) == old
    assert site.solve(old=old, callbacks=("constants[0]*u[0] + 3.5",)) == 0  # the last one is there


@both
def test_9_processes_at_once(site: Site, old: bool) -> None:
    """Processes that are not of one job each compile."""
    go = site.folder / "go"
    site.compiles()
    processes = [site.begin(old=old, wait=str(go)) for _ in range(4)]
    while len(list(site.folder.glob("go.*"))) < 4:
        assert all(p.poll() is None for p in processes)
    go.touch()
    for p in processes:
        text, _ = p.communicate(timeout=60)
        assert json.loads(text.splitlines()[-1])["right"], text
    assert site.compiles() == (4 if old else 1)


@both
def test_10_it_explains_itself(site: Site, old: bool) -> None:
    """No counters, no reason for a miss, and the compiler's text is not in the exception."""
    (said,) = site.run(old=old, callbacks=["constants[0]*nonsense"]).said
    assert "RuntimeError" in said["bases"]
    assert ("nonsense" in said["text"] + said["log"]) != old
    if old:
        return
    site.solve()
    env = {**os.environ, "JITCACHE_DIR": str(site.cache), "PYTHONPATH": str(ROOT / "python")}
    text = subprocess.run(
        [sys.executable, "-m", "jitcache", "stats"], env=env, capture_output=True, text=True, check=True
    ).stdout
    assert "native" in text
    log = site.folder / "misses"
    site.solve(env={"CFLAGS": "-DANY", "JITCACHE_LOG": "miss", "JITCACHE_LOG_FILE": log})
    assert "environment" in log.read_text()  # the component that has changed


@both
def test_15_wipe_of_another_environment(site: Site, old: bool) -> None:
    """Two environments with one home wipe each other's modules whenever one of them is built."""

    def wipe() -> None:
        for pattern in ("*.so", "*.manifest.json", ".*.lock", ".inprogress_*"):
            for file in site.cache.glob(pattern):
                file.unlink()

    seen = []
    for flags in ("-DONE", "-DTWO", "-DONE", "-DTWO"):
        seen.append(site.solve(old=old, env={"CFLAGS": flags}))
        wipe()
    assert seen == ([1, 1, 1, 1] if old else [1, 1, 0, 0])
