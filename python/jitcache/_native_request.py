"""Native requests: what ``native.build`` asks of the library, and lookups and builds of it."""

from __future__ import annotations

import ctypes
import os
import subprocess
import tempfile
from typing import TYPE_CHECKING, Callable, Union

from . import _ffi, _library
from ._blob import blob_of
from ._detached_entry import DetachedEntry
from ._entry import Entry
from ._errors import CompileError
from ._key import Key
from ._lease import FOREVER
from ._log import warn
from ._lookup import find
from ._native_job import Command, Job, run
from ._native_process import environment_without

if TYPE_CHECKING:
    from ._blob import Blob
    from ._cache import Cache

_byref = ctypes.byref
_void_p = ctypes.c_void_p

Wish = Union[Job, Command]

#: The time of modification that every text gets, for ``__TIMESTAMP__`` (command/run.go).
_TEXT_TIME = 315532800


class Built(Entry):
    """What was compiled: an Entry that also tells how the lookup went.

    ``hit``: whether it was in the cache. ``missed``: why not: the first file or
    variable that has changed; "" after a hit. ``refused``: why it is not kept; "" if
    it is kept, or if there is no cache.
    """

    __slots__ = ()

    hit: bool
    missed: str
    refused: str

    @property
    def log(self) -> str:
        """What the compiler printed when it compiled this: warnings, "" for none."""
        return str(self.attributes.get("log", ""))


class _Stored(Built):
    """A Built that the library holds."""

    __slots__ = ("hit", "missed", "refused")

    def __init__(self, blob: Blob, hit: bool) -> None:
        super().__init__(blob)
        self.hit = hit
        self.missed = self.refused = ""


class _Detached(DetachedEntry, Built):
    """A Built where the library cannot be used."""

    __slots__ = ("hit", "missed", "refused")

    def __init__(self, data: bytes, log: str, name: str) -> None:
        super().__init__(data, {"log": log}, "native", name)
        self.hit = False
        self.missed = self.refused = ""


class _Request:
    """The library's request for a wish, freed with this object."""

    __slots__ = ("_free", "handle")

    def __init__(self, lib: _ffi.Library, wish: Wish) -> None:
        self.handle = _void_p()
        self._free = lib.jitcache_native_request_free
        _ffi.check(lib, lib.jitcache_native_request_new(_byref(self.handle)))
        for letter, text in wish.parts():
            _ffi.check(lib, lib.jitcache_native_request_add(self.handle, ord(letter), text, len(text)))

    def __del__(self) -> None:
        if self.handle:
            self._free(self.handle)


# The requests that were made: the library hashes the texts of a request once.
_requests: dict[Wish, _Request] = {}
_MOST = 256


def _request(lib: _ffi.Library, wish: Wish) -> _Request:
    request = _requests.get(wish)
    if request is None:
        request = _Request(lib, wish)
        if len(_requests) >= _MOST:
            _requests.clear()
        _requests[wish] = request
    return request


def _run_request(wish: Wish, timeout: float | None) -> tuple[bytes, str]:
    """Run the compiler without the library; return the result, and what the compiler printed."""
    with tempfile.TemporaryDirectory(prefix="jitcache-") as folder:
        for name, text in wish.texts():
            path = os.path.join(folder, name)
            with open(path, "wb") as f:
                f.write(text)
            os.utime(path, (_TEXT_TIME, _TEXT_TIME))
        command = wish.command(folder)
        try:
            status, said = run(command, wish.folder or folder, _environment(wish), timeout)
        except subprocess.TimeoutExpired as e:
            raise CompileError(f"{command[0]}: ran for more than {timeout} s, and was ended", "", command) from e
        except OSError as e:
            raise CompileError(f"{command[0]}: {e.strerror}", "", command) from e
        log = said.replace(folder + os.sep, "")
        try:
            with open(os.path.join(folder, wish.output), "rb") as f:
                data = f.read()
        except OSError:
            data = b""
        if status != 0 or not data:
            raise CompileError(f"{command[0]}: exit status {status}\n{log}", log, command)
        return data, log


def _environment(wish: Wish) -> dict[str, str]:
    """Return the environment of a command that is run without the library."""
    own = os.environ if wish.process is None else dict(v.split("=", 1) for v in wish.process.variables)
    return environment_without(own, wish.environment)


