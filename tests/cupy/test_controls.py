"""Each mechanism is taken out, and the test of its promise must fail."""

from __future__ import annotations

from pathlib import Path

from controls import as_tests

HERE = Path(__file__).resolve().parent

NODES = {
    "lease": "test_processes.py::test_three_processes_at_once_compile_once",
    "compile exception": "test_processes.py::test_compile_that_fails_is_cupy_s_exception_and_leaves_no_lease",
    "observed": "test_right.py::test_header_that_changed_is_seen",
    "spared": "test_right.py::test_fresh_process_compiles_nothing_and_has_the_code_that_cupy_makes",
    "names": "test_right.py::test_names_of_templates_come_back",
    "folder": "test_right.py::test_quoted_header_is_not_looked_for_where_the_process_works",
    "digest": "test_right.py::test_names_that_are_not_seen_outside_differ_where_sources_do",
    "left": "test_broken.py::test_nvrtc_that_jitcache_cannot_use_is_left_to_cupy",
    "relocatable": "test_interface.py::test_what_is_not_served_is_left_to_cupy[relocatable device code]",
    "replaced": "test_right.py::test_what_a_program_has_put_in_the_place_of_cupy_s_is_called[a function of NVRTC's-before]",
    "of the class": "test_right.py::test_what_a_program_has_put_in_the_place_of_cupy_s_is_called[a method-after]",
    "kind": "test_interface.py::test_clear_and_count_are_those_of_its_own_entries",
    "clear": "test_interface.py::test_clear_and_count_are_those_of_its_own_entries",
    "guard": "test_interface.py::test_cupy_that_is_not_known_keeps_its_own_cache",
}

test_without_it_its_test_fails, test_with_all_of_them_the_tests_pass = as_tests(HERE, NODES, "kind")
