"""Manager: a cache manager for Triton, over a jitcache."""

from __future__ import annotations

import hashlib
import json
import os
import sys
import threading
import time
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from triton.runtime.cache import FileCacheManager

from jitcache import Key
from jitcache._code import Unkeyable

from . import KIND, _cache
from ._group import FORMAT, is_name, pack, unpack
from ._meanings import meanings
from ._named_files import named_files
from ._place import folder_of, place, private_folder
from ._refused import refuse
from ._turn import Turn

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jitcache import Cache

#: Whether a cache has a directory. Without one, Triton's own manager is better.
_usable: WeakKeyDictionary[Cache, bool] = WeakKeyDictionary()

#: .count: how many files of the user's have replaced what this thread compiled.
_overrides = threading.local()


def _chosen() -> Cache | None:
    """Return the cache, None if it has no directory."""
    cache = _cache()
    usable = _usable.get(cache)
    if usable is None:
        usable = _usable[cache] = bool(cache.stats().get("directory"))
    return cache if usable else None


def _overridden() -> int:
    return getattr(_overrides, "count", 0)


class Manager(FileCacheManager):  # type: ignore[misc]  # Triton may be absent when types are checked
    """Triton's cache manager of one key, over a jitcache.

    Triton makes one for each kernel, and calls it from the thread that made it. A
    group (a kernel's stages and its metadata) is one entry, and so is a file that
    belongs to no group (a launcher, the measurements of an autotuner). The files of an
    entry are put into ``$TRITON_CACHE_DIR/KEY``, as by Triton's own manager. A file that
    is there already is not trusted: it is compared with the entry. If two kernels have
    the same key of Triton's, the files of the second go to another folder next to it.

    A lookup that misses takes the turn to compile, and others wait. The turn ends
    with ``put_group`` or ``put``, or when the function that looked up ends.

    Managers for ``TRITON_KERNEL_OVERRIDE`` and ``TRITON_KERNEL_DUMP`` behave as Triton's
    own, and so do all if jitcache has no directory. Nothing here raises, except as
    Triton's own manager would raise if it could not write any folder.
    """

    def __init__(self, key: str, override: bool = False, dump: bool = False) -> None:
        self._override = override
        self._jitcache = None if override or dump else _chosen()
        self._turns: dict[str, Turn] = {}
        self._made: dict[str, bytes] = {}
        self._placed: dict[str, str] = {}
        self._looked: dict[str, float] = {}  # when an entry was looked up, which is when its compile begins
        self._in_group = False
        self._seen: dict[str, Any] = {}  # local variables of the function of Triton's that looks up
        self._meanings: list[str] = []
        self._unkeyable = ""
        self._overridden = _overridden()
        try:
            super().__init__(key, override=override, dump=dump)
        except (OSError, RuntimeError):
            if self._jitcache is None:
                raise
            self.key, self.cache_dir = key, ""

    # -- what Triton calls

    def get_group(self, filename: str) -> dict[str, str] | None:
        """Return the paths of a group's files by name; None if they must be made."""
        if self._jitcache is None:
            found: dict[str, str] | None = super().get_group(filename)
            return found
        self._in_group = True
        frame = sys._getframe(1)
        self._seen = {name: frame.f_locals.get(name) for name in ("src", "options", "env_vars", "backend")}
        self._meanings, self._unkeyable = _looked_up(self._seen)
        self._choose_folder()
        data = None if self._unkeyable else self._look_up(f"__grp__{filename}", frame)
        files = None if data is None else unpack(data)
        return None if files is None else self._place_group(filename, files)

    def get_file(self, filename: str) -> str | None:
        """Return the path of a file, None if it must be made."""
        if self._jitcache is None:
            path: str | None = super().get_file(filename)
            if self._override and path is not None:
                _overrides.count = _overridden() + 1
            return path
        if filename in self._placed:
            return self._placed[filename]
        data = self._look_up(filename, sys._getframe(1))
        return None if data is None else self._place(filename, data)

    def put(self, data: Any, filename: str, binary: bool = True) -> str:
        """Store a file, or keep it for the group that it belongs to; return its path."""
        if self._jitcache is None:
            path: str = super().put(data, filename, binary=binary)
            return path
        made = data if isinstance(data, bytes) else str(data).encode()
        path = self._place(filename, made)
        self._made[filename] = made
        if not self._in_group:
            self._store(filename, made, {"triton": self.key})
        return path

    def put_group(self, filename: str, group: dict[str, str]) -> str:
        """Store the files that were put as one entry; return the path of their list."""
        if self._jitcache is None:
            path: str = super().put_group(filename, group)
            return path
        name = f"__grp__{filename}"
        files = {member: self._made[member] for member in group if member in self._made and is_name(member)}
        metadata = _metadata(files.get(filename))
        if self._overridden != _overridden() or metadata.get("ir_override"):
            # The content of the user's files is not in Triton's key.
            return self._leave(name, filename, "overridden")
        if len(files) != len(group):
            return self._leave(name, filename, "not all files were put")
        if self._unkeyable:
            return self._leave(name, filename, self._unkeyable)
        if _looked_up(self._seen) != (self._meanings, ""):
            return self._leave(name, filename, "changed while it was compiled")
        self._store(name, pack(files), self._attributes(files, metadata))
        return self._place_list(filename, group)

    # -- the cache

    def _key(self, name: str) -> Key:
        key = Key(triton=self.key, meanings=self._meanings, file=name, format=FORMAT)
        return key.named(name.removeprefix("__grp__").removesuffix(".json"))

    def _look_up(self, name: str, frame: Any) -> bytes | None:
        """Return an entry's bytes. On a miss, take the turn to make them, which ends with the frame; return None."""
        assert self._jitcache is not None
        if name in self._turns:
            return None
        lease = self._jitcache.acquire(self._key(name), kind=KIND)
        self._looked[name] = time.monotonic()
        if lease.data is None:
            self._turns[name] = Turn(lease, frame)
        return lease.data

    def _store(self, name: str, data: bytes, attributes: dict[str, Any]) -> None:
        assert self._jitcache is not None
        turn = self._turns.pop(name, None)
        stored = None if turn is None else turn.commit(data, attributes)
        if stored is None:  # there was an entry, or the turn is over: replace what is there
            began = self._looked.get(name)
            stored = self._jitcache.put(
                self._key(name),
                data,
                attributes=attributes,
                kind=KIND,
                replace=True,
                seconds=None if began is None else time.monotonic() - began,
            )
        if not stored:
            reason = self._jitcache.last_reason
            refuse(reason, name)

    def _leave(self, name: str, filename: str, reason: str) -> str:
        turn = self._turns.pop(name, None)
        if turn is not None:
            turn.end()
        refuse(reason, filename)
        return os.path.join(self.cache_dir, name)

    def _attributes(self, files: dict[str, bytes], metadata: dict[str, Any]) -> dict[str, Any]:
        target = metadata.get("target")
        known = {"target": f"{target.get('backend')} {target.get('arch')}"} if isinstance(target, dict) else {}
        return {"triton": self.key, "files": list(files), **known}

    # -- the files

    def _choose_folder(self) -> None:
        """Choose a folder in which no other kernel with the same key of Triton's has files."""
        if not self.cache_dir:
            return
        if self._unkeyable:  # it cannot be told whose the files are
            self.cache_dir = ""
            return
        owner = hashlib.sha256("\0".join(self._meanings).encode("utf-8", "backslashreplace")).hexdigest()[:32]
        try:
            self.cache_dir = folder_of(owner, self.cache_dir)
        except OSError:
            self.cache_dir = ""

    def _place(self, name: str, data: bytes) -> str:
        """Put a file where Triton would, else into this process's own folder."""
        path = ""
        if self.cache_dir:
            try:
                path = place(self.cache_dir, name, data)
            except OSError:
                self.cache_dir = ""
        if not path:
            path = place(os.path.join(private_folder(), self.key), name, data)
        self._placed[name] = path
        return path

    def _place_group(self, filename: str, files: dict[str, bytes]) -> dict[str, str]:
        paths = {name: self._place(name, data) for name, data in files.items()}
        self._place_list(filename, paths)
        return paths

    def _place_list(self, filename: str, group: dict[str, str]) -> str:
        """Put the list of a group, after the files that it names, for readers that do not use this class."""
        return self._place(f"__grp__{filename}", json.dumps({"child_paths": group}).encode())


def _looked_up(seen: Mapping[str, Any]) -> tuple[list[str], str]:
    """Return what the names in a kernel mean, and the content of files that it names; or why these are unknown."""
    try:
        return [*meanings(seen.get("src"), seen.get("backend")), *named_files(seen)], ""
    except Unkeyable as e:
        return [], str(e.args[0])
    except Exception as e:  # noqa: BLE001 - from a value of the program's
        return [], f"{type(e).__name__}: {e}"


def _metadata(data: bytes | None) -> dict[str, Any]:
    try:
        found = json.loads(data or b"{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
