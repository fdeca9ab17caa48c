"""The library and programs of tests/c under AddressSanitizer, with Go instrumented too.

Not forks.c: GCC 12's sanitizer does not look after the locks of its own malloc at fork
(LLVM's does since 18), and a child hangs at one that a thread of the host's or of Go's
held. Leaks are test_long_run.py's to find: what a lost handle keeps can still be
reached.
"""

from __future__ import annotations

import os
from pathlib import Path

import builds
import programs
import pytest
from areas.common import counted

ASAN = "-fsanitize=address"

pytestmark = pytest.mark.skipif(not programs.understood(ASAN), reason="this compiler has no AddressSanitizer")


@pytest.fixture(scope="module")
def library() -> Path:
    """Build the library with the sanitizer, in C and in Go."""
    before = os.environ.get("GOFLAGS", "")
    os.environ["GOFLAGS"] = f"{before} -asan".strip()
    try:
        return builds.control("asan", strip=False, command=False)  # which is built without C
    finally:
        os.environ["GOFLAGS"] = before


@pytest.mark.parametrize("source", ["api.c", "misuse.c", "unwind.cpp"])
def test_program_is_clean(tmp_path: Path, library: Path, source: str) -> None:
    path = programs.ROOT / "tests" / "c" / source
    program = programs.compile(tmp_path / "program", [path], ASAN, library=library)
    status, text = programs.run(program, tmp_path, timeout=300)
    count = counted(status, text)
    assert count.run > 5 and count.failed == 0 and "AddressSanitizer" not in text, text


FAULTS = {
    "use_after_release": "heap-use-after-free",
    "short_payload": "buffer-overflow",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_control_fault_is_reported(tmp_path: Path, library: Path, fault: str) -> None:
    """Memory of the library's that is used after its release, or its caller's that is read beyond its end."""
    program = programs.compile(tmp_path / "program", [Path(__file__).with_name("faults.c")], ASAN, library=library)
    status, text = programs.run(program, tmp_path / "cache", fault)
    assert status != 0 and "AddressSanitizer" in text and FAULTS[fault] in text, f"{status}: {text}"
