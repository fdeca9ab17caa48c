"""Libraries that are kept by what LLVM is given: the second tier, for results that their source does not describe.

Numba's front end runs, as without a cache, so nothing that it looks at need be known. The key of a
library has the text of its modules before LLVM has seen them, the keys of the libraries that it links,
LLVM's version, the target, and Numba's settings at that moment. A hit saves what LLVM would do.
"""

from __future__ import annotations

import hashlib
import logging
import marshal
import sys
import threading
import types as pytypes
import zlib
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Callable

import llvmlite.binding as ll
from numba.core import cgutils
from numba.core.codegen import JITCodeLibrary, RuntimeLinker
from numba.core.cpu_options import FastMathOptions
from numba.core.runtime import rtsys

from jitcache import Key

from ._addresses import without_addresses
from ._code import Unkeyable, is_quiet
from ._ir_text import Given, given, numbers_of, renamed, shared
from ._key import VERSIONS, settings
from ._llvm import given as options
from ._loaded import LoadedLibrary
from ._outside import needed_by, refuse_addresses, require
from ._placed import placed
from ._seen import here

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jitcache import Cache

#: The kind of these entries.
KIND = "_numba-code"

#: How many libraries of this process came from the cache, how many LLVM has compiled, how many have no key.
counted: Counter[str] = Counter()

Method = Callable[..., Any]


class Compile:
    """The libraries that one compile of a function makes, with those of all that is compiled for it."""

    def __init__(self, cache: Cache, *, looks: bool) -> None:
        self._cache = cache
        self.looks = looks  # whether a library is looked up. If not, the function may yet be kept by its source
        self._made: list[Any] = []
        self._is_numba_s: bool | None = None  # nobody has changed what Numba and llvmlite do with IR

    def _key_of(self, library: Any) -> Key | None:
        """Return the key of a library, None if it has none."""
        if self._is_numba_s is None:
            self._is_numba_s = not _changed_by_others()
        return key_of(library) if self._is_numba_s else None

    def finalize(self, library: Any) -> None:
        """Load a library, or let LLVM compile it."""
        library.__dict__["jitcache_settings"] = _settings(library)
        self.looks = self.looks or any(seen.others for seen in here.open)
        key = self._key_of(library) if self.looks else None
        if key is not None and self._load(library, key):
            counted["loaded"] += 1
            return
        counted["compiled"] += 1
        _add_deferred(library)
        library.enable_object_caching()
        _finalize(library)
        self._made.append(library)

    def _load(self, library: Any, key: Key) -> bool:
        data = self._cache.get(key, kind=KIND)
        if data is None:
            return False
        try:
            _load(library, *marshal.loads(data))  # noqa: S302 - as trusted as the code in it
        except Exception:  # noqa: BLE001 - an entry that cannot be used is a miss
            return False
        return True

    def store(self) -> None:
        """Store what LLVM has compiled, with the libraries that it links."""
        try:
            for library in self._made:
                self._store(library)
        except Exception as e:  # noqa: BLE001 - a cache never fails the program
            logging.getLogger("jitcache").info("numba: code is not stored: %s: %s", type(e).__name__, e)

    def _store(self, library: Any) -> None:
        own = library.__dict__
        if own.get("jitcache_stored") or "jitcache_source" in own or library is rtsys.library:
            return
        own["jitcache_stored"] = True
        for linked in library._linking_libraries:
            self._store(linked)
        key = self._key_of(library)
        if key is None or isinstance(library, LoadedLibrary) or library._compiled_object is None:
            counted["without a key"] += key is None
            return
        try:
            self._cache.put(key, marshal.dumps(_dump(library)), kind=KIND)
        except Unkeyable:
            return


@contextmanager
def compiling(cache: Cache, lookup: Any) -> Iterator[None]:
    """Within the block, the outermost compile keeps its libraries, unless its result is kept by source."""
    if now.compile is not None:
        now.compile.looks = now.compile.looks or lookup.by_code
        yield
        return
    now.compile = Compile(cache, looks=lookup.by_code)
    try:
        yield
        if not lookup.kept:
            now.compile.store()
    finally:
        now.compile = None


class _Now(threading.local):
    compile: Compile | None = None  # the outermost one of this thread


