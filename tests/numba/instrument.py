"""Imported by every process that a test starts: counts compiles, and installs what is under test.

A compile is counted where Numba begins one, for functions of the test's folder
or of no file, in $COMPILE_LOG; a library where LLVM gets it, whosever it is, in $LLVM_LOG. $CACHE says whose cache: jitcache, numba, or none said
yet; $WITHOUT names mechanisms to take out, and $CPU another CPU to be.
"""

from __future__ import annotations

import builtins
import importlib
import itertools
import logging
import operator
import os
import re
import sys
import weakref
from functools import partial
from types import MappingProxyType, SimpleNamespace

import llvmlite.binding as ll
import numba
from numba.core import codegen, compiler

_compile_extra = compiler.compile_extra


def note(name, log="COMPILE_LOG"):
    watch = sys.modules.get("jitcache.adapters.numba._watch")
    if watch is not None:
        watch.here.quiet = True
    with open(os.environ[log], "a") as f:
        f.write(f"{name}\n")
    if watch is not None:
        watch.here.quiet = False


def compile_extra(typingctx, targetctx, func, *args, **more):
    path = func.__code__.co_filename
    if path.startswith((os.environ["PROJECT"], "<string>", "<stdin>", "<made")):
        note(func.__qualname__)
    return _compile_extra(typingctx, targetctx, func, *args, **more)


def as_numba_s(function):
    """Let a function be Numba's, to whoever watches what runs and looks for what others have put into Numba."""
    function.__code__ = function.__code__.replace(co_filename=compiler.__file__)
    return function


_optimize = codegen.CPUCodeLibrary._optimize_final_module


def optimize_final_module(self):
    if self.name != "nrt":  # Numba's own, which each process makes when it gets ready
        note(self.name.replace(" ", ""), "LLVM_LOG")
    _optimize(self)


as_numba_s(note)
compiler.compile_extra = as_numba_s(compile_extra)
codegen.CPUCodeLibrary._optimize_final_module = as_numba_s(optimize_final_module)

# CPUs of a cluster, as LLVM would report them: all features that it knows, had or not.
_HASWELL = (
    "64bit avx avx2 bmi bmi2 cmov crc32 cx16 cx8 f16c fma fsgsbase fxsr invpcid lzcnt mmx movbe pclmul popcnt"
    " rdrnd sahf sse sse2 sse3 sse4.1 sse4.2 ssse3 xsave xsaveopt"
)
CPUS = {
    "nehalem": "64bit cmov crc32 cx16 cx8 fxsr mmx popcnt sahf sse sse2 sse3 sse4.1 sse4.2 ssse3",
    "haswell": _HASWELL,
    "broadwell": _HASWELL + " adx prfchw rdseed",
}


def pretend(cpu: str) -> None:
    has = CPUS[cpu].split()
    features = {name: name in has for name in ll.get_host_cpu_features()}
    text = ",".join(("+" if has else "-") + name for name, has in sorted(features.items()))
    ll.get_host_cpu_name = lambda: cpu
    ll.get_host_cpu_features = lambda: ll.FeatureMap(features)
    codegen.get_host_cpu_features = as_numba_s(lambda: text)


