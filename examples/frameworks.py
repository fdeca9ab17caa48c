"""The examples of the adapters, each in a virtual environment with its framework.

    make demo-all
    python examples/frameworks.py [--python FRAMEWORK=PATH]... [FRAMEWORK]...

Prints a table for each framework: its first call with an empty cache, the same in a new
process, and in a new process with the framework's own cache. A framework that is missing
is installed from the example's requirements.txt into build/demo-all; --python names an
interpreter that has it. The exit status is 0 if each function was compiled once and all
results were right.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
FOLDER = HERE.parent / "build" / "demo-all"
sys.path.insert(0, str(HERE.parent))

import build_steps

#: The Pythons that all the frameworks have wheels for.
PYTHONS = ("3.11", "3.12", "3.13")


class FrameworkError(Exception):
    """A framework is missing and cannot be installed."""


class Framework(NamedTuple):
    """A folder of examples, and its name for people."""

    folder: str
    title: str

    def python(self) -> str:
        """Return an interpreter with the framework, which is installed if need be."""
        wanted = (HERE / self.folder / "requirements.txt").read_text()
        venv = FOLDER / self.folder
        python, ready = venv / "bin" / "python", venv / "ready"
        if not ready.exists() or ready.read_text() != wanted:
            names = " ".join(line for line in wanted.splitlines() if not line.startswith("#"))
            with build_steps.step(f"installing {names}"):
                _run([_interpreter(), "-m", "venv", "--clear", str(venv)])
                _run([str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check", *names.split()])
            ready.write_text(wanted)
        return str(python)

    def show(self, python: str) -> bool:
        """Run the example, which prints; return whether it succeeded."""
        print(f"\n{self.title}", flush=True)
        command = [python, str(HERE / self.folder / "demo.py"), str(FOLDER / f"{self.folder}-caches")]
        return subprocess.run(command, check=False).returncode == 0


FRAMEWORKS = (
    Framework("numba", "Numba"),
    Framework("cuda_core", "cuda.core"),
    Framework("cute_dsl", "CuTe DSL"),
    Framework("triton", "Triton"),
    Framework("jax", "JAX"),
)

#: What is said of a framework that is too large to be installed for a table.
PYTORCH = """
PyTorch is left out: pip install torch downloads 3 GB. Where it is installed, JITCACHE_TORCH=1 python PROGRAM
is all that it takes; docs/torch.md has a table."""


def _interpreter() -> str:
    if f"{sys.version_info[0]}.{sys.version_info[1]}" in PYTHONS:
        return sys.executable
    for version in reversed(PYTHONS):
        found = shutil.which(f"python{version}")
        if found is not None:
            return found
    raise FrameworkError(f"want one of Python {', '.join(PYTHONS)}")


def _run(command: list[str]) -> None:
    p = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if p.returncode != 0:
        said = [line for line in p.stdout.splitlines() if line.strip()] or [f"exit status {p.returncode}"]
        raise FrameworkError(f"{' '.join(command[1:4])}: {said[-1].strip()}")


def main() -> int:
    names = [f.folder for f in FRAMEWORKS]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", action="append", default=[], metavar="FRAMEWORK=PATH")
    parser.add_argument("frameworks", nargs="*", metavar="FRAMEWORK", help=", ".join(names))
    args = parser.parse_args()
    pythons = dict(given.split("=", 1) for given in args.python)
    unknown = [name for name in (*args.frameworks, *pythons) if name not in names]
    if unknown:
        parser.error(f"want of {', '.join(names)}, not {', '.join(unknown)}")
    for name in [n for n in os.environ if n.startswith(("JITCACHE", "NUMBA_", "CUTE_DSL_", "TRITON_", "JAX_"))]:
        del os.environ[name]
    build_steps.show()
    bad = []
    for framework in FRAMEWORKS:
        if args.frameworks and framework.folder not in args.frameworks:
            continue
        try:
            if not framework.show(pythons.get(framework.folder) or framework.python()):
                bad.append(framework.title)
        except FrameworkError as e:
            print(f"demo: {framework.title}: {e}")
            bad.append(framework.title)
    if not args.frameworks:
        print(PYTORCH)
    if bad:
        print(f"\nFAILED: {', '.join(bad)}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
