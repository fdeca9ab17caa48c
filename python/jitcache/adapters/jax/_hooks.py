"""Hooks: the functions of JAX that the adapter replaces: its file cache, and the call around lookup and compile."""

from __future__ import annotations

import functools
import inspect
import logging
import pathlib
import sys
from typing import TYPE_CHECKING, Any

import jax
from jax._src import compilation_cache, compiler, config, distributed
from jax._src.compilation_cache_interface import CacheInterface

from . import SCHEME
from ._compile import Compile, complete, current, get, put

if TYPE_CHECKING:
    from collections.abc import Callable

    from jitcache import Cache

# The settings that say which programs are kept: JAX's default, and the value that keeps all.
_THRESHOLDS = {
    "jax_persistent_cache_min_compile_time_secs": (1.0, 0.0),
    "jax_persistent_cache_min_entry_size_bytes": (0, -1),
}

# JAX's cache is on only if a folder is set, so this one is. XLA's own caches would be
# folders below it; they are switched off, because it does not exist.
_NOWHERE = "jitcache"

_DIRECTORY = "jax_compilation_cache_dir"
_XLA_CACHES = "jax_persistent_cache_enable_xla_caches"


class Executables(CacheInterface):  # type: ignore[misc]  # JAX may be absent when types are checked
    """A jitcache in place of JAX's cache of files."""

    def __init__(self, cache: Callable[[], Cache], path: str) -> None:
        self._cache = cache
        self._path = pathlib.Path(path)

    def get(self, key: str) -> bytes | None:
        """Return an entry; on a miss in a call of JAX's, the call holds the lease."""
        compile_ = current()
        return get(self._cache(), key) if compile_ is None else compile_.look_up(self._cache(), key)

    def put(self, key: str, value: bytes) -> None:
        """Store an entry, and end the lease."""
        compile_ = current()
        if compile_ is None:
            put(self._cache(), key, value)
        else:
            compile_.store(self._cache(), key, value)


# JAX's own functions and settings, while the adapter replaces them; else empty.
_places: dict[str, Any] = {}
_settings: dict[str, Any] = {}


def _parameters(function: Any) -> list[str]:
    return list(inspect.signature(function).parameters)


def _unfit() -> str:
    """Return the part of this JAX that is not as the adapter expects, "" if there is none."""
    wanted = {
        "compile_or_get_cached": ["backend", "computation", "devices", "compile_options", "host_callbacks"],
        "get_file_cache": ["path"],
        "put_executable_and_time": ["cache_key", "module_name", "executable", "backend", "compile_time"],
        "reset_cache": [],
        "compress_executable": ["executable"],
    }
    for name, parameters in wanted.items():
        room = compiler if name == "compile_or_get_cached" else compilation_cache
        found = getattr(room, name, None)
        if found is None or _parameters(found)[: len(parameters)] != parameters:
            return f"{room.__name__}.{name}"
    if CacheInterface.__abstractmethods__ != {"get", "put"}:
        return "CacheInterface"
    for name in ("share_binary_between_hosts", "persistent_cache_min_compile_time_secs"):
        if not hasattr(getattr(config, name, None), "value"):
            return f"config.{name}"
    return "" if hasattr(distributed.global_state, "process_id") else "distributed.global_state"


def _is_shared(devices: Any) -> bool:
    """Whether a program runs in several processes of a job."""
    return len({device.process_index for device in devices.flatten()}) > 1


def _may_wait(backend: Any, devices: Any) -> bool:
    """Whether a call may wait for another process.

    It may not if that process may be waiting for this one: on some platforms the
    processes of a job compile a common program together, or send it to each other.
    """
    try:
        return not _is_shared(devices) or (backend.platform == "cpu" and not config.share_binary_between_hosts.value)
    except Exception:  # noqa: BLE001 - JAX will raise for wrong arguments
        return False


def _unserved(backend: Any) -> str:
    """Return why a program is neither looked up nor stored, "" if it is.

    XLA on the CPU cannot serialize a program that it has loaded: its bytes cannot be loaded again.
    """
    may_be = getattr(backend, "platform", "") == "cpu" and "jax.experimental.serialize_executable" in sys.modules
    return "may be serialized" if may_be else ""


def _with_leases(original: Callable[..., Any]) -> Callable[..., Any]:
    """Return JAX's call for a program with a ``Compile`` around it."""

    @functools.wraps(original)
    def compile_or_get_cached(
        backend: Any, computation: Any, devices: Any, compile_options: Any, host_callbacks: Any, *args: Any, **more: Any
    ) -> Any:
        waits = _may_wait(backend, devices)
        with Compile(waits=waits, why=_unserved(backend)) as compile_:
            executable = original(backend, computation, devices, compile_options, host_callbacks, *args, **more)
            if waits and not host_callbacks:
                complete(compile_, executable, backend)
            return executable

    return compile_or_get_cached


def _in_place_of_files(original: Callable[..., Any], cache: Callable[[], Cache]) -> Callable[..., Any]:
    @functools.wraps(original)
    def get_file_cache(path: str) -> tuple[CacheInterface, str]:
        executables = Executables(cache, path)
        checked = getattr(config, "compilation_cache_check_contents", None)
        if checked is not None and checked.value:
            return compilation_cache.VerificationCache(executables), path
        return executables, path

    return get_file_cache


def _set(name: str, value: Any) -> None:
    _settings.setdefault(name, getattr(jax.config, name))
    jax.config.update(name, value)


def _keep_small_ones() -> None:
    for name, (default, all_of_them) in _THRESHOLDS.items():
        if getattr(jax.config, name) == default:
            _set(name, all_of_them)


def attach(cache: Callable[[], Cache]) -> str:
    """Replace JAX's functions; return the way, "lease", "path" or "", as ``install``."""
    unfit = _unfit()
    if unfit:
        return _attach_path(cache, unfit)
    if not _places:
        _places["compile"] = compiler.compile_or_get_cached
        _places["files"] = compilation_cache.get_file_cache
        compiler.compile_or_get_cached = _with_leases(_places["compile"])
        compilation_cache.get_file_cache = _in_place_of_files(_places["files"], cache)
        if not getattr(jax.config, _DIRECTORY):
            _set(_DIRECTORY, _NOWHERE)
            _set(_XLA_CACHES, "none")
        _keep_small_ones()
        compilation_cache.reset_cache()
    return "lease"


def _attach_path(cache: Callable[[], Cache], unfit: str) -> str:
    log = logging.getLogger("jitcache")
    try:
        from ._path import register_scheme
    except ImportError:
        log.warning("jax %s: %s is not as expected, and etils is missing: JAX's own cache", jax.__version__, unfit)
        return ""
    log.warning("jax %s: %s is not as expected: several processes may compile the same", jax.__version__, unfit)
    register_scheme(cache)
    _set(_DIRECTORY, SCHEME)
    _keep_small_ones()
    return "path"


def detach() -> None:
    """Put JAX's functions and settings back."""
    for name, value in _settings.items():
        jax.config.update(name, value)
    _settings.clear()
    if _places:
        compiler.compile_or_get_cached = _places["compile"]
        compilation_cache.get_file_cache = _places["files"]
        _places.clear()
        compilation_cache.reset_cache()
