"""Entries: a result of Numba's compiler as bytes, and back."""

from __future__ import annotations

import importlib
import io
import pickle
import types as pytypes
import weakref
from typing import TYPE_CHECKING, Any, NamedTuple

from numba.core import compiler, types
from numba.core.codegen import RuntimeLinker
from numba.core.environment import Environment, lookup_environment
from numba.core.funcdesc import _dynamic_module
from numba.core.serialize import NumbaPickler
from numba.np.ufunc import parallel

from ._addresses import moved, moves_for, named, places_of
from ._code import Unkeyable, codes_in
from ._loaded import LoadedLibrary, LoadedResult
from ._outside import needed_by, refuse_addresses, require

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ._addresses import Place
    from ._walk import Walker


_POINTER = RuntimeLinker.PREFIX  # the prefix of symbols of pointers to functions that are not defined yet


class _Pickler(NumbaPickler):  # type: ignore[misc]
    """Writes a name or a number instead of a copy for objects that the loading process has itself."""

    def __init__(self, file: Any, walker: Walker) -> None:
        super().__init__(file, protocol=4)
        self._walker = walker
        self._positions = _positions(walker)
        self._classes = {id(cls): position for position, cls in enumerate(walker.classes.values())}
        self._omitted = {id(t): position for position, t in enumerate(walker.omitted)}

    def persistent_id(self, obj: Any) -> Any:
        """Return what is pickled instead of an object: its place in the walk, or the parts of an environment."""
        position = self._positions.get(id(obj))
        if position is not None:
            return "jitted", position
        position = self._classes.get(id(obj))
        if position is not None:
            return "class", position
        position = self._omitted.get(id(obj))
        if position is not None:  # Numba compares some of these types by the addresses of their values
            return "omitted", position
        if isinstance(obj, Environment):
            return "environment", obj.env_name, obj.globals.get("__name__"), _dumps(list(obj.consts), self._walker)
        return None


class _Unpickler(pickle.Unpickler):
    def __init__(self, data: bytes, walker: Walker, function: Any) -> None:
        super().__init__(io.BytesIO(data))
        self._walker = walker
        self._function = function

    def persistent_load(self, pid: Any) -> Any:
        """Return the object for what ``persistent_id`` returned."""
        if pid[0] == "jitted":
            return self._walker.dispatchers[pid[1]]
        if pid[0] == "class":
            return list(self._walker.classes.values())[pid[1]]
        if pid[0] == "omitted":
            return self._walker.omitted[pid[1]]
        _, name, module, consts = pid
        found = lookup_environment(name)
        if found is None:
            found = Environment(self._globals(module))
            found.consts[:] = _Unpickler(consts, self._walker, self._function).load()
            found.env_name = name
            Environment._memo[name] = found
        return found

    def _globals(self, module: Any) -> dict[str, Any]:
        """Return the globals of a function by the name of its module, as Numba does; its real ones may be others."""
        if module is None:
            own: dict[str, Any] = self._function.__globals__
            return own if own.get("__name__") is None else self._walker.namespaces.get(None) or {}
        try:
            return vars(importlib.import_module(module))
        except ImportError:
            space: dict[str, Any] = vars(_dynamic_module)
            return space


def _dumps(value: Any, walker: Walker) -> bytes:
    with io.BytesIO() as file:
        _Pickler(file, walker).dump(value)
        return file.getvalue()


def classes_in(data: bytes, walker: Walker) -> list[str]:
    """Return the names of those pinned classes that occur in compiled code, in pickles that it loads when it runs."""
    return [name for name in walker.classes if name.encode() in data]


def _positions(walker: Walker) -> dict[int, int]:
    return {id(dispatcher): position for position, dispatcher in enumerate(walker.dispatchers)}


def _environments(library: Any) -> list[Any]:
    """Return the environments that a library's code refers to, including those of functions without a module."""
    names = (v.name for v in library._final_module.global_variables)
    found = (lookup_environment(name) for name in names if name.startswith("_ZN08NumbaEnv"))
    return [environment for environment in found if environment is not None]


def _reloads(library: Any, seen: set[int]) -> list[Any]:
    """Return the functions to call before code of a library runs, including those for linked libraries.

    Numba loses them for libraries that it loads from its cache. Code that calls such a
    parallel function would run without threads, and crash.
    """
    if id(library) in seen:
        return []
    seen.add(id(library))
    found = list(getattr(library, "_reload_init", ()))
    for linked in library._linking_libraries:
        found += _reloads(linked, seen)
    return found


