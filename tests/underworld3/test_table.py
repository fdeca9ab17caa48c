"""What changes, and what must happen: the table of underworld3's documentation, with what it leaves out."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from job import VENVS
from site_folder import G, Site, both

OTHER = VENVS / "other-python" / "bin" / "python"


class Change(NamedTuple):
    """A change, and how often is compiled after it, after that, and when it is undone."""

    name: str
    request: dict[str, Any] = {}
    env: dict[str, Any] = {}
    compiles: tuple[int, int, int] = (1, 0, 0)
    old: tuple[int, int, int] | None = None  # with underworld3's own cache, if that differs


SAME = (0, 0, 0)
CHANGES = [
    Change("nothing", compiles=SAME),
    Change("an expression", {"callbacks": [G]}),
    Change("one function more", {"callbacks": ["constants[0]*u[0] + 1.0", G]}),
    Change("the value of a constant", compiles=SAME),  # each run solves with two
    Change("the name of a constant", {"constants": ["B"]}, compiles=SAME, old=(1, 1, 0)),
    Change("the version of PETSc", env={"STANDIN_PETSC": "3.19.0"}),
    Change("the version of underworld3", env={"STANDIN_VERSION": "0.0.1"}),
    Change("the configuration of PETSc", env={"PETSC_DIR": "int64"}, old=SAME),
    Change("PETSC_ARCH", env={"PETSC_ARCH": "debug"}, old=SAME),
    Change("the compiler, by what it is", env={"CC": "other"}, old=SAME),
    Change("flags of underworld3", env={"UW3_JIT_CFLAGS": "-O1"}),
    Change("CFLAGS", env={"CFLAGS": "-O1"}, old=SAME),
    Change("LDFLAGS", env={"LDFLAGS": "-Wl,-O1"}, old=SAME),
    Change("CPATH", env={"CPATH": "/nonexistent"}, old=SAME),
    Change("the place of the temp directory", env={"TMPDIR": "other-tmp"}, compiles=SAME),
    Change("the name of the compiler", env={"CC": "renamed"}, old=SAME),
    Change("code for the CPU", env={"CFLAGS": "-march=native"}, old=SAME),
    Change("a variable of Intel MPI's wrapper", env={"I_MPI_CC": "icx"}, old=SAME),
    Change("a variable that a script may obey", env={"ANYTHING": "1"}, old=SAME),
    Change(
        "what names a job and a rank",
        env={
            "SLURM_JOB_ID": "7",
            "SLURM_STEP_ID": "3",
            "OMPI_COMM_WORLD_RANK": "3",
            "OMPI_MCA_btl": "self",
            "HOSTNAME": "a",
        },
        compiles=SAME,
    ),
]


def prepared(site: Site, env: dict[str, Any]) -> dict[str, Any]:
    """Make what a change's environment names."""
    env = dict(env)
    if env.get("CC") == "other":
        env["CC"] = site.make_compiler("other", ": another")
    elif env.get("CC") == "renamed":
        env["CC"] = site.folder / "renamed"
        env["CC"].write_bytes(site.compiler.read_bytes())
        env["CC"].chmod(0o755)
    if "PETSC_DIR" in env:
        conf = site.folder / "petsc" / "lib" / "petsc" / "conf"
        conf.mkdir(parents=True)
        (conf / "petscvariables").write_text("PETSC_INDEX_SIZE = 64\n")
        env["PETSC_DIR"] = site.folder / "petsc"
    if "TMPDIR" in env:
        env["TMPDIR"] = site.folder / "other-tmp"
        env["TMPDIR"].mkdir()
    return env


#: With the old cache only what differs there.
ROWS = [pytest.param(c, False, id=f"{c.name}-jitcache") for c in CHANGES]
ROWS += [pytest.param(c, True, id=f"{c.name}-its-own") for c in CHANGES if c.old is not None]


