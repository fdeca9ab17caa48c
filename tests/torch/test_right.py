"""What is found, by whom, and that it is right: beside PyTorch's own cache."""

from __future__ import annotations

from pathlib import Path

from project import CALL, NOTHING, OURS, Project, is_right

#: The processor's vector ISA, and the next smaller one.
LARGE, SMALL = ("avx512", "avx2") if "avx512f" in Path("/proc/cpuinfo").read_text() else ("avx2", "default")


def test_two_processes_at_once_compile_each_output_once(made: Project) -> None:
    """They have a PyTorch folder each, as two containers have."""
    assert all(map(is_right, made.first))
    listed = 'say(names=[e["name"] for e in adapter.entries()], isas=jitcache.default_cache().count("_torch-isa"))\n'
    said = made.run(listed)
    libraries = [name for name in said["names"] if name.endswith(".so")]
    assert len(libraries) >= 2, made.first
    assert made.starts["cc1plus"] - len(libraries) - said["isas"] in (
        0,
        2,
    )  # an ISA that does not work is tried by both


def test_fresh_process_starts_nothing(project: Project, made: Project) -> None:
    """Its PyTorch folders are empty. Results are those of the first process, and graphs are found too."""
    said = project.run(OURS + CALL)
    assert project.started() == NOTHING
    assert is_right(said)
    assert said["sums"] == made.first[0]["sums"]
    assert (said["graphs"], said["joint"]) == (2, 1)
    assert said["uncached"] == {}


def test_other_folders_of_pytorch_s_and_for_temporary_files_do_not_count(made: Project) -> None:
    made.started()
    said = made.run(OURS + CALL, **made.folders("other"))
    assert made.started() == NOTHING
    assert (said["graphs"], said["joint"]) == (2, 1)


def test_without_the_adapter_a_fresh_process_compiles(project: Project) -> None:
    """The other column of the table in docs/torch.md; and that the witnesses see it."""
    project.run(CALL)
    assert project.compiler.started()["cc1plus"] >= 2
    assert project.processes()


def test_variables_of_running_libraries_do_not_count(project: Project) -> None:
    threads = project.run("say(n=torch.get_num_threads())\n")["n"]
    assert project.started() == NOTHING
    said = project.run(
        OURS + CALL, OMP_NUM_THREADS=str(threads), MKL_NUM_THREADS=str(threads), NCCL_DEBUG="INFO", LOAD="1", PROF="x",
        PYTORCH_CUDA_ALLOC_CONF="max_split_size_mb:64", TORCH_SHOW_CPP_STACKTRACES="0", DEVICE="a", STAGE="b",
    )  # fmt: skip
    assert project.started() == NOTHING
    assert is_right(said)


def test_another_machine_finds_everything_in_a_layer(empty: Project, made: Project) -> None:
    said = empty.run(OURS + CALL, JITCACHE_LAYERS=str(made.cache))
    assert empty.started() == NOTHING
    assert (said["graphs"], said["joint"]) == (2, 1)


def test_graph_that_was_made_for_another_vector_isa_is_not_used(project: Project) -> None:
    """Loops step by its width. PyTorch's key does not have it: with AVX2 a graph for AVX-512 is wrong by a thousand."""
    project.run(OURS + CALL, ATEN_CPU_CAPABILITY=LARGE)
    project.compiler.started()
    said = project.run(OURS + CALL, ATEN_CPU_CAPABILITY=SMALL)
    assert is_right(said), said
    assert said["graphs"] == 0
    assert project.compiler.started()["cc1plus"] >= 2


def test_name_of_a_vector_isa_is_not_enough(project: Project) -> None:
    """Three of ARM's have the same name, "asimd"."""
    code = """
from torch._inductor import cpu_vec_isa
from jitcache.adapters.torch import _details
found = set()
for isa in (cpu_vec_isa.VecNEON(), cpu_vec_isa.VecSVE(128), cpu_vec_isa.VecSVE(256)):
    cpu_vec_isa.pick_vec_isa = lambda isa=isa: isa
    found.add(_details.vec_isa())
say(found=len(found))
"""
    assert project.run(code) == {"found": 3}


def test_answers_of_compilers_are_what_pytorch_gets_itself(project: Project) -> None:
    code = """
from torch._inductor import codecache, cpp_builder
def ask():
    compiler = cpp_builder.get_cpp_compiler()
    return [compiler, cpp_builder._compiler_version_string(compiler), cpp_builder.get_compiler_version_info(compiler), codecache.torch_key().hex()]
"""
    plain = project.run(code + "say(said=ask())\n")
    project.started()
    assert project.run(code + OURS + "say(said=ask())\n") == plain
    assert project.started() == NOTHING


def test_torch_key_is_computed_once_per_installation(project: Project) -> None:
    """It would read the 2,000 files of PyTorch's sources."""
    code = """
opened = []
sys.addaudithook(lambda event, args: opened.append(args[0]) if event == "open" else None)
from torch._inductor import codecache
del opened[:]
codecache.torch_key()
say(opened=len(opened))
"""
    assert project.run(code)["opened"] > 1000
    assert project.run(OURS + code)["opened"] < 100


def test_nothing_is_started(project: Project) -> None:
    """That the witness is quiet while nothing compiles."""
    project.run("say()\n")
    assert project.started() == NOTHING