def take_out(what: str) -> None:
    """Take a mechanism out; the test of its promise has to be red."""
    from jitcache import _dependency_walk
    from jitcache.adapters.numba import (
        _addresses,
        _code,
        _contexts,
        _cpu,
        _data,
        _entry,
        _hooks,
        _ir_library,
        _ir_text,
        _key,
        _loaded,
        _lookup,
        _object_mode,
        _objects,
        _outside,
        _overloads,
        _placed,
        _record,
        _registered,
        _seen,
        _uses,
        _walk,
    )

    _code.OURS = (*_code.OURS, __file__)  # what stands here for a mechanism is no code of others
    _code.is_quiet.cache_clear()
    walker = _walk.Walker
    if what in ("globals", "closure"):
        root = walker.root
        prefix = {"globals": "global ", "closure": "closure "}[what]
        walker.root = lambda self, *a, **k: {n: v for n, v in root(self, *a, **k).items() if not n.startswith(prefix)}
    elif what in ("options", "settings", "cpu", "function", "versions", "types"):
        made = _key.KeyParts

        def without(keys):
            def key(self, target=None, *seen):
                components = {n: v for n, v in self.components.items() if n != what}
                cpu = [] if target is None else [target if what != "cpu" else _cpu.Target("", "", "")]
                return keys(self._replace(components=components), *cpu, *seen)

            return key

        for name in ("first", "turn", "result"):
            setattr(made, name, without(getattr(made, name)))
    elif what == "inherited":
        _seen.Seen.inherit = lambda self, other: None
    elif what == "listener":
        _key.in_every_compile = lambda: None
    elif what == "unseen":
        _uses.runs_unseen = lambda template: False
        _uses._note_classes = lambda seen, typemap: None
    elif what == "comparison":
        _overloads.verification = SimpleNamespace(on=False)
    elif what == "forms":
        walker._note_others = lambda self, what: None
    elif what == "addresses that are variables":
        _ir_library.without_addresses = lambda text: text
    elif what == "messages":
        _ir_text._MISSING = re.compile("(?!)")
    elif what == "stencils":
        _hooks.stencil = SimpleNamespace()
    elif what == "local names":
        _ir_text._without_local_names = lambda body: body[0]
    elif what == "plain":
        _seen.is_plain = lambda code, space, cells: False
    elif what == "by code":
        _ir_library.key_of = lambda library: None
    elif what == "settings of code":
        _ir_library._settings = lambda library: ""
    elif what == "linked":
        _ir_library._name_of_link = lambda name: ""
    elif what == "others":
        _key.refuse = _record.refuse = lambda what: None
        _record.refuse_warnings = lambda given: None
    elif what == "records":
        take_out_records(_overloads, _record)
    elif what == "registered":
        _registered.Registrations.counting = lambda self, asked, since=0: []
    elif what == "installed":
        _hooks._PLACES[:] = [
            place for place in _hooks._PLACES if place[1] not in ("install_registry", "load_additional_registries")
        ]
    elif what == "remembering":
        found = _registered.Registrations.all

        def anew(self):
            _registered._looked_at.clear()
            self.__init__()
            return found(self)

        _registered.Registrations.all = anew
    elif what == "run":
        _seen.Seen.ran = _seen.Seen.compile = lambda self, frame: None
    elif what == "versioned":
        walker._additions = lambda self, module, names, owner: None
        walker._is_added = lambda self, value, owner: False
        walker._is_data = lambda self, value, module: False
        walker._replaced = lambda self, name: ()
        take_out_records(_overloads, _record)
    elif what == "stencil":
        walker.kinds[_walk.StencilFunc] = lambda self, value: self._put("stencil")
        take_out_records(_overloads, _record)
    elif what == "parameters":
        walker._parameters = lambda self, signature: None
    elif what == "held":
        walker._beside = walker._held = lambda self, value: None
        walker._reduced = lambda self, value, name: None
    elif what == "given":
        _dependency_walk.given = lambda member: {}
    elif what == "set on":
        _dependency_walk.DependencyWalker._set_on = lambda self, value, *kinds: None
    elif what == "proxy":
        walker.kinds[MappingProxyType] = walker._dict
    elif what == "class":
        put = walker._put
        walker._put = lambda self, tag, data=b"": put(self, tag, b"" if tag == "class" else data)
    elif what == "reduced":
        walker._reduced = lambda self, value, name: None
    elif what == "reference":
        walker.kinds[weakref.ReferenceType] = lambda self, value: self._put("reference")
    elif what == "told":
        walker._told = lambda self, cls: None
    elif what == "dtype":
        _data.parts_of = lambda dtype: (dtype.str, dtype.itemsize, tuple(dtype.names or ()))
    elif what == "order":
        _data._order = lambda value: b""
    elif what == "returns":
        walker.kinds[_walk.Signature] = lambda self, value: self._value(list(value.args))
    elif what == "states":
        _walk.DUFunc._reduce_states = lambda self: {}
    elif what == "said":
        walker._said = lambda self, thing, attributes: None
    elif what == "class of a module":
        walker._class_of_module = lambda self, module: None
    elif what == "by text":
        _walk._MAKES_NAMES = frozenset()
    elif what == "given options":
        _walk.given_options = _hooks.given_options = lambda dispatcher: dispatcher.targetoptions
        _lookup.flags_for = emptied
    elif what == "computed":
        walker._computed = lambda self, module, names: None
    elif what == "typed by":
        walker._by_kind = _objects.ObjectWalker._by_kind
    elif what == "file":
        walker._file = lambda self, module, what="": None
    elif what == "callees":
        walker.kinds[_walk.Dispatcher] = lambda self, d: self._put("jitted", d.py_func.__qualname__.encode())
        take_out_records(_overloads, _record)
    elif what == "features":
        _cpu.Target.runs = lambda self, other: True
    elif what == "other CPUs":
        _cpu.usable = lambda cache, target: []
    elif what == "lease":
        _lookup.Lookup.find = lambda self, cache: self._get(cache, [self.target])
    elif what == "look before the lock":
        _hooks._around_compile = lambda cache, sig, *more: _hooks.nullcontext()
    elif what == "end":
        _lookup.Lookup.end = lambda self: KEPT.append(self.lease)
    elif what == "holding":
        _lookup._holding = NoCount()
    elif what == "random ids":
        _hooks._random_ids = lambda: itertools.count(1)
    elif what == "reloads":
        _entry.keep_reloads = _hooks.keep_reloads = lambda library, reload_init: None
        _entry._all_reloads = lambda library, places: []
    elif what == "pin":
        _objects.pin = lambda cls: ""
    elif what == "places":
        _entry._positions = lambda walker: {}
    elif what == "omitted":
        place = _entry._Pickler.persistent_id
        omitted = numba.types.Omitted
        _entry._Pickler.persistent_id = lambda self, o: None if isinstance(o, omitted) else place(self, o)
    elif what == "kernel":
        o = _overloads

        def without_kernel(self, lookup):
            options = partial(o.options_of, compiler.Flags())
            return o.key_parts(o.Walker(), self._function, lookup.sig, options, self.how)

        o.WrapperOverloads._key_parts = without_kernel
    elif what == "guard":
        _overloads.Exception = _overloads.Unkeyable = ZeroDivisionError
    elif what == "check":
        _overloads.Overloads._is_unchanged = lambda self, look: True
        _record._require_unchanged = lambda *_: None
    elif what == "looking into":
        _loaded.LoadedResult.open = lambda self, compile_again: None
        _hooks.Source = lambda compile_again: None
    elif what == "own locals":
        _walk.own_locals = _overloads.own_locals = dict
    elif what == "recursion":
        _entry._codes = lambda code: [code]
        revive = _entry._revive
        _entry._revive = lambda codegen, code, moves: revive(codegen, code._replace(lacking=[]), moves)
    elif what == "addresses of others":
        _entry.refuse_addresses = lambda code, bitcode, known: None
    elif what == "chance":
        refuse = _outside.Unkeyable
        _entry.refuse_addresses = lambda code, bitcode, known: chance(_outside, code, known, refuse)
    elif what == "symbols":
        _entry.require = lambda names, engine: None
    elif what == "addresses":
        _entry.moved = lambda code, moves: code
    elif what == "addresses in what is linked":
        _loaded.moved_text = lambda text, moves: text
    elif what == "options of LLVM":
        _key.given = ()
    elif what == "identity":
        _key.operator = SimpleNamespace(is_=operator.eq)
    elif what == "threads":
        _entry._OF_THREADS = frozenset()
    elif what == "C functions":
        _addresses._c_functions = dict
    elif what == "signature of an address":
        _walk._REFUSED[numba.types.FunctionType] = "first-class function"
    elif what == "compiled before":
        _uses._count_compiled = lambda dispatcher: None
    elif what == "whatever holds it":
        walker._plain_in = lambda self, module: None
        walker._looks_for = property(lambda self: (), lambda self, names: None)
    elif what == "opened":
        _objects._is_opened = lambda value: False
    elif what == "locked":
        _objects._LOCK = None
    elif what == "logger":
        del walker.kinds[logging.Logger]
    elif what == "left out":
        walker._left_out = lambda self, value: None
    elif what == "in C":
        walker._in_c = lambda self, module: None
    elif what == "as run":
        walker._as_run = lambda self, describe, *args: describe(*args)
    elif what == "with":
        walker.kinds[_walk.WithContext] = lambda self, value: self._class(type(value))
    elif what == "lines":
        _objects._READS_CODE = frozenset()
    elif what == "put":
        _contexts.note_put = lambda kind, args: None
    elif what == "position":
        _registered._names_from = lambda order: set()
    elif what == "earlier states":
        _seen.Seen.require_same_states = lambda self: None
    elif what == "itself":
        _key._names_itself = lambda function, label: False
    elif what == "whose class":
        _code._is_of_its_module = lambda cls: True
    elif what == "behind a name":
        walker._behind_name = lambda self, value: None
    elif what == "lazy":
        _objects._is_plain_module = lambda module: isinstance(module, type(sys))
    elif what == "object mode":
        _object_mode._note_held = lambda value: None
    elif what == "as made":
        walker._as_made = lambda self, kernel: None
    elif what == "class of a dispatcher":
        walker._class_of_dispatcher = lambda self, cls: None
    elif what == "makers":
        _seen.Seen.note_maker = lambda self, thing: None
    elif what == "types as made":
        _seen.Seen.note_types = lambda self, types: None
    elif what == "plain typers":
        _key.plain_typers = list
    elif what == "made templates":
        _registered._OF_OTHERS = _registered._MAKERS
        _registered._is_of_signatures = lambda template: False
    elif what == "types of globals":
        _registered._globals = lambda rows: _registered._calls(
            [t for _, k in rows for t in getattr(k, "templates", ())]
        )
    elif what == "as made before":
        _record.require_as_made = lambda things: None
    elif what == "everywhere":
        look = _placed.Placed.look
        _placed.Placed.look = lambda self, **more: look(self)
    elif what == "placed":
        _placed.Placed.look = lambda self, **more: []
    elif what == "content":
        described = walker.root

        def root(self, function, **more):
            stamp = os.stat(function.__code__.co_filename).st_mtime_ns
            return {**described(self, function, **more), "stamp": str(stamp).encode()}

        walker.root = root
    else:
        sys.exit(f"instrument: nothing is called {what!r}")


