"""Each mechanism of ProgramCache is taken out, and the tests of its promise must fail."""

from __future__ import annotations

import os
from pathlib import Path

from controls import as_tests

HERE = Path(__file__).resolve().parent

OURS = "[ProgramCache]"
NODES = {
    "replace": f"test_contract.py::test_assignment_replaces{OURS}",
    "file": f"test_contract.py::test_two_that_are_open_see_each_other_s_changes_at_once{OURS}",
    "exact": f"test_contract.py::test_second_read_keeps_an_entry_from_eviction_too{OURS}",
    "kind": "test_differences.py::test_length_and_clear_are_those_of_its_own_entries",
    "names": f"test_contract.py::test_text_and_its_bytes_are_one_key{OURS}",
    "hits": "test_stat_cache.py::test_hits_are_counted",
    "seconds": "test_stat_cache.py::test_entry_in_use_stays_young",
}

#: What is taken out is so before cuda.core is imported.
HOW = ("-p", "instrument")
PLACES = os.pathsep.join([str(HERE), str(HERE.parent.parent / "python")])

test_without_it_its_test_fails, test_with_all_of_them_the_tests_pass = as_tests(
    HERE, NODES, "replace", *HOW, PYTHONPATH=PLACES
)
