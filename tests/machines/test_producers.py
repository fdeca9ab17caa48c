"""What one machine has compiled, another that has the same packages at the same paths does not compile again.

Its files have other inodes and times, and host name, kernel, user and home are others; it has
no network. What was compiled is copied there as a layer, or added as a bundle that is signed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import HOME, Machine, here
from producers import LAUNCHER, PLAIN, PRODUCERS, Producer, cuda, cython, last, launched, native


def rows() -> list[Any]:
    """Return the producers."""
    return [
        pytest.param(name, marks=pytest.mark.skipif(bool(needs) and needs not in os.environ, reason=f"no {needs}"))
        for name, (_, needs) in PRODUCERS.items()
    ]


@pytest.fixture
def redis(machine: Machine, dated_machine: Machine) -> Iterator[str]:
    """A Redis that listens in the folders that both kinds of machines share with this one; {} in its URL is the folder."""
    if shutil.which("redis-server") is None:
        pytest.skip("no redis-server")
    socket = machine.transfer / "redis"
    command = ["redis-server", "--port", "0", "--save", "", "--unixsocket", str(socket), "--unixsocketperm", "777"]
    server = subprocess.Popen([*command, "--dir", str(machine.transfer)], stdout=subprocess.DEVNULL)
    end = time.monotonic() + 10
    while not socket.exists():
        assert time.monotonic() < end
        time.sleep(0.01)
    os.link(socket, dated_machine.transfer / "redis")
    yield "redis+unix://{}/redis|trust=unsigned"
    server.kill()
    server.wait()
    for folder in (machine.transfer, dated_machine.transfer):
        (folder / "redis").unlink(missing_ok=True)


def first(p: Producer, cache: Path, **more: str) -> str:
    """Compile on this machine, and see that it is found here."""
    env = {**p.env, **more, p.place[0]: str(cache)}
    before = p.compiles() if p.compiles else 0
    out = here(*p.command, **env)
    compiled = p.compiles() - before if p.compiles else int(not p.says or not p.found(out, out))
    assert compiled == 1, f"{compiled} compiles at first"
    assert "refused" not in out or last(out)["refused"] == ""
    again = here(*p.command, **env)
    assert p.found(out, again), again
    assert not p.compiles or p.compiles() == before + 1, "it was compiled again"
    return out


def machine_of(request: pytest.FixtureRequest, p: Producer) -> Machine:
    """The machine that a producer is tried on, with copies of all that it needs."""
    machine: Machine = request.getfixturevalue("dated_machine" if p.dated else "machine")
    if p.copied:
        machine.copy(Path(p.copied))
    return machine


def finds(machine: Machine, p: Producer, out: str, **env: str) -> None:
    """Run it there twice: it compiles nothing."""
    own = {} if p.place[0] == "JITCACHE_DIR" else {p.place[0]: f"{HOME}/{p.place[1]}"}
    for _ in range(2):
        there = machine.run(*p.command, traced=p.traced, kernel=p.kernel, JITCACHE_LOG="miss", **p.env, **own, **env)
        assert p.found(out, there.out), there.out + there.said
        assert not p.compilers & set(there.compilers), there.said


@pytest.mark.parametrize("name", rows())
def test_layer_of_one_machine_serves_another(request: pytest.FixtureRequest, tmp_path: Path, name: str) -> None:
    p = PRODUCERS[name][0]()
    machine = machine_of(request, p)
    out = first(p, tmp_path / "cache")
    machine.install(tmp_path / "cache")
    finds(machine, p, out)


@pytest.mark.parametrize("name", rows())
def test_bundle_of_one_machine_serves_another_without_network(
    request: pytest.FixtureRequest, tmp_path: Path, name: str
) -> None:
    """It is signed, carried over as a file, and added by the user."""
    p = PRODUCERS[name][0]()
    machine = machine_of(request, p)
    out = first(p, tmp_path / "cache")
    secret = tmp_path / "secret"
    public = here(LAUNCHER, "trust", "new", str(secret)).strip()
    here(LAUNCHER, "-directory", str(tmp_path / "cache"), "sign", "-key", str(secret))
    here(LAUNCHER, "-directory", str(tmp_path / "cache"), "bundle", "create", str(machine.transfer / "bundle"))
    (machine.transfer / "bundle").chmod(0o644)
    machine.forget()
    add = (LAUNCHER, "-directory", f"{HOME}/{p.place[1]}", "bundle", "add", "/transfer/bundle")
    added = machine.run(*add, traced=False, JITCACHE_LAYERS="", JITCACHE_KEYS=public)
    assert " 0 have no trusted signature" in added.out
    finds(machine, p, out, JITCACHE_LAYERS="", JITCACHE_KEYS=public)


@pytest.mark.parametrize("name", rows())
def test_redis_serves_another_machine(request: pytest.FixtureRequest, tmp_path: Path, redis: str, name: str) -> None:
    """By a socket, for there is no network. All that is in the other machine's directory has come by it."""
    p = PRODUCERS[name][0]()
    machine = machine_of(request, p)
    machine.forget()
    out = first(p, tmp_path / "cache", JITCACHE_REMOTE=redis.format(machine.transfer))
    assert not here(
        LAUNCHER,
        "-directory",
        str(tmp_path / "cache"),
        "remote",
        "flush",
        JITCACHE_REMOTE=redis.format(machine.transfer),
    )
    env = {"JITCACHE_LAYERS": "", "JITCACHE_REMOTE": redis.format("/transfer")}
    # strace would wait for the end of a helper that starts under it.
    machine.run(LAUNCHER, "-directory", f"{HOME}/{p.place[1]}", "remote", "status", traced=False, **p.env, **env)
    finds(machine, p, out, **env)