def built(wish: Wish, cache: Cache | None, timeout: float | None) -> _Stored | _Detached:
    """Look a wish up, and build it if it is missing."""
    lib = _library.load() if cache is None else cache._lib
    handle = None if cache is None else cache._handle
    if lib is None or (cache is not None and handle is None):
        return _Detached(*_run_request(wish, timeout), wish.name)
    request = _request(lib, wish)
    missed = ""
    if handle is not None:
        found = _find_stored(lib, handle, request)
        if isinstance(found, _Stored):
            return found
        if found in _ffi.NO_CACHE:
            return _Detached(*_run_request(wish, timeout), wish.name)
        missed = _said(lib)
    made = _made(lib, wish, request, handle, timeout)
    made.missed = "" if made.hit else missed
    return made


def _find_stored(lib: _ffi.Library, cache: ctypes.c_void_p, request: _Request) -> _Stored | int:
    """Look a request up; return the entry, or the status of a miss. The build counts the miss."""
    status, blob = find(lib.jitcache_native_lookup, lib, cache, request.handle)
    if blob is not None:
        return _Stored(blob, True)
    if status not in _ffi.NO_CACHE:
        _ffi.check(lib, status)
    return status


def look_up(wish: Wish, cache: Cache) -> _Stored | None:
    """Return the result of a wish if it is in the cache, else None. Nothing is run, and no miss is counted."""
    lib, handle = cache._lib, cache._handle
    if lib is None or handle is None:
        return None
    found = _find_stored(lib, handle, _request(lib, wish))
    return found if isinstance(found, _Stored) else None


def _said(lib: _ffi.Library) -> str:
    """Return the text of this thread's last error of the library."""
    return str(lib.jitcache_last_error().decode("utf-8", "replace"))


def _made(
    lib: _ffi.Library, wish: Wish, request: _Request, cache: ctypes.c_void_p | None, timeout: float | None
) -> _Stored:
    """Let the library compile and record, or wait for another process that does. Signal handlers run between steps."""
    limit = 0 if timeout is None or timeout > FOREVER else max(1, int(timeout * 1000))
    running, blob, hit = _void_p(), _void_p(), ctypes.c_int32()
    _ffi.check(lib, lib.jitcache_native_start(cache, request.handle, -1, limit, _byref(running)))
    try:
        status = _ffi.BUSY
        while status == _ffi.BUSY:
            status = lib.jitcache_native_step(running, _byref(blob), _byref(hit))
        why, reason = _said(lib), lib.jitcache_last_miss()
        if status in (_ffi.ERR_COMPILE, _ffi.TIMEOUT):
            log = lib.jitcache_native_last_log().decode("utf-8", "replace")
            raise CompileError(f"{why}\n{log}".rstrip("\n"), log, wish.command("."))
        if status != _ffi.NOT_STORED:
            _ffi.check(lib, status)
    finally:
        lib.jitcache_native_job_free(running)
    made = _Stored(blob_of(lib, blob), bool(hit.value))
    if status == _ffi.NOT_STORED:
        made.refused = why
        if reason == _ffi.UNREPEATABLE:
            warn(f"native: not kept: {why}")
    return made


def key_of(wish: Wish, cache: ctypes.c_void_p) -> Key | None:
    """Return the key under which the result is found now, None if there is none."""
    return _request_key(_library.load_or_raise().jitcache_native_key, wish, cache)


def record_key_of(wish: Wish, cache: ctypes.c_void_p) -> Key | None:
    """Return the key of the records: under which files and variables the wish was built."""
    return _request_key(_library.load_or_raise().jitcache_native_record_key, wish, cache)


def process_key_of(wish: Wish, cache: ctypes.c_void_p) -> Key | None:
    """Return the key of the wish and of everything but files that its command could ask of this process."""
    return _request_key(_library.load_or_raise().jitcache_native_process_key, wish, cache)


def _request_key(ask: Callable[..., int], wish: Wish, cache: ctypes.c_void_p) -> Key | None:
    lib = _library.load_or_raise()
    handle = _void_p()
    status = ask(cache, _request(lib, wish).handle, _byref(handle))
    if status == _ffi.MISS:
        return None
    _ffi.check(lib, status)
    return Key._taken(lib, handle)
