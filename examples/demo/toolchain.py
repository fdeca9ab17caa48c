"""The toolchain: the compilers and headers of the machine, found once per run of the demo.

The parent process finds everything and passes it to its workers as JSON, as a host does
that starts ranks. So a worker that only has hits opens no compiler and no header.
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import asdict, dataclass, field
from pathlib import Path

import compile_log
import driver
import wheels

ROOT = Path(__file__).resolve().parents[2]
BELLS = "bells"  # the folder of them, in that of the demo
DEFAULT_ARCH = 90  # without a GPU any that NVRTC knows will do

sys.path.insert(0, str(ROOT))

import build_library


class ToolchainError(Exception):
    """There is no compiler."""


@dataclass
class Toolchain:
    """Everything a job needs to make a key and to compile."""

    cache: str
    log: str
    cc: str = ""  # the script that stands in for the compiler, and rings the bells
    cc_version: str = ""
    cc_files: list[str] = field(default_factory=list)  # what runs when cc is called
    cc_flags: list[str] = field(default_factory=list)
    cython: str = ""
    python_headers: str = ""  # digest; "" if this Python came without
    nvrtc: str = ""  # the library that stands in for NVRTC, and rings the bells
    nvrtc_version: str = ""
    cuda_include: str = ""
    arch: int = DEFAULT_ARCH
    gpu: str = ""
    no_launch: str = ""  # why cubins are not launched; "" if they are

    def save(self, file: Path) -> None:
        """Write it for the workers."""
        file.write_text(json.dumps(asdict(self), indent=1))

    @classmethod
    def load(cls, file: str) -> Toolchain:
        """Read what ``save`` wrote."""
        return cls(**json.loads(Path(file).read_text()))

    def find_cc(self, folder: Path) -> None:
        """Find the C compiler, and replace it by a script that rings and runs it."""
        command = build_library.find_cc()
        if command is None:
            raise ToolchainError("no C compiler; `make demo` installs one where there is none")
        self.cc_files = _files_of(command)
        self.cc_version = _output([*command, "--version"]).partition("\n")[0]
        if "ziglang" in command:
            # By default zig compiles for the CPU that it runs on, which would then have to
            # be in the key.
            self.cc_flags = ["-mcpu=baseline"]
            # zig has a cache of its own, by default below the user's home. With it zig would
            # be faster from the second run of the demo on.
            os.environ["ZIG_GLOBAL_CACHE_DIR"] = str(folder / "zig")
        script = folder / "cc"
        compile_log.wrap(script, command, folder / BELLS)
        self.cc = str(script)

    def find_cython(self) -> None:
        """Find Cython and the headers of this Python."""
        self.cython = wheels.version("Cython") or ""
        folders = list(dict.fromkeys(Path(sysconfig.get_path(which)) for which in ("include", "platinclude")))
        if (folders[0] / "Python.h").exists():
            self.python_headers = _digest(folders)

    def find_cuda(self, folder: Path) -> None:
        """Find NVRTC, and replace it by a library that rings; find the headers of CCCL, and a GPU."""
        real = wheels.find("nvidia-cuda-nvrtc", "libnvrtc.so.*")
        command = build_library.find_cc()
        if command is None:
            raise ToolchainError("no C compiler; `make demo` installs one where there is none")
        self.nvrtc = str(folder / real.name)
        compile_log.wrap_nvrtc(Path(self.nvrtc), command, str(real), folder / BELLS)
        self.nvrtc_version = wheels.version("nvidia-cuda-nvrtc") or ""
        self.cuda_include = str(wheels.find("nvidia-cuda-runtime", "include/cuda_runtime.h").parent)
        device, self.no_launch = driver.probe()
        if device is None:
            return
        self.gpu = f"{device.name}, sm_{device.capability}"
        if device.capability not in _architectures(real):
            self.no_launch = f"NVRTC {self.nvrtc_version} does not know sm_{device.capability}"
        elif device.driver // 1000 < int(self.nvrtc_version.partition(".")[0]):
            self.no_launch = f"the driver is for CUDA {device.driver // 1000}, older than NVRTC {self.nvrtc_version}"
        else:
            self.arch = device.capability


def _architectures(nvrtc: Path) -> list[int]:
    """Return the architectures that an NVRTC knows, 90 for sm_90."""
    library, n = ctypes.CDLL(str(nvrtc)), ctypes.c_int()
    library.nvrtcGetNumSupportedArchs(ctypes.byref(n))
    archs = (ctypes.c_int * n.value)()
    library.nvrtcGetSupportedArchs(archs)
    return list(archs)


def _files_of(command: list[str]) -> list[str]:
    """Return the programs that a compiler's command runs, as far as it names them."""
    if "ziglang" in command:
        spec = importlib.util.find_spec("ziglang")
        return [f"{folder}/zig" for folder in (spec and spec.submodule_search_locations) or []]
    # gcc is a driver: other programs compile, assemble and link.
    programs = [_output([*command, f"-print-prog-name={name}"]).strip() for name in ("cc1", "as", "ld")]
    files = [shutil.which(word) for word in [*command, *programs]]
    return sorted({os.path.realpath(f) for f in files if f})


def _output(command: list[str]) -> str:
    p = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    return p.stdout


def _digest(folders: list[Path]) -> str:
    """Return a digest of the names and contents of all files below the folders."""
    total = hashlib.sha256()
    for folder in folders:
        for file in sorted(p for p in folder.rglob("*") if p.is_file()):
            name, content = str(file.relative_to(folder)).encode(), file.read_bytes()
            total.update(b"%d %d\n%b" % (len(name), len(content), name) + content)
    return total.hexdigest()
