"""Modules on disk: <hash>.so, <hash>.manifest.json, .<hash>.lock. A model of what jitcache takes the place of."""

from __future__ import annotations

import fcntl
import importlib.machinery
import json
import os
import shutil
import tempfile
from importlib._bootstrap import _load
from pathlib import Path
from typing import Any

VERSION = 1


def get_cache_dir() -> Path | None:
    if os.environ.get("UW_JIT_CACHE", "").lower() in ("0", "false", "no"):
        return None
    for name, below in (("UW_JIT_CACHE_DIR", ""), ("XDG_CACHE_HOME", "underworld3/jit")):
        if os.environ.get(name):
            return Path(os.environ[name]).expanduser() / below
    return Path.home() / ".cache/underworld3/jit"


def _named(constants: list[tuple[int, Any]]) -> list[dict[str, Any]]:
    return [{"index": index, "name": constant.name} for index, constant in constants]


def load_module(source_hash: str, modname: str, constants_manifest: list[tuple[int, Any]]) -> Any:
    folder = get_cache_dir()
    if folder is None:
        return None
    module, manifest = folder / f"{source_hash}.so", folder / f"{source_hash}.manifest.json"
    if not (module.exists() and manifest.exists()):
        return None
    try:
        about = json.loads(manifest.read_text())
    except (OSError, json.JSONDecodeError):
        return None
    if about.get("version") != VERSION or about.get("constants") != _named(constants_manifest):
        return None
    try:
        loader = importlib.machinery.ExtensionFileLoader(modname, str(module))
        return _load(importlib.machinery.ModuleSpec(modname, loader, origin=str(module)))
    except Exception:  # noqa: BLE001
        return None


def store_module(source_hash: str, modname: str, tmpdir: str, constants_manifest: list[tuple[int, Any]]) -> None:
    import underworld3.mpi

    folder = get_cache_dir()
    if underworld3.mpi.rank != 0 or folder is None:
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return
    found = list(Path(tmpdir).glob("*.so"))
    if not found:
        return
    lock = os.open(folder / f".{source_hash}.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        module, manifest = folder / f"{source_hash}.so", folder / f"{source_hash}.manifest.json"
        if module.exists() and manifest.exists():
            return
        about = {"version": VERSION, "modname": modname, "constants": _named(constants_manifest)}
        with tempfile.NamedTemporaryFile("w", dir=folder, prefix=".inprogress_", delete=False) as f:
            json.dump(about, f)
        try:
            shutil.copy2(found[0], folder / f".inprogress_{os.getpid()}.so")
            os.replace(folder / f".inprogress_{os.getpid()}.so", module)
            os.replace(f.name, manifest)
        except OSError:
            return
    finally:
        os.close(lock)
