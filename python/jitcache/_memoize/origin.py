"""Origins: the Python, the installed package or the module file that code is from, as bytes for a key."""

from __future__ import annotations

import base64
import hashlib
import importlib.machinery
import os
import sys
import sysconfig
from typing import Any, NamedTuple

from jitcache._code import Unkeyable, is_standard
from jitcache._module_files import content, has_file, stamp_of

PYTHON, PACKAGE, OWN = "python", "package", "own"


class Origin(NamedTuple):
    """Where code is from.

    PYTHON: the standard library, and this package; ``name`` is the module. PACKAGE: an
    installed package; ``name`` is the folder with the list of its files. OWN: any other
    file; ``name`` is its path, "" if there is none.
    """

    kind: str
    name: str


_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep  # this package
_PATHS = sysconfig.get_paths()
_STANDARD = (_PATHS["stdlib"] + os.sep, _PATHS["platstdlib"] + os.sep)
_SITES = ("site-packages", "dist-packages")
_origins: dict[str, Origin] = {}


def origin_of(path: str) -> Origin:
    """Return the origin of code by its file name."""
    found = _origins.get(path)
    if found is None:
        found = _origins[path] = _find_origin(path)
    return found


def _find_origin(path: str) -> Origin:
    if path.startswith("<"):
        frozen = path.startswith("<frozen ")
        return Origin(PYTHON, path[len("<frozen ") : -1]) if frozen else Origin(OWN, "")
    path = os.path.abspath(path)
    if path.startswith(_HERE):
        return Origin(PYTHON, _dotted("jitcache" + os.sep + path[len(_HERE) :]))
    if is_standard(path):
        return Origin(PYTHON, _dotted(next(path[len(p) :] for p in _STANDARD if path.startswith(p))))
    record = _package(path)
    if record:
        return Origin(PACKAGE, record)
    return Origin(OWN, path if has_file(path) else "")


def _dotted(path: str) -> str:
    """Return the module of a path below the folder of its library."""
    name = path[: path.index(".")] if "." in path else path
    return name.replace(os.sep + "__init__", "").replace("lib-dynload" + os.sep, "").replace(os.sep, ".")


def origin_of_module(name: str) -> Origin:
    """Return the origin of a module, imported or not. Raises Unkeyable if there is none."""
    module = sys.modules.get(name)
    path: Any = None
    if module is not None:
        path = getattr(module, "__file__", None)
        if path is None and hasattr(module, "__path__"):
            raise Unkeyable("package without a file", name)
    if not path:
        if name.partition(".")[0] in sys.builtin_module_names:
            return Origin(PYTHON, name)
        spec = None if module is not None else importlib.machinery.PathFinder.find_spec(name.partition(".")[0])
        path = spec.origin if spec is not None else getattr(getattr(module, "__spec__", None), "origin", None)
        if path == "frozen":
            return Origin(PYTHON, name)
        if not path:
            raise Unkeyable("no file", f"module {name}")
    return origin_of(str(path))


# -- installed packages

_records: dict[
    str, dict[str, bytes]
] = {}  # of each folder of packages: lists of files, by the folders of their packages
_hashes: dict[str, tuple[tuple[int, ...], bytes]] = {}  # of files, with the stamps that they have it by
_packages: dict[str, tuple[int, tuple[int, ...], bytes]] = {}


def _package(path: str) -> str:
    """Return the folder of the installed package that lists a file, "" if none does."""
    folders = path.split(os.sep)
    at = max((i for i, folder in enumerate(folders) if folder in _SITES), default=-1)
    if at < 0:
        return ""
    site, inside = os.sep.join(folders[: at + 1]), "/".join(folders[at + 1 :])
    if site not in _records:
        _records[site] = _lists(site)
    line = b"\n" + inside.encode() + b","
    return next((folder for folder, text in _records[site].items() if line in text), "")


def _lists(site: str) -> dict[str, bytes]:
    lists = {}
    for name in sorted(os.listdir(site)):
        if name.endswith(".dist-info"):
            try:
                with open(os.path.join(site, name, "RECORD"), "rb") as file:
                    lists[os.path.join(site, name)] = b"\n" + file.read()
            except OSError:
                continue  # its installer keeps no list: its files count as OWN
    return lists


def package_content(folder: str) -> tuple[str, bytes]:
    """Return the name of an installed package, and the digest of its version and files.

    The package's list has the hashes and sizes of its files as they were installed. A file
    that differs from the list counts by its content. Sources that this process has imported,
    and files younger than the list, are compared by hash, the others by size. Raises
    Unkeyable if a file has changed since the process started.
    """
    listed = os.path.join(folder, "RECORD")
    try:
        found = os.stat(listed)
    except OSError:
        raise Unkeyable("package without a list of its files", folder) from None
    known = _packages.get(folder)
    # Modules that are imported later must be looked at too.
    if known is None or known[:2] != (len(sys.modules), stamp_of(found)):
        known = _packages[folder] = (len(sys.modules), stamp_of(found), _files_of(folder, listed, found))
    return os.path.basename(folder)[: -len(".dist-info")].partition("-")[0], known[2]


def _files_of(folder: str, listed: str, found: os.stat_result) -> bytes:
    whole = hashlib.sha256(os.path.basename(folder).encode())
    with open(listed, "rb") as file:
        lines = file.read().splitlines()
    site = os.path.dirname(folder) + os.sep
    imported = {str(getattr(module, "__file__", None)) for module in list(sys.modules.values())}
    for line in lines:
        whole.update(line + b"\n")
        name = line.rsplit(b",", 2)[0]
        path = site + os.fsdecode(name.strip(b'"'))
        if path.endswith(".pyc") or name.startswith(b"..") or path == listed:
            continue
        if _is_another(path, line, found, path in imported):
            whole.update(content(path, imported=True) if os.path.exists(path) else b"gone")
    return whole.digest()[:16]


def _is_another(path: str, line: bytes, listed: os.stat_result, imported: bool) -> bool:
    """Return whether a file differs from its line in the list.

    A file that is not younger than the list is trusted, unless this process has run it.
    (A copy of the folder may have any times.)
    """
    _, said, size = line.rsplit(b",", 2)
    try:
        now = os.stat(path)
    except OSError:
        return True
    later = now.st_ctime_ns > listed.st_ctime_ns or now.st_mtime_ns > listed.st_mtime_ns
    if later or (imported and path.endswith(".py")):
        return _hash_of(path, now) != said
    return size != str(now.st_size).encode()


def _hash_of(path: str, now: os.stat_result) -> bytes:
    """Return the hash of this content as a list has it."""
    stamp = stamp_of(now)
    known = _hashes.get(path)
    if known is None or known[0] != stamp:
        with open(path, "rb") as file:
            digest = base64.urlsafe_b64encode(hashlib.sha256(file.read()).digest())
        known = _hashes[path] = (stamp, b"sha256=" + digest.rstrip(b"="))
    return known[1]
