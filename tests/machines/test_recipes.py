"""The recipes of docs/sharing.md, followed word by word on a machine of their own."""

from __future__ import annotations

import io
import json
import re
import shutil
import sys
import tarfile
from pathlib import Path

import pytest
from conftest import Machine, here
from producers import LAUNCHER, ROOT

#: What a recipe calls warm_up.py, and what uses its results: it says how much it compiles.
PROGRAM = f"""
import sys
sys.path.insert(0, {str(ROOT / "python")!r})
import jitcache
made = []
for n in range(5):
    jitcache.default_cache().get_or_compile(jitcache.Key(n=n), lambda: made.append(n) or b"code" * 100, kind="cubin")
print(len(made))
"""


def recipe(heading: str, language: str, which: int = 0) -> str:
    """A block of code below a heading."""
    text = (ROOT / "docs" / "sharing.md").read_text()
    part = text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    blocks = re.findall(rf"^```{language}\n(.*?)^```$", part, re.MULTILINE | re.DOTALL)
    assert len(blocks) > which, f"no recipe in {language} below {heading}"
    return str(blocks[which])


@pytest.fixture
def tools(machine: Machine) -> Machine:
    """The machine, with the programs that the recipes call, and nothing of the ones before."""
    machine.forget()
    (machine.transfer / "warm_up.py").write_text(PROGRAM)
    machine.root(f"""
        rm -rf /opt/jitcache /opt/site /tmp/place
        mkdir -p /tmp/place
        cp /transfer/warm_up.py /tmp/place
        ln -sf {sys.executable} /usr/local/bin/python
        ln -sf {LAUNCHER} /usr/local/bin/jitcache
        chmod 777 /tmp/place
    """)
    return machine


def compiles(machine: Machine, **env: str) -> int:
    return int(machine.run("python", "/tmp/place/warm_up.py", traced=False, **{"JITCACHE_LAYERS": "", **env}).out)


def as_root(machine: Machine, script: str, **env: str) -> None:
    variables = " ".join(f"{name}={value}" for name, value in env.items())
    machine.root(f"cd /tmp/place; export HOME=/tmp/place {variables}\n{script}")


def test_dockerfile(tools: Machine) -> None:
    env: dict[str, str] = {}
    for line in recipe("Containers", "dockerfile").splitlines():
        word, _, rest = line.partition(" ")
        if word == "ENV":
            name, _, value = rest.partition("=")
            env[name] = value
        else:
            assert word == "RUN"
            as_root(tools, rest)
    assert compiles(tools) == 5
    tools.forget()
    assert compiles(tools, **env) == 0


def test_kubernetes_volume_of_an_image(tools: Machine, tmp_path: Path) -> None:
    """What a container runtime does: it unpacks the layers of the image, and mounts the root read only."""
    import zstandard

    text = recipe("Containers", "yaml")
    layers, mounted = (
        re.search(pattern, text) for pattern in (r"JITCACHE_LAYERS, value: (\S+)}", r"mountPath: (\S+)}")
    )
    assert layers is not None
    assert mounted is not None
    (tmp_path / "warm_up.py").write_text(PROGRAM)
    here(sys.executable, str(tmp_path / "warm_up.py"), JITCACHE_DIR=str(tmp_path / "warm"))
    here(LAUNCHER, "-directory", str(tmp_path / "warm"), "bundle", "create", "-oci", str(tmp_path / "image"))

    def blob(d: dict[str, str]) -> bytes:
        return (tmp_path / "image" / "blobs" / d["digest"].replace(":", "/")).read_bytes()

    index = json.loads((tmp_path / "image" / "index.json").read_text())
    shutil.rmtree(tools.transfer / "image", ignore_errors=True)
    for layer in json.loads(blob(index["manifests"][0]))["layers"]:
        plain = zstandard.ZstdDecompressor().stream_reader(blob(layer)).read()
        with tarfile.open(fileobj=io.BytesIO(plain)) as tar:
            tar.extractall(tools.transfer / "image")
    tools.root(f"mkdir -p {mounted[1]} && mount --bind -o ro /transfer/image {mounted[1]}")
    try:
        assert compiles(tools, JITCACHE_LAYERS=layers[1]) == 0
    finally:
        tools.root(f"umount {mounted[1]}")


def test_github_actions(tools: Machine) -> None:
    """Two jobs with a new workspace each; between them the path of actions/cache is packed and unpacked."""
    text = recipe("Continuous integration", "yaml")
    directory = re.search(r"JITCACHE_DIR: (.*)", text)
    path = re.search(r"path: (\S+)", text)
    assert directory is not None
    assert path is not None
    steps = [
        line.replace("python -m pytest", "python warm_up.py > compiled") for line in re.findall(r"- run: (.*)", text)
    ]
    compiled = []
    for job in ("one", "two"):
        workspace = f"/tmp/place/{job}"
        setup = f"mkdir {workspace}; cd {workspace}; cp ../warm_up.py .; test ! -e ../saved.tar || tar xf ../saved.tar"
        env = {"JITCACHE_DIR": directory[1].replace("${{ github.workspace }}", workspace)}
        as_root(tools, "\n".join([setup, *steps, f"tar cf ../saved.tar {path[1]}"]), **env)
        tools.root(f"cp {workspace}/compiled /transfer/compiled; rm -rf {workspace}")
        compiled.append(int((tools.transfer / "compiled").read_text()))
    assert compiled == [5, 0]


def test_hpc_module(tools: Machine) -> None:
    as_root(tools, "python warm_up.py", JITCACHE_DIR="/tmp/place/warm")
    as_root(tools, "mkdir -p /opt/site/jitcache\n" + recipe("An HPC module", "sh"), WARM="/tmp/place/warm")
    env = {}
    for line in recipe("An HPC module", "tcl").splitlines():
        words = line.split()
        if words[0] in ("prepend-path", "setenv"):
            env[words[1]] = words[2].replace("$env(TMPDIR)", "/tmp")
    assert set(env) == {"JITCACHE_LAYERS", "JITCACHE_DIR"}
    assert compiles(tools, JITCACHE_DIR="/tmp/jitcache-without") == 5
    assert compiles(tools, **env) == 0


def test_air_gap(tools: Machine, tmp_path: Path) -> None:
    (tmp_path / "warm_up.py").write_text(PROGRAM)
    public = here(LAUNCHER, "trust", "new", str(tmp_path / "signing-key")).strip()
    outside = recipe("A cluster behind an air gap", "sh", 0).replace("jitcache bundle", f"{LAUNCHER} bundle")
    outside = outside.replace("python", sys.executable)
    here("/bin/sh", "-ec", outside, folder=str(tmp_path), HOME=str(tmp_path))
    shutil.copy(tmp_path / "warm.jcb", tools.transfer / "warm.jcb")
    once, each = (recipe("A cluster behind an air gap", "sh", n) for n in (1, 2))
    inside = ["/bin/sh", "-ec", f"cp /transfer/warm.jcb . && {each}"]
    refused = tools.run(
        "/bin/sh", "-c", "jitcache bundle add /transfer/warm.jcb; echo $?", traced=False, JITCACHE_LAYERS=""
    )
    assert refused.out.splitlines()[-1] == "1"
    tools.run("/bin/sh", "-ec", once, traced=False, KEY=public, JITCACHE_LAYERS="")
    said = tools.run(*inside, folder="/tmp/place", traced=False, JITCACHE_LAYERS="").out
    assert "5 entries, 5 signed by a key that is trusted" in said
    assert "5 added" in said
    assert compiles(tools) == 0
