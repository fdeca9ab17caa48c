"""Each mechanism is taken out, and the tests of its promise must fail."""

from __future__ import annotations

from pathlib import Path

from controls import as_tests

HERE = Path(__file__).resolve().parent

NODES = {
    "lease": "test_processes.py::test_four_processes_at_once_compile_once",
    "turn": "test_processes.py::test_a_failing_compile_leaves_no_lease_while_its_exception_is_kept[False]",
    "check": "test_faults.py::test_a_broken_file_in_triton_s_folder_is_repaired[flipped add.cubin]",
    "anew": "test_faults.py::test_a_file_of_another_compile_is_replaced",
    "names": "test_faults.py::test_an_intact_entry_of_another_writer_is_replaced",
    "meanings": "test_meanings.py::test_twins_are_two_kernels[an attribute of a module]",
    "changed": "test_meanings.py::test_twins_are_two_kernels[a method that the program has given to tensors]",
    "later": "test_meanings.py::test_what_is_changed_in_triton_after_a_compile_counts[code]",
    "data": "test_meanings.py::test_twins_are_two_kernels[a constant that all tensors have]",
    "given": "test_meanings.py::test_twins_are_two_kernels[an attribute of a function that Triton has, by a text]",
    "partials": "test_meanings.py::test_twins_are_two_kernels[a method of tensors of which the program has filled in an argument]",
    "bound": "test_meanings.py::test_twins_are_two_kernels[a method of a text that the program has put into Triton's compiler]",
    "around": "test_meanings.py::test_what_triton_s_own_function_makes_of_a_program_s_is_the_program_s",
    "kinds": "test_meanings.py::test_twins_are_two_kernels[a kind of function that is read in another way]",
    "aggregates": "test_meanings.py::test_twins_are_two_kernels[an attribute of an aggregate]",
    "code": "test_meanings.py::test_twins_are_two_kernels[code that the program has put into a function, meanwhile]",
    "settings": "test_meanings.py::test_a_program_that_a_variable_of_triton_s_names_counts",
    "claims": "test_meanings.py::test_a_function_that_says_it_is_triton_s_is_not_taken_for_that",
    "modules": "test_meanings.py::test_twins_are_two_kernels[an attribute of a module by a text]",
    "passed": "test_meanings.py::test_a_module_of_triton_s_that_is_passed_on_is_not_kept",
    "ways": "test_meanings.py::test_twins_are_two_kernels[a module in whose place something is put where nothing is compiled]",
    "held": "test_meanings.py::test_twins_are_two_kernels[an attribute of a type]",
    "added": "test_meanings.py::test_twins_are_two_kernels[an attribute of a function of Triton's by a text]",
    "launches": "test_meanings.py::test_a_function_that_was_launched_before_is_the_same_function",
    "parse": "test_meanings.py::test_a_function_that_is_read_in_another_way_is_not_taken_for_what_its_text_says",
    "says": "test_meanings.py::test_twins_are_two_kernels[what says that it is Triton's, in whose place something is put where nothing is compiled]",
    "bits": "test_meanings.py::test_twins_are_two_kernels[the sign of what is no number]",
    "repr": "test_meanings.py::test_twins_are_two_kernels[how the program names its kernels]",
    "files": "test_meanings.py::test_a_file_that_a_variable_of_triton_s_names_counts",
    "python": "test_meanings.py::test_what_python_depends_on_counts_for_what_it_runs",
    "hashes": "test_meanings.py::test_what_nobody_can_follow_is_not_kept[hashes of texts, which each process has of its own]",
    "followed": "test_meanings.py::test_what_nobody_can_follow_is_not_kept[globals of a function]",
    "builtins": "test_meanings.py::test_what_nobody_can_follow_is_not_kept[a builtin of the program's]",
    "scopes": "test_meanings.py::test_twins_are_two_kernels[a name that is also one of an inner function]",
    "owner": "test_meanings.py::test_the_files_of_a_kernel_stay_when_its_twin_is_compiled",
    "folder": "test_manager.py::test_a_folder_that_cannot_be_used_fails_no_program[a folder that is taken away]",
    "private": "test_manager.py::test_a_folder_that_cannot_be_used_fails_no_program[a file]",
    "overrides": "test_manager.py::test_a_kernel_that_files_of_the_user_s_were_put_into_is_not_kept",
    "usable": "test_manager.py::test_where_jitcache_cannot_be_used_triton_s_own_cache_is[refused]",
    "fingerprint": "test_fingerprint.py::test_second_process_does_not_read_the_compiler_and_has_the_same_value",
    "stamps": "test_fingerprint.py::test_after_a_change_of_triton_s_files_it_is_computed_again[a module is edited]",
    "listings": "test_fingerprint.py::test_after_a_change_of_triton_s_files_it_is_computed_again[a module is added]",
    "young": "test_fingerprint.py::test_files_that_were_just_written_prove_nothing",
}

test_without_it_its_test_fails, test_with_all_of_them_the_tests_pass = as_tests(HERE, NODES, "anew")
