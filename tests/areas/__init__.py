"""The areas of the tests: a name, and a function that runs them and counts."""

from __future__ import annotations

import functools

from . import (
    adapters,
    c,
    control,
    cuda,
    disks,
    go,
    guest,
    host,
    launch,
    machines,
    mpi,
    native,
    observe,
    package,
    pages,
    python,
    releases,
    storm,
    underworld3,
)
from .common import Area, log_of

__all__ = ["AREAS", "BESIDE", "LONGER", "REST", "SOAK", "TEST", "log_of"]

_interpreters = {f"python-{v}": python.on(path) for v, path in python.interpreters().items()}
# The oldest and the newest; what is between them seldom differs from both.
_versions = sorted(_interpreters, key=lambda name: int(name.rpartition(".")[2]))
_ends = [name for name in _versions if name in (_versions[0], _versions[-1])]

#: Numba's general suite, a shard each.
_suite = {
    f"numba-suite-{n}": functools.partial(adapters.numba_suite_shard, n) for n in range(1, adapters.SUITE_SHARDS + 1)
}

AREAS: dict[str, Area] = {
    "go": go.tests,
    "header": c.header,
    "c": c.programs,
    "abi": package.abi,
    "python": python.tests,
    **_interpreters,
    "wheel": package.wheel,
    "package": package.tests,
    "cuda": cuda.tests,
    "native": native.tests,
    "launch": launch.tests,
    "controls": control.tests,
    # What follows needs root, Debian's packages or longer.
    "race": go.race,
    "root": python.root,
    "sdist": package.sdist,
    "portable": package.portable,
    "releases": releases.tests,
    "bench": package.bench,
    "types": package.types,
    "calls": c.system_calls,
    "lint": package.lint,
    "fuzz-short": go.fuzz_short,
    "storm": storm.short,
    "disks": disks.short,
    "disks-controls": disks.controls,
    "guest": guest.tests,
    "ranks": guest.ranks,
    "guest-controls": guest.controls,
    "host": host.tests,
    "mpi": mpi.tests,
    "underworld3": underworld3.tests,
    "nvrtc": cuda.nvrtc,
    "observe": observe.tests,
    "machines": machines.tests,
    "native-rest": native.rest,
    "native-controls": native.controls,
    "launch-rest": launch.rest,
    "launch-controls": launch.controls,
    "callers": launch.callers,
    "gpu": cuda.gpu,
    "cuda-controls": cuda.controls,
    "numba": adapters.numba,
    "numba-old": adapters.numba_old,
    "numba-upstream": adapters.numba_upstream,
    "numba-suite": adapters.numba_suite,
    **_suite,
    "cute-dsl": adapters.cute_dsl,
    "triton": adapters.triton,
    "triton-rest": adapters.triton_rest,
    "triton-old": adapters.triton_old,
    "jax": adapters.jax,
    "jax-rest": adapters.jax_rest,
    "jax-old": adapters.jax_old,
    "warp": adapters.warp,
    "warp-old": adapters.warp_old,
    "cuda-core": adapters.cuda_core,
    "cuda-core-old": adapters.cuda_core_old,
    "frameworks": adapters.frameworks,
    "pages": pages.tests,
    # By themselves only.
    "fuzz": go.fuzz,
    "storm-long": storm.long,
    "disks-long": disks.long,
    "guest-soak": guest.soak,
    "host-soak": host.soak,
    "walks-long": native.walks,
    "launch-soak": launch.soak,
}

#: Without root and without Debian's packages, in ten minutes.
TEST = [
    "go",
    "header",
    "c",
    "abi",
    "python",
    "wheel",
    "package",
    "cuda",
    "native",
    "launch",
]

#: With root, Debian's packages (tests/deps-ci.sh) or longer; and the controls.
REST = [
    *_ends, "controls",
    "race", "root", "sdist", "types", "calls", "lint",
    "storm", "disks", "disks-controls", "guest", "ranks", "guest-controls", "host", "nvrtc", "gpu", "cuda-controls",
    "observe", "machines", "native-rest", "native-controls", "launch-controls", "callers", "mpi", "underworld3",
    "numba", "numba-upstream", "numba-suite", "cuda-core", "cute-dsl", "triton", "jax", "frameworks", "pages",
    "bench",
]  # fmt: skip

#: For half an hour more: other versions of what the above runs with, each Go, zig's library, every row of the launcher's table;
#: and for hours, all of Numba's suite.
LONGER = [
    *(name for name in _interpreters if name not in _ends), "portable", "releases", "fuzz-short", "launch-rest",
    "numba-old", "cuda-core-old", "triton-rest", "triton-old", "jax-rest", "jax-old", "warp", "warp-old", *_suite,
]  # fmt: skip

#: Those that wait for compilers and measure no times: they run beside the others.
#: machines does not: pip, which other areas run, changes the times that its rows compare.
BESIDE = frozenset({
    "observe", "native-rest", "native-controls", "launch-rest", "launch-controls", "callers", "mpi", "underworld3", "numba", "numba-old",
    "numba-upstream", "numba-suite", *_suite, "cuda-core", "cuda-core-old", "cute-dsl", "triton", "triton-rest", "triton-old",
    "jax", "jax-rest", "jax-old", "warp", "warp-old", "frameworks", "pages",
    "bench",
})  # fmt: skip

#: The attacks of minutes, which print the figures of docs/reliability.md.
SOAK = ["storm-long", "disks-long", "guest-soak", "host-soak", "walks-long", "launch-soak"]