now = _Now()


# -- keys


def _settings(library: Any) -> str:
    codegen = library._codegen
    of_target = type(codegen).__qualname__, *codegen.magic_tuple(), codegen._loopvect, codegen._opt_level
    return "\n".join((*map(str, of_target), str(codegen._data_layout), settings.text()))


def note_source(library: Any, key: Key, defined: list[str]) -> None:
    """Note that a library is stored by its source, or came from there: then its key is that one."""
    library.__dict__["jitcache_source"] = key.hex, numbers_of(defined)


def _given(library: Any) -> Given | None:
    """Return what LLVM was given for a library, None if that was not noted."""
    own = library.__dict__
    found: Given | None = own.get("jitcache_given")
    if found is None and own.get("jitcache_texts"):
        texts = (zlib.decompress(t).decode() if type(t) is bytes else t for _, t in own["jitcache_texts"])
        found = own["jitcache_given"] = given([without_addresses(text) for text in texts])
        if not own.get("jitcache_deferred"):
            own["jitcache_texts"] = None
    return found


def _identity(library: Any) -> tuple[str, tuple[str, ...]] | None:
    """Return what a library is to those that link it, and the numbers in the names in it. None if it has no key."""
    own = library.__dict__
    if "jitcache_source" in own:
        source: tuple[str, tuple[str, ...]] = own["jitcache_source"]
        return source
    if rtsys._init and library is rtsys.library:
        return "runtime", ()
    if "jitcache_key" not in own:
        own["jitcache_key"] = _new_identity(library)
    found: tuple[str, tuple[str, ...]] | None = own["jitcache_key"]
    return found


def _new_identity(library: Any) -> tuple[str, tuple[str, ...]] | None:
    text = None if library.__dict__.get("jitcache_unknown") else _given(library)
    if text is None or RuntimeLinker.PREFIX in text.text:
        return None  # it calls a function that is still being compiled
    digests = [_digest(library.__dict__["jitcache_settings"]), _digest(text.text)]
    places = {number: place for place, number in enumerate(text.numbers)}
    known = set(text.defined)
    for linked in dict.fromkeys(library._linking_libraries):
        identity = _identity(linked)
        if identity is None:
            return None
        name, numbers = identity[0], shared(identity[1])
        known.update(numbers)
        turns = [places.setdefault(number, len(places)) for number in numbers]
        digests.append(_digest(f"{_name_of_link(name)} {turns}"))
    if not known.issuperset(text.declared):
        return None
    library.__dict__["jitcache_digests"] = digests
    return _digest("".join(digests)), tuple(places)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def digests_of(library: Any) -> list[str] | None:
    """Return digests of what LLVM was given: settings, text, and each library that is linked. None if unknown."""
    if _identity(library) is None:
        return None
    found: list[str] | None = library.__dict__.get("jitcache_digests")
    return found


def _name_of_link(name: str) -> str:
    return name


def key_of(library: Any) -> Key | None:
    """Return the key of a library's code, None if it has none."""
    identity = None if options else _identity(library)
    return None if identity is None else Key({"ir": identity[0], "versions": VERSIONS})


def _is_of_others(value: Any) -> bool:
    return isinstance(value, pytypes.FunctionType) and not is_quiet(value.__code__.co_filename)


def _changed_by_others() -> bool:
    """Whether others have put something in the place of what Numba or llvmlite do with IR, which no IR shows."""
    if any(str(row[0]).startswith(_BACK_END) for row in placed.look(everywhere=True)):
        return True
    modules = [m for name, m in list(sys.modules.items()) if name.startswith("llvmlite.")]
    values = [v for m in modules for v in list(vars(m).values())]
    values += [v for c in values if isinstance(c, type) for v in list(vars(c).values())]
    return any(map(_is_of_others, values))


# The modules of Numba that work with what LLVM is given.
_BACK_END = ("numba.core.codegen", "numba.core.runtime", "numba.core.externals", "numba.misc.llvm")


# -- entries


