"""The areas of the tests: a name, and a function that runs them and counts."""

from __future__ import annotations

import functools

from . import (
    aarch64,
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
    packages,
    pages,
    python,
    releases,
    remotes,
    storm,
    underworld3,
)
from .common import Area, log_of

__all__ = ["AREAS", "BESIDE", "LONGER", "REST", "SOAK", "TEST", "WITH_GCC", "log_of"]

_interpreters = {f"python-{v}": python.on(path) for v, path in python.interpreters().items()}
# CI tests a part of the tables with the oldest interpreter, and all with the one that runs this. The others seldom
# differ. Numba's area has the newest.
_oldest = {"python-oldest": python.oldest} if _interpreters else {}

#: Numba's general suite: an area for each shard.
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
    **_oldest,
    "wheel": package.wheel,
    "package": package.tests,
    "cuda": cuda.tests,
    "native": native.tests,
    "launch": launch.tests,
    "controls": control.tests,
    # The areas below need root, Debian's packages or more time.
    "race": go.race,
    "root": python.root,
    "python-rest": python.rest,
    "sdist": package.sdist,
    "packages": packages.tests,
    "portable": package.portable,
    "aarch64": aarch64.tests,
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
    "underworld3-rest": underworld3.rest,
    "nvrtc": cuda.nvrtc,
    "observe": observe.tests,
    "observe-controls": observe.controls,
    "machines": machines.tests,
    "machines-rest": machines.rest,
    "remotes": remotes.tests,
    "remotes-rest": remotes.rest,
    "remotes-clocks": remotes.clocks,
    "native-rest": native.rest,
    "native-more": native.more,
    "native-controls": native.controls,
    "launch-rest": launch.rest,
    "launch-controls": launch.controls,
    "callers": launch.callers,
    "gpu": cuda.gpu,
    "cuda-controls": cuda.controls,
    "numba": adapters.numba,
    "numba-rest": adapters.numba_rest,
    "numba-old": adapters.numba_old,
    "numba-upstream": adapters.numba_upstream,
    "numba-suite": adapters.numba_suite,
    **_suite,
    "cute-dsl": adapters.cute_dsl,
    "cute-dsl-rest": adapters.cute_dsl_rest,
    "triton": adapters.triton,
    "triton-rest": adapters.triton_rest,
    "triton-old": adapters.triton_old,
    "jax": adapters.jax,
    "jax-rest": adapters.jax_rest,
    "jax-old": adapters.jax_old,
    "cupy": adapters.cupy,
    "cupy-rest": adapters.cupy_rest,
    "cupy-old": adapters.cupy_old,
    "warp": adapters.warp,
    "warp-rest": adapters.warp_rest,
    "warp-old": adapters.warp_old,
    "cuda-core": adapters.cuda_core,
    "cuda-core-rest": adapters.cuda_core_rest,
    "cuda-core-old": adapters.cuda_core_old,
    "frameworks": adapters.frameworks,
    "pages": pages.tests,
    # These run only if they are named.
    "fuzz": go.fuzz,
    "storm-long": storm.long,
    "disks-long": disks.long,
    "guest-soak": guest.soak,
    "host-soak": host.soak,
    "walks-long": native.walks,
    "launch-soak": launch.soak,
    "remotes-soak": remotes.soak,
}

#: Without root and without Debian's packages, in ten minutes. With zig the area c builds the libraries of C and C++, for
#: three minutes. It comes early, so that python, which takes longest, finds them.
TEST = [
    "header",
    "c",
    "go",
    "abi",
    "python",
    "wheel",
    "package",
    "cuda",
    "native",
    "launch",
]

#: The areas of TEST that use gcc. CI runs all of TEST without gcc (tests/bare.py), and then these with it.
WITH_GCC = ["header", "c", "native", "launch"]

#: Areas that need root, Debian's packages (tests/deps-ci.sh) or more time; and the controls. The longest of those in
#: BESIDE come first, because at the end all streams wait for the last area.
REST = [
    *_oldest, "controls",
    "race", "root", "python-rest", "sdist", "calls", "lint",
    "storm", "disks", "disks-controls", "guest", "ranks", "guest-controls", "host", "gpu", "cuda-controls",
    "machines", "remotes",
    "numba", "cute-dsl", "underworld3", "native-rest", "cuda-core", "nvrtc", "triton", "mpi", "frameworks",
    "jax", "pages", "observe", "observe-controls", "bench", "native-controls", "packages", "cupy", "warp", "launch-controls", "types",
]  # fmt: skip

#: Areas for an hour more: other versions of the frameworks and of Go, the libraries of zig and for aarch64, and all rows
#: of tables of which REST runs a part. All of Numba's suite takes hours.
LONGER = [
    *_interpreters, "portable", "aarch64", "releases", "fuzz-short",
    "native-more", "launch-rest", "callers", "machines-rest", "remotes-rest", "remotes-clocks", "underworld3-rest",
    "numba-rest", "numba-upstream", "numba-suite", "numba-old", "cute-dsl-rest", "cuda-core-rest", "cuda-core-old", "triton-rest", "triton-old", "jax-rest", "jax-old", "cupy-rest",
    "cupy-old", "warp-rest", "warp-old", *_suite,
]  # fmt: skip

#: Areas that wait for compilers and measure no times. They run beside the others. machines is not among them, because its
#: rows compare times, and other areas run pip, which changes these.
BESIDE = frozenset({
    "python", "package", "native", "launch", "nvrtc", "packages", "types",
    "observe", "observe-controls", "native-rest", "native-more", "native-controls", "launch-rest", "launch-controls", "callers", "mpi", "underworld3", "underworld3-rest", "numba", "numba-rest", "numba-old",
    "numba-upstream", "numba-suite", *_suite, "cuda-core", "cuda-core-rest", "cuda-core-old", "cute-dsl", "cute-dsl-rest", "triton", "triton-rest", "triton-old",
    "jax", "jax-rest", "jax-old", "cupy", "cupy-rest", "cupy-old", "warp", "warp-rest", "warp-old", "frameworks", "pages",
    "bench",
})  # fmt: skip

#: The attacks that take minutes, and print the figures of docs/reliability.md.
SOAK = ["storm-long", "disks-long", "guest-soak", "host-soak", "walks-long", "launch-soak", "remotes-soak"]
