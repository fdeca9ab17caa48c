"""Controls: one mechanism is taken out, and the tests of its promise must fail.

A test that passes without the mechanism proves nothing. Each row names what is
taken out and tests that must then be red; that they are green with it, the other
areas show.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from . import c, failures, without
from .common import BUILD, ROOT, Count, at_once, build_library, environment, go_command, run, skipped, total


class Control(NamedTuple):
    """A mechanism that is taken out, and which tests must notice."""

    name: str
    out: str  # of core/control/controls.txt
    go: dict[str, list[str]]  # package -> tests
    python: list[str] = []  # pytest node ids below tests/python
    c: list[str] = []  # "source: test"
    preempt: bool = False
    front: str = ""  # of capi/controls.h


CONTROLS = [
    Control(
        "no checksum", "nochecksum",
        {"core/store": ["TestEveryFlippedBitIsFound", "TestGetIntoReadsWhatGetReads"],
         "bundle": ["TestMemberThatNoBundleHasEndsItWithALineThatNamesIt/flipped_bit"]},
        ["test_malformed.py::test_malformed_file_is_a_miss_with_its_reason[flipped-payload-first-elf]",
         "test_malformed.py::test_malformed_file_is_a_miss_with_its_reason[flipped-attributes-large]"],
    ),
    Control(
        "footer not checked", "nofooter",
        {"core/store": ["TestEveryFlippedBitIsFound"]},
        ["test_malformed.py::test_malformed_file_is_a_miss_with_its_reason[flipped-created-elf]",
         "test_malformed.py::test_malformed_file_is_a_miss_with_its_reason[flipped-cost-bare]"],
    ),
    Control(
        "files that shrink", "shorter",
        {"core/store": ["TestFileThatHasShrunkWhenItIsReadIsAMiss"], "core": ["TestFileOfALayerThatHasShrunkWhenItIsReadIsAMiss"]},
    ),
    Control(
        "any number of signatures, names of any length", "manysigners",
        {"core/store": ["TestEntryHasSoManySignaturesAtMost", "TestEntryWhoseNameNoKeyHasIsNotTaken"]},
    ),
    Control(
        "no lease", "nolease",
        {"core/lease": ["TestOneOfManyThreadsCompiles", "TestOneOfManyProcessesCompiles"], "core": ["TestOneOfManyCachesCompiles"]},
        ["test_lease.py::test_one_of_many_threads_compiles", "test_lease.py::test_one_of_many_processes_compiles",
         "test_lease.py::test_of_threads_that_coroutines_ask_in_one_compiles"],
        ["api.c: one_of_many_threads_compiles"],
    ),
    Control(
        "memory and disk without an order", "noorder",
        {"core": [
            "TestWhatWasReadBeforeAChangeIsNotKeptAfterIt", "TestPutThatEndsAfterARemoveIsNotKept",
            "TestNoLookupGivesWhatWasReplacedOrRemovedBeforeItBegan", "TestMemoryAndDiskAgreeWhenConcurrentChangesHaveEnded",
        ]},
        ["test_order.py::test_no_entry_is_older_than_what_was_replaced_or_removed_before"],
    ),
    Control(
        "inputs not looked at again", "noinputs",
        {"core/key": ["TestInputThatChangesIsNoticed", "TestEditWithinATickIsNoticed", "TestNameThatAppearsIsNoticed", "TestOtherNamesInAFolderAreNoticed"],
         "core": ["TestChangedInputIsHandedBackAndNotKept"], "core/store": ["TestResultOfAChangedInputIsNotStored"]},
        ["test_key.py::test_result_of_a_file_that_changed_is_handed_back_and_not_stored"],
        ["api.c: file_that_changes_is_noticed"],
    ),
    Control("links of commands", "elsewhere", {"command": ["TestWhatALinkLeadsToIsKeptOnlyIfTheCommandHasMadeIt"]}),
    Control("absent names not kept", "noabsent", {"cuda": ["TestDriverThatNVRTCOpensCounts"]}),
    Control("time not looked for", "notime", {"cuda": ["TestTextThatShowsTheTimeIsNotKept"]}),
    Control("worker used again as it is", "noworkercheck", {"cuda": ["TestWorkerWhoseFilesHaveChangedIsNotUsedAgain"]}),
    Control("ends without an order", "noorderlyend", {"observe": ["TestCancelledCommandLeavesProcess1NobodyToWaitFor"]}),
    Control("builtins left to NVRTC", "nobuiltins", {"cuda": ["TestBuiltinsBesideNVRTCAreLoadedInWorkerAndHost"]}),
    Control(
        "what a worker cannot do fails", "nofallback",
        {"cuda": ["TestWhatAWorkerCannotDoTheHostDoesAndSaysSoOnce", "TestOnlyWhatIsOfTheProcessIsCompiledAgainInTheHost",
                  "TestLibraryThatOnlyTheHostHasLoadedIsUsedThere", "TestWorkerThatCannotBeStartedIsNoErrorOfTheRequest",
                  "TestWorkerThatIsKilledAgainIsNoErrorOfTheRequest"]},
    ),
    Control("as many workers as are asked for", "nobound", {"cuda": ["TestThreadsCompileSideBySideAndNoMoreThanTheBound"]}),
    Control("fork does not wait for the loader's lock", "noforklock", {"cuda/dl": ["TestForkedChildCanAsk"]}),
    Control(
        "no table of modules", "notable",
        {"cuda/driver": ["TestSameImageInOneContextIsLoadedOnce", "TestThreadsLoadOnce"]},
    ),
    Control("context known by its pointer", "pointer", {"cuda/driver": ["TestContextAtAUsedPointerIsAnotherOne"]}),
    Control("cells not clamped", "noclamp", {"core/store": ["TestCellsBelowZeroDoNotStopEviction", "TestCellsNeverGoBelowZero"]}),
    Control("each of several puts at once is the first", "nofirst", {"core/store": ["TestPutsOfOneKeyAtOnceAreCountedOnce/by_the_rename"]}),
    Control("counts booked for the day of the write", "anyday", {"core/store": ["TestCountsAreOfTheDayOnWhichTheyWereCounted"]}),
    Control("linked file not looked at again", "nopinned", {"core/store": ["TestPinIsNotAnotherFileWithTheNumberOfTheFirst"]}),
    Control("eviction looks at all entries", "lookatall", {"core/store": ["TestPutAtTheCapLooksAtASample"]}),
    Control(
        "no bound on what a put or a lookup evicts", "evictall",
        {"core/store": [
            "TestPutAfterTheCapWasLoweredEvictsForAWhileAndNotAll", "TestPutDoesNotGoThroughAllThatCannotBeRemoved", "TestLookupsEvictNothing",
        ]},
    ),
    Control("locked file not looked at again", "nosamefile", {"core/lockfile": ["TestLockThatIsRemovedAtEachReleaseHasOneHolder"]}),
    Control("the holder's own word for its age", "anyclock", {"core/lease": ["TestAgeOfAHolderIsNotWhatItsFileSays"]}),
    Control(
        "files of any kind", "anyfile",
        {"core/lockfile": ["TestWhatIsNoFileOfItsOwnIsNotLockedNorRead"], "core/store": ["TestNothingIsReachedThroughWhatStandsInTheWay"]},
    ),
    Control("links followed", "follow", {"core/store": ["TestNothingIsReachedThroughWhatStandsInTheWay", "TestLinkBelowTheRootIsNotFollowed"]}),
    Control("refused lock counts as held", "norefusal", {"core/lockfile": ["TestWhereNothingCanBeLockedSaysSo"]}),
    Control(
        "no cache without a directory", "nodegrade",
        {"core": ["TestResultsOfARefusedDirectoryAreKeptInMemory", "TestCountersWithoutADirectoryAreThoseOfTheProcess"]},
        ["test_log.py::test_directory_that_others_may_write_is_a_cache_in_memory[509]"],
        ["api.c: directory_that_others_may_write_is_a_cache_in_memory"],
    ),
    Control(
        "lookup ends at the own directory", "nolayers",
        {"core": ["TestLookupGoesOnToTheLayersInTheirOrder", "TestOnlyOneCompilesAndOnlyWhatNoLayerHas", "TestLayersServeACacheWithoutADirectory",
                  "TestFileThatTheFrontHasOpenedInALayerIsReadAsTheLayersOwn"]},
        ["test_layers.py::test_warmed_image_compiles_nothing_in_another_process"],
    ),
    Control(
        "lookup of the front ends at the own directory", "", {},
        ["test_layers.py::test_own_entry_wins_and_remove_takes_only_that"], front="no_layers",
    ),
    Control("a damaged entry stops the others", "onestops", {"core/remote": ["TestEntryThatIsDamagedSaysNothingOfTheOthers"]}),
    Control(
        "remotes that were off stay off", "", {},
        ["test_remote_off.py::test_remote_that_is_back_is_asked_again_by_the_same_process"], front="stays_quiet",
    ),
    Control(
        "network layers not copied", "nocopies",
        {"core": ["TestWhatIsFoundOnANetworkIsCopied", "TestSignedEntryOfALayerThatAnybodyMayWriteIsVerifiedAndCopied",
                  "TestEntryThatIsRewrittenByAnotherNameAfterItWasVerifiedStaysWhatItWas"]},
    ),
    Control(
        "files and directories of anybody", "anyowner",
        {"core": ["TestLayerThatOthersMayWriteIsRefusedAndTheWarningNamesTheRule", "TestEntryOfALayerThatOthersMayWriteIsNotUsed",
                  "TestFileThatTheFrontHasOpenedIsNotBelievedMoreThanItsLayer"]},
    ),
    Control(
        "signatures of anything", "anysignature",
        {"core": ["TestForgedEntryOfALayerIsNeverUsedNorCopied", "TestEntryThatWasReplacedBetweenLookupsIsVerifiedEachTime"],
         "core/trust": ["TestEveryByteOfAStatementIsSigned"]},
        ["test_signatures.py::test_entries_in_another_namespace_are_compiled"],
    ),
    Control(
        "bundles of anybody taken", "takesany",
        {"bundle": ["TestOnlyWhatIsSignedByWhoIsTrustedIsAddedUnlessTheUserConsents", "TestEntryThatWasChangedHasNoSignatureAnyMore",
                    "TestBundleThatIsRewrittenWhileItIsReadAddsOnlyWhatWasSigned"]},
    ),
    Control(
        "members of any kind", "anymember",
        {"bundle": ["TestMemberThatNoBundleHasEndsItWithALineThatNamesIt/symbolic_link", "TestMemberThatNoBundleHasEndsItWithALineThatNamesIt/twice"]},
    ),
    Control(
        "bundles of any length", "anylength",
        {"bundle": ["TestBoundsHold", "TestBombIsNotDecompressedBeyondTheBounds", "TestMillionMembersAreTooMany",
                    "TestHeaderThatDoesNotEndIsNotReadOn"]},
    ),
    Control("bundles in place of devices", "overdevices", {"bundle": ["TestBundleIsNotMadeInPlaceOfADevice"]}),
    Control("too long a namespace as none", "nonamespace", {"core/trust": ["TestNamespaceThatIsTooLongIsNobodyElses"]}),
    Control("results made elsewhere signed", "signsall", {"core": ["TestWhatWasMadeElsewhereIsNotSignedHere"]}),
    Control("results made here not signed", "nosigning", {"core": ["TestWhatIsMadeHereIsSignedWhenItIsStored"]}),
    Control(
        "withdrawn keys trusted", "nowithdrawal",
        {"core": ["TestCopyOfAWithdrawnKeysEntryIsAMissAndIsReplaced", "TestNoteThatRestsOnAWithdrawnWordIsForgotten"],
         "core/trust": ["TestKeyThatAnybodyWithdrawsIsNotTrusted", "TestFileOfKeysThatCannotBeReadWithdrawsAllOfThem",
                        "TestKeyInALineThatCannotBeReadIsNotTrusted", "TestNoLineEndsAFile"]},
    ),
    Control(
        "what comes from a remote used as it is", "anyremote", {},
        ["test_remote.py::test_unsigned_entries_are_neither_sent_nor_used_unless_the_remote_says_so"],
    ),
    Control("copies not waited for", "nosettling", {"core": ["TestWhatARemoteHasGivenIsInTheDirectoryForAllWhoAsk"]}),
    Control("copies at once", "nopause", {"core": ["TestNothingIsCopiedBeforeTheProgramPausesOrAsks"]}),
    Control("misses of what nobody has asked for", "noresting", {"core": ["TestMissSaysThatNoRemoteWasAskedAndWhy"]}),
    Control("results of others put anywhere", "anyplace", {"launch": ["TestResultOfAnotherMachineIsPutOnlyWhereTheCommandPoints"]}),
    Control("profiles not fetched", "noprofile", {}, ["test_profile.py::test_job_that_starts_elsewhere_fetches_what_it_used_in_one_request"]),
    Control(
        "every machine compiles", "noclaims", {},
        ["test_fleet.py::test_fleet_compiles_each_key_once[file]",
         "test_fleet.py::test_fleet_whose_redis_is_killed_compiles_again_only_what_that_has_lost"],
    ),
    Control("no wait at the end", "noexitwait", {}, ["test_remote.py::test_process_that_ends_waits_as_it_is_told_until_all_is_sent[pass]"]),
    Control("no wait at the end of a container", "noexitwait", {}, ["test_container.py::test_container_that_ends_with_puts_pending_loses_none"]),
    Control(
        "no outbox", "nooutbox", {"storage": ["TestWhatCannotBeSentWaitsAndIsSentLater", "TestHelperOfADeadRemoteDoesNotWaitForEver"]},
        ["test_remote.py::test_helper_that_is_killed_again_and_again_loses_nothing"],
    ),
    Control("claims of the dead", "noheirs", {"storage": ["TestClaimOfAHelperThatIsDeadIsTakenByOneOfAllThatWait"]}),
    Control("claims that are being put without a pulse", "latebeat", {"storage": ["TestHolderWhoseClaimTookLongToPutHasAPulse"]}),
    Control("pulses that are read late stand still", "lateread", {"storage": ["TestHolderIsNotDeadBecauseItsPulseIsReadLate"]}),
    Control("claims that nobody knows of", "orphanclaims", {"storage": ["TestClaimWhoseAnswerWasLostIsNobodys"]}),
    Control("flush that leaves what another helper sends", "ownsends", {"storage": ["TestFlushIsNotDoneWithWhatAnotherHelperSends"]}),
    Control("claims that cannot be taken away", "lastingclaims", {"storage": ["TestEngineThatTakesNothingAwayHasNoClaims"]}),
    Control("heirs of claims that are gone", "blindheirs", {"storage": ["TestHeirOfAClaimThatIsTakenAwayMeanwhileHasNone"]}),
    Control("heirs of claims that are taken back", "ownheirs", {"storage": ["TestClaimThatIsBeingTakenBackHasNoHeir"]}),
    Control("pulse that was missed long ago", "oldabsence", {"storage": ["TestHolderIsNotDeadBecauseItsPulseWasMissedOnceLongAgo"]}),
    Control("lost claims waited for", "lostclaims", {"storage": ["TestClaimThatTheEngineHasLostIsWaitedForNoLonger"]}),
    Control(
        "conditions that are tried once", "onetrial",
        {"storage": [
            "TestEngineThatIsStartedAgainInTheMiddleOfTheTrialHasClaims", "TestTrialThatHasFailedSaysNothingOfTheNextOne",
            "TestEngineThatHasObeyedNoConditionsIsTriedAgainAndNotEachTime", "TestClientsWaitForOneTrialAndNotForOneAfterTheOther",
        ]},
    ),
    Control("helper that stays for claims", "staysforclaims", {"storage": ["TestHelperOfARemoteThatTakesNoClaimBackDoesNotWaitForEver"]}),
    Control("claims that end before the result is sent", "earlyend", {"storage": ["TestClaimEndsWhenTheResultIsSentAndNotBefore"]}),
    Control("claim that has gone to another machine", "anyholder", {"storage": ["TestWhoWaitsIsToldWhenAnotherMachineHasTheClaim"]}),
    Control("waiting without a bound", "nobudget", {"core/remote": ["TestBudgetGrowsWithWhatIsCompiled"]}),
    Control("time of a machine that stands still counted", "nolate", {"core/remote": ["TestTimeForWhichTheMachineStandsStillIsNotInVain"]}),
    Control("waiting for the living in vain", "allvain", {"core/remote": ["TestWaitingForAMachineThatLivesIsNotInVain"]}),
    Control("helpers that cannot be started waited for", "waitsforstart", {"core/remote": ["TestHelperThatCannotBeStartedIsNotWaitedFor"]}),
    Control("descriptors of the host kept", "inherits", {"core/remote": ["TestHelperHasNothingOfItsHost"]}),
    Control("descriptors that are another's by now", "anydescriptor", {"core/remote": ["TestDescriptorThatTheHostHasTakenIsNotTouched"]}),
    Control("a connection for each lookup", "connectseach", {"core/remote": ["TestLookupsOfABurstShareAConnection"]}),
    Control("places held by those who ask nothing", "holdsplaces", {"storage": ["TestWhoKeepsAConnectionTakesNobodysPlace"]}),
    Control("connections that children have kept", "keepsours", {"storage": ["TestConnectionThatNobodyUsesEndsUnlessAnotherProgramHasIt"]}),
    Control("folders of a shared directory for their maker alone", "ownfolders", {"storage/engine": ["TestFoldersOfADirectoryThatUsersShareAreForAllOfThem"]}),
    Control("disk that is waited for", "waitsfordisks", {"storage/engine": ["TestDiskThatDoesNotAnswerKeepsNobody"]}),
    Control("all of a batch held at once", "wholebatch", {"storage": ["TestLargeValuesOfABatchAreHeldOneAtATime"]}),
    Control("socket of anybody", "anysocket", {"core/remote": ["TestSocketOfAnotherUserIsNotUsed"]}),
    Control("a connection for each miss", "unreadpages", {"storage/engine": ["TestPageBesideAStatusCostsNoConnection"]}),
    Control("lengths believed", "anyvalue", {"core/wire": ["TestLengthAboveTheBoundIsRefused"]}),
    Control("lengths of Redis believed", "anyreply", {"storage/engine": ["TestAnswerThatAnnouncesTooMuchIsRefused"]}),
    Control("decompression without a bound", "nobomb", {"storage": ["TestDecompressionTakesNoMoreThanItSays"]}),
    Control("helper serves anybody", "anypeer", {"storage": ["TestAnotherUserIsNotServed"]}),
    Control("helper that is denied lives on", "nodenied", {"storage": ["TestHelperEnds"]}),
    Control("settings changed by two at once", "noconfiglock", {"core/store": ["TestSettingsThatProcessesChangeAtTheSameTimeAreAllKept"]}),
    Control("a file of keys changed by two at once", "notelock", {"core/trust": ["TestKeysThatProcessesWithdrawAtTheSameTimeAreAllWithdrawn"]}),
    Control("settings of anybody", "anyconfig", {"core/trust": ["TestSettingsThatOthersMayWriteAreIgnoredWithAProblem"]}),
    Control("list that is kept", "", {}, ["test_listing.py::test_list_takes_no_memory_for_its_length[entries]"], front="hoards"),
    Control(
        "cursor that goes on until it has found something", "", {},
        ["test_listing.py::test_signal_is_answered_while_a_rare_kind_is_looked_for"],
        ["api.c: cursor_comes_back_from_many_entries_of_another_kind"], front="stays",
    ),
    Control("preemption on", "", {}, [], ["signals.c: no_preemption_signal_is_sent"], preempt=True),
]  # fmt: skip


def tests() -> Count:
    return total([misspelled(), at_once(_control, CONTROLS)])


def misspelled() -> Count:
    """A control that does not exist would take nothing out: it must neither build nor run."""
    try:
        build_library.check_control("nolease,nolaese")
        built = True
    except ValueError:
        built = False
    failed = 0
    for out in ("nolaese", "nolease,nolaese", ""):
        linked = ["-ldflags", f"-X jitcache/core/control.out={out}"]
        status, text = run(
            "controls", [go_command(), "test", "-tags", "control", *linked, "./core/lease", "-run", "^$"]
        )
        failed += status == 0 or "no control" not in text
    return Count(4, 0, int(built) + failed)


def red(area: str, what: str, test: str, is_red: bool) -> Count:
    """Count a test that must fail without ``what``, and note it as a failure if it passed."""
    if not is_red:
        failures.note(area, f"{what}: {test} is green")
    return Count(1, 0, int(not is_red))


#: How often a test may run until it fails. A test for a race does not find it in each run: one run of seven passed on a
#: loaded machine.
TRIES = 5


def go_failures(area: str, out: str, package: str, names: list[str]) -> set[str]:
    """Return which of a package's tests fail without a mechanism, in one of TRIES runs."""
    program = without.tests(area, package, out)
    command = [go_command(), "tool", "test2json", str(program), "-test.v=test2json", "-test.timeout=10m"]
    failed: set[str] = set()
    for _ in range(TRIES):
        left = [name for name in names if name not in failed]
        if not left:
            break
        # A slash comes before a subtest.
        pattern = "/".join("^(" + "|".join(dict.fromkeys(part)) + ")$" for part in zip(*(n.split("/") for n in left)))
        _, text = run(area, [*command, f"-test.run={pattern}"], cwd=ROOT / package)
        events = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
        failed |= {event["Test"] for event in events if event["Action"] == "fail" and "Test" in event}
    program.unlink()
    return failed