#: Strings in the functions with which Numba starts its threads. Among them are the names of the functions that it
#: registers with LLVM for compiled code. In a process that only loads code, Numba does not register them.
_OF_THREADS = {
    text
    for function in vars(parallel).values()
    if isinstance(function, pytypes.FunctionType)
    for code in codes_in(function.__code__)
    for text in code.co_consts
    if isinstance(text, str)
}


def _all_reloads(library: Any, places: Mapping[int, Place]) -> list[Any]:
    """Return the functions to call before code of a library is loaded."""
    found = _reloads(library, set())
    called = {f.name for f in library._final_module.functions if f.is_declaration}
    if called & _OF_THREADS or any(not isinstance(p, int) and p[0] == parallel.__name__ for p in places.values()):
        found.append(parallel._launch_threads)
    return found


def keep_reloads(library: Any, reload_init: Any) -> None:
    """Keep with a library the functions to call before its code runs. Numba before 0.63 does not."""
    found = set(getattr(library, "_reload_init", ()))
    library._reload_init = found | set(reload_init)


class _Code(NamedTuple):
    """A library as bytes: what Numba serializes, and the symbols that its module for linking defines and needs."""

    state: Any
    defined: list[str]
    lacking: list[str]  # functions in recursive calls: called by pointers, which are set once they are defined
    needed: list[str]  # symbols that the process must provide


# Libraries of functions that call themselves, directly or through others, by the symbol that others call.
_recursive: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()


def defined_by(library: Any) -> list[str]:
    """Return the names that the module of a library for linking defines."""
    found: list[str] | None = library.__dict__.get("jitcache_defined")
    if found is None:
        module = library._get_module_for_linking()
        found = [v.name for v in (*module.functions, *module.global_variables) if not v.is_declaration]
        library.__dict__["jitcache_defined"] = found
    return found


def _code(library: Any) -> _Code:
    found: _Code | None = getattr(library, "_jitcache_code", None)  # Numba keeps no code of libraries that it loads
    if found is not None:
        return found
    module = library._get_module_for_linking()
    defined = defined_by(library)
    called = (v.name[len(_POINTER) :] for v in module.global_variables if v.name.startswith(_POINTER))
    state = library.serialize_using_object_code()
    lacking = list(called)
    pointers = {_POINTER + name for name in lacking}
    needed = [name for name in needed_by(state[2][0], library._codegen._engine) if name not in pointers]
    return _Code(state, defined, lacking, needed)


def _codes(code: _Code) -> list[_Code]:
    """Return a library and the libraries of the functions that it calls by pointers.

    Raises Unkeyable if one does not exist yet: then this function is compiled because
    another one calls it, and calls that one in turn. The entry of the other one will
    have the code of both.
    """
    codes, lacking, defined = [code], code.lacking, set(code.defined)
    while not defined.issuperset(lacking):
        symbol = next(name for name in lacking if name not in defined)
        other = _recursive.get(symbol)
        if other is None:
            raise Unkeyable("recursion", "it calls a function that is still being compiled")
        codes.append(_code(other))
        lacking = lacking + codes[-1].lacking
        defined.update(codes[-1].defined)
    return codes


def _revive(codegen: Any, code: _Code, moves: dict[int, int]) -> Any:
    """Return a library from its bytes, with the addresses of this process.

    This does what Numba does, with three differences. The module for linking is parsed
    only when another library links it. Its symbols are taken from the entry, not from a
    walk through the module. And the pointers of recursive calls are set: Numba leaves
    them unset, and crashes.
    """
    name, _, (machine_code, bitcode) = code.state
    library = LoadedLibrary(codegen, name)
    library.enable_object_caching()
    library._set_compiled_object(moved(machine_code, moves) if moves else machine_code)
    library.bitcode, library.moves = bitcode, moves
    linker, engine = codegen._rtlinker, codegen._engine
    require(code.needed, engine)
    if code.lacking:
        linker.scan_unresolved_symbols(library.linkable(), engine)
    library._finalize_final_module()
    defined = [named(symbol.encode(), moves).decode() for symbol in code.defined] if moves else code.defined
    engine._defined_symbols.update(defined)
    linker._defined.update(defined)
    linker.resolve(engine)
    return library


