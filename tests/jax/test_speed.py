"""Ratios, side by side in one run."""

from __future__ import annotations

from project import OURS, OWN, Project

PUTS = """
import time
from jax._src.lru_cache import LRUCache
N = 4000
os.makedirs(os.environ["OWN"])
for i in range(N):
    for suffix, data in (("-cache", b"x" * 100), ("-atime", i.to_bytes(8, "little"))):
        with open(f"{os.environ['OWN']}/k{i}{suffix}", "wb") as out:
            out.write(data)
own = LRUCache(os.environ["OWN"], max_size=1 << 30)
cache = jitcache.Cache(max_size="1Gi")
from jitcache.adapters.jax import _hooks
adapter.install(cache)
ours = _hooks.Executables(lambda: cache, "")
for i in range(N):
    ours.put(f"k{i}-00", b"x" * 100)
def best(put, name):
    times = []
    for i in range(5):
        began = time.perf_counter()
        put(f"{name}{i}-00", b"y" * 1000)
        times.append(time.perf_counter() - began)
    return min(times)
say(ours=best(ours.put, "n"), own=best(own.put, "n"))
"""


def test_put_under_a_cap_does_not_read_the_directory(project: Project) -> None:
    """JAX's own reads it all: with 4,000 entries that is a thousand times as long, and grows with them."""
    said = project.run("import filelock\n" + PUTS, fresh="it is timed")
    print({name: f"{seconds * 1000:.3f} ms" for name, seconds in said.items()})
    assert said["ours"] * 10 < said["own"]


FIRST = """
import time
jnp.zeros(1).block_until_ready()
def g(x):
    for i in range(30):
        x = jnp.tanh(x @ x.T) @ x + jnp.sort(x, axis=0) * i
    return x
x = np.ones((40, 40), np.float32)
began = time.perf_counter()
jax.jit(g)(x).block_until_ready()
say(seconds=time.perf_counter() - began)
"""


def test_first_call_of_a_warm_process_takes_what_it_takes_with_jax_s_own(project: Project) -> None:
    cold = project.run(OURS + FIRST, fresh="it is timed")["seconds"]
    project.run(OWN + FIRST)
    ours, own = (
        min(project.run(begin + FIRST, fresh="it is timed")["seconds"] for _ in range(3)) for begin in (OURS, OWN)
    )
    print(f"cold {cold:.3f} s, own {own:.3f} s, ours {ours:.3f} s")
    assert ours < own * 1.5
    assert ours * 1.5 < cold
