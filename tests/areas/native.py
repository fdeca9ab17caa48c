"""C, C++ and Cython: with gcc on any machine, and with clang, zig and Cython if they are installed."""

from __future__ import annotations

import sys
from typing import NamedTuple

from . import cuda, without
from .common import BUILD, Count, environment, print_figures, pytest, run, total
from .control import go_failures, python_red, red

FOLDER = "tests/native"

#: Packages of PyPI that the tests need.
NEEDS = ["Cython>=3", "setuptools", "ziglang>=0.15"]


def tests() -> Count:
    """The tests that need only gcc."""
    return pytest("native", sys.executable, FOLDER, "-m", "not rest", env=environment())


def walks() -> Count:
    """The random walks with gcc, clang and all NVRTCs, until they are saturated; prints what they saw."""
    wheels = cuda.real("walks-long")
    if wheels is None:
        return Count(0, 0, 1)
    files = [f"{FOLDER}/test_walk.py", f"{cuda.FOLDER}/test_walk.py"]
    env = environment(WALKS_SATURATE="1", **wheels)
    counts = [pytest("walks-long", sys.executable, "-s", file, env=env) for file in files]
    print_figures("walks-long")
    return total(counts)


def compilers(area: str = "native-compilers") -> Count:
    """The tests with clang, zig and Cython."""
    run(area, [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", *NEEDS])
    return pytest(area, sys.executable, FOLDER, "-m", "rest", env=environment())


class _Control(NamedTuple):
    name: str
    out: str  # of core/control/controls.txt
    go: dict[str, list[str]]
    python: list[str]


_TABLE = "test_table.py::test_hit_if_and_only_if_a_fresh_compile_is_the_same"
_CLASS = "test_classes.py::test_change_is_noticed"


def _difference(name: str) -> dict[str, list[str]]:
    return {"record": [f"TestEachDifferenceIsNoticed/{name.replace(' ', '_')}"]}


_CONTROLS = [
    _Control(
        "lookup ends at the own directory", "nolayers", {},
        ["test_layered_build.py::test_warmed_image_compiles_nothing", "test_layered_build.py::test_own_lists_and_those_of_layers_are_tried"],
    ),
    _Control(
        "absent names not kept", "noabsent", _difference("absent name"),
        [f"{_TABLE}[quote-add in front-gcc]", f"{_CLASS}[library that appears earlier-gcc]", f"{_CLASS}[folder of headers that appears-gcc]",
         "test_walk.py::test_walk_leaves_no_wrong_hit[gcc]"],
    ),
    _Control(
        "files that are looked at not kept", "nolooked", _difference("content that is looked at"),
        [f"{_CLASS}[mode that a wrapper looks at-gcc]"],
    ),
    _Control(
        "programs that were started not followed", "nochildren",
        {"record": ["TestCompileIsUnchangedUntilSomethingThatItLookedAtChanges"]},
        [f"{_TABLE}[quote-edit-gcc]", f"{_CLASS}[member of a thin archive-gcc]"],
    ),
    _Control(
        "texts of links not kept", "nolinktexts", _difference("text of a link"),
        [f"{_CLASS}[text of a link that a wrapper reads-gcc]"],
    ),
    _Control("listings not kept", "nolistings", _difference("names in a folder"), [f"{_CLASS}[what a wrapper lists-gcc]"]),
    _Control(
        "environment not kept", "noenvironment", _difference("variable"),
        [f"{_CLASS}[variable of a wrapper-gcc]", "test_flags.py::test_include_path_of_the_environment[CPATH]"],
    ),
    _Control(
        "names in programs not looked for", "nonamed", {"record": [f"TestVariableThatNoManualNamesCountsWhereAProgramHasTheName/{n}" for n in ("set", "another")]}, [],
    ),
    _Control(
        "values that begin as folders do", "noplain",
        {"record": [f"TestVariableThatNoManualNamesCountsWhereAProgramHasTheName/{n}" for n in ("two_paths", "nothing_after_a_folder")]}, [],
    ),
    _Control("C library not looked at", "nolibrary", {"record": ["TestDateOfAKnownProgramIsSeenWhateverItsCLibraryIs/clock_of_others"]}, []),
    _Control("specs not looked into", "nospecs", {"record": ["TestVariableThatAFileOfSpecsAsksForCounts/asked_for"]}, []),
    _Control("processor not kept", "noprocessor", {"record": ["TestProcessorCountsWhereItIsAskedFor"]}, []),
    _Control(
        "permissions not kept", "nomodes",
        {"record": [*_difference("permissions")["record"], "TestPermissionsOfFoldersThatPythonPassesThroughDoNotCount/where_it_ends"]},
        [f"{_CLASS}[mode that a wrapper looks at-gcc]"],
    ),
    _Control("umask not kept", "noumask", {"record": ["TestUmaskCountsWhereItIsAskedFor"]}, []),
    _Control("limits not kept", "nolimits", {"record": [f"TestLimitsThatAreAskedForCount/{n}" for n in ("files", "memory", "all")]}, []),
    _Control("permits not kept", "nopermits", {"record": ["TestWhatMayBeDoneIsAskedOfWhoWantsTheResult/cd_dark"]}, []),
    _Control("owners not kept", "noowners", {"record": [f"TestOwnerCountsForWhoIsTold/{n}" for n in ("shell", "python")]}, []),
    _Control("libraries from anywhere", "nosubstitutes", {"record": ["TestLibraryThatStandsBeforeAProgramsOwnIsForeignWhateverItsName"]}, []),
    _Control("devices, pipes and sockets alike", "nospecials", {"record": ["TestWhatStatSaysOfAPipeCountsAsOfAFile/mtime", "TestDeviceThatIsAnotherByNowCounts"]}, []),
    _Control("folder not kept", "nofolder", _difference("folder that is asked for"), []),
    _Control(
        "modification times not kept", "nodates",
        {"record": [*_difference("time that is looked at")["record"], "TestTimesCountForWhoIsNotKnownToTakeNoNotice/starts_itself_again"]},
        [f"{_CLASS}[time that a wrapper compares-gcc]", "test_build.py::test_modification_time_counts_where_it_shows"],
    ),
    _Control(
        "twins not compared", "notwins", {"record": ["TestTwinsAreToEachOtherWhatTheyWere"]},
        [f"{_CLASS}[header named twice that becomes another-gcc]", f"{_CLASS}[header that is a text too-gcc]"],
    ),
    _Control("languages for nobody", "nolanguages", {"record": ["TestLanguagesCountForWhoMayOrderNamesByThem/bash"]}, []),
    _Control("whoever asks as libraries do", "noasked", {"record": [f"TestWhatLibrariesLookAtCountsForWhoAsksForIt/{n}" for n in ("named", "read_by_a_shell")]}, []),
    _Control("whoever reads the loader's cache", "noprinted", {"record": [f"TestLoadersCacheCountsWholeForWhoReadsItHimself/{n}" for n in ("printed", "read_by_a_script")]}, []),
    _Control("excuses of some for all", "noshared", {"record": ["TestProgramsThatShareABitHaveNoExcuseOfOneOfThem/many"]}, []),
    _Control("fresh files not read again", "nofresh", {"record": ["TestFreshFileIsReadAgain"]}, []),
    _Control(
        "stamps of images believed", "noimages",
        {"core/stamp": ["TestTimeThatAnImageHasIsTrustedForOneBoot"]},
        ["test_machines.py::test_image_that_is_mounted_in_place_of_another_with_equal_stamps[image]",
         "test_machines.py::test_image_that_is_mounted_in_place_of_another_with_equal_stamps[overlay]"],
    ),
    _Control(
        "observed whatever files may be", "noroom", {},
        ["test_situations.py::test_where_files_may_not_be_large_it_compiles_and_keeps_nothing"],
    ),
    _Control(
        "no lease", "nolease", {"command": ["TestManyAtOnceRunOneCommand"]},
        ["test_build.py::test_processes_compile_once", "test_situations.py::test_sixteen_at_once_make_one_compile"],
    ),
]  # fmt: skip


def controls() -> Count:
    """Each mechanism is taken out, and the tests of its promise must fail."""
    counts = []
    for control in _CONTROLS:
        for package, names in control.go.items():
            failed = go_failures("native-controls", control.out, package, names)
            counts += [red("native-controls", control.name, f"{package} {name}", name in failed) for name in names]
        if control.python:
            folder = BUILD / "controls" / control.name.replace(" ", "-")
            without.library(folder, control.out)
            counts += [
                python_red("native-controls", control.name, f"{FOLDER}/{node}", folder) for node in control.python
            ]
    return total(counts)
