"""Builds: the sources of underworld3 made into a shared object, which is loaded as a module."""

from __future__ import annotations

import atexit
import importlib.machinery
import importlib.util
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from jitcache._native_job import Command, Source
from jitcache._native_process import process_given

if TYPE_CHECKING:
    from types import ModuleType

#: File names and texts, a setup.py among them.
Texts = Sequence[Sequence[str]]

# Runs the build that underworld3 runs, and gives the result a name that does not depend on the
# configuration of setuptools.
_START = """
import glob, os, subprocess, sys
status = subprocess.call([sys.executable, "-c", *sys.argv[1:]])
made = sorted(glob.glob("*.so"))
if made:
    os.replace(made[0], "module")
sys.exit(0 if made else status or 1)
"""

# setuptools calls os.uname, which returns the names of the machine and of its kernel too.
# They would be recorded, and each machine of a cluster would compile again. So the build
# gets fixed names.
_SETUP = """
import json, os, runpy, sys
system = os.uname_result(json.loads(sys.argv[1]))
os.uname = lambda: system
sys.argv = ["setup.py", "build_ext", "--inplace"]
runpy.run_path("setup.py", run_name="__main__")
"""


def command(
    modname: str,
    labels: Sequence[tuple[str, str]],
    texts: Texts,
    variables: Mapping[str, str],
    kind: str,
    *,
    environment: tuple[str, ...] = (),
) -> Command:
    """Return the command that builds a module.

    ``variables`` is the environment that underworld3 gives its builds, and ``environment``
    says which of it counts. If there are ``labels``, the texts follow from them, and may
    be left out for a lookup.
    """
    system = os.uname()
    known = (system.sysname, "localhost", "5.0.0", "#1", system.machine)
    words = (sys.executable, "-I", "-S", "-c", _START, _SETUP, json.dumps(known))
    sources = tuple(Source(name, text.encode()) for name, text in texts)
    return Command(
        words,
        sources,
        "module",
        None,
        (),
        kind,
        modname,
        tuple(labels),
        bool(labels),
        environment=environment,
        process=process_given(variables),
    )


# How a line that says what is wrong begins: of gcc and clang, of Cython, of Python, of a
# linker. Only the beginning is matched, because commands with -Werror=… are printed too.
_ERROR = re.compile(
    r"(\S.*: )?(fatal |internal compiler )?error: |\S+\.pyx:\d+:\d+: |[\w.]+Error: |(\S*[/-])?ld(\.\w+)?: (?!warning)"
)


def first_error(log: str) -> str:
    """Return the first line of a build's output that says what is wrong; "" if none does."""
    return next((line.strip() for line in log.splitlines() if _ERROR.match(line)), "")


def _write(folder: Path, texts: Texts) -> None:
    for name, text in texts:
        (folder / name).write_text(text, encoding="utf-8")


_folders: set[str] = set()


def is_own(folder: str | os.PathLike[str]) -> bool:
    """Return whether ``load`` has made the folder."""
    return os.fspath(folder) in _folders


def load(modname: str, texts: Texts, data: bytes | memoryview) -> tuple[ModuleType, str]:
    """Write a shared object and its sources to a new folder, load it, and return module and folder.

    The folder is removed when this process exits. Raises ImportError if it is no module
    for this Python, and OSError if the files cannot be written.
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
    if os.getpid() == pid:  # the folders are the parent's, not a forked child's
        for folder in _folders:
            shutil.rmtree(folder, ignore_errors=True)


def module_at(modname: str, path: str) -> ModuleType:
    """Load a module from a file, even if one of that name is loaded already. Raises ImportError."""
    loader = importlib.machinery.ExtensionFileLoader(modname, path)
    spec = importlib.util.spec_from_file_location(modname, path, loader=loader)
    if spec is None:
        raise ImportError(f"{modname}: cannot be loaded", name=modname, path=path)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module