def python_red(area: str, what: str, node: str, library: Path, **more: str) -> Count:
    """Count a pytest node that must fail with a library, in one of TRIES runs."""
    env = environment(JITCACHE_LIBRARY=str(library / "libjitcache.so"), **more)
    is_red = False
    for _ in range(TRIES):
        status, text = run(area, [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", node], env=env)
        if "1 skipped" in text:
            return skipped(area, f"{what}: {node}")
        if is_red := status == 1 and "1 failed" in text:
            break
    return red(area, what, node, is_red)


def _control(control: Control) -> Count:
    counts = []
    for package, names in control.go.items():
        failed = go_failures("controls", control.out, package, names)
        counts += [red("controls", control.name, f"{package} {name}", name in failed) for name in names]
    if control.python or control.c:
        folder = BUILD / "controls" / control.name.replace(" ", "-")
        if control.out:
            without.library(folder, control.out)
        elif control.front:
            without.front(folder, control.front)
        else:
            without.built(folder, preempt=control.preempt)
        counts += [python_red("controls", control.name, f"tests/python/{node}", folder) for node in control.python]
        counts += [_c(control, row, folder) for row in control.c]
    return total(counts)


def _c(control: Control, row: str, folder: Path) -> Count:
    source, test = row.split(": ")
    program = c.build("controls", source, "gnu99", library=folder, out=folder)
    if program is None:
        return Count(0, 0, 1)
    argument = f"{folder}/libjitcache.so" if source == "signals.c" else ""
    with tempfile.TemporaryDirectory() as place:
        _, text = run("controls", [str(program), place, argument])
    return red("controls", control.name, row, re.search(rf"^FAILED {test}$", text, re.MULTILINE) is not None)