def _revive_all(codegen: Any, walker: Walker, codes: list[tuple[Any, ...]], places: dict[int, Place]) -> Any:
    """Return the first of some libraries. Load the others too, unless the process has their symbols already."""
    first, *others = (_Code(*code) for code in codes)
    moves = moves_for(places, walker)
    engine = codegen._engine
    made = [_revive(codegen, code, moves) for code in others if not all(map(engine.is_symbol_defined, code.defined))]
    library = _revive(codegen, first, moves)
    library.__dict__["jitcache_defined"] = first.defined
    library.used = [walker.dispatchers[place] for place in places.values() if isinstance(place, int)]
    library._linking_libraries.extend(made)  # this keeps them alive
    return library


def _parts(library: Any, first: _Code, walker: Walker) -> tuple[list[tuple[Any, ...]], dict[int, Place]]:
    """Return the bytes of a library and of those that it calls by pointers, and the places of addresses in its code."""
    codes, places = [tuple(code) for code in _codes(first)], places_of(library, walker)
    for code in codes:
        machine_code, bitcode = code[0][2]
        refuse_addresses(machine_code, bitcode, places)
    if places and (len(codes) > 1 or codes[0][2]):
        raise Unkeyable("dynamic globals", "in code with recursive calls")
    return codes, places


def dump_result(result: Any, walker: Walker) -> bytes:
    """Return a CompileResult as bytes."""
    keep_reloads(result.library, result.reload_init)
    descriptor, code = result.fndesc, _code(result.library)
    recursive = bool(code.lacking) or any(isinstance(t, types.RecursiveCall) for t in descriptor.typemap.values())
    if recursive:
        _recursive[descriptor.llvm_func_name] = result.library
    parts = _parts(result.library, code, walker)
    reloads = list(dict.fromkeys([*result.reload_init, *_all_reloads(result.library, parts[1])]))
    # They are removed while the result is pickled. A program that did not ask for a cache may still look at them.
    kept = {name: getattr(descriptor, name) for name in ("global_dict", "typemap", "calltypes")}
    descriptor.global_dict = None
    try:
        reduced = result._reduce()
        return _dumps((*reduced[1:7], reloads, tuple(_environments(result.library)), recursive, *parts), walker)
    finally:
        for name, value in kept.items():
            setattr(descriptor, name, value)


def load_result(data: bytes, context: Any, walker: Walker, function: Any) -> Any:
    """Return a CompileResult from its bytes. Raises any exception if it cannot be used."""
    descriptor, environment, signature, objectmode, lifted, annotation, reloads, referenced, recursive, *parts = (
        _Unpickler(data, walker, function).load()
    )
    if function.__module__ is None:
        descriptor.global_dict = function.__globals__
    for reload in reloads:
        reload()
    library = _revive_all(context.codegen(), walker, *parts)
    library.descriptor = descriptor
    if recursive:
        library._jitcache_code = _Code(*parts[0][0])
        _recursive[descriptor.llvm_func_name] = library
    keep_reloads(library, reloads)
    entry_point = context.get_executable(library, descriptor, environment)
    for e in referenced:
        library.codegen.set_env(e.env_name, e)
    result = compiler.compile_result(
        target_context=context,
        typing_context=context.typing_context,
        library=library,
        environment=environment,
        entry_point=entry_point,
        fndesc=descriptor,
        type_annotation=annotation,
        signature=signature,
        objectmode=objectmode,
        lifted=lifted,
        reload_init=reloads,
        referenced_envs=referenced,
    )
    return LoadedResult(*result)


def dump_library(library: Any, walker: Walker) -> bytes:
    """Return a code library as bytes."""
    parts = _parts(library, _code(library), walker)
    return _dumps((_all_reloads(library, parts[1]), *parts), walker)


def load_library(data: bytes, context: Any, walker: Walker, function: Any) -> Any:
    """Return a code library from its bytes. Raises any exception if it cannot be used."""
    reloads, *parts = _Unpickler(data, walker, function).load()
    for reload in reloads:
        reload()
    library = _revive_all(context.codegen(), walker, *parts)
    keep_reloads(library, reloads)
    return library
