"""The declaration of each area: what runs it, and which rooms its tests stand on.

The order is that of make test and make test-all; within a run the longest comes first
(tests/seconds.txt).
"""

from __future__ import annotations

import functools

from reach.choice import EVERY_FILE

from . import (
    aarch64,
    adapters,
    c,
    control,
    cpp,
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
    reach,
    releases,
    remotes,
    storm,
    underworld3,
)
from .area import Area, When

TEST, PUSH, ALL, NAMED = When.TEST, When.PUSH, When.ALL, When.NAMED

#: What tests of the package import beside themselves: support for processes, an independent reader of the format.
_SUPPORT = ("tests/python", "tests/format", "tests/golden", "tests/compilers.py", "tests/samples.py")
_PACKAGE = ("python/package", *_SUPPORT)
#: The command, and how Python comes to it.
_COMMAND = ("python/command", *_SUPPORT)
_LIBRARY = ("capi", "capi/jobs", "include")
_HEADERS = ("include", "tests/compilers.py")
#: What is in a wheel.
_WHEEL = ("python/*", *_LIBRARY, "cli/jitcache", "cli/bundles", "cmake", "packages", "README.md", "tests/readme.py", "tests/start.py", "docs/start.md", "tests/compilers.py", "tests/samples.py")  # fmt: skip
_CONTROL = ("core/control",)
_FRAMEWORKS = ("tests/frameworks", "tests/python", "tests/ports.py", "tests/samples.py")

_python_parts = {
    "tests/python/test_bundles.py": ("python/command",),
    "tests/python/test_cli.py": ("python/command",),
    "tests/python/test_coming.py": ("python/command", "docs/coming.md"),
    "tests/python/test_container.py": ("python/command",),
    "tests/python/test_examples.py": ("python/native", "python/cuda", "examples/*", "include"),
    "tests/python/test_fleet_run.py": ("python/command",),
    "tests/python/test_help.py": ("python/command",),
    "tests/python/test_import.py": ("python/*", "docs/*"),
    "tests/python/test_install.py": ("cmake", "include", "cli/jitcache"),
    "tests/python/test_layers.py": ("python/command",),
    "tests/python/test_listing.py": ("python/command",),
    "tests/python/test_log.py": ("python/command",),
    "tests/python/test_profile.py": ("python/command",),
    "tests/python/test_reader.py": ("docs/format.md", "python/command"),
    "tests/python/test_readme.py": ("README.md", "docs/*", "python/native", "python/cuda", "python/command"),
    "tests/python/test_remote.py": ("docs/remote.md", "python/command"),
    "tests/python/test_remote_off.py": ("python/command",),
    "tests/python/test_remote_run.py": ("python/command",),
    "tests/python/test_remote_push.py": ("python/command",),
    "tests/python/test_remote_stats.py": ("python/command",),
    "tests/python/test_sharing.py": ("docs/sharing.md", "python/command", "python/native", "include"),
    "tests/python/test_signatures.py": ("python/command",),
    "tests/python/test_terminal.py": ("python/command",),
    "tests/python/test_memoize.py": ("docs/memoize.md",),
    "tests/python/test_ranks.py": ("python/mpi",),
}

