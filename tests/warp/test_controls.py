"""Each mechanism is taken out, and the test of its promise must fail."""

from __future__ import annotations

from pathlib import Path

from controls import as_tests

HERE = Path(__file__).resolve().parent

NODES = {
    "lease": "test_processes.py::test_three_processes_at_once_compile_once",
    "end": "test_processes.py::test_compile_that_fails_leaves_no_lease",
    "repair": "test_broken.py::test_damaged_files_in_warp_s_folder_are_repaired_without_a_compile[cut]",
    "private": "test_broken.py::test_damaged_files_that_warp_has_left_are_not_kept",
    "processor": "test_right.py::test_code_for_another_processor_is_not_used",
    "toolchain": "test_right.py::test_code_of_another_compiler_is_not_used",
    "digits": "test_right.py::test_names_that_collide_are_two_modules",
    "meanings": "test_right.py::test_constants_that_have_one_hash_are_two_modules[a name for another function]",
    "templates": "test_right.py::test_text_of_warp_s_sources_that_a_program_has_set_counts",
    "handed": "test_right.py::test_constants_that_have_one_hash_are_two_modules[a function that is handed to another]",
    "hashes": "test_right.py::test_constants_that_have_one_hash_are_two_modules[two such functions]",
    "defaults": "test_right.py::test_constants_that_have_one_hash_are_two_modules[a default]",
    "types": "test_right.py::test_constants_that_have_one_hash_are_two_modules[two types]",
    "own": "test_right.py::test_constants_that_have_one_hash_are_two_modules[a name that is read before it is the function's own]",
    "trees": "test_right.py::test_constants_that_have_one_hash_are_two_modules[what a transformer makes of a function]",
    "fresh": "test_right.py::test_constant_that_changed_since_the_hash_is_seen",
    "fallback": "test_right.py::test_module_of_which_a_name_cannot_be_looked_up_is_left_to_warp",
    "places": "test_right.py::test_function_that_moved_is_compiled_where_its_place_shows",
    "flags": "test_right.py::test_file_that_a_flag_includes_is_read_each_time",
    "named": "test_right.py::test_variables_that_the_library_for_cuda_names_count[LIBMATHDX_NVRTC_ARGS_EXTRA-True]",
    "disguised": "test_right.py::test_variables_that_the_library_for_cuda_names_count[NO_OPT-True]",
    "generator": "test_right.py::test_all_of_warp_that_is_imported_is_in_the_key",
    "started": "test_right.py::test_warp_that_was_changed_since_the_process_started_is_not_kept",
    "meanwhile": "test_right.py::test_header_that_changes_while_a_module_is_compiled",
    "outside": "test_right.py::test_files_that_a_build_option_names_are_not_guessed_at",
    "includes": "test_right.py::test_module_whose_snippet_includes_a_file_is_compiled_by_warp_and_not_kept",
    "kind": "test_interface.py::test_clear_and_count_are_those_of_its_own_entries",
    "guard": "test_interface.py::test_warp_that_is_not_known_keeps_its_own_cache",
}

test_without_it_its_test_fails, test_with_all_of_them_the_tests_pass = as_tests(HERE, NODES, "kind")