@pytest.mark.parametrize(("change", "old"), ROWS)
def test_change(site: Site, change: Change, old: bool) -> None:
    assert site.solve(old=old) == 1
    env = prepared(site, change.env)
    request = dict(change.request)
    callbacks = tuple(request.pop("callbacks", [])) or ("constants[0]*u[0] + 1.0",)
    seen = [site.solve(old=old, env=env, callbacks=callbacks, **request) for _ in range(2)]
    seen.append(site.solve(old=old))
    assert tuple(seen) == (change.old if old else change.compiles)


SCALED = ["constants[0]*u[0]*SCALE"]

#: A wrapper of an MPI, how it is told which compiler to run, and variables by which it compiles something else.
WRAPPERS = [
    ("mpicc.openmpi", "OMPI_CC", {"OMPI_CFLAGS": "-DSCALE={}"}),
    ("mpicc.openmpi", "OMPI_CC", {"OMPI_CPPFLAGS": "-DSCALE={}"}),
    ("mpicc.openmpi", "OMPI_CC", {"OMPI_CC": "{compiler} -DSCALE={}"}),
    ("mpicc.mpich", "MPICH_CC", {"MPICH_CC": "{compiler} -DSCALE={}"}),
    ("mpicc.mpich", "MPICH_CC", {"MPICC_PROFILE": "{folder}/profile{}"}),
]


@pytest.mark.control("noenvironment", rows=["mpicc.openmpi-OMPI_CFLAGS-jitcache", "mpicc.mpich-MPICH_CC-jitcache"])
@both
@pytest.mark.parametrize(
    ("wrapper", "compiler", "change"), WRAPPERS, ids=[f"{w}-{next(iter(c))}" for w, _, c in WRAPPERS]
)
def test_wrapper(site: Site, wrapper: str, compiler: str, change: dict[str, str], old: bool) -> None:
    """What a wrapper's variables say is compiled, and not what they said before; with the old cache it is wrong."""
    if shutil.which(wrapper) is None:
        pytest.skip(f"no {wrapper}")
    for n in (2, 3):
        (site.folder / f"profile{n}.conf").write_text(f'CC="$CC -DSCALE={n}"\n')
    seen, log = [], site.folder / "log"
    for n in (2, 3, 3, 2):
        said = {k: v.format(n, compiler=site.compiler, folder=site.folder) for k, v in change.items()}
        env = {"CC": wrapper, compiler: site.compiler, "JITCACHE_LOG": "miss", "JITCACHE_LOG_FILE": str(log), **said}
        seen.append(site.tried(old=old, callbacks=SCALED, scale=n, env=env))
    why = log.read_text() if log.exists() else ""
    wanted = ["right 1", "wrong", "wrong", "right 0"] if old else ["right 1", "right 1", "right 0", "right 0"]
    assert seen == wanted, why


@pytest.mark.skipif(not OTHER.exists(), reason="no other version of Python")
def test_abi_of_python(site: Site) -> None:
    seen = [site.solve(mpi=name) for name in ("mpich", "other-python", "other-python", "mpich")]
    assert seen == [1, 1, 0, 0]


def _set_version(file: Path, version: int) -> None:
    file.write_text(
        file.read_text().replace('"version": 1', f'"version": {version}').replace('"version":1', f'"version":{version}')
    )


@both
def test_schema_of_the_manifest(site: Site, old: bool) -> None:
    """Another version in a file of the flat layout is a miss for ever; entries have a version of their own."""
    more = {"old": True} if old else {"flat": True}
    site.solve(**more)
    (manifest,) = site.cache.glob("*.manifest.json")
    _set_version(manifest, 2)
    assert [site.solve(**more) for _ in range(2)] == ([1, 1] if old else [0, 0])


def test_format_of_entries(site: Site) -> None:
    """An entry of a format that is not known is a miss, once."""
    site.solve()
    (entry,) = site.modules()
    data = bytearray(entry.read_bytes())
    data[-64:] = bytes(64)  # the footer, magic and version with it
    entry.write_bytes(data)
    assert [site.solve() for _ in range(2)] == [1, 0]
