"""Each mechanism is taken out, and the test of its promise must fail."""

from __future__ import annotations

from pathlib import Path

from controls import as_tests

HERE = Path(__file__).resolve().parent

NODES = {
    "lease": "test_processes.py::test_four_processes_at_once_compile_once",
    "end": "test_processes.py::test_compile_that_fails_leaves_no_lease",
    "others": "test_processes.py::test_second_run_of_a_job_of_two_processes_compiles_nothing",
    "cpu": "test_right.py::test_code_for_another_processor_is_not_used",
    "build": "test_right.py::test_code_of_another_build_of_jaxlib_is_not_used",
    "form": "test_right.py::test_entry_that_is_packed_otherwise_is_not_used",
    "serialized": "test_right.py::test_program_that_may_be_serialized_is_compiled",
    "verify": "test_broken.py::test_damaged_entries_are_compiled_once_more_and_repaired[cut]",
    "replace": "test_broken.py::test_entry_that_jax_cannot_load_is_replaced",
    "thresholds": "test_interface.py::test_small_programs_are_kept_and_without_the_adapter_are_not",
    "settings": "test_interface.py::test_uninstall_gives_everything_back",
    "kind": "test_interface.py::test_clear_and_count_are_those_of_its_own_entries",
    "usable": "test_interface.py::test_where_jitcache_cannot_be_used_jax_s_own_cache_is[env0]",
    "guard": "test_interface.py::test_jax_that_is_not_known_is_served_by_the_public_way",
}

test_without_it_its_test_fails, test_with_all_of_them_the_tests_pass = as_tests(HERE, NODES, "thresholds")
