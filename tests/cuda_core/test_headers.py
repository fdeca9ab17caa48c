"""The headers that NVRTC brings along."""

from __future__ import annotations

from pathlib import Path

import pytest
from place import BUNDLED, Place

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


def folder(place: Place) -> Path:
    return place.home / ".cache" / "cuda-python" / "nvrtc-bundled-headers"


def test_they_are_written_once_and_count_by_their_content(place: Place) -> None:
    """To cuda.core's own what is in the folder does not matter."""
    first = place.run(OURS)
    assert place.compiles() == 2  # one of nothing, which writes them
    assert (folder(place) / "cuda_fp16.h").exists()
    assert place.run(OURS) == first == place.run(THEIRS)
    assert place.compiles() == 1
    header = folder(place) / "cuda_fp16.h"
    header.write_text(header.read_text() + '\nextern "C" __global__ void added() {}\n')
    fresh = place.run(FRESH)
    place.compiles()
    assert place.run(THEIRS) == first != fresh
    assert place.compiles() == 0
    assert place.run(OURS) == fresh


def test_headers_of_another_version_are_an_error(place: Place) -> None:
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
    assert place.run(code).split("\n")[-2:] == ["NVRTCError True"] * 2


def test_without_having_them_written_it_does_not_compile(place: Place) -> None:
    """The control."""
    try:
        place.run(OURS, WITHOUT="install")
    except AssertionError as e:
        assert "open source file" in str(e)
    else:
        raise AssertionError("it compiles")


def test_they_are_written_again_where_they_are_gone(place: Place) -> None:
    import shutil

    first = place.run(OURS)
    shutil.rmtree(folder(place))
    place.compiles()
    assert place.run(OURS) == first


def test_another_user_s_folder_hits(place: Place, tmp_path: Path) -> None:
    """To cuda.core's own another home is another key. Where a header shows its path in the code, it is to ours too."""
    short = {"ours": OURS, "theirs": THEIRS, "fresh": FRESH}
    for name, text in short.items():
        short[name] = text.replace("#include <cuda/std/array>\\n", "").replace(
            "cuda::std::array<__half, 1>{}[0]", "1.0"
        )
    codes = [place.run(short["ours"]), place.run(short["theirs"])]
    env = {"HOME": str(tmp_path / "another"), "XDG_CACHE_HOME": ""}
    place.run(short["fresh"], **env)
    place.compiles()
    codes.append(place.run(short["ours"], **env))
    assert place.compiles() == 0
    codes.append(place.run(short["theirs"], **env))
    assert place.compiles() == 1
    assert len(set(codes)) == 1
