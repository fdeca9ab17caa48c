"""The headers that NVRTC brings along."""

from __future__ import annotations

from pathlib import Path

import pytest
from workspace import BUNDLED, Workspace

pytestmark = pytest.mark.skipif(not BUNDLED, reason="this cuda.core has no such option")

BODY = """
S = "#include <cuda_fp16.h>\\n#include <cuda/std/array>\\n__global__ void k(__half *p) { *p = cuda::std::array<__half, 1>{}[0]; }"
o = ProgramOptions(arch="sm_80", use_bundled_headers=True)
code = ASK
print(code.hex())
"""
OURS = BODY.replace("ASK", "compile_program(S, options=o).code")
THEIRS = BODY.replace(
    "ASK", "Program(S, 'c++', o).compile('cubin', cache=FileStreamProgramCache(os.environ['CACHE'] + '-cuda')).code"
)
FRESH = BODY.replace("ASK", "Program(S, 'c++', o).compile('cubin').code")


def folder(workspace: Workspace) -> Path:
    return workspace.home / ".cache" / "cuda-python" / "nvrtc-bundled-headers"


def test_they_are_written_once_and_count_by_their_content(workspace: Workspace) -> None:
    """To cuda.core's own what is in the folder does not matter."""
    first = workspace.run(OURS)
    assert workspace.compiled() == 2  # one of nothing, which writes them
    assert (folder(workspace) / "cuda_fp16.h").exists()
    assert workspace.run(OURS) == first == workspace.run(THEIRS)
    assert workspace.compiled() == 1
    header = folder(workspace) / "cuda_fp16.h"
    header.write_text(header.read_text() + '\nextern "C" __global__ void added() {}\n')
    fresh = workspace.run(FRESH)
    workspace.compiled()
    assert workspace.run(THEIRS) == first != fresh
    assert workspace.compiled() == 0
    assert workspace.run(OURS) == fresh


def test_headers_of_another_version_are_an_error(workspace: Workspace) -> None:
    """As cuda.core has it: also in a process that had them written before."""
    code = (
        OURS
        + """
marker = os.path.expanduser("~/.cache/cuda-python/nvrtc-bundled-headers/.nvrtc_headers_version")
text = open(marker).read().replace("cuda_minor=5", "cuda_minor=4")
open(marker, "w").write(text)
for compile in (lambda: compile_program(S + "//", options=o), lambda: Program(S, "c++", o).compile("cubin")):
    try:
        compile()
    except Exception as e:
        print(type(e).__name__, "version mismatch" in str(e))
"""
    )
    assert workspace.run(code).split("\n")[-2:] == ["NVRTCError True"] * 2


def test_without_having_them_written_it_does_not_compile(workspace: Workspace) -> None:
    """The control."""
    try:
        workspace.run(OURS, WITHOUT="install")
    except AssertionError as e:
        assert "open source file" in str(e)
    else:
        raise AssertionError("it compiles")


def test_they_are_written_again_where_they_are_gone(workspace: Workspace) -> None:
    import shutil

    first = workspace.run(OURS)
    shutil.rmtree(folder(workspace))
    workspace.compiled()
    assert workspace.run(OURS) == first


def test_another_user_s_folder_is_another_request_for_the_same_code(workspace: Workspace, tmp_path: Path) -> None:
    """Headers are written into the user's folder, which the options name."""
    short = {"ours": OURS, "theirs": THEIRS, "fresh": FRESH}
    for name, text in short.items():
        short[name] = text.replace("#include <cuda/std/array>\\n", "").replace(
            "cuda::std::array<__half, 1>{}[0]", "1.0"
        )
    codes = [workspace.run(short["ours"]), workspace.run(short["theirs"])]
    env = {"HOME": str(tmp_path / "another"), "XDG_CACHE_HOME": ""}
    workspace.run(short["fresh"], **env)
    workspace.compiled()
    for name in ("ours", "theirs"):
        codes.append(workspace.run(short[name], **env))
        assert workspace.compiled() > 0
    assert len(set(codes)) == 1
