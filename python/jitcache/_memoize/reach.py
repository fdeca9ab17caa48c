"""What a function reaches: its code and everything that it may look up, as components of a key.

Each global, module file, package and argument is a component of its own, so that a
miss can be explained. Values are described as they are now. Code is described by its
instructions and by the file that it comes from, because it may read its own source.
Python and installed packages are described by their versions and files. Anything that
cannot be described raises Unkeyable.
"""

from __future__ import annotations

import builtins
import copyreg
import enum
import functools
import logging
import os
import sys
import types
import zlib
from typing import Any, ClassVar

from jitcache._code import Unkeyable, code_of, content_of
from jitcache._dependency_walk import text_of
from jitcache._module_files import content
from jitcache._pure_stdlib import is_pure

from . import loggers
from .classes import is_own
from .mentions import Import, mentions_of
from .order import hashes_are_fixed
from .origin import OWN, PACKAGE, PYTHON, Origin, origin_of, origin_of_module, package_content
from .outside import ASKS_ARRAYS, ASKS_LOCKS, ASKS_LOGGERS, leads_elsewhere
from .settings import hashes_of_system
from .values import ValueWalker, holders, is_array, shows_all

_MISSING = object()
_DATA = (tuple, list, dict, set, frozenset, enum.Enum, types.SimpleNamespace)
_CALLED = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, type)
# Of a module, what its import has put there.
_OF_MODULES = frozenset(("__builtins__", "__cached__", "__file__", "__loader__", "__path__", "__spec__"))


