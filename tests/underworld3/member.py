"""A process, or a rank, that solves on a fake underworld3; the tests say what, as JSON.

    member.py '{"old": true, "callbacks": […], "constants": […], …}'

Writes a line of JSON: what it computed, or what was raised.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import socket
import sys
import time
from pathlib import Path
from typing import Any

CLONE_NEWUTS = 0x04000000

request: dict[str, Any] = json.loads(sys.argv[1])
if request.get("petsc") == "before":
    import petsc4py.PETSc

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples" / "underworld3_shaped" / "fake"))

import underworld3.mpi
from underworld3.utilities import _jit_cache, _jitextension

rank = underworld3.mpi.rank
asked: list[None] = []  # an element for each time that underworld3 is asked for the environment of its builds
if "asked" in request:
    environment_of_builds = _jitextension._petsc_build_env
    _jitextension._petsc_build_env = lambda: (asked.append(None), environment_of_builds())[1]
if isinstance(request.get("directories"), list):
    os.environ["UW_JIT_CACHE_DIR"] = request["directories"][rank]
if rank in request.get("switched_off", []):
    os.environ["UW_JIT_CACHE"] = "0"
if isinstance(request.get("callbacks_of"), list):
    request["callbacks"] = request["callbacks_of"][rank]
if "variables" in request:
    os.environ.update(request["variables"][rank])
if rank in request.get("limited", []):
    resource.setrlimit(resource.RLIMIT_STACK, (7 << 20, resource.getrlimit(resource.RLIMIT_STACK)[1]))
if not request.get("old"):
    from jitcache.adapters import underworld3 as adapter

    adapter.install(flat=request.get("flat", False), environment=request.get("environment"))
if "machines" in request:
    from jitcache import _location, _native_ranks

    _native_ranks.machine = _location.machine = lambda: request["machines"][rank]
    if os.geteuid() == 0:  # and that is its name
        assert ctypes.CDLL(None).unshare(CLONE_NEWUTS) == 0
        socket.sethostname(request["machines"][rank])
if rank in request.get("changed_by_a_library", {}).get("ranks", []):
    # As gmsh.initialize() does: in C, so that os.environ does not show it.
    libc = ctypes.CDLL(None)
    changed = request["changed_by_a_library"]["what"]
    for name in ("PATH", "PYTHONPATH") if "variables" in changed else ():
        assert libc.setenv(name.encode(), f"{os.environ[name]}:/nonexistent".encode(), 1) == 0
    if "limits" in changed:
        resource.setrlimit(resource.RLIMIT_STACK, (7 << 20, resource.getrlimit(resource.RLIMIT_STACK)[1]))
    if "umask" in changed:
        libc.umask(0o077)
    if "os.environ" in changed:
        os.environ["CFLAGS"] = "-O1"
if rank in request.get("meshes", []):
    import gmsh

    gmsh.initialize(["-v", "2"])
if "pids" in request:
    Path(request["pids"], str(rank)).write_text(str(os.getpid()))
if request.get("petsc") == "after":
    import petsc4py.PETSc

callbacks = request["callbacks"]
constants = [_jitextension.Constant(name, 3.0) for name in request["constants"]]


def value() -> float:
    """What F or G is, for u = 2."""
    scale = request.get("scale")
    scale = scale[rank] if isinstance(scale, list) else scale
    return float(eval(callbacks[0], {"constants": [c.value for c in constants], "u": [2.0], "SCALE": scale}))


def getext() -> dict[str, Any]:
    if "wait" in request:
        Path(request["wait"] + f".{os.getpid()}").touch()
        while not Path(request["wait"]).exists():
            time.sleep(0.01)
    result = _jitextension.getext(
        callbacks, constants, cache=request.get("cache", True), verbose=request.get("verbose", False)
    )
    right = result.call(0, [2.0]) == value()
    for constant in constants:
        constant.value = 7.0
    again = _jitextension.getext(callbacks, constants, cache=request.get("cache", True))
    return {"right": right and again.call(0, [2.0]) == value(), "hash": result.cache_key}


def names() -> tuple[str, str, list[tuple[int, Any]]]:
    source_hash, modname, _ = _jitextension._named(callbacks)
    return source_hash, modname, list(enumerate(constants))


def load() -> dict[str, Any]:
    """As another user, if one is named."""
    source_hash, modname, manifest = names()
    if "uid" in request:
        _jit_cache.load_module("0" * 16, "none", manifest)  # imports what it needs
        os.setgroups([])
        os.setresgid(request["gid"], request["gid"], request["gid"])
        os.setresuid(request["uid"], request["uid"], request["uid"])
        getattr(_jit_cache.load_module, "__globals__", {}).get("_caches", {}).clear()
    start = time.monotonic()
    module = _jit_cache.load_module(source_hash, modname, manifest)
    seconds = time.monotonic() - start
    if request.get("then_store"):
        _jit_cache.store_module(source_hash, modname, request["then_store"], manifest)
    return {"loaded": module is not None, "seconds": seconds}


def store() -> dict[str, Any]:
    """Store what is in a folder, as upstream's tests do with what is no shared object at all."""
    source_hash, modname, manifest = names()
    _jit_cache.store_module(source_hash, modname, request["folder"], manifest)
    return {"hash": source_hash}


def build() -> dict[str, Any]:
    """Build and store under the name of one source what another one says: a planted module."""
    source_hash, modname, manifest = names()
    _, other_name, texts = _jitextension._named(request["planted"])
    texts = [[name, text.replace(other_name, modname)] for name, text in texts]
    _, folder = _jitextension.compile_and_load(modname, texts)
    module = next(Path(folder).glob("*.so")).read_bytes()
    if request.get("old"):
        planted = Path(request["folder"])
        planted.mkdir()
        (planted / "planted.so").write_bytes(module)
        _jit_cache.store_module(source_hash, modname, planted, manifest)
    else:
        from jitcache._native_request import key_of

        cache = adapter._cache(_jit_cache.get_cache_dir())
        cache.put(key_of(adapter._wish(source_hash, modname), cache._handle), module, kind="native", replace=True)
    return {"hash": source_hash}


def directory() -> dict[str, Any]:
    found = _jit_cache.get_cache_dir()
    return {"directory": None if found is None else str(found)}


def folder() -> dict[str, Any]:
    """Where a module is built and loaded from."""
    _, modname, texts = _jitextension._named(callbacks)
    _, found = _jitextension.compile_and_load(modname, texts)
    return {"folder": found, "mode": os.stat(found).st_mode & 0o777, "files": sorted(os.listdir(found))}


def main() -> None:
    try:
        said = globals()[request.get("do", "getext")]()
    except Exception as e:
        said = {
            "error": type(e).__name__,
            "text": str(e),
            "log": getattr(e, "log", ""),
            "bases": [c.__name__ for c in type(e).__mro__],
        }
        if request.get("dies"):
            # As a program does whose exception nobody catches.
            sys.stdout.write(json.dumps({"rank": rank, **said}) + "\n")
            raise
    if request.get("petsc"):
        vector = petsc4py.PETSc.Vec().createMPI(8, comm=petsc4py.PETSc.COMM_WORLD)
        vector.set(2.0)
        said["sum"] = vector.sum()
    sys.stdout.write(json.dumps({"rank": rank, "asked": len(asked), **said}) + "\n")
    sys.stdout.flush()


main()
