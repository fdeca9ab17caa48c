"""System calls of a real process fail, one kind after the other, by strace.

The store's own tests fail each of its calls in turn; here is the whole library
from outside, with the calls of Go's os package and of the lock files.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pytest
from member import Member, Strace

pytestmark = pytest.mark.strace


class Case(NamedTuple):
    """Which call fails, how, and what a lookup and a put then say."""

    inject: str
    got: set[str] = {"right"}
    stored: set[str] = {"stored"}
    warnings: int = 1  # at most
    leak: bool = False  # close itself fails, so descriptors stay


NO_SPACE, IO, DENIED, FULL = "no space", "i/o error", "permission", "too many open files"
ALWAYS = ":when=1+"

CASES = [
    Case("writev:error=ENOSPC" + ALWAYS, stored={NO_SPACE}),
    Case("writev:error=EDQUOT" + ALWAYS, stored={NO_SPACE}),
    Case("writev:error=EIO" + ALWAYS, stored={IO}),
    Case("writev:error=EINTR:when=1..3", warnings=0),
    Case("openat2:error=EMFILE" + ALWAYS, got={FULL}, stored={FULL}, warnings=3),
    Case("openat2:error=ESTALE" + ALWAYS, got={IO}, stored={IO}, warnings=3),
    Case("openat2:error=EACCES" + ALWAYS, got={DENIED}, stored={DENIED}, warnings=3),
    Case("openat2:error=EINTR:when=1+2", warnings=0),
    Case("openat2:error=ENOSYS" + ALWAYS, warnings=0),  # an old kernel
    Case("read:error=EIO" + ALWAYS, got={IO}, warnings=2),
    Case("read:error=ESTALE:when=1+2", got={IO, "right"}, warnings=2),
    Case("read:error=EINTR:when=1+2", warnings=0),
    Case("fstat:error=EIO" + ALWAYS, got={IO}, stored={IO}, warnings=3),
    Case("close:error=EIO" + ALWAYS, stored={IO}, warnings=2, leak=True),
    Case("close:error=EDQUOT" + ALWAYS, stored={NO_SPACE}, warnings=2, leak=True),  # as NFS says it
    Case("renameat,renameat2:error=EROFS" + ALWAYS, stored={"read-only"}),
    Case("renameat,renameat2:error=EINTR:when=1+2", warnings=0),
    Case("renameat2:error=EINVAL" + ALWAYS, warnings=0),  # a file system that cannot tell which put is the first
    Case("renameat2:error=EPERM" + ALWAYS, warnings=0),  # a filter of calls
    Case("mkdirat:error=ENOSPC" + ALWAYS, stored={NO_SPACE}),
    Case("mkdirat:error=EINTR:when=1+2", warnings=0),
    Case("unlinkat:error=EACCES" + ALWAYS, warnings=1),
    Case("unlinkat:error=EINTR:when=1+2", warnings=0),
    Case("utimensat:error=EPERM" + ALWAYS, warnings=0),
    Case("pwrite64:error=ENOSPC" + ALWAYS, warnings=0),  # ledger, names, and who holds a lease: nobody's loss
    Case("pwrite64:error=EINTR:when=1+2", warnings=0),
    Case("flock:error=ENOLCK" + ALWAYS),
    Case("flock:error=ENOSYS" + ALWAYS),
    Case("flock:error=EINTR:when=1+2", warnings=0),
    Case("openat:error=EROFS" + ALWAYS, stored={"read-only"}, warnings=2),
    Case("openat:error=EMFILE" + ALWAYS, stored={FULL}, warnings=2),
    Case("getdents64:error=EIO" + ALWAYS, warnings=0),
    Case("fsync:error=EIO" + ALWAYS, stored={IO}),
    Case("fstatfs:error=EIO" + ALWAYS, warnings=0),
    Case("newfstatat:error=EIO" + ALWAYS),
]


#: The rest is for the long variant.
SHORT = [
    "writev:ENOSPC=1+", "writev:EDQUOT=1+", "writev:EINTR=1..3", "openat2:EMFILE=1+", "openat2:ESTALE=1+", "openat2:EINTR=1+2", "read:EIO=1+",
    "read:ESTALE=1+2", "fstat:EIO=1+", "close:EIO=1+", "renameat,renameat2:EROFS=1+", "renameat,renameat2:EINTR=1+2", "renameat2:EINVAL=1+", "mkdirat:ENOSPC=1+",
    "pwrite64:ENOSPC=1+", "flock:ENOLCK=1+", "flock:EINTR=1+2", "newfstatat:EIO=1+",
]  # fmt: skip


def cases() -> list[Any]:
    """Each with its name, and whether it can wait."""
    named = {case.inject.replace(":when", "").replace("error=", ""): case for case in CASES}
    assert set(SHORT) <= set(named)
    return [
        pytest.param(case, id=name, marks=[] if name in SHORT else [pytest.mark.soak]) for name, case in named.items()
    ]


@pytest.mark.control("nowritecheck", rows=["writev:ENOSPC=1+", "writev:EDQUOT=1+"])
@pytest.mark.control("noagain", rows=["renameat,renameat2:EINTR=1+2"])
@pytest.mark.control("leak", rows=["fstat:EIO=1+"])
@pytest.mark.control("norefusal", rows=["flock:ENOLCK=1+", "newfstatat:EIO=1+"])
@pytest.mark.parametrize("case", cases())
def test_failing_call_costs_a_compile_at_most(case: Case, tmp_path: Path) -> None:
    """Right bytes or a miss that says why, at most a warning or two, nothing torn, nothing left open."""
    directory = tmp_path / "cache"
    with Member() as before:
        before.do("open", str(directory))
        assert before.do("put", 1) == "stored"
        before.do("task", "close")
    with Member() as member:
        member.do("open", str(directory), durable=case.inject.startswith("fsync"))
        with Strace(member, tmp_path / "strace", case.inject) as strace:
            got = [member.do("get", 1) for _ in range(3)]
            assert set(got) <= case.got, got
            assert member.do("compile", 2) == [True, 1]
            stored = [member.do("put", n) for n in (3, 4, 5)]
            assert set(stored) <= case.stored, stored
            again = [member.do("get", n) for n in (2, 3, 4, 5)]
            assert set(again) <= case.got | (set() if case.stored == {"stored"} else {"absent"}), again
            assert member.do("lease", 6) == "leased"
            stats = member.do("task", "stats")["total"]
            for name in ("trim", "verify", "close"):
                member.do("task", name)
            # Opened now, it may be refused, and works in memory only.
            member.do("open", str(directory))
            assert member.do("get", 1) in case.got | {"no directory"}
            assert member.do("compile", 7) == [True, 1]
            member.do("task", "close")
        assert strace.injected() > 0, "the planned fault never fired"
        refused = 4 if case.stored != {"stored"} else 0
        assert stats.get("not_stored_reasons", {}) == (dict.fromkeys(case.stored, refused) if refused else {})
        missed = stats.get("miss_reasons", {})
        assert set(missed) <= case.got | {"absent"} and (case.got == {"right"} or set(missed) & case.got), missed
        warnings = member.do("warnings")
        # A file of settings that cannot be read is named, each once.
        named = {w for w in warnings if "is not used" in w or "is ignored" in w}
        assert len(warnings) <= case.warnings + len(named), warnings
        if not case.leak:
            assert member.descriptors(directory) == []
    with Member() as after:
        after.do("open", str(directory))
        assert after.do("task", "verify")["bad"] == []
        assert after.do("get", 1) == "right"
        assert [after.do("put", n) for n in range(8)] == ["stored"] * 8
        assert [after.do("get", n) for n in range(8)] == ["right"] * 8
        after.do("task", "trim")
    assert list((directory / "v1" / "tmp").iterdir()) == [], "temporary files that nobody will remove"
