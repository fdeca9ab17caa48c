"""Which variables a build is given: what it is not given cannot matter."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import samples
from conftest import CountedCompiler, need
from jitcache import Error, native

TEXT = "int f(void) { return 1; }\n"
RUN = [
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_DYNAMIC",
    "KMP_AFFINITY",
    "GOMP_SPINCOUNT",
    "PETSC_OPTIONS",
    "NCCL_DEBUG",
]
OBEYED = ["MKL_ROOT", "NCCL_INCLUDE_DIR", "TORCH_CUDA_ARCH_LIST", "CUDA_VISIBLE_DEVICES", "OMPI_CFLAGS", "MY_RUN"]


@pytest.fixture
def printing(tmp_path: Path) -> Any:
    """A script that prints the names of its variables, and runs the compiler: it may obey any of them."""
    compiler = CountedCompiler(tmp_path, "gcc", "env | sed 's/=.*//'")
    yield compiler
    compiler.close()


def build(printing: CountedCompiler, cache: Any, environment: Any = None) -> tuple[int, set[str]]:
    """Return how often the compiler ran, and the names of the variables that it was given."""
    before = printing.compiles()
    entry = native.build({"f.c": TEXT}, compiler=printing.path, cache=cache, environment=environment)
    assert not entry.refused
    return printing.compiles() - before, set(entry.log.split())


@pytest.mark.control("nonumerical")
def test_variables_of_running_libraries_are_no_inputs(
    cache: Any, printing: CountedCompiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = [build(printing, cache)]
    for value in ("1", "2"):
        for name in RUN:
            monkeypatch.setenv(name, value)
        seen.append(build(printing, cache))
    assert [compiles for compiles, _ in seen] == [1, 0, 0]
    for where in (cache, False):  # nor is it given them where nothing is kept
        assert not build(printing, where)[1] & set(RUN)


@pytest.mark.parametrize("name", OBEYED)
def test_variable_that_a_build_may_obey_is_an_input(
    cache: Any, printing: CountedCompiler, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    seen = [build(printing, cache)]
    for value in ("1", "2", "2"):
        monkeypatch.setenv(name, value)
        seen.append(build(printing, cache))
    assert [compiles for compiles, _ in seen] == [1, 1, 1, 0]
    assert [name in names for _, names in seen] == [False, True, True, True]


@pytest.mark.control("nostrict")
def test_strict_gives_only_what_toolchains_obey(
    cache: Any, printing: CountedCompiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    for value in ("1", "2"):
        monkeypatch.setenv("MY_RUN", value)
        seen.append(build(printing, cache, "strict"))
    assert [compiles for compiles, _ in seen] == [1, 0]
    monkeypatch.setenv("CFLAGS", "-O1")
    compiles, names = build(printing, cache, "strict")
    assert compiles == 1 and "CFLAGS" in names and "PATH" in names and "MY_RUN" not in names
    assert "MY_RUN" not in build(printing, False, "strict")[1]


def test_strict_gives_what_is_named_and_that_counts(
    cache: Any, printing: CountedCompiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("MY_SDK", "OMP_NUM_THREADS"):
        for value in ("1", "2"):
            monkeypatch.setenv(name, value)
            compiles, names = build(printing, cache, ["strict", "+MY_*", "+OMP_NUM_THREADS"])
            assert compiles == 1 and name in names


@pytest.mark.control("nowithheld")
def test_what_is_withheld_by_name_is_no_input(
    cache: Any, printing: CountedCompiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    for value in ("1", "2"):
        monkeypatch.setenv("WANDB_RUN", value)
        seen.append(build(printing, cache, ["-WANDB_*"]))
    assert [compiles for compiles, _ in seen] == [1, 0]
    assert "WANDB_RUN" not in seen[0][1] | build(printing, False, ["-WANDB_*"])[1]


@pytest.mark.parametrize("environment", ["stric", ["MY_RUN"], ["-"], [""]])
def test_other_words_are_an_error(cache: Any, environment: Any) -> None:
    with pytest.raises(Error, match="environment"):
        native.build({"f.c": TEXT}, cache=cache, environment=environment)


def test_samples_of_variables_leave_out_what_the_page_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    need("gcc")
    monkeypatch.chdir(tmp_path)
    compiler = tmp_path / "cc"
    compiler.write_text("#!/bin/sh\nenv | sed 's/=.*//'\nexec gcc \"$@\"\n")
    compiler.chmod(0o755)
    (tmp_path / "solver.c").write_text("int f(void) { return 1; }\n")
    monkeypatch.setenv("CC", str(compiler))
    monkeypatch.setenv("JITCACHE_DIR", str(tmp_path / "cache"))
    names = {"CC", "MY_SDK_ROOM", "WANDB_RUN", "OMP_NUM_THREADS"}
    for name in names - {"CC"}:
        monkeypatch.setenv(name, "1")
    sample = samples.under("docs/native.md", "Which variables a build gets")
    given = []
    for line in sample.splitlines():
        scope: dict[str, Any] = {"native": native}
        exec(line, scope)
        given.append(set(scope["entry"].log.split()) & names)
    assert given == [{"CC"}, {"CC", "MY_SDK_ROOM"}, {"CC", "MY_SDK_ROOM", "OMP_NUM_THREADS"}]
