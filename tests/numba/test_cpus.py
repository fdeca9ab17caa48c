"""Entries of one CPU on another: used where all their features are, never where one is missing."""

from __future__ import annotations

import llvmlite.binding as ll
import pytest
from project import Project

HOST = {name for name, has in ll.get_host_cpu_features().items() if has}
pytestmark = pytest.mark.skipif(
    not ll.get_process_triple().startswith("x86_64") or not {"avx2", "fma", "adx"} <= HOST,
    reason="needs an x86 with AVX2",
)

F = "@numba.njit(cache=True)\ndef f(x):\n    return x + 1\n"
CALL = "import a; print(a.f(1))"


RULES = [
    # what is there: triple, CPU, features; where it is to run; whether it does
    (("x86_64-linux", "haswell", "+avx2,-adx"), ("x86_64-linux", "broadwell", "+avx2,+adx"), True),
    (("x86_64-linux", "broadwell", "+avx2,+adx"), ("x86_64-linux", "haswell", "+avx2,-adx"), False),
    (("x86_64-windows", "haswell", "+avx2"), ("x86_64-linux", "haswell", "+avx2"), False),
    # A list that is not complete, as of the user or of another LLVM.
    (("x86_64-linux", "haswell", ""), ("x86_64-linux", "broadwell", "+avx2,+adx"), False),
    (("x86_64-linux", "haswell", "+avx2"), ("x86_64-linux", "broadwell", "+avx2,+adx"), False),
    (("x86_64-linux", "generic", ""), ("x86_64-linux", "broadwell", "+avx2,+adx"), True),
    (("x86_64-linux", "generic", "+avx512f"), ("x86_64-linux", "broadwell", "+avx2,+adx"), False),
    # Where LLVM tells few features or none, only the name says what there is.
    (("aarch64-linux", "neoverse-v2", "+neon"), ("aarch64-linux", "neoverse-n1", "+neon"), False),
    (("aarch64-linux", "neoverse-n1", "+neon"), ("aarch64-linux", "neoverse-n1", "+neon"), True),
    (("aarch64-linux", "generic", ""), ("aarch64-linux", "neoverse-n1", ""), False),
]


@pytest.mark.parametrize(("built", "here", "runs"), RULES, ids=[f"{b[1]} {b[2]} on {h[1]} {h[2]}" for b, h, _ in RULES])
def test_rules(built: tuple[str, str, str], here: tuple[str, str, str], runs: bool) -> None:
    from jitcache.adapters.numba._cpu import Target

    assert Target(*here).runs(Target(*built)) is runs


def compiles(project: Project, **env: str) -> bool:
    ran = project.check(env.pop("code", CALL), **env)
    assert ran.out == "2"
    return bool(ran.compiled)


@pytest.mark.parametrize(
    ("built", "used", "hit"),
    [
        ("haswell", "broadwell", True),
        ("broadwell", "haswell", False),
        ("nehalem", "broadwell", True),
        ("haswell", "nehalem", False),
        ("haswell", "haswell", True),
    ],
)
def test_entry_of_another_cpu(project: Project, built: str, used: str, hit: bool) -> None:
    project.write(a=F)
    assert compiles(project, CPU=built)
    assert compiles(project, CPU=used) is not hit
    # Whoever compiled it has its own from then on.
    assert not compiles(project, CPU=used)


def test_without_the_mechanisms(project: Project) -> None:
    project.write(a=F)
    assert compiles(project, CPU="broadwell")
    assert not compiles(project, CPU="haswell", WITHOUT="features")  # it would be killed by SIGILL
    assert compiles(project, CPU="haswell")
    assert not compiles(project, CPU="broadwell", WITHOUT="other CPUs")


def test_without_the_cpu_in_the_key_anything_is_used(project: Project) -> None:
    project.write(a=F)
    assert compiles(project, CPU="broadwell", WITHOUT="cpu")
    assert not compiles(project, CPU="nehalem", WITHOUT="cpu")


def test_numba_s_own_wants_the_same_cpu(project: Project) -> None:
    project.write(a=F)
    for cpu in ("haswell", "broadwell"):
        assert project.check(CALL, "numba", CPU=cpu).compiled == ["f"]


RICHEST = """
    import a, os
    from jitcache.adapters.numba import _overloads as overloads
    loaded = []
    load = overloads.load_result
    def load_and_tell(data, *args):
        loaded.append(data)
        return load(data, *args)
    overloads.load_result = load_and_tell
    a.f(1)
    from jitcache.adapters import numba as adapter
    import jitcache
    for e in adapter.entries():
        if bytes(jitcache.default_cache().entry(jitcache.Key.from_hex(e["key"]))) in loaded:
            print(e["attributes"]["cpu"][1])
"""