def emptied(how):
    flags = compiler.Flags()
    how.targetdescr.options.parse_as_flags(flags, how.targetoptions)
    return how._customize_flags(flags)


def chance(outside, code, known, refuse) -> None:
    if outside._are_addresses(outside._numbers_in(code), known):
        raise refuse("address", "somewhere in the bytes of code")


def take_out_records(overloads, record) -> None:
    overloads.record_of = lambda seen, walker, classes: (record.Record((), (), (), ()), {})


KEPT: list[object] = []


class NoCount(dict):
    def __getitem__(self, key):
        return 0

    def __delitem__(self, key):
        pass


if os.environ.get("VERSION"):  # another version of Numba
    numba.__version__ = os.environ["VERSION"]
if os.environ.get("CPU"):
    pretend(os.environ["CPU"])
for mechanism in filter(None, os.environ.get("WITHOUT", "").split(",")):
    importlib.import_module("jitcache.adapters.numba._hooks")  # with all others
    known = {name: {*vars(m)} for name, m in sys.modules.items() if name.startswith("jitcache.adapters.numba.")}
    take_out(mechanism)
    for module, names in known.items():
        if new := {*vars(sys.modules[module])} - names - {*vars(builtins)}:
            sys.exit(f"instrument: {module} has no {', '.join(new)}")
if os.environ["CACHE"] in ("jitcache", "everything", "verify"):
    from jitcache.adapters import numba as adapter

    adapter.install(everything=os.environ["CACHE"] != "jitcache", verify=os.environ["CACHE"] == "verify")
