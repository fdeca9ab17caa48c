"""Libraries that stand in for NVIDIA's: built from cuda/cudatest, and read by what they wrote down.

    python tests/cuda/fakes.py FOLDER

builds libnvrtc.so.13 and libcuda.so.1 into a folder.
"""

from __future__ import annotations

import contextlib
import glob
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CUDATEST = ROOT / "cuda" / "cudatest"
sys.path.insert(0, str(ROOT))

import build_library

COMPILER = ["libnvrtc.c", "preprocess.c", "precompile.c", "image.c", "knobs.c"]
DRIVER = ["libcuda.c", "driver.c", "image.c", "knobs.c"]
COUNTED = [str(HERE / "counted.c"), "knobs.c"]

#: Flags of a fake that is an older compiler.
OLDER = ("-DSTUBNVRTC_MAJOR=12", "-DSTUBNVRTC_MINOR=9")


def build(out: Path, sources: list[str], *flags: str) -> Path:
    """Compile a fake. The name of the file is its soname."""
    witnesses(out).mkdir(parents=True, exist_ok=True)
    command = [
        *(build_library.find_cc() or ["cc"]), "-O1", "-shared", "-fPIC", "-pthread", "-fvisibility=hidden",
        f"-Wl,-soname,{out.name}", "-Wl,--build-id=sha1", f"-I{CUDATEST}", *flags, "-o", str(out), *(str(CUDATEST / s) for s in sources), "-ldl",
    ]  # fmt: skip
    subprocess.run(command, check=True)
    return out


def build_counted(folder: Path, real: Path, *flags: str) -> Path:
    """Build what counts the compiles of a real NVRTC, with that one's builtins beside it, as they are its own."""
    out = build(folder / real.name, COUNTED, f'-DREAL="{real}"', *flags)
    for builtins in real.parent.glob("libnvrtc-builtins.so.*"):
        (folder / builtins.name).symlink_to(builtins)
    return out


def witnesses(library: Path) -> Path:
    """The folder in which a fake NVRTC makes a file for each call. What is written there is nobody's input."""
    return library.parent / "calls" / "__pycache__"


class CallLog:
    """What a fake wrote down: a line for each call, whatever thread or process made it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def lines(self, begin: str = "") -> list[str]:
        """Return the lines that begin so."""
        text = self.path.read_text() if self.path.exists() else ""
        return [line for line in text.splitlines() if line.startswith(begin)]

    def count(self, begin: str) -> int:
        """Count the lines that begin so."""
        return len(self.lines(begin))

    def clear(self) -> None:
        """Forget what was written down."""
        self.path.unlink(missing_ok=True)

    @property
    def compiles(self) -> int:
        """How often NVRTC has compiled."""
        return self.count("nvrtcCompileProgram")


class Witnesses(CallLog):
    """The same of a fake NVRTC: a file for each call, beside it."""

    def lines(self, begin: str = "") -> list[str]:
        """Return the lines that begin so, in the order of the calls."""
        lines = [file.read_text() for file in sorted(self.path.iterdir())]
        return [line for line in lines if line.startswith(begin)]

    def clear(self) -> None:
        """Forget what was written down."""
        for file in self.path.iterdir():
            file.unlink(missing_ok=True)


class Gate:
    """Where compiles wait that have begun: each thread has the gate's name meanwhile, see knob_gate."""

    def __init__(self, name: str) -> None:
        self.name = name

    def waiting(self) -> list[int]:
        """Return the processes of the threads that wait."""
        found = []
        for path in glob.glob("/proc/[0-9]*/task/[0-9]*/comm"):
            with contextlib.suppress(OSError), open(path) as f:
                if f.read() == f"{self.name}\n":
                    found.append(int(path.split("/")[2]))
        return found

    def wait(self, process: subprocess.Popen[str] | None = None) -> None:
        """Wait until somebody waits."""
        while not self.waiting():
            assert process is None or process.poll() is None
            time.sleep(0.002)

    def open(self) -> None:
        """Let those who wait go on."""
        for process in self.waiting():
            os.kill(process, signal.SIGUSR2)


if __name__ == "__main__":
    build(Path(sys.argv[1]) / "libnvrtc.so.13", COMPILER)
    build(Path(sys.argv[1]) / "libcuda.so.1", DRIVER)
