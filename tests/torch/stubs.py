"""Stand-ins for NVIDIA's libraries, so that PyTorch's wheel is imported without the 2 GB of them.

    python tests/torch/stubs.py

libtorch needs these libraries to be loaded. Each stand-in has the symbols that libtorch
wants of it, with their versions, and each function returns 1, which is an error for all
of these libraries. They lie beside libtorch, in the environment of this Python.
"""

from __future__ import annotations

import collections
import importlib.util
import re
import subprocess
import sys
import tempfile
from pathlib import Path

#: Libraries that are installed: their symbols are called when PyTorch is imported.
REAL = ("libcudart", "libcupti")

#: Symbols of NVIDIA's whose versions name no library.
_NVIDIA = re.compile(
    r"^(cublas|cudnn|cufft|cusparse|cusolver|nccl|pnccl|nvrtc|nvshmem|cuFile|nvJitLink|nvmlx|_Z.*(nccl|cudnn|nvshmem))"
)


def output(*command: str) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def wanted(libraries: list[Path]) -> tuple[list[str], dict[str, set[str]]]:
    """Return the names of the libraries that are needed, and of symbols that nobody defines, each with its versions."""
    needed: set[str] = set()
    undefined: dict[str, set[str]] = collections.defaultdict(set)
    defined: set[str] = set()
    for library in libraries:
        needed.update(re.findall(r"NEEDED.*\[(.*?)\]", output("readelf", "-d", str(library))))
        for line in output("nm", "-D", str(library)).splitlines():
            *_, kind, symbol = line.split()
            name, _, version = symbol.partition("@")
            if kind in "Uwv":
                undefined[name].add(version.lstrip("@"))
            else:
                defined.add(name)
    missing = sorted(n for n in needed if re.match(r"lib(cu|nv|nccl)", n) and not n.startswith(REAL))
    return missing, {name: versions for name, versions in undefined.items() if name not in defined}


def symbols_of(library: str, undefined: dict[str, set[str]], loose: bool) -> dict[str, list[str]]:
    """Return the symbols that a library must have, by version; with ``loose`` those that name no library too."""
    found: dict[str, list[str]] = collections.defaultdict(list)
    for name, versions in undefined.items():
        for version in versions:
            if version.split(".so")[0] == library.split(".so", maxsplit=1)[0] or (
                loose and ".so" not in version and _NVIDIA.match(name)
            ):
                found[version].append(name)
    return found


def make(folder: Path, library: str, symbols: dict[str, list[str]]) -> None:
    """Make one stand-in."""
    names = {name for found in symbols.values() for name in found}
    with tempfile.TemporaryDirectory() as room:
        source, script = Path(room, "stub.c"), Path(room, "stub.map")
        source.write_text("".join(f"int {name}() {{ return 1; }}\n" for name in sorted(names)) or "int none;\n")
        versions = [f"{v} {{ global: {'; '.join(found)}; }};\n" for v, found in symbols.items() if v]
        script.write_text("".join(versions))
        flags = [f"-Wl,--version-script,{script}"] if versions else []
        command = ["gcc", "-w", "-shared", "-fPIC", "-fno-builtin", f"-Wl,-soname,{library}", *flags]
        subprocess.run([*command, "-o", str(folder / library), str(source)], check=True)


def main() -> None:
    spec = importlib.util.find_spec("torch")
    if spec is None or not spec.submodule_search_locations:
        sys.exit("stubs: no PyTorch")
    folder = Path(spec.submodule_search_locations[0]) / "lib"
    missing, undefined = wanted([p for p in sorted(folder.glob("*.so*")) if p.is_file() and not p.is_symlink()])
    missing = [name for name in missing if not (folder / name).exists()]
    for library in missing:
        make(folder, library, symbols_of(library, undefined, library.startswith("libcudnn")))
    subprocess.run([sys.executable, "-c", "import torch"], check=True)


if __name__ == "__main__":
    main()
