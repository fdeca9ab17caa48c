"""Formatters and linters: gofumpt, go vet, staticcheck, ruff, mypy, clang-format, actionlint, white space.

    python tests/lint.py [--write]

--write lets the formatters change files; otherwise a file that they would change is a
failure. Missing tools are installed into .venv and build/bin. The program prints the
output of each tool that fails, and at the end how many ran and failed.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = ROOT / "build" / "bin"
VENV = Path(sys.executable).parent
sys.path.insert(0, str(ROOT))

import build_library

PYTHON_TOOLS = ["ruff==0.17.6", "mypy==2.4.1", "clang-format==23.1.5"]
GO_TOOLS = {
    "gofumpt": "mvdan.cc/gofumpt@v0.12.0",
    "staticcheck": "honnef.co/go/tools/cmd/staticcheck@v0.8.2",
    "actionlint": "github.com/rhysd/actionlint/cmd/actionlint@v1.7.12",
}
#: core/cpuid is a module of its own, so `./...` does not include it (go.mod).
CPUID = "github.com/klauspost/cpuid/v2"
#: Git's name for the empty tree: compared with it, every line is new.
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

PYTHON = [
    "python",
    "tests",
    "examples",
    "cmake",
    "packages",
    "capi",
    "docs/site",
    "build_folder.py",
    "build_library.py",
    "build_steps.py",
    "hatch_build.py",
]


def files(*patterns: str) -> list[str]:
    """Return the files that match patterns, and that git tracks or does not ignore."""
    command = ["git", "ls-files", "-co", "--exclude-standard", *patterns]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    return [n for n in names if (ROOT / n).exists()]


def install() -> None:
    go = build_library.find_go() or "go"
    need = [tool for tool in PYTHON_TOOLS if not (VENV / tool.partition("==")[0]).exists()]
    if need:
        subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", *need], check=True)
    for name, module in GO_TOOLS.items():
        if not (BIN / name).exists():
            env = {**os.environ, "GOBIN": str(BIN), "GOTOOLCHAIN": "local"}
            subprocess.run([go, "install", module], env=env, check=True)


def steps(write: bool) -> list[tuple[str, list[str], bool]]:
    """Return for each step its name, its command, and whether any output is a failure."""
    go = build_library.find_go() or "go"
    gofumpt = [str(BIN / "gofumpt"), "-w" if write else "-l", *files("*.go")]
    clang = [
        str(VENV / "clang-format"),
        *(["-i"] if write else ["--dry-run", "--Werror"]),
        *files("*.c", "*.h", "*.cpp", "*.hpp"),
    ]
    ruff = str(VENV / "ruff")
    return [
        ("gofumpt", gofumpt, True),
        ("go vet", [go, "vet", "./...", CPUID], False),
        ("go vet of controls", [go, "vet", "-tags", "control", "./...", CPUID], False),
        ("staticcheck", [str(BIN / "staticcheck"), "./...", CPUID], False),
        ("ruff format", [ruff, "format", *([] if write else ["--check", "-q"]), *PYTHON], False),
        ("ruff", [ruff, "check", "-q", *(["--fix"] if write else []), *PYTHON], False),
        ("mypy", [str(VENV / "mypy")], False),
        ("clang-format", clang, False),
        ("actionlint", [str(BIN / "actionlint"), *files(".github/workflows/*.yml")], True),
        ("whitespace", ["git", "diff", "--check", EMPTY_TREE], False),
    ]


def main() -> int:
    install()
    ran = failed = 0
    for name, command, silent in steps("--write" in sys.argv):
        p = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        bad = p.returncode != 0 or (silent and p.stdout.strip() != "")
        ran += 1
        failed += bad
        if bad:
            print(f"{name}:\n{p.stdout}")
    print(f"{ran} run, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
