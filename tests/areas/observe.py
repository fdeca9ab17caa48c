"""The observer compared with strace, for compilers, linkers, wrappers and builds; and the tracer's controls."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from . import cuda, go
from .common import BUILD, ROOT, Count, at_once, environment, go_command, run, skipped, total, venv
from .control import TRIES, red

#: The tracer's mechanisms (observe/tracer/control.h), each with a test in observe that must fail without it.
CONTROLS = {
    "ABSENT": "TestProgramThatIsNotThereFailsAsExecDoes",
    "LOOKED": "TestWhatTheTreeHasReplacedIsNoInputAnyMore",
    "TEXT": "TestTextOfALinkIsAnInput",
    "WAY": "TestLinksToAFileCountWhereTheTreeAsksForItsPath",
    "CHILDREN": "TestChildrenThatShareMemoryAreFollowed",
    "CONTENT": "TestRoundsTellWhatWasSeenSinceTheStart",
    "VDSO": "TestWhatCannotBeRepeatedIsSeen",
    "OWN": "TestWhatIsInARenamedFolderIsTheTreesOwn",
    "UNSTEADY": "TestFileThatTheTreeWaitsForIsSeen",
    "RESTART": "TestSignalInterruptsNoCallThatItWouldNot",
    "KILL": "TestTracerOrKeeperThatIsKilledTakesTheTreeAlong",
    "GRACE": "TestDaemonLivesOnAndNobodyWaitsForIt",
    "WORKING": "TestRestThatWorksIsGivenASecond",
    "PRIVILEGES": "TestProgramThatNeedsPrivilegesGetsThem",
    "STRANGERS": "TestSignalsToStrangersAreSeen",
    "DESCRIPTORS": "TestChangeByADescriptorThatOnlyReadsIsSeen",
    "TYPES": "TestListingSaysOfWhatTypeNamesAre",
    "GIVEN": "TestWhatIsReachedFromAGivenFolderIsSeen",
    "PROC": "TestWhatProcSaysOfNamespacesAndNetworksIsNotTakenForTheTrees",
    "WALKS": "TestWhoPassesThroughAFolderHasNotAskedOfIt",
    "ONCE": "TestWhereSomethingIsForbiddenTheCommandWorks",
    "INODES": "TestWhoAsksForJustTheInodeIsSeen",
    "AGAIN": "TestWhoAsksAgainHowManyProcessesThereMayBeIsSeen",
    "MADE": "TestWhoAsksForTheUmaskIsSeen",
    "PERMITS": "TestWhatMayBeDoneIsTold",
    "ATTRIBUTES": "TestWhoAsksForAttributesInVainIsSeen",
    "BLINDNESS": "TestAnotherRootIsSeenAndSeesItself",
    "LOSSES": "TestOutputThatCannotBePassedOnFailsAsItWould",
    "KEEPING": "TestSignalWhileTheResultIsKeptEndsThat",
    "ORPHANS": "TestChildWhoseParentIsKilledAsItForksGoesOnAndIsNotKept",
    "PLACES": "TestCPUsThatAProcessSetsAreLeftToIt",
    "PAGE": "TestProgramIsToldOfTheKernelsPage",
    "SOUGHT": "TestOutputIsAFileWhereItShouldComeToOne",
    "ROOTS": "TestWhoOpensBelowAFolderWhateverThePathIsSeen",
    "OWNTIMES": "TestWhoAsksForTheTimeOfWhatItHasMadeIsSeen",
    "URING": "TestWhoAsksForIOUringIsSeen",
    "STANDS": "TestWhoAsksWhatOutputIsIsToldWhatItStandsFor",
    "LATER": "TestWhatIsPrintedByAnotherDescriptorComesAfterWhatWasPrintedBefore",
    "HANDED": "TestProgramThatGetsAFileOpenIsOneOfItsReaders",
    "MOUNTS": "TestWhoAsksWhatIsMountedIsSeen",
    "LEAVING": "TestCommandInRoundsMayEndByItselfWhenItsHostDies",
    "AUXILIARY": "TestProgramWhoseStackCannotBeReadIsNotPassedOver",
}


def tests() -> Count:
    """Compare the observer with strace. It needs the packages of tests/deps-ci.sh, and Cython and NVRTC from PyPI."""
    if shutil.which("strace") is None:
        return skipped("observe", "strace")
    python = venv("observe", "observe", ["Cython>=3", "setuptools"])
    if python is None:
        return Count(0, 0, 1)
    wheels = cuda.real("observe")
    if wheels is None:
        return Count(0, 0, 1)
    env = environment(JITCACHE_TEST_OBSERVE_COMPARE=python, **wheels)
    return go.test("observe", "-count=1", "./tests/observe/compare", env=env)


def controls() -> Count:
    """Each mechanism of the tracer is taken out, and its test must fail."""
    text = (ROOT / "observe" / "tracer" / "control.h").read_text()
    there = set(re.findall(r"^\tJO_CONTROL_(\w+),", text, re.MULTILINE)) - {"NOTHING"}
    program = BUILD / "controls" / "observe.test"
    status, _ = run("observe-controls", [go_command(), "test", "-c", "-o", str(program), "./observe"])
    if status != 0:
        return Count(0, 0, 1)
    return total(
        [Count(1, 0, int(there != set(CONTROLS))), at_once(lambda row: _control(program, *row), CONTROLS.items())]
    )


def _control(program: Path, name: str, test: str) -> Count:
    command = [str(program), f"-test.run=^{test}$", "-test.v", "-test.timeout=2m"]
    env = environment(JITCACHE_TEST_OBSERVE_WITHOUT=name)
    is_red = False
    for _ in range(TRIES):
        _, text = run("observe-controls", command, env=env, cwd=ROOT / "observe")
        if f"--- SKIP: {test} " in text:
            return skipped("observe-controls", f"{name}: {test}")
        if is_red := f"--- FAIL: {test} " in text:
            break
    return red("observe-controls", name, test, is_red)