_DECLARED = [
    # Without root and without Debian's packages. With zig the area c builds the libraries of C and C++, for three
    # minutes. It comes early, so that python, which takes longest, finds them.
    Area("reach", reach.tests, TEST, ("tests/reach",), folders=("tests/reach",), always=True),
    Area("header", c.header, TEST, _HEADERS, with_gcc=True),
    Area("c", c.programs, TEST, ("capi", "tests/c", "tests/golden", *_HEADERS), with_gcc=True),
    Area("go", go.tests, TEST, (), parts=go.parts()),
    Area("arch", go.arch, TEST, ("tests/arch",), always=True),
    Area("abi", package.abi, TEST, (*_LIBRARY, "tests/abi")),
    Area("python", python.tests, TEST, _PACKAGE, parts=_python_parts, folders=("tests/python",), beside=True,
         shards=2,
         pushed={"tests/python/test_memoize_changes.py::*": 15}, later={"tests/python/test_examples.py::test_demo*": 0}),
    Area("wheel", package.wheel, TEST, _WHEEL),
    Area("package", package.tests, TEST, ("capi", "python/command", "cmake", "packages", "tests/compilers.py"), beside=True,
         folders=("tests/package",),
         later={f"tests/package/{name}*": 0 for name in (
             "test_go.py::test_unknown_release_that_is_named", "test_go.py::test_library_without_the_changes", "test_go.py::test_wheel_takes_no_library",
             "test_go.py::test_unchanged_runtime_is_said", "test_release.py::test_version_reaches", "test_steps.py::test_build_tells",
         )},
         parts={
             "tests/package/test_pages.py": ("docs/*", "README.md", "tests/start.py"),
             "tests/package/test_samples.py": EVERY_FILE,
             "tests/package/test_release.py": ("CHANGELOG.md", "docs/*", "include", "tests/release.py"),
             "tests/package/test_contributing.py": ("CONTRIBUTING.md",),
             "tests/package/test_installation.py": ("README.md", "docs/start.md", "docs/install.md"),
         }),
    Area("cuda", cuda.tests, TEST, ("cuda", "capi/jobs", "python/cuda", "tests/cuda", "tests/c", *_PACKAGE, *_HEADERS), folders=("tests/cuda",),
         parts={
             "tests/cuda/test_readme.py": ("README.md", "docs/cuda.md", "cmake"),
             "tests/cuda/test_nvrtc_host.py": ("examples/nvrtc_host", "cmake"),
         }),
    Area("native", native.tests, TEST, ("python/native", "tests/native", *_PACKAGE), folders=("tests/native",), beside=True, with_gcc=True,
         pushed={"tests/native/*": 3},
         parts={
             "tests/native/test_environment.py": ("docs/native.md",),
             "tests/native/test_samples.py": ("docs/native.md", "include"),
             "tests/native/test_native_host.py": ("examples/native_host", "cmake", "include"),
         }),
    Area("launch", launch.tests, TEST, ("cli/jitcache", "python/native", "tests/launch", "tests/native", *_PACKAGE), folders=("tests/launch",), beside=True, with_gcc=True,
         rest=launch.rest, parts={"tests/launch/test_samples.py": ("docs/launcher.md",),
                                "tests/launch/test_debugging.py": ("docs/debugging.md",)}),
    # The areas below need root, Debian's packages or more time.
    Area("controls", control.tests, PUSH, (*_LIBRARY, *_CONTROL, *_COMMAND, "bundle", "tests/c")),
    Area("go-push", go.long, PUSH, (), parts={place: rooms for place, rooms in go.parts().items() if place in go.LONG}),
    Area("race", go.race, PUSH, (), parts=go.parts()),
    Area("root", python.root, PUSH, (*_PACKAGE, *_COMMAND)),
    Area("sdist", package.sdist, PUSH, _WHEEL),
    Area("cpp", cpp.tests, PUSH, ("capi", "capi/jobs", "python/native", "python/cuda", "examples/*", "README.md", "tests/c", "tests/cuda", "tests/golden",
                                  *_PACKAGE, *_HEADERS)),
    Area("calls", c.system_calls, PUSH, ("capi", "tests/c", *_HEADERS)),
    Area("lint", package.lint, PUSH, ("tests/lint.py",), always=True),
    Area("storm", storm.short, PUSH, ("cli/jitcache", "python/native", *_PACKAGE, "tests/storm", "docs/format.md"), folders=("tests/storm",)),
    Area("disks", disks.short, PUSH, ("cli/jitcache", "python/native", *_PACKAGE, "tests/disks", "docs/format.md"), folders=("tests/disks",)),
    Area("disks-controls", disks.controls, PUSH, (*_CONTROL, "python/native", *_PACKAGE, "tests/disks")),
    Area("guest", guest.tests, PUSH, ("capi", "include", *_PACKAGE, "tests/guest", "tests/c"), folders=("tests/guest",)),
    Area("ranks", guest.ranks, PUSH, ("capi", "include", *_PACKAGE, "tests/guest", "tests/c"), folders=("tests/guest",)),
    Area("guest-controls", guest.controls, PUSH, ("capi", "include", *_CONTROL, *_PACKAGE, "tests/guest", "tests/c")),
    Area("host", host.tests, PUSH, ("capi", "include", *_PACKAGE, "tests/host"), folders=("tests/host",)),
    Area("gpu", cuda.gpu, PUSH, ("capi/jobs", "python/cuda", "python/adapters/*", "tests/gpu", *_PACKAGE)),
    Area("cuda-controls", cuda.controls, PUSH, (*_CONTROL, "cuda", "python/cuda", *_PACKAGE, "tests/cuda")),
    Area("machines", machines.tests, PUSH, ("python/adapters/*", "python/native", "python/cuda", *_COMMAND, "tests/machines", "tests/cuda", "docs/sharing.md"),
         folders=("tests/machines",), environment="all",
         later={"tests/machines/test_producers.py::*": 2, "tests/machines/test_serving.py::*all]": 0, "tests/machines/test_serving.py::*_sees_*": 0},
         parts={"tests/machines/test_serving.py": ("examples/serving",)}),
    Area("remotes", remotes.tests, PUSH, (*_COMMAND, "tests/remotes", "tests/ports.py"), folders=("tests/remotes",), rest=remotes.rest),
    Area("numba", adapters.numba, PUSH, ("python/adapters/numba", "tests/numba", *_FRAMEWORKS), folders=("tests/numba",), beside=True, shards=3,
         environment="numba",
         later={
             "tests/numba/*::test_without_the_mechanism*": 4,
             # What Numba does without us: rows of these are kept answers of plain programs.
             "tests/numba/*::test_what_is_right_after_it_is_what_a_plain_numba_gives*": 0, "tests/numba/test_right.py::test_numba_s_own*": 0,
             "tests/numba/test_example.py::*": 0,  # the area frameworks runs it
         },
         parts={"tests/numba/test_example.py": ("docs/numba.md", "examples/*"), "tests/numba/test_startup.py": ("python/startup",)}),
    Area("cute-dsl", adapters.cute_dsl, PUSH, ("python/adapters/cute_dsl", "tests/cute_dsl", *_FRAMEWORKS), folders=("tests/cute_dsl",), beside=True, shards=2,
         environment="cute-dsl",
         later={"tests/cute_dsl/*": 4, "tests/cute_dsl/test_interface.py::test_example*": 0},
         parts={"tests/cute_dsl/test_interface.py": ("docs/cute_dsl.md", "examples/*")}),
    Area("cutile", adapters.cutile, PUSH, ("python/adapters/cutile", "tests/cutile", "tests/cuda", *_FRAMEWORKS), folders=("tests/cutile",), beside=True,
         environment="cutile", later={"tests/cutile/*": 4}, parts={"tests/cutile/test_interface.py": ("docs/cutile.md",)}),
    Area("underworld3", underworld3.tests, PUSH, ("python/adapters/underworld3", "examples/underworld3_shaped", "tests/underworld3", "tests/mpi", *_PACKAGE),
         folders=("tests/underworld3",), beside=True, rest=underworld3.rest,
         later={"tests/underworld3/*": 3, "*its-own*": 0, "tests/underworld3/test_weaknesses.py::*": 0}),
    Area("native-compilers", native.compilers, PUSH, ("python/native", "tests/native", "examples/native_host", "cmake", "docs/native.md", *_PACKAGE, *_HEADERS),
         folders=("tests/native",), beside=True, shards=2,
         later={"tests/native/*": 3, "tests/native/test_table.py::*-clang]": 0}),
    Area("cuda-core", adapters.cuda_core, PUSH, ("python/adapters/cuda_core", "tests/cuda_core", "tests/cuda", *_FRAMEWORKS), folders=("tests/cuda_core",), beside=True,
         environment="cuda-core", later={"tests/cuda_core/*": 3},
         parts={"tests/cuda_core/test_example.py": ("docs/cuda_core.md", "examples/*")}),
    Area("nvrtc", cuda.nvrtc, PUSH, ("cuda", "capi/jobs", "python/cuda", "tests/cuda", "examples/nvrtc_host", *_PACKAGE), folders=("tests/cuda",), beside=True, shards=2),
    Area("triton", adapters.triton, PUSH, ("python/adapters/triton", "tests/triton", *_FRAMEWORKS), folders=("tests/triton",), beside=True,
         environment="triton", rest=adapters.triton_rest),
    Area("mpi", mpi.tests, PUSH, ("python/mpi", *_PACKAGE, "tests/mpi", "docs/mpi.md"), folders=("tests/mpi",), beside=True),
    Area("frameworks", adapters.frameworks, PUSH, ("python/adapters/*", "examples/*", *_PACKAGE), beside=True, environment="all"),
    Area("jax", adapters.jax, PUSH, ("python/adapters/jax", "tests/jax", *_FRAMEWORKS), folders=("tests/jax",), beside=True,
         environment="jax", rest=adapters.jax_rest, parts={"tests/jax/test_right.py": ("docs/jax.md",)}),
    Area("torch", adapters.torch, PUSH, ("python/adapters/torch", "tests/torch", *_FRAMEWORKS), folders=("tests/torch",), beside=True,
         environment="torch", with_gcc=True, later={
             "tests/torch/test_controls.py::*": 4, "tests/torch/*without_the_adapter*": 0, "tests/torch/test_models.py::*": 0,
         },
         parts={"tests/torch/test_interface.py": ("docs/torch.md", "python/startup")}),
    Area("pages", pages.tests, PUSH, ("docs/*", "README.md", "CHANGELOG.md", "ARCHITECTURE.md", "SECURITY.md", "CONTRIBUTING.md", "include", "python/*", "cli", "tests/pages", "examples/demo"), beside=True),
    Area("observe", observe.tests, PUSH, ("observe", "tests/observe"), beside=True),
    Area("observe-controls", observe.controls, PUSH, ("observe", "observe tests"), beside=True),
    Area("bench", package.bench, PUSH, ("python/*", *_LIBRARY, "tests/bench", *_SUPPORT), beside=True),
    Area("native-controls", native.controls, PUSH, (*_CONTROL, "python/native", "tests/native", *_PACKAGE), beside=True),
    Area("packages", packages.tests, PUSH, ("cmake", "packages", "include", "tests/packages", "docs/install.md", "LICENSE", "README.md", *_LIBRARY),
         folders=("tests/packages",), beside=True,
         parts={"tests/packages/test_action.py": ("docs/sharing.md", "python/command", "tests/samples.py")}),
    Area("cupy", adapters.cupy, PUSH, ("python/adapters/cupy", "tests/cupy", *_FRAMEWORKS), folders=("tests/cupy",), beside=True,
         environment="cupy", rest=adapters.cupy_rest, parts={"tests/cupy/test_interface.py": ("docs/cupy.md",)}),
    Area("warp", adapters.warp, PUSH, ("python/adapters/warp", "tests/warp", *_FRAMEWORKS), folders=("tests/warp",), beside=True,
         environment="warp", rest=adapters.warp_rest, parts={"tests/warp/test_interface.py": ("docs/warp.md",)}),
    Area("launch-controls", launch.controls, PUSH, (*_CONTROL, "cli/jitcache", "python/native", "tests/launch", "tests/native", *_PACKAGE), beside=True),
    Area("types", package.types, PUSH, ("python/*", *_LIBRARY, "tests/typed", "tests/abi"), beside=True),
    # For an hour more: other versions of Python, the frameworks and Go, and the libraries of zig and for aarch64.
    *(Area(f"python-{v}", python.on(path), ALL, (*_PACKAGE, *_COMMAND)) for v, path in python.interpreters().items()),
    Area("portable", package.portable, ALL, _WHEEL),
    Area("aarch64", aarch64.tests, ALL, _WHEEL),
    Area("releases", releases.tests, ALL, _WHEEL),
    Area("fuzz-short", go.fuzz_short, ALL, ("cli/*", "bundle", "launch", *_LIBRARY)),
    Area("callers", launch.callers, ALL, ("cli/jitcache", "tests/launch", *_PACKAGE), beside=True),
    Area("remotes-clocks", remotes.clocks, ALL, (*_COMMAND, "tests/remotes")),
    Area("numba-upstream", adapters.numba_upstream, ALL, ("python/adapters/numba", "tests/numba", *_FRAMEWORKS), beside=True),
    Area("numba-suite", adapters.numba_suite, ALL, ("python/adapters/numba", "tests/numba", *_FRAMEWORKS), beside=True),
    Area("numba-old", adapters.numba_old, ALL, ("python/adapters/numba", "tests/numba", *_FRAMEWORKS), beside=True),
    Area("cuda-core-old", adapters.cuda_core_old, ALL, ("python/adapters/cuda_core", "tests/cuda_core", *_FRAMEWORKS), beside=True),
    Area("triton-old", adapters.triton_old, ALL, ("python/adapters/triton", "tests/triton", *_FRAMEWORKS), beside=True),
    Area("torch-old", adapters.torch_old, ALL, ("python/adapters/torch", "tests/torch", *_FRAMEWORKS), beside=True),
    Area("jax-old", adapters.jax_old, ALL, ("python/adapters/jax", "tests/jax", *_FRAMEWORKS), beside=True),
    Area("cupy-old", adapters.cupy_old, ALL, ("python/adapters/cupy", "tests/cupy", *_FRAMEWORKS), beside=True),
    Area("warp-old", adapters.warp_old, ALL, ("python/adapters/warp", "tests/warp", *_FRAMEWORKS), beside=True),
    # All of Numba's general suite takes hours.
    *(
        Area(f"numba-suite-{n}", functools.partial(adapters.numba_suite_shard, n), ALL, ("python/adapters/numba", "tests/numba"), beside=True)
        for n in range(1, adapters.SUITE_SHARDS + 1)
    ),
    # These run only if they are named; the attacks of make soak print the figures of docs/reliability.md.
    Area("fuzz", go.fuzz, NAMED, _LIBRARY),
    Area("storm-long", storm.long, NAMED, ("python/package",)),
    Area("disks-long", disks.long, NAMED, ("python/package",)),
    Area("guest-soak", guest.soak, NAMED, ("python/package",)),
    Area("host-soak", host.soak, NAMED, ("python/package",)),
    Area("walks-long", native.walks, NAMED, ("python/native",)),
    Area("launch-soak", launch.soak, NAMED, ("cli/jitcache",)),
    Area("remotes-soak", remotes.soak, NAMED, ("python/command",)),
]  # fmt: skip