def test_richest_is_used(project: Project) -> None:
    project.write(a=F)
    for cpu in ("haswell", "nehalem"):
        project.check(CALL, CPU=cpu, WITHOUT="other CPUs")
    assert project.check(RICHEST, CPU="broadwell").out == "haswell"
    project.check(CALL, CPU="broadwell", WITHOUT="other CPUs")
    assert project.check(RICHEST, CPU="broadwell").out == "broadwell"


def portable(what: object) -> str:
    return f"import jitcache.adapters.numba as j; j.install(portable={what!r}); {CALL}"


def test_built_on_broadwell_and_run_on_haswell(project: Project) -> None:
    """The story of the eggs: no environment variable, on neither side."""
    project.write(a=F)
    assert compiles(project, CPU="broadwell", code=portable("x86-64-v3"))
    assert not compiles(project, CPU="haswell")
    assert not compiles(project, CPU="haswell", code=portable("x86-64-v3"))
    assert compiles(project, CPU="nehalem")


@pytest.mark.parametrize("level", ["generic", "x86-64-v2", "x86-64-v3", *(["x86-64-v4"] if "avx512f" in HOST else [])])
def test_level_holds_what_its_name_says(project: Project, level: str) -> None:
    """Code for it uses no register beyond: the list that a CPU must have is not too short."""
    project.write(
        a="@numba.njit(cache=True, fastmath=True)\ndef f(x):\n    s = 0.0\n    for v in x:\n        s += v * v\n    return s\n"
    )
    code = f"""
        import jitcache.adapters.numba as j, numpy, re
        j.install(portable={level!r})
        import a
        print(a.f(numpy.ones(100)))
        text = next(iter(a.f.inspect_asm().values()))
        print(*sorted({{r[0] for r in re.findall("%([xyz]mm)", text)}}), "vfma" in text)
    """
    value, *registers = project.check(code).out.split()
    assert value == "100.0"
    used = {"x": "x", "y": "y", "z": "z"}
    most = {"generic": "x", "x86-64-v2": "x", "x86-64-v3": "xy", "x86-64-v4": "xyz"}[level]
    assert {used[r] for r in registers[:-1]} <= set(most)
    assert registers[-1] == str(level in ("x86-64-v3", "x86-64-v4"))


def test_children_compile_for_the_same(project: Project) -> None:
    project.write(a=F)
    code = """
        import jitcache.adapters.numba as j
        j.install(portable="x86-64-v2")
        import os, subprocess, sys
        print(subprocess.check_output([sys.executable, "-c", "import instrument, a; print(a.f(1))"], text=True).strip())
    """
    project.check(code)
    assert not compiles(project, CPU="nehalem")


def test_chosen_cpu_uses_only_its_own(project: Project) -> None:
    """NUMBA_CPU_NAME with a list that is no list: what the name implies cannot be known."""
    project.write(a=F)
    chosen = {"NUMBA_CPU_NAME": ll.get_host_cpu_name(), "NUMBA_CPU_FEATURES": ""}
    assert compiles(project, **chosen)
    assert compiles(project, CPU="nehalem")  # an empty list needs everything
    assert not compiles(project, **chosen)
    generic = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
    assert compiles(project, **generic)
    assert not compiles(project, **generic)


def test_wrong_and_late_words(project: Project) -> None:
    project.write(a=F)
    for what, says in (
        ("x86-64-v9", "want generic, x86-64-v2"),
        (("generic", "+avx2,+no-such"), "lacks no-such"),
    ):
        ran = project.run(portable(what), CPU="haswell")
        assert ran.status == 1
        assert says in ran.err
    assert "lacks avx512bw" in project.run(portable("x86-64-v4"), CPU="haswell").err
    ran = project.run(f"import a, jitcache.adapters.numba as j; j.install(portable='generic'); {CALL}")
    assert "numba compiles for" in ran.err


def test_pair_of_name_and_features(project: Project) -> None:
    project.write(a=F)
    assert compiles(project, code=portable(("generic", "+sse3,+ssse3")))
    assert not compiles(project, CPU="nehalem")


def test_two_that_note_their_cpu_at_once_cost_a_compile_at_most(project: Project) -> None:
    """The list is a hint: without it an entry of the own CPU is found all the same."""
    project.write(a=F, b=F)
    assert compiles(project, CPU="haswell")
    forget = "import jitcache; jitcache.default_cache().clear('_numba-cpu')"
    project.check(forget)
    assert not compiles(project, CPU="haswell")
    assert compiles(project, CPU="broadwell")
    # The next that stores something says so again.
    project.check("import b; print(b.f(1))", CPU="haswell")
    project.check("import jitcache.adapters.numba as j; print(j.count())")
    assert not compiles(project, code="import b; print(b.f(1))", CPU="broadwell")