def _dump(library: Any) -> tuple[Any, ...]:
    if library._dynamic_globals:  # which LLVM has left in; most of them are not used, such as that of each callee
        raise Unkeyable("dynamic globals", library.name)
    code = library._compiled_object
    module = library._get_module_for_linking()
    bitcode = module.as_bitcode()
    refuse_addresses(code, bitcode, ())
    own = [f.name for f in library._final_module.functions if not f.is_declaration and f.linkage == ll.Linkage.external]
    defined = [v.name for v in (*module.functions, *module.global_variables) if not v.is_declaration]
    identity = _identity(library)
    assert identity is not None
    return identity[1], code, bitcode, own, defined, needed_by(code, library._codegen._engine)


def _load(library: Any, old: tuple[str, ...], code: bytes, bitcode: bytes, *names: list[str]) -> None:
    identity = _identity(library)
    assert identity is not None
    new = identity[1]
    lists = (renamed("\0".join(some).encode(), old, new).decode() for some in names)
    own, defined, needed = (some.split("\0") if some else [] for some in lists)
    engine, linker = library._codegen._engine, library._codegen._rtlinker
    if any(map(engine.is_symbol_defined, own)):
        raise ValueError("a symbol is defined already")
    require(needed, engine)
    for linked in library._linking_libraries:
        library._reload_init.update(linked._reload_init)
    code = renamed(code, old, new)
    library.enable_object_caching()
    library._set_compiled_object(code)
    library.__class__ = LoadedLibrary
    library.bitcode = renamed(bitcode, old, new)
    library._finalize_final_module()
    engine._defined_symbols.update(defined)
    linker._defined.update(defined)
    linker.resolve(engine)
    library.__dict__["jitcache_texts"] = library.__dict__["jitcache_deferred"] = None


# -- what is replaced in Numba

_add_ir_module = JITCodeLibrary.add_ir_module
_add_llvm_module = JITCodeLibrary.add_llvm_module
_finalize = JITCodeLibrary.finalize


def _texts(library: Any) -> list[Any]:
    texts: list[Any] = library.__dict__.setdefault("jitcache_texts", [])
    return texts


def _adding(_original: Method) -> Method:
    def add_ir_module(self: Any, module: Any) -> None:
        """Note the text of a module. While libraries are looked up, LLVM gets it only if there is no entry."""
        if now.compile is None:
            _add_ir_module(self, module)  # this calls add_llvm_module
            return
        self._raise_if_finalized()
        text = cgutils.normalize_ir_text(str(module))
        if now.compile.looks:
            _texts(self).append((module.name, text))
            self.__dict__["jitcache_deferred"] = True
        else:
            _texts(self).append((module.name, zlib.compress(text.encode(), 1)))
            _add_text(self, module.name, text)

    return add_ir_module


def _adding_parsed(_original: Method) -> Method:
    def add_llvm_module(self: Any, module: Any) -> None:
        """Note that others give LLVM a module that they have parsed themselves: the library has no key then."""
        self.__dict__["jitcache_unknown"] = True
        _add_llvm_module(self, module)

    return add_llvm_module


def _add_text(library: Any, name: str, text: str) -> None:
    module = ll.parse_assembly(text)
    module.name = name
    module.verify()
    _add_llvm_module(library, module)


def _add_deferred(library: Any) -> None:
    own = library.__dict__
    if own.get("jitcache_deferred"):
        own["jitcache_deferred"] = False
        for name, text in own["jitcache_texts"]:
            if type(text) is str:
                _add_text(library, name, text)


def _finalizing(_original: Method) -> Method:
    def finalize(self: Any) -> None:
        own = self.__dict__
        if now.compile is None or not own.get("jitcache_texts") or own.get("jitcache_unknown") or not rtsys._init:
            _add_deferred(self)
            _finalize(self)
        else:
            now.compile.finalize(self)

    return finalize


def _naming(_original: Method) -> Method:
    def of_fast_math(self: Any) -> str:
        """Return the flags in one order. Numba puts this into names."""
        return f"{type(self).__name__}({sorted(self.flags)})"

    return of_fast_math


#: What is replaced, as in ``_uses``.
PLACES: list[tuple[Any, str, Callable[[Method], Method]]] = [
    (JITCodeLibrary, "add_ir_module", _adding),
    (JITCodeLibrary, "add_llvm_module", _adding_parsed),
    (JITCodeLibrary, "finalize", _finalizing),
    (FastMathOptions, "__repr__", _naming),
]
