"""Builds: sources of underworld3 to a shared object, and that to a module."""

from __future__ import annotations

import atexit
import importlib.machinery
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from jitcache import CompileError

if TYPE_CHECKING:
    from types import ModuleType

#: File names and texts, a setup.py among them.
Texts = Sequence[Sequence[str]]

_COMMAND = [sys.executable, "setup.py", "build_ext", "--inplace"]


def run(modname: str, texts: Texts, variables: Mapping[str, str], verbose: bool) -> bytes:
    """Compile in a private folder, which is removed, and return the shared object. Raises CompileError."""
    with tempfile.TemporaryDirectory(prefix=f"{modname}_") as name:
        folder = Path(name)
        _write(folder, texts)
        done = subprocess.run(  # noqa: S603  the program is this Python
            _COMMAND, cwd=folder, env=variables, stdin=subprocess.DEVNULL, capture_output=True, check=False
        )
        log = (done.stdout + done.stderr).decode("utf-8", "replace")
        made = sorted(folder.glob("*.so"))
        if verbose and done.returncode != 0:
            print(log, flush=True)  # noqa: T201  as underworld3 does
        if not made:
            raise CompileError(f"{modname}: {_first_error(log, done.returncode)}", log, _COMMAND)
        return made[0].read_bytes()


def _first_error(log: str, status: int) -> str:
    lines = [line.strip() for line in log.splitlines() if "error" in line.lower()]
    return lines[0] if lines else f"setup.py: exit status {status}"


def _write(folder: Path, texts: Texts) -> None:
    for name, text in texts:
        (folder / name).write_text(text, encoding="utf-8")


_folders: set[str] = set()


def is_own(folder: str | os.PathLike[str]) -> bool:
    """Return whether ``load`` has made the folder."""
    return os.fspath(folder) in _folders


def load(modname: str, texts: Texts, data: bytes | memoryview) -> tuple[ModuleType, str]:
    """Load a shared object from a folder of its own beside its sources, and return module and folder.

    The folder goes when this process exits. Raises ImportError if it is no module
    of this Python, and OSError if there is no place for it.
    """
    folder = tempfile.mkdtemp(prefix=f"{modname}_")
    try:
        _write(Path(folder), texts)
        path = os.path.join(folder, f"{modname}.so")
        with open(path, "wb") as f:
            f.write(data)
        module = module_at(modname, path)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    if not _folders:
        atexit.register(_remove, os.getpid())
    _folders.add(folder)
    return module, folder


def _remove(pid: int) -> None:
    if os.getpid() == pid:  # a forked child leaves its parent's
        for folder in _folders:
            shutil.rmtree(folder, ignore_errors=True)


def module_at(modname: str, path: str) -> ModuleType:
    """Load a module from a file, anew even if one of that name is there. Raises ImportError."""
    loader = importlib.machinery.ExtensionFileLoader(modname, path)
    spec = importlib.util.spec_from_file_location(modname, path, loader=loader)
    if spec is None:
        raise ImportError(f"{modname}: cannot be loaded", name=modname, path=path)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module
