"""Keys: what a result depends on."""

from __future__ import annotations

import ctypes
import os

from . import _encoding, _ffi, _library

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


class File:
    """The content of a file, as a component of a key; the path does not count.

    The file is read when the key is made, and checked again when a result is
    stored. If it has changed in between, the result is returned but not stored
    (reason ``input changed``). ``Key`` raises FileNotFoundError for a missing file,
    and Error for one that cannot be read.
    """

    __slots__ = ("path",)
    _function = "jitcache_key_add_file"
    _tag = b"F"

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)

    def __repr__(self) -> str:
        return f"jitcache.{type(self).__name__}({self.path!r})"


class Tool(File):
    """The identity of a compiler or library: its GNU build id, else its content.

    A name without a slash is searched for in ``PATH``. Raises FileNotFoundError if
    it is not there.
    """

    __slots__ = ()
    _function = "jitcache_key_add_tool"
    _tag = b"T"

    def __init__(self, path: str | os.PathLike[str]) -> None:
        super().__init__(path)
        if os.sep not in self.path:
            import errno
            import shutil

            found = shutil.which(self.path)
            if found is None:
                raise FileNotFoundError(errno.ENOENT, "not found in PATH", self.path)
            self.path = found


class Key:
    """What a result depends on, as labelled components. A key does not change.

    ``Key(source=src, options=["-O3"])``: a keyword is a label. Labels that are not
    identifiers come in a mapping: ``Key({"-D": defines}, source=src)``.

    Values may be str, bytes, None, bool, int, float, lists and tuples, dicts with
    str keys, and sets, nested at will. A str is the same as its UTF-8 bytes, a list
    the same as a tuple, a NumPy number the same as Python's; True is not 1. ``File``
    and ``Tool`` stand for the content of a file. Raises TypeError, which names the
    label, for any other value, also for text with a lone surrogate; ValueError
    without components.

    Keys are equal if their components are. They can be hashed, pickled, and used by
    any thread. A key that was made without the library (``available``), or after the
    library had stopped working, is usable only there: where there is a cache, also in
    a forked child, a lookup of it raises Error.
    """

    __slots__ = ("_digest", "_handle", "_handles", "_hex", "_sealed")

    _handle: ctypes.c_void_p | None  # the handle for kind generic, once there is one

    def __init__(self, components: Mapping[str, Any] | None = None, /, **more: Any) -> None:
        if components is not None:
            if not hasattr(components, "keys"):
                kind = type(components).__qualname__
                raise TypeError(f"key: want components with labels, as in jitcache.Key(source=text), not {kind}")
            clash = components.keys() & more.keys()
            if clash:
                raise TypeError(f"component {min(clash)!r}: label used twice")
            more = {**components, **more}
        if not more:
            raise ValueError("key: want at least one component: without any, all results would have the same key")
        lib = _library.load()
        sealed, owner = (_seal_without(more), None) if lib is None else _seal(lib, more)
        self._set(sealed)
        if owner is not None:
            self._handles["generic"] = owner
            self._handle = owner.handle

    def _set(self, sealed: bytes) -> None:
        self._sealed = sealed
        self._digest = sealed[8:40]
        self._hex = ""
        self._handles: dict[str, KeyHandle] = {}
        self._handle = None

    @classmethod
    def _from_sealed(cls, sealed: bytes) -> Key:
        key = cls.__new__(cls)
        key._set(sealed)
        return key

    @classmethod
    def _taken(cls, lib: _ffi.Library, handle: ctypes.c_void_p) -> Key:
        """Return the Key of a handle of the library, which it frees."""
        owner = KeyHandle(lib, handle)
        return cls._from_sealed(_saved(lib, owner.handle))

    @classmethod
    def from_hex(cls, digits: str) -> Key:
        """Return the key with these 64 hex digits (``Key.hex``).

        Its components are not known, so a miss of it cannot be explained.
        Raises ValueError for any other text.
        """
        if not isinstance(digits, str):
            raise TypeError(f"key: want 64 hex digits as str, not {type(digits).__qualname__}")
        try:
            digest = bytes.fromhex(digits) if len(digits) == 64 else b""
        except ValueError:
            digest = b""
        if len(digest) != 32:  # fromhex skips blanks
            raise ValueError(f"key {digits[:80]!r}: want 64 hex digits")
        from . import _key_format

        return cls._from_sealed(_key_format.bare(digest))

    def named(self, name: str) -> Key:
        """Return the same key with a name: what the user would call the result.

        The name is not hashed, so the named key is equal to this one. To explain a
        miss, its components are compared with those of the last entry of that name.
        Raises ValueError for a name of more than 1024 bytes or with a NUL.
        """
        from . import _key_format

        return Key._from_sealed(_key_format.with_name(self._sealed, name))

    @property
    def hex(self) -> str:
        """The key as 64 hex digits."""
        if not self._hex:
            self._hex = self._digest.hex()
        return self._hex

    @property
    def name(self) -> str:
        """The name, "" if it has none."""
        from . import _key_format

        return _key_format.parse(self._sealed)[0]

    @property
    def components(self) -> dict[str, str]:
        """The first 16 hex digits of each value's digest, by label; {} if the components are not known."""
        from . import _key_format

        return _key_format.parse(self._sealed)[1]

    def _handle_of(self, lib: _ffi.Library, kind: str) -> ctypes.c_void_p:
        """Return the same as ``_handle_for``, at once for the usual kind."""
        return (self._handle if kind == "generic" else None) or self._owner_for(lib, kind).handle

    def _handle_for(self, lib: _ffi.Library, kind: str = "generic") -> ctypes.c_void_p:
        """Return the library's handle for this key and this kind of entries."""
        return self._owner_for(lib, kind).handle

    def _owner_for(self, lib: _ffi.Library, kind: str) -> KeyHandle:
        """Return the object that owns that handle."""
        owner = self._handles.get(kind)
        if owner is not None:
            return owner
        from . import _key_format

        handle = ctypes.c_void_p()
        sealed = _key_format.with_kind(self._sealed, kind)
        status = lib.jitcache_key_load(sealed, len(sealed), ctypes.byref(handle))
        if status in _ffi.NO_CACHE:
            # The call that needs the handle reports that there is no cache. The handle is
            # not kept as the key's own, because a forked child may have a cache again.
            _ffi.check(lib, lib.jitcache_key_from_digest(self._digest, ctypes.byref(handle)))
            owner = self._handles[""] = KeyHandle(lib, handle)
            return owner
        _ffi.check(lib, status)
        owner = self._handles[kind] = KeyHandle(lib, handle)
        if kind == "generic":
            self._handle = owner.handle
        return owner

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Key) and other._digest == self._digest

    def __hash__(self) -> int:
        return hash(self._digest)

    def __repr__(self) -> str:
        name = self.name
        return f"<jitcache.Key {self.hex[:12]}{' ' + name if name else ''}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return Key._from_sealed, (self._sealed,)


