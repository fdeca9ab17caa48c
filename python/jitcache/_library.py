"""The library: libjitcache.so, found and loaded once per process."""

from __future__ import annotations

import _thread
import ctypes
import os
import struct
import sys

from . import _ffi
from ._blob import constructor
from ._fork import ForkLock

_NAME = "libjitcache.so"
_SONAME = "libjitcache.so.1"

# The address space that Go reserves, 1.6 GB, and some more.
_SPACE = 2 << 30
_PRIVATE_ANONYMOUS = 0x22  # flags of mmap

# One thread loads: each would need address space, which may not suffice for two. The lock is reentrant
# because a signal handler or a destructor may ask for the library while its own thread loads it.
_lock = ForkLock(_thread.RLock)
_loaded: _ffi.Library | None = None
_why: str | None = None  # None before the first try, then why it cannot be used, "" if it is loaded
_path = ""


def candidates() -> list[str]:
    """Return the paths that are tried for the library, in order."""
    override = os.environ.get("JITCACHE_LIBRARY")
    return [override] if override else installed()


def installed() -> list[str]:
    """Return the paths where the library may have been installed with this package, in order."""
    here = os.path.dirname(os.path.abspath(__file__))
    # In a wheel, in a checkout, and after make install.
    return [os.path.join(here, _SONAME), os.path.join(here, _NAME), os.path.join(sys.prefix, "lib", _SONAME), _SONAME]


def _check_whole(path: str) -> None:
    """Raise OSError for a truncated file.

    The loader maps what the ELF headers promise; touching a page beyond the end
    of the file would kill the process with SIGBUS.
    """
    with open(path, "rb", 4096) as f:
        size = os.fstat(f.fileno()).st_size
        head = f.read(64)
        if len(head) < 64 or head[:4] != b"\x7fELF":
            raise OSError(f"{path}: not an ELF file")
        phoff, shoff = struct.unpack_from("<QQ", head, 32)
        phentsize, phnum, shentsize, shnum = struct.unpack_from("<HHHH", head, 54)
        end = max(phoff + phentsize * phnum, shoff + shentsize * shnum)
        f.seek(phoff)
        table = f.read(phentsize * phnum)
        if len(table) == phentsize * phnum:
            for i in range(phnum):
                offset = struct.unpack_from("<Q", table, i * phentsize + 8)[0]
                filesz = struct.unpack_from("<Q", table, i * phentsize + 32)[0]
                end = max(end, offset + filesz)
        if end > size:
            raise OSError(f"{path}: cut short, {size} bytes of {end}")


def _check_space() -> None:
    """Raise OSError if the address space does not suffice for Go, which would then end the process."""
    # Through the C library: module mmap would be imported for this alone.
    c = ctypes.CDLL(None, use_errno=True)
    reserve, release = c["mmap"], c["munmap"]
    reserve.restype, release.restype = ctypes.c_void_p, ctypes.c_int
    reserve.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    release.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    address = reserve(None, _SPACE, 0, _PRIVATE_ANONYMOUS, -1, 0)
    if address == ctypes.c_void_p(-1).value:
        raise OSError(ctypes.get_errno(), "mmap")
    release(address, _SPACE)


def _try(path: str) -> _ffi.Library:
    if os.path.sep in path:
        _check_whole(path)
    try:
        _check_space()
    except OSError:
        raise OSError(f"{path}: needs 1.6 GB of address space, which ulimit -v does not leave") from None
    lib = ctypes.CDLL(path, mode=os.RTLD_NOW | os.RTLD_LOCAL)
    try:
        version = ctypes.CFUNCTYPE(ctypes.c_uint32)(("jitcache_abi_version", lib))()
    except AttributeError:
        raise OSError(f"{path}: not libjitcache") from None
    if version < _ffi.ABI_VERSION:
        raise OSError(f"{path}: has interface {version}, this package needs {_ffi.ABI_VERSION}")
    library = _ffi.Library(lib)
    library.blob_at = constructor(library)
    return library


def _glibc() -> bool:
    """Return whether the C library of this process is glibc; musl has the name too, but no value for it."""
    try:
        return bool(os.confstr("CS_GNU_LIBC_VERSION"))
    except (OSError, ValueError):
        return False


def _load() -> tuple[_ffi.Library | None, str]:
    if not sys.platform.startswith("linux"):
        return None, f"jitcache supports Linux with glibc, this is {sys.platform}"
    if not _glibc():
        return None, "jitcache needs glibc, and this Python uses another C library, as on Alpine"
    problems = []
    for path in candidates():
        try:
            lib = _try(path)
        except (OSError, AttributeError) as e:
            problems.append(str(e) if path in str(e) else f"{path}: {e}")
        else:
            global _path
            _path = path
            return lib, ""
    return None, "libjitcache cannot be loaded: " + "; ".join(problems)


def load() -> _ffi.Library | None:
    """Return the library, or None if it cannot be used.

    It is tried once: a failure is logged as a warning, and remembered.
    """
    global _loaded, _why
    if _why is not None:
        return _loaded
    from . import _log

    warning = ""
    with _lock():
        if _why is None:
            lib, why = _load()
            if lib is not None:
                _log.attach(lib)
            if _why is None:  # else a signal handler or destructor has loaded it meanwhile
                _loaded, _why = lib, why
                warning = why
    if warning:  # without the lock: a log handler may wait for a thread that asks for the library
        _log.warn(warning + "; every lookup misses")
    return _loaded


def load_or_raise() -> _ffi.Library:
    """Return the library. Raises Error with the reason if it cannot be used."""
    lib = load()
    if lib is None:
        from ._errors import Error

        raise Error(_why or "")
    return lib


def available() -> tuple[bool, str]:
    """Return whether the library can be used: ``(True, "")``, or ``(False, why)``.

    Loads it at the first call. May be called from any thread.
    """
    lib = load()
    return lib is not None, _why or ""


def path() -> str:
    """Return the path of the loaded library, "" if it cannot be used."""
    load()
    return _path
