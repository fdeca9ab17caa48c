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
import samples
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
    for line in samples.under("docs/sharing.md", "Containers").splitlines():
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

    text = samples.under("docs/sharing.md", "Containers", 1)
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
    text = samples.under("docs/sharing.md", "Continuous integration")
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
    as_root(
        tools,
        "mkdir -p /opt/site/jitcache\n" + samples.under("docs/sharing.md", "An HPC module"),
        WARM="/tmp/place/warm",
    )
    env = {}
    for line in samples.under("docs/sharing.md", "An HPC module", 1).splitlines():
        words = line.split()
        if words[0] in ("prepend-path", "setenv"):
            env[words[1]] = words[2].replace("$env(TMPDIR)", "/tmp")
    assert set(env) == {"JITCACHE_LAYERS", "JITCACHE_DIR"}
    assert compiles(tools, JITCACHE_DIR="/tmp/jitcache-without") == 5
    assert compiles(tools, **env) == 0


def test_air_gap(tools: Machine, tmp_path: Path) -> None:
    (tmp_path / "warm_up.py").write_text(PROGRAM)
    public = here(LAUNCHER, "trust", "new", str(tmp_path / "signing-key")).strip()
    outside = samples.under("docs/sharing.md", "A cluster behind an air gap", 0).replace(
        "jitcache bundle", f"{LAUNCHER} bundle"
    )
    outside = outside.replace("python", sys.executable)
    here("/bin/sh", "-ec", outside, folder=str(tmp_path), HOME=str(tmp_path))
    shutil.copy(tmp_path / "warm.jcb", tools.transfer / "warm.jcb")
    once = samples.under("docs/sharing.md", "A cluster behind an air gap", 1)
    each = samples.under("docs/sharing.md", "A cluster behind an air gap", 2)
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


def test_layers_are_used_by_the_line_that_names_them(tools: Machine) -> None:
    as_root(tools, "umask 022; mkdir -p /opt/site; python warm_up.py", JITCACHE_DIR="/opt/site/jitcache")
    tools.root("chmod -R go+rX,go-w /opt/site/jitcache")
    line = samples.under("docs/sharing.md", "Layers")
    assert tools.run("sh", "-euc", f"{line}python /tmp/place/warm_up.py", traced=False, JITCACHE_LAYERS="").out == "0\n"


#: CI's own folder: a key is not used if others may write where it lies.
CI = "rm -rf /tmp/of-ci; mkdir -m 755 /tmp/of-ci; cp warm_up.py /tmp/of-ci; cd /tmp/of-ci; umask 022\n"


def test_signed_layers(tools: Machine) -> None:
    """CI is root here, and everybody may write its directory: who uses it goes by the key."""
    once = samples.under("docs/sharing.md", "Signed layers", 0)
    ci = samples.under("docs/sharing.md", "Signed layers", 1)
    use = samples.under("docs/sharing.md", "Signed layers", 2)
    tools.root("rm -rf /srv/jitcache")
    as_root(tools, f"{CI}{once}{ci}python warm_up.py\nchmod 777 /srv/jitcache\ncp signing-key.public /tmp/place")
    count = "python /tmp/place/warm_up.py"
    without = use.replace("jitcache trust", "true jitcache trust")
    for text, compiled in ((without, "5\n"), (use, "0\n")):
        tools.forget()
        assert tools.run(
            "sh", "-euc", text + count, folder="/tmp/place", traced=False, JITCACHE_LAYERS=""
        ).out.endswith(compiled)


def test_bundle(tools: Machine) -> None:
    whole, recent, *checks, add = samples.under("docs/sharing.md", "Bundles").splitlines()
    keys = "jitcache trust new key > key.public\nexport JITCACHE_SIGNING_KEY_FILE=$PWD/key JITCACHE_DIR=/tmp/place/ci\n"
    lines = "\n".join(['jitcache trust add "$(cat key.public)"', *checks, add])
    for create in (whole, recent):
        tools.forget()
        as_root(
            tools, f"{CI}{keys}rm -rf /tmp/place/ci; python warm_up.py\n{create}\ncp key.public results.jcb /tmp/place"
        )
        tools.run("sh", "-euc", lines, folder="/tmp/place", traced=False, JITCACHE_LAYERS="")
        assert compiles(tools) == 0


def test_users_of_one_group(tools: Machine) -> None:
    """Two users of the group compile once; one who has not said that he trusts them does for himself."""
    once, each = samples.under("docs/sharing.md", "Several users of one machine").split("# each user\n")
    tools.root("rm -rf /var/cache/jitcache")
    as_root(tools, once)
    said = []
    for user, lines in ((61002, each), (61003, each), (61003, each.replace("JITCACHE_SHARED=1", ""))):
        script = f"{lines}HOME=/tmp/{user} python /tmp/place/warm_up.py > /tmp/place/said"
        (tools.transfer / "script").write_text(script)
        tools.root(
            f"setpriv --reuid={user} --regid=staff --clear-groups sh -euc '. /transfer/script' 2>/dev/null; cp /tmp/place/said /transfer/said; rm /tmp/place/said"
        )
        said.append((tools.transfer / "said").read_text())
    assert said == ["5\n", "0\n", "5\n"]


def test_disk_of_the_node(tools: Machine) -> None:
    line = samples.under("docs/sharing.md", "Clusters: homes on NFS, Lustre or GPFS")
    assert tools.run("sh", "-euc", f"{line}jitcache dir", traced=False).out == "/tmp/jitcache-other\n"
