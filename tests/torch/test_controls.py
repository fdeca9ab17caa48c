"""Each mechanism is taken out, and the test of its promise must fail."""

from __future__ import annotations

from pathlib import Path

from controls import as_tests

HERE = Path(__file__).resolve().parent

NODES = {
    "graphs": "test_right.py::test_another_machine_finds_everything_in_a_layer",
    "details": "test_right.py::test_graph_that_was_made_for_another_vector_isa_is_not_used",
    "name": "test_right.py::test_name_of_a_vector_isa_is_not_enough",
    "memo": "test_right.py::test_torch_key_is_computed_once_per_installation",
    "asked": "test_right.py::test_answers_of_compilers_are_what_pytorch_gets_itself",
    "isa": "test_right.py::test_fresh_process_starts_nothing",
    "header": "test_right.py::test_other_folders_of_pytorch_s_and_for_temporary_files_do_not_count",
    "environment": "test_compiler.py::test_variables_that_only_libraries_obey_do_not_count",
    "plain names": "test_compiler.py::test_folders_of_pytorch_s_are_in_no_key_and_no_result",
    "error": "test_compiler.py::test_error_is_pytorch_s_own_with_the_compiler_s_log_and_runs_it_once",
    "repair": "test_broken.py::test_library_that_is_cut_short_is_put_there_again",
    "damage": "test_broken.py::test_candidate_that_cannot_be_read_is_passed_over",
    "numbers": "test_graphs.py::test_candidates_of_one_key_are_found_one_after_the_other",
    "guards": "test_elsewhere.py::test_graphs_of_one_key_that_differ_in_their_guards_are_all_kept",
    "lease": "test_graphs.py::test_candidates_that_processes_store_at_once_are_all_kept",
    "works": "test_compiler.py::test_isa_that_does_not_work_is_tried_again",
    "kind": "test_interface.py::test_clear_and_count_are_those_of_its_own_entries",
    "guard": "test_interface.py::test_pytorch_that_is_not_known_is_left_alone",
    "tag": "test_interface.py::test_graphs_that_are_kept_in_an_unknown_way_are_left_to_pytorch",
}

test_without_it_its_test_fails, test_with_all_of_them_the_tests_pass = as_tests(HERE, NODES, "kind")