def test_machine_has_no_network_and_other_files(machine: Machine) -> None:
    script = "cat /proc/net/dev; uname -r; hostname; id -u; stat -c %i /usr/lib/gcc /usr/include"
    there, here_ = machine.run("/bin/sh", "-c", script, kernel=True).out, here("/bin/sh", "-c", script)
    assert [line.split(":")[0].strip() for line in there.splitlines() if ":" in line] == ["lo"]
    assert not set(there.splitlines()[-5:]) & set(here_.splitlines()[-5:])


def test_unsealed_launch_differs_each_time() -> None:
    """Else equal bytes would say nothing."""
    p = launched()
    assert here(*p.command, JITCACHE="0") != here(*p.command, JITCACHE="0")


def test_what_differs_there_is_compiled_again(machine: Machine, tmp_path: Path) -> None:
    """A change that no stamp shows: the witness must see it."""
    p = native("gcc", "c", "#include <differs.h>\nint f(void) { return DIFFERS; }\n")
    header = Path("/usr/local/include/differs.h")
    header.write_text("#define DIFFERS 1\n")
    try:
        here(*p.command, JITCACHE_DIR=str(tmp_path / "cache"))
        machine.install(tmp_path / "cache")
        machine.root(f"echo '#define DIFFERS 2' > {header}")
        there = machine.run(*p.command)
        said = last(there.out)
        assert not said["hit"]
        assert str(header) in said["missed"]
        assert "cc1" in there.compilers
    finally:
        header.unlink()


def test_source_that_asks_for_the_host_is_translated_for_each(machine: Machine, tmp_path: Path) -> None:
    p = cython("DEF HOST = UNAME_NODENAME\ndef f():\n    return HOST\n")
    out = first(p, tmp_path / "cache")
    machine.install(tmp_path / "cache")
    there = machine.run(*p.command)
    said = last(there.out)
    assert not said["hit"]
    assert said["bytes"] != last(out)["bytes"]
    assert {"jitcache-observe", "cc1"} <= set(there.compilers)


def test_another_processor_is_a_miss_with_that_reason_where_it_counts(machine: Machine, tmp_path: Path) -> None:
    """The library there takes the processor for another one."""
    other = os.environ.get("JITCACHE_TEST_OTHER_PROCESSOR")
    if other is None:
        pytest.skip("no such library")
    source = "int f(void) { return 3; }\n"
    for flags, counts in (((), False), (("-march=native",), True)):
        p = native("gcc", "c", source, *flags)
        first(p, tmp_path / "cache")
        machine.install(tmp_path / "cache")
        there = machine.run(*p.command, JITCACHE_LIBRARY=other)
        assert last(there.out)["hit"] is not counts
        assert ("cc1" in there.compilers) is counts
        assert last(there.out)["missed"] == ("another processor" if counts else "")


@pytest.mark.skipif("JITCACHE_TEST_CUDA12" not in os.environ, reason="no wheels of NVRTC")
def test_another_gpu_is_a_miss_with_that_reason(machine: Machine, tmp_path: Path) -> None:
    """Without an architecture code is for the device, which is another one there."""
    driver = os.environ["JITCACHE_TEST_FAKE_DRIVER"]
    p = cuda(PLAIN, JITCACHE_LIBCUDA=driver, FAKECUDA_CC="80")
    first(p, tmp_path / "cache")
    machine.install(tmp_path / "cache")
    for cc, hit in (("80", True), ("90", False)):
        there = machine.run(*p.command, **{**p.env, "FAKECUDA_CC": cc})
        assert last(there.out)["hit"] is hit
        assert ("jitcache-nvrtc" in there.compilers) is not hit
        assert last(there.out)["changed"] == ([] if hit else ["device"])
