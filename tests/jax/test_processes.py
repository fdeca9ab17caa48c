"""Many processes, some of which die: beside JAX's own cache."""

from __future__ import annotations

import socket

from project import AT_ONCE, CALL, OURS, OWN, Project
from projects import kill

SLOW = {"SLOW": "jit_f", "SLEEP": "1"}


def test_four_processes_at_once_compile_once(project: Project) -> None:
    said = project.at_once([OURS + AT_ONCE] * 4, **SLOW)
    assert project.compiled() == 1
    assert said[0] == said[1] == said[2] == said[3]


def test_with_jax_s_own_cache_each_of_them_compiles(project: Project) -> None:
    """The other column of the table in docs/jax.md."""
    project.at_once([OWN + AT_ONCE] * 4, **SLOW)
    assert project.compiled() == 4


def test_eight_threads_of_two_processes_compile_once(project: Project) -> None:
    threads = """
from concurrent.futures import ThreadPoolExecutor
ready()
with ThreadPoolExecutor(4) as pool:
    results = list(pool.map(lambda n: np.asarray(jax.jit(f)(X)).tolist(), range(4)))
assert all(r == results[0] for r in results)
say(result=results[0])
"""
    project.at_once([OURS + threads] * 2, **SLOW)
    assert project.compiled() == 1


def test_after_a_kill_in_the_compile_the_next_compiles(project: Project) -> None:
    """Who waits goes on at once, and who comes later finds nothing half made."""
    p = project.start(OURS + CALL, SLOW="jit_f", SLEEP="100")
    project.wait_for_compile()
    waiter = project.start(OURS + AT_ONCE)
    assert waiter.stdout.readline() == "ready\n"
    waiter.stdin.write("go\n")
    waiter.stdin.flush()
    kill(p)
    said = project.end(waiter)[-1]
    assert project.compiled() == 2
    assert project.run(OURS + CALL) == said
    assert project.compiled(None) == 0


FAILS = """
import time
def fails(x):
    return jax.ffi.ffi_call("nothing_is_called_this", jax.ShapeDtypeStruct(x.shape, x.dtype))(x)
def attempt():
    began = time.monotonic()
    try:
        jax.jit(fails)(X).block_until_ready()
    except Exception as e:
        return type(e).__name__, time.monotonic() - began
"""


def test_compile_that_fails_leaves_no_lease(project: Project) -> None:
    """The next, in this process and in another that was waiting, fails at once and does not wait."""
    code = (
        OURS
        + FAILS
        + "one = attempt()\ntwo = attempt()\nready()\nsay(errors=[one[0], two[0]], seconds=one[1] + two[1])\n"
    )
    p = project.start(code)
    assert p.stdout.readline() == "ready\n", p.stderr.read()
    other = project.run(OURS + FAILS + "one = attempt()\nsay(errors=[one[0]], seconds=one[1])\n")
    p.stdin.write("go\n")
    p.stdin.flush()
    said = project.end(p)[-1]
    assert len(set(said["errors"] + other["errors"])) == 1
    assert max(said["seconds"], other["seconds"]) < 20
    assert project.compiled("jit_fails") == 3
    plain = project.run(FAILS + "say(errors=[attempt()[0]])\n")
    assert plain["errors"] == other["errors"]


JOB = """
jax.config.update("jax_cpu_collectives_implementation", "gloo")
jax.distributed.initialize("127.0.0.1:" + os.environ["PORT"], 2, {number})
{cache}
from jax.sharding import Mesh, NamedSharding, PartitionSpec
jax.jit(f)(X)
mesh = Mesh(np.array(jax.devices()), ("d",))
rows = jax.make_array_from_callback((8, 4), NamedSharding(mesh, PartitionSpec("d")), lambda i: np.ones((8, 4), np.float32)[i])
def total(x):
    return jnp.sum(x * 2)
sum_ = jax.jit(total, out_shardings=NamedSharding(mesh, PartitionSpec()))(rows)
say(total=float(np.asarray(sum_.addressable_data(0))))
"""


def job(project: Project, cache: str) -> int:
    """Run a job of two processes and return how often XLA has compiled."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = str(s.getsockname()[1])
    processes = [project.start(JOB.format(number=n, cache=cache), PORT=port) for n in range(2)]
    assert [project.end(p)[-1]["total"] for p in processes] == [64.0, 64.0]
    return project.compiled(None)


def test_second_run_of_a_job_of_two_processes_compiles_nothing(project: Project) -> None:
    assert 2 <= job(project, OURS) <= 4
    assert job(project, OURS) == 0


def test_with_jax_s_own_cache_its_second_process_compiles_in_every_run(project: Project) -> None:
    """The other column of the table in docs/jax.md."""
    job(project, OWN)
    assert job(project, OWN) > 0