class Reach(ValueWalker):
    """One walk, from a function and the arguments of a call.

    ``vouched``: the user says, by ``depends``, what the function looks at outside of
    Python. ``memories`` are the functions on the way that hold earlier results.
    """

    #: Further modules of Python that may be used.
    allowed: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, *, vouched: bool) -> None:
        super().__init__()
        self.components: dict[str, bytes] = {}
        self.memories: list[Any] = []
        self._vouched = vouched
        self._pending: list[tuple[str, Any]] = []
        self._labels: set[str] = set()
        self._namespaces: dict[str, dict[str, Any]] = {}
        self._asks_locks = False  # whether code may ask who holds one,
        self._asks_arrays = False  # and whose memory an array is in
        self._asks_loggers: set[str] = set()  # what code may ask loggers for
        self._loggers: list[logging.Logger] = []

    def describe(self, label: str, value: Any) -> None:
        """Add a value, and all that it reaches, to the components."""
        self._pending.append((label, value))
        self._all_pending()
        if self._asks_loggers:
            behind = self._within(loggers.describe_behind, self, self._loggers, self._asks_loggers)
            self.components[f"loggers of {label}"] = behind
            self._all_pending()
        if self._asks_locks:
            self.components["locks"] = repr([holders(lock) for lock in self._locks]).encode()
        if self._asks_arrays:
            self.components["arrays"] = repr(self._bases).encode()

    def _all_pending(self) -> None:
        for name, found in self._pending:  # which grows
            self.components[name] = self._within(self._value, found)
        self._pending.clear()

    # -- where something is from

    def origin(self, origin: Origin, module: str, name: str) -> bool:
        """Put the origin of something, or refuse it; return whether its parts must be described."""
        if origin.kind == PYTHON:
            self._look(module, name)
        elif origin.kind == PACKAGE:
            self._package(origin.name)
        else:
            self._file(module, origin.name)
            return True
        return False

    def _look(self, module: str, name: str = "") -> None:
        if not self._vouched and module not in self.allowed and not is_pure(module, name):
            raise Unkeyable("looks outside", f"{module}.{name}" if name else f"module {module}")
        if (module, name) == ("builtins", "hash") and not hashes_are_fixed():
            raise Unkeyable("looks outside", "hash, which is another in each process")
        if module in ("_pickle", "copy", "pickle"):
            self._copied()
        elif module == "zlib":
            self._put("zlib", zlib.ZLIB_RUNTIME_VERSION.encode())  # the system's library, which may be updated
        elif module in ("_hashlib", "hashlib", "hmac"):
            self._put("hashes", hashes_of_system())
        elif name in ("print", "pp", "pprint"):
            self._printed()

    def _printed(self) -> None:
        """Put what printing may do beside its output: raise for a letter, or call a program's own object."""
        stream: Any = sys.stdout
        said = (type(stream).__qualname__, getattr(stream, "encoding", None), getattr(stream, "errors", None))
        self._put("printed", repr(said).encode())
        if self._is_own(stream):
            self._value(stream)

    def _copied(self) -> None:
        """Put what a program has registered to copy instances of a class."""
        for cls, function in list(copyreg.dispatch_table.items()):
            if isinstance(function, types.FunctionType):
                own = origin_of(function.__code__.co_filename).kind == OWN
            else:
                own = not isinstance(function, (types.BuiltinFunctionType, type))
            if own or any(isinstance(c, type) and is_own(c, unknown=False) for c in (cls, function)):
                self._put("copied", f"{cls.__module__}.{cls.__qualname__}".encode())
                self._value(function)

    def _package(self, folder: str) -> None:
        name, digest = package_content(folder)
        self.components[f"package {name}"] = digest

    def _file(self, module: str, path: str) -> None:
        """Add the content of a file of a module to the components."""
        if not path:
            raise Unkeyable("no file", f"module {module}")
        # The main file may be another one in each process: it is named by its own file name.
        own = os.path.abspath(getattr(sys.modules.get(module), "__file__", None) or "") == path
        digest = content(path, imported=True)
        self.components[f"module {module}" if own else f"file {os.path.basename(path)} of {module}"] = digest

    # -- functions

    def _function(self, f: types.FunctionType) -> None:
        self._put("function", f"{f.__module__}.{f.__qualname__}".encode())
        if self._again(f):
            return
        code = f.__code__
        origin = origin_of(code.co_filename)
        if origin.kind == PYTHON:
            self._look(origin.name, code.co_name)
        elif origin.kind == PACKAGE:
            self._package(origin.name)
        else:
            self._own_file(f, origin)
        self._put("code", code_of(code)[0])
        self._put("name", f.__name__.encode())
        if origin.kind == OWN:
            self._said(text_of(f), getattr(f, "__annotations__", None))
        self._value((f.__defaults__, f.__kwdefaults__))
        self._names(f.__dict__)
        for name, cell in zip(code.co_freevars, f.__closure__ or ()):
            self._put("closure", name.encode())
            self._cell(code, name, content_of(cell))
        if origin.kind == OWN:
            self._mentioned(f)

    def _cell(self, code: types.CodeType, name: str, value: Any) -> None:
        if not isinstance(value, types.ModuleType):
            self._value(value)
            return
        for chain in mentions_of(code).cells:
            if chain[0] == name:
                self._chain(value, chain[1:])

    def _own_file(self, f: types.FunctionType, origin: Origin) -> None:
        module = str(f.__globals__.get("__name__", f.__module__))
        path = origin.name
        if not path:  # made of a text, as dataclasses do: by the file of its maker
            for name in (module, str(f.__module__), self._where):
                path = getattr(sys.modules.get(name), "__file__", None) or ""
                if path:
                    module = name
                    break
        if path and origin_of(path).kind == OWN:
            self._file(module, origin_of(path).name)
        elif not path:
            raise Unkeyable("no file", f"{f.__module__}.{f.__qualname__}")

    def _mentioned(self, f: types.FunctionType) -> None:
        mentions = mentions_of(f.__code__)
        # What a __hash__ returns only orders and finds, unless somebody else asks for a hash.
        hashes = f.__code__.co_name == "__hash__"
        for attribute in mentions.attributes:
            self._asks_locks |= attribute in ASKS_LOCKS
            self._asks_arrays |= attribute in ASKS_ARRAYS
            self._asks_loggers |= {attribute} & ASKS_LOGGERS
            if leads_elsewhere(attribute) and not (hashes and attribute == "__hash__"):
                raise Unkeyable("can reach anything", f"{f.__qualname__} mentions {attribute}")
        for chain in mentions.chains:
            if not hashes or chain != ("hash",) or "hash" in f.__globals__:
                self._global(f.__globals__, chain)
        for statement in mentions.imports:
            self._import(f, statement)

    def _global(self, names: dict[str, Any], chain: tuple[str, ...]) -> None:
        name = chain[0]
        value = names.get(name, _MISSING)
        if value is _MISSING:
            inner = names.get("__builtins__", builtins)
            value = (inner if isinstance(inner, dict) else vars(inner)).get(name, _MISSING)
            self._put("builtin", name.encode())
            if value is not _MISSING:
                self._value(value)
        elif isinstance(value, types.ModuleType):
            self._put("global", name.encode())
            self._chain(value, chain[1:])
        else:
            self._named(names, name, value)

    def _named(self, names: dict[str, Any], name: str, value: Any) -> None:
        """Put a global: its name here, its value as a component."""
        module = str(names.get("__name__"))
        self._put("global", name.encode())
        if vars(sys.modules.get(module, builtins)) is not names:  # a namespace made for a text, as named tuples have
            self._value(value)
            return
        label = f"{module}.{name}"
        if label not in self._labels:
            self._labels.add(label)
            self._pending.append((label, value))

    def _import(self, f: types.FunctionType, statement: Import) -> None:
        if type(builtins.__import__) is not types.BuiltinFunctionType:
            raise Unkeyable("import is another", builtins.__import__)
        name = statement.module
        if statement.level:
            package = f.__globals__.get("__package__") or ""
            above = package.split(".")
            base = ".".join(above[: len(above) - statement.level + 1])
            name = f"{base}.{name}" if name else base
        self._put("import", name.encode())
        module = sys.modules.get(name)
        if module is None:
            origin = origin_of_module(name)
            if origin.kind == OWN:
                raise Unkeyable(
                    "module that is imported by the call; import it where the function's module begins", name
                )
            if origin.kind == PYTHON:
                self._look(name)
            else:
                self._package(origin.name)
            return
        for wanted in statement.names:
            self._chain(module, (wanted,))
        if not statement.names:
            for dot in [i for i, c in enumerate(name) if c == "."] + [len(name)]:
                self._chain(sys.modules[name[:dot]], ())

    # -- modules

    def _module(self, module: types.ModuleType, names: tuple[str, ...] | None) -> None:  # noqa: ARG002
        self._chain(module, ())

    def _chain(self, module: types.ModuleType, chain: tuple[str, ...]) -> None:
        """Put the names of a module that code asks for; all of it if it may ask for any."""
        name = str(module.__name__)
        self._put("module", name.encode())
        origin = origin_of_module(name) if sys.modules.get(name) is module else Origin(OWN, "")
        if origin.kind == PACKAGE:
            self._package(origin.name)
        elif origin.kind == OWN:
            self._file(name, origin.name)
        if type(module) is not types.ModuleType:
            self._class(type(module))
        if not chain or (chain[0].startswith("__") and chain[0] not in vars(module)):
            self._whole(module, origin)
            return
        value = vars(module).get(chain[0], _MISSING)
        self._put("attribute", chain[0].encode())
        if isinstance(value, types.ModuleType):
            self._chain(value, chain[1:])
        elif origin.kind == OWN:
            if value is not _MISSING:
                self._named(vars(module), chain[0], value)
            elif "__getattr__" in vars(module) or type(module) is not types.ModuleType:
                raise Unkeyable("attribute that its module makes", f"{name}.{chain[0]}")
        else:
            if origin.kind == PYTHON and not (module is builtins and isinstance(value, type)):
                self._look(name, chain[0])
            self._of_others(value, origin)

    def _whole(self, module: types.ModuleType, origin: Origin) -> None:
        if origin.kind == PYTHON:
            self._look(str(module.__name__))
        if origin.kind != OWN:
            self._added(module)
        elif not self._again(module):
            self._put("order", repr([name for name in vars(module) if name not in _OF_MODULES]).encode())
            for name, value in sorted(vars(module).items()):
                if name not in _OF_MODULES:
                    self._global(vars(module), (name,)) if isinstance(value, types.ModuleType) else self._named(
                        vars(module), name, value
                    )

    def _added(self, module: types.ModuleType) -> None:
        """Put the plain values in a module of somebody else, and what a program has put there."""
        if self._vouched or self._again(module):
            return
        for name, value in sorted(vars(module).items()):
            if name in _OF_MODULES or isinstance(value, types.ModuleType):
                continue
            if isinstance(value, _CALLED):
                self._put("named", f"{name} {value.__module__}.{value.__qualname__}".encode())
            if type(value) in self.plain or self._is_own(value):
                self._put("attribute", name.encode())
                self._value(value)

    def _is_own(self, value: Any) -> bool:
        """Return whether a value comes from a file that belongs neither to Python nor to an installed package."""
        if isinstance(value, types.FunctionType):
            return origin_of(value.__code__.co_filename).kind == OWN
        cls = value if isinstance(value, type) else type(value)
        return cls.__module__ in sys.modules and origin_of_module(str(cls.__module__)).kind == OWN

    def _of_others(self, value: Any, origin: Origin) -> None:
        """Put an attribute of a module of somebody else: it may have been replaced, or be a setting."""
        cls = type(value)
        if value is _MISSING:
            self._put("absent")
        elif (
            origin.kind == PYTHON
            and cls not in self.plain
            and not isinstance(value, (*_CALLED, *_DATA))
            and not shows_all(cls, object)
            and not self._is_own(value)
        ):
            # Python's own, such as sys.implementation: covered by its version.
            said = repr(value)  # it may be data that a program has put there
            said = "" if " at 0x" in said else said
            self._put("python", f"{cls.__module__}.{cls.__qualname__} {said}".encode())
        elif cls in self.plain or is_array(value) or shows_all(cls, object) or {*cls.__mro__} & {*self.kinds}:
            self._value(value)
        else:
            # Made in C by its package, such as a function of NumPy: covered by the package's files.
            self._of_c(value, cls)

    def _of_c(self, value: Any, cls: type) -> None:
        if origin_of_module(str(cls.__module__)).kind == OWN:
            raise Unkeyable("state that cannot be seen", f"{cls.__module__}.{cls.__qualname__}")
        # Without a name it may be data, which a program may have set.
        said = getattr(value, "__name__", None) or repr(value)
        if " at 0x" in said:
            raise Unkeyable("state that cannot be seen", f"{cls.__module__}.{cls.__qualname__}")
        self._put("theirs", f"{cls.__module__}.{cls.__qualname__} {said}".encode())

    # -- other callables

    def _builtin(self, value: Any) -> None:
        """A function in C, or a method of a value that is in C."""
        owner = getattr(value, "__self__", None)
        self._put("builtin", str(value.__qualname__).encode())
        module = value.__module__
        if owner is None or isinstance(owner, types.ModuleType):
            module = str(module or getattr(owner, "__name__", "builtins"))
            self.origin(origin_of_module(module), module, str(value.__name__))
        else:
            self._value(owner)

    def _descriptor(self, value: Any) -> None:
        """A method of a class in C."""
        self._put("method", str(value.__name__).encode())
        owner = getattr(value, "__objclass__", None)
        self._value(owner if owner is not None else value.__self__)

    def _bound(self, value: Any) -> None:
        """A method in C of a value."""
        self._put("bound", str(value.__name__).encode())
        self._value(value.__self__)

    def _memory(self, value: Any) -> None:
        """A function that remembers what it has returned."""
        self._put(
            "memory",
            repr(sorted(value.cache_parameters().items()) if hasattr(value, "cache_parameters") else ()).encode(),
        )
        self.memories.append(value)
        self._value(value.__wrapped__)
        self._dict(vars(value))

    def _code_object(self, value: types.CodeType) -> None:
        self._put("code", code_of(value)[0])


_slot = type(object.__init__)
_bound_slot = type(object().__str__)
Reach.kinds = {
    **ValueWalker.kinds,
    types.FunctionType: Reach._function,
    types.BuiltinFunctionType: Reach._builtin,
    types.MethodDescriptorType: Reach._descriptor,
    types.ClassMethodDescriptorType: Reach._descriptor,
    types.GetSetDescriptorType: Reach._descriptor,
    types.MemberDescriptorType: Reach._descriptor,
    _slot: Reach._descriptor,
    _bound_slot: Reach._bound,
    types.CodeType: Reach._code_object,
    functools._lru_cache_wrapper: Reach._memory,
    logging.Logger: loggers.describe,
    logging.RootLogger: loggers.describe,
}
