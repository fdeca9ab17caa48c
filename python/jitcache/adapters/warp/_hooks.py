"""Hooks: the function of Warp that the adapter replaces. It compiles a module whose files are missing."""

from __future__ import annotations

import functools
import inspect
import logging
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import warp
from warp._src import context

from . import KIND, _cache, _meanings
from ._files import pack, place, read, unpack
from ._key import key_of, refused
from ._unseen import unseen

if TYPE_CHECKING:
    from collections.abc import Callable

    from jitcache import Cache, Key, Lease

_PARAMETERS = ["self", "device", "output_dir", "output_name", "output_arch", "use_ptx", "options"]

# Warp's own function, while ours replaces it.
_original: Callable[..., bool] | None = None


def unfit() -> str:
    """Return the part of this Warp that is not as the adapter expects, "" if there is none."""
    for name in ("_get_host_cpu_name", "_get_cpu_feature_set", "_get_cpu_target_hash"):
        if not callable(getattr(context, name, None)):
            return f"warp {warp.__version__}: {name}"
    compile_ = getattr(context.Module, "_compile", None)
    if compile_ is None or list(inspect.signature(compile_).parameters) != _PARAMETERS:
        return f"warp {warp.__version__}: Module._compile"
    if not callable(getattr(context.Module, "get_module_hash", None)):
        return f"warp {warp.__version__}: Module.get_module_hash"
    unknown = _meanings.unfit()
    return f"warp {warp.__version__}: {unknown}" if unknown else ""


def attach(cache: Callable[[], Cache]) -> None:
    """Replace Warp's function."""
    global _original
    if _original is None:
        _meanings.attach()
        _original = context.Module._compile
        context.Module._compile = _looking_up(_original, cache)


def detach() -> None:
    """Put Warp's function back."""
    global _original
    if _original is not None:
        context.Module._compile = _original
        _original = None
        _meanings.detach()


def _looking_up(original: Callable[..., bool], cache: Callable[[], Cache]) -> Callable[..., bool]:
    @functools.wraps(original)
    def _compile(  # noqa: PLR0917  as Warp has them
        self: Any,
        device: Any = None,
        output_dir: Any = None,
        output_name: str | None = None,
        output_arch: int | None = None,
        use_ptx: bool | None = None,
        options: dict[str, Any] | None = None,
    ) -> bool:
        given = (device, output_dir, output_name, output_arch, use_ptx, options)
        # Module.load passes all of these. Without one, the caller compiles ahead of time into a folder of its own.
        if output_dir is None or output_name is None or options is None:
            return original(self, *given)
        why = refused(self, options)
        if why:
            _cache.reasons[why] += 1
            return original(self, *given)
        return _serve(original, cache(), self, given)

    return _compile


def _serve(original: Callable[..., bool], cache: Cache, module: Any, given: tuple[Any, ...]) -> bool:
    """Put the files of a module where Warp loads them from; return whether they were compiled."""
    _, output_dir, output_name, output_arch, _, options = given
    try:
        key = key_of(module, output_name, output_arch, options)
    except Exception as e:  # noqa: BLE001 - a file that cannot be read, or a name whose meaning is not known
        return _by_warp(original, module, given, e)
    if key is None:
        _cache.reasons["changed since the process started"] += 1
        return original(module, *given)
    with cache.acquire(key, kind=KIND) as lease:
        if lease.data is not None:
            try:
                place(Path(output_dir), unpack(lease.data))
            except (OSError, ValueError) as e:
                return _by_warp(original, module, given, e)
            return False
        return _compiled(original, module, given, lease, key)


def _by_warp(original: Callable[..., bool], module: Any, given: tuple[Any, ...], e: Exception) -> bool:
    _cache.reasons[type(e).__name__] += 1
    logging.getLogger("jitcache").info("warp: %s: %s: %s", module.name, type(e).__name__, e)
    return original(module, *given)


def _compiled(original: Callable[..., bool], module: Any, given: tuple[Any, ...], lease: Lease, key: Key) -> bool:
    """Let Warp compile a module into a private folder, and keep the files that it puts there.

    Warp's own folder is not used: files in it may be from another process, or damaged.
    """
    device, output_dir, output_name, output_arch, use_ptx, options = given
    try:
        private = tempfile.TemporaryDirectory(prefix="jitcache-warp-")
    except OSError as e:
        return _by_warp(original, module, given, e)
    with private as parent:
        folder = os.path.join(parent, os.path.basename(output_dir))
        result = original(module, device, folder, output_name, output_arch, use_ptx, options)
        try:
            files = read(Path(folder))
            if key_of(module, output_name, output_arch, options) == key:
                _keep(files, lease)
            else:
                _cache.reasons["changed while it was compiled"] += 1
            place(Path(output_dir), files)
        except Exception as e:  # noqa: BLE001 - as for the first key, or a folder that cannot be written
            return _by_warp(original, module, given, e)
        return result


def _keep(files: dict[str, bytes], lease: Lease) -> None:
    """Store the files, unless a source makes the compiler look at something that no key has."""
    for name, data in files.items():
        why = unseen(data) if name.endswith((".cpp", ".cu")) else ""
        if why:
            _cache.reasons[why] += 1
            return
    if not lease.commit(pack(files)):
        _cache.reasons["not stored"] += 1