def checked_key(key: Key) -> Key:
    """Return the argument if it is a Key, else raise TypeError."""
    if not isinstance(key, Key):
        raise TypeError(f"key: want a jitcache.Key, not {type(key).__qualname__}; see jitcache.Key(label=value)")
    return key


class KeyHandle:
    """A key's handle in the library, freed with this object."""

    __slots__ = ("_free", "handle")

    def __init__(self, lib: _ffi.Library, handle: ctypes.c_void_p) -> None:
        self.handle = _ffi.as_argument(handle)
        self._free = lib.jitcache_key_free

    def __del__(self) -> None:
        self._free(self.handle)


# The library hashes values of this size or more in place, with one call for each.
# Smaller ones are packed, and passed in one call: a call costs as much as two copies
# of this size.
_LARGE = 16 << 10


def _seal(lib: _ffi.Library, components: Mapping[str, Any]) -> tuple[bytes, KeyHandle | None]:
    try:
        return _seal_with(lib, components)
    except Exception as e:
        if getattr(e, "status", 0) not in _ffi.NO_CACHE:  # not "except Error": its module need not be imported
            raise
        return _seal_without(components), None


def _seal_with(lib: _ffi.Library, components: Mapping[str, Any]) -> tuple[bytes, KeyHandle]:
    handle = ctypes.c_void_p()
    _ffi.check(lib, lib.jitcache_key_new(ctypes.byref(handle)))
    owner = KeyHandle(lib, handle)
    handle = owner.handle
    packed = []
    for label, value in components.items():
        if not isinstance(label, str):
            raise TypeError(f"component label {label!r}: want str, not {type(label).__qualname__}")
        if isinstance(value, File):
            _add_file(lib, handle, label, value)
            continue
        name, tag, data = _encoding.encode_component(label, value)
        if tag == _encoding.BYTES and len(data) >= _LARGE and b"\0" not in name:
            _ffi.check(lib, lib.jitcache_key_add(handle, name, data, len(data)))
        else:
            packed.append(_encoding.join(name, tag, data))
    if packed:
        text = b"".join(packed)
        _ffi.check(lib, lib.jitcache_key_add_packed(handle, text, len(text)))
    return _saved(lib, handle), owner


def _add_file(lib: _ffi.Library, handle: ctypes.c_void_p, label: str, file: File) -> None:
    name = _file_label(label)
    path = os.path.abspath(file.path)
    os.stat(path)  # raises the OSError that open() would raise for a missing file
    add = getattr(lib, file._function)
    _ffi.check(lib, add(handle, name, os.fsencode(path)))


def _file_label(label: str) -> bytes:
    """Return the bytes of a File's label. Raises ValueError for a bad one; one with a NUL would be cut short in C."""
    name = _encoding.encode_label(label)
    if b"\0" in name:
        raise ValueError(f"component label {label[:40]!r}: a File or Tool cannot have a label with a NUL")
    return name


def _saved(lib: _ffi.Library, handle: ctypes.c_void_p) -> bytes:
    """Return a key of the library in its sealed form."""
    size = ctypes.c_size_t()
    capacity = 256
    while True:
        buffer = ctypes.create_string_buffer(capacity)
        status = lib.jitcache_key_save(handle, buffer, capacity, ctypes.byref(size))
        if status != _ffi.TOO_SMALL:
            _ffi.check(lib, status)
            return buffer.raw[: size.value]
        capacity = size.value


def _seal_without(components: Mapping[str, Any]) -> bytes:
    packed = {}
    for label, value in components.items():
        if isinstance(value, File):
            _file_label(label)
            with open(value.path, "rb") as f:
                packed[label] = value._tag + f.read()
        else:
            packed[label] = _encoding.pack(label, value)
    from . import _key_format

    return _key_format.without_library(packed)
