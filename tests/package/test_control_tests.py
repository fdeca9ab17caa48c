"""What the tests say about their controls is read as they mean it (tests/areas/control_tests.py)."""

from __future__ import annotations

import pytest
from areas import control_tests, without
from areas.common import ROOT

GO = """package store

// An entry is checked.
//
//jitcache:control nochecksum
//jitcache:control nofooter first second/third
func TestEntryIsChecked(t *testing.T) {
"""
PYTHON = """
@pytest.mark.control("nolease")
@pytest.mark.control("noinputs", rows=["a-1", "b c\\\\n"])
@pytest.mark.parametrize("name", NAMES)
def test_one_compiles(name): ...
"""
C = """
/* The counters of a child. */
/* jitcache:control JC_OLD_ORDER */
/* jitcache:control JC_OLD_ORDER+ranks */
static void child_has_counted(void)
{
"""


def test_go_test_names_controls_and_subtests() -> None:
    assert list(control_tests.in_go("a_test.go", GO)) == [
        ("nochecksum", "TestEntryIsChecked"),
        ("nofooter", "TestEntryIsChecked/first"),
        ("nofooter", "TestEntryIsChecked/second/third"),
    ]


def test_python_test_names_controls_and_rows() -> None:
    assert list(control_tests.in_python("test_a.py", PYTHON)) == [
        ("nolease", "test_one_compiles"),
        ("noinputs", "test_one_compiles[a-1]"),
        ("noinputs", "test_one_compiles[b c\\n]"),
    ]


def test_c_test_names_controls() -> None:
    assert list(control_tests.in_c("a.c", C)) == [
        ("JC_OLD_ORDER", "child_has_counted"),
        ("JC_OLD_ORDER+ranks", "child_has_counted"),
    ]


@pytest.mark.parametrize(
    ("read", "text"),
    [
        pytest.param(control_tests.in_go, GO.replace("func Test", "\nfunc Test"), id="go, a line above"),
        pytest.param(control_tests.in_go, GO.replace("func Test", "func test"), id="go, not a test"),
        pytest.param(control_tests.in_go, GO.replace("//jit", "// jit"), id="go, a comment like any other"),
        pytest.param(control_tests.in_c, C.replace("static", "\nstatic"), id="c, a line above"),
        pytest.param(control_tests.in_c, C.replace("*/\n/* jit", " * jit"), id="c, inside another comment"),
        pytest.param(
            control_tests.in_python, 'NO_LEASE = pytest.mark.control("nolease")\n', id="python, not at a test"
        ),
        pytest.param(
            control_tests.in_python, PYTHON.replace("@pytest.mark.control", "@mark.control"), id="python, another name"
        ),
    ],
)
def test_control_that_no_test_would_run_is_an_error(read: object, text: str) -> None:
    assert callable(read)
    with pytest.raises(ValueError, match="somewhere else"):
        list(read("a", text))


def test_each_control_that_a_test_names_exists() -> None:
    named = {test.control.replace(without.RANKS, "") for test in control_tests.in_tree(ROOT)}
    assert len(named) > 200
    assert named <= without.controls().keys()