def _pushed(area: Area) -> Area:
    """Return the area of what make test leaves of another to a push."""
    run = functools.partial(area.run, f"{area.name}-push")
    files = tuple(pattern.partition("::")[0] for pattern in area.pushed)
    return Area(f"{area.name}-push", run, PUSH, area.uses, area.parts, area.folders, only=files, beside=area.beside)


def _rest(area: Area) -> Area:
    """Return the area of what a push leaves of another to make test-all."""
    run = area.rest or functools.partial(area.run, f"{area.name}-rest")
    return Area(f"{area.name}-rest", run, ALL, area.uses, folders=area.folders, beside=area.beside)


_PUSHED, _LATER = ([area for area in _DECLARED if getattr(area, left)] for left in ("pushed", "later"))

#: All areas, by name.
AREAS = {
    area.name: area
    for area in [*_DECLARED, *map(_pushed, _PUSHED), *(_rest(area) for area in _DECLARED if area.rest or area.later)]
}

#: What each area leaves to another, or has of what another leaves, by name.
LEFT = {
    **{area.name: {**area.pushed, **area.later} for area in _DECLARED},
    **{f"{area.name}-push": area.pushed for area in _PUSHED},
    **{f"{area.name}-rest": area.later for area in _LATER},
}

#: The attacks that take minutes.
SOAK = ["storm-long", "disks-long", "guest-soak", "host-soak", "walks-long", "launch-soak", "remotes-soak"]


def names(when: When) -> list[str]:
    """Return the areas that something runs, in order."""
    return [name for name, area in AREAS.items() if area.when is when]
