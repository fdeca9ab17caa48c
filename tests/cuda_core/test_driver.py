"""What depends on the driver: the architecture that is not said, and whether PTX can be loaded."""

from __future__ import annotations

from workspace import Workspace

PTX = """
import warnings
S = T
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    code = {compile}
print(len(code.code) > 100, [w.category.__name__ + " " + os.path.basename(w.filename) for w in seen if "ptx" in str(w.message).lower()])
"""
OURS = PTX.format(compile="compile_program(S, options=O, target='ptx', name_expressions=['axpy<int>'])")
THEIRS = PTX.format(compile="Program(S, 'c++', O).compile('ptx', ['axpy<int>'])")


def test_ptx_that_the_driver_cannot_load_is_warned_of_on_a_hit_too(workspace: Workspace, with_driver) -> None:
    old, new = with_driver(FAKECUDA_VERSION="12000"), with_driver(FAKECUDA_VERSION="13050")
    for env, warned in ((old, True), (new, False)):
        assert ("RuntimeWarning" in workspace.run(THEIRS, **env)) is warned
        # In the name of the line that asked.
        found = "['RuntimeWarning <string>']" if warned else "[]"
        assert [workspace.run(OURS, **env) for _ in range(2)] == [f"True {found}"] * 2


def test_ptx_without_a_driver_is_compiled(workspace: Workspace) -> None:
    """cuda.core asks the driver for its version, and fails where there is none."""
    assert workspace.run(OURS) == "True []"
    try:
        workspace.run(THEIRS)
    except AssertionError as e:
        assert "DynamicLibNotFoundError" in str(e)
    else:
        raise AssertionError("there is a driver")


ARCH = """
code = compile_program(T, name_expressions=["axpy<int>"]).code
print(code == Program(T, "c++").compile("cubin", ["axpy<int>"]).code, code.hex())
"""


def test_architecture_that_is_not_said_is_that_of_the_device(workspace: Workspace, with_driver) -> None:
    answers = []
    for cc in ("80", "90", "80"):
        same, code = workspace.run(ARCH, **with_driver(FAKECUDA_CC=cc)).split()
        assert same == "True"
        answers.append(code)
    assert answers[0] == answers[2] != answers[1]


def test_entry_of_one_device_is_not_that_of_another(workspace: Workspace, with_driver) -> None:
    ask = "compile_program(T, name_expressions=['axpy<int>'])"
    for cc, compiles in (("80", 1), ("90", 1), ("80", 0), ("90", 0)):
        workspace.run(ask, **with_driver(FAKECUDA_CC=cc))
        assert workspace.compiled() == compiles
