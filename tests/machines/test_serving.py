"""One bundle for a serving image: after a warm-up run, a container that has only this bundle compiles nothing.

The container is another machine whose files have the times that they have here, as those of an image have. Its homes
are empty, and it has no network.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path
from typing import NamedTuple

import pytest
from conftest import HOME, PATH, ROOT, USER, Machine, here
from producers import LAUNCHER

EXAMPLE = ROOT / "examples" / "serving"

#: Where the image has the bundle.
LAYER_OF_IMAGE = "/opt/jitcache"

#: jitcache is a command.
WITH_COMMAND = f"{Path(LAUNCHER).parent}:{PATH}"

#: What starts where a kernel is compiled. Triton asks ptxas for its version, without compiling.
STARTED = re.compile(r'execve\("[^"]*/(cc1|cc1plus|as|ld|cicc|cudafe\+\+|tileiras|ptxas[^/"]*|jitcache-nvrtc)"')
#: What tests/machines/counted_passes.py says.
PASSES = "compiler in the process"


class Server(NamedTuple):
    """A process of the example's server, in the environment of its framework."""

    framework: str
    architecture: int
    python: str
    variables: dict[str, str]
    #: Whether the witness is strace. Beside it the launcher would do nothing; an object of nvcc is of its run, for it has a
    #: process's number in it.
    traced: bool

    @property
    def command(self) -> tuple[str, ...]:
        counted = str(Path(__file__).with_name("counted_passes.py"))
        return (self.python, counted, str(EXAMPLE / "serve.py"), "--work", self.framework, str(self.architecture))

    @property
    def env(self) -> dict[str, str]:
        given = {"PYTHONPATH": str(ROOT / "python"), "PYTHONDONTWRITEBYTECODE": "1", "PATH": WITH_COMMAND}
        return {**given, **self.variables}


def servers(framework: str) -> list[Server]:
    """Return the processes for a framework; the test is skipped if it is not installed."""
    name = {"nvrtc": "CUDA_CORE"}.get(framework, framework.upper())
    python = os.environ.get(f"JITCACHE_TEST_{name}")
    if python is None:
        pytest.skip(f"no JITCACHE_TEST_{name}")
    venv = Path(python).parents[1]
    found = []
    for architecture in {"cutile": [100], "torch": [100]}.get(framework, [90, 100]):
        variables = {
            "triton": {"TRITON_DEFAULT_FP_FUSION": "1"},
            "cute_dsl": {"CUTE_DSL_ARCH": f"sm_{architecture}a"},
            "nvrtc": {"JITCACHE_NVRTC": str(next(venv.rglob("nvidia/cu13/lib/libnvrtc.so.13"), ""))},
            "nvcc": {"NVCC": str(next(venv.rglob("nvidia/cu13/bin/nvcc"), ""))},
        }.get(framework, {})
        found.append(Server(framework, architecture, python, variables, framework != "nvcc"))
    return found


def warmed(all_of: list[Server], cache: Path, machine: Machine) -> list[str]:
    """Let all compile here, as a user who has nothing in the frameworks' own folders, and make a bundle of it the
    container's layer. Return the digests of what was compiled."""
    home = cache.with_name("home")
    fresh = {"JITCACHE_DIR": str(cache), "HOME": str(home), "USER": f"warm-{os.getpid()}"}
    digests = [json.loads(here(*s.command, **fresh, **s.env).splitlines()[-1])[0] for s in all_of]
    shutil.rmtree(f"/tmp/torchinductor_{fresh['USER']}", ignore_errors=True)
    layer = cache.with_name("layer")
    here("/bin/sh", "-ec", packing().replace(LAYER_OF_IMAGE, str(layer)), JITCACHE_DIR=str(cache), PATH=WITH_COMMAND)
    machine.install(layer)
    return digests


def packing() -> str:
    """Return the command by which the Dockerfile packs."""
    (line,) = re.findall(r"python serve\.py && (jitcache bundle create .*)", (EXAMPLE / "Dockerfile").read_text())
    assert LAYER_OF_IMAGE in line
    return line


def test_image_and_deployment_name_the_folder_of_the_bundle() -> None:
    for name, lines in {
        "Dockerfile": [f"COPY --from=warm {LAYER_OF_IMAGE} {LAYER_OF_IMAGE}", f"ENV JITCACHE_LAYERS={LAYER_OF_IMAGE}"],
        "kubernetes.yaml": [
            f"name: JITCACHE_LAYERS, value: {LAYER_OF_IMAGE}",
            f"mountPath: {LAYER_OF_IMAGE}, readOnly: true",
        ],
    }.items():
        text = (EXAMPLE / name).read_text()
        assert all(line in text for line in lines), name


def served(s: Server, machine: Machine, **env: str) -> tuple[str, list[str]]:
    """Run it in the container; return the digest, and the compilers that ran."""
    machine.root(f"rm -rf {HOME}/.[a-z]*; find /tmp -mindepth 1 -maxdepth 1 -user {USER} -exec rm -rf {{}} +")
    outcome = machine.run(*s.command, traced=s.traced, JITCACHE_LOG="miss", **s.env, **env)
    print(s.framework, s.architecture, outcome.said)
    log = (machine.transfer / "strace").read_text().splitlines() if s.traced else []
    ran = [m[1] for line in log if " = 0" in line and "--version" not in line and (m := STARTED.search(line))]
    return json.loads(outcome.out.splitlines()[-1])[0], [*ran, *re.findall(PASSES, outcome.said)]


ALL = ("triton", "cute_dsl", "cutile", "torch", "nvrtc", "nvcc")


@pytest.mark.parametrize("frameworks", [("nvrtc", "nvcc"), ALL], ids=["two", "all"])
def test_container_with_one_bundle_compiles_nothing(
    dated_machine: Machine, tmp_path: Path, frameworks: tuple[str, ...]
) -> None:
    everything = [s for framework in frameworks for s in servers(framework)]
    digests = warmed(everything, tmp_path / "cache", dated_machine)
    assert len(set(digests)) == len(everything)
    found = {f"{s.framework} {s.architecture}": served(s, dated_machine) for s in everything}
    assert found == {f"{s.framework} {s.architecture}": (d, []) for s, d in zip(everything, digests)}


@pytest.mark.parametrize("framework", ALL)
def test_without_the_bundle_the_witness_sees_a_compile(dated_machine: Machine, framework: str) -> None:
    s, digests = servers(framework)[0], set()
    for _ in range(1 if s.traced else 2):
        digest, ran = served(s, dated_machine, JITCACHE_LAYERS="")
        digests.add(digest)
    assert ran or len(digests) == 2
