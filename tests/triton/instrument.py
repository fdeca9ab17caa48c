"""Imported by every process that a test starts: takes out the mechanisms that $WITHOUT names."""

from __future__ import annotations

import ast
import inspect
import os
import sys
import textwrap


def take_out(what: str) -> None:
    """Take a mechanism out; the test of its promise has to be red."""
    from jitcache import Cache
    from jitcache.adapters import _file_memo as memo
    from jitcache.adapters.triton import _changed as changed
    from jitcache.adapters.triton import _fingerprint as fingerprint
    from jitcache.adapters.triton import _group as group
    from jitcache.adapters.triton import _manager as manager
    from jitcache.adapters.triton import _meanings as meanings
    from jitcache.adapters.triton import _meanwhile as meanwhile
    from jitcache.adapters.triton import _place as place
    from jitcache.adapters.triton import _turn as turn

    if what == "lease":
        acquire = Cache.acquire
        Cache.acquire = lambda self, key, timeout=None, *, kind="generic": acquire(self, key, 0, kind=kind)
    elif what == "check":  # what is in Triton's folder is right
        place._holds = lambda path, data: os.path.exists(path)
    elif what == "anew":  # what is there already stays
        place._make = lambda folder, path, data, put, whole=place._make: (
            os.path.exists(path) or whole(folder, path, data, put)
        )
    elif what == "names":  # any text names a file
        group.is_name = lambda name: True
    elif what == "turn":  # a turn lasts as long as somebody has it
        turn._runs = lambda thread, frame: True
    elif what == "overrides":
        manager._overridden = lambda: 0
        manager._metadata = lambda data, whole=manager._metadata: {**whole(data), "ir_override": None}
    elif what == "meanings":
        manager.meanings = lambda source, backend: []
    elif what == "changed":  # what a program has changed in Triton
        meanings.note_changes = lambda backend, note: None
    elif what == "later":  # a function that was looked at stays as it was
        changed._state = lambda function: (function, {})
    elif what == "data":  # what is no code says nothing
        changed._CODE = object
    elif what == "given":  # any attribute is Triton's
        changed._GIVEN = Everything()
    elif what == "partials":
        changed._PARTIALS = ()
    elif what == "bound":  # whatever it is bound to
        changed._is_known_type = lambda value: True
    elif what == "around":  # a function is its code
        changed._held_by = lambda function: ()
    elif what == "kinds":  # all types of functions are Triton's
        meanings._is_tritons = lambda value, whole=meanings._is_tritons: isinstance(value, type) or whole(value)
    elif what == "aggregates":
        meanings._of_aggregate = lambda kind: list(kind.hash_attrs)
    elif what == "code":
        meanings.code_of = lambda code: (b"", None)
    elif what == "settings":
        meanings.note_settings = lambda note: None
    elif what == "claims":  # what says that it is Triton's is
        meanings._is_tritons = lambda value: str(getattr(value, "__module__", "")).startswith("triton")
    elif what == "modules":  # a module by itself says nothing
        note = meanings._Walk.note
        meanings._Walk.note = lambda self, name, value: isinstance(value, type(os)) or note(self, name, value)
    elif what == "passed":  # one of Triton's is what it was
        meanings._is_module_of_triton = lambda value: False
        meanings._Walk._text = lambda self, value, whole=meanings._Walk._text: (
            value.__name__ if isinstance(value, type(os)) else whole(self, value)
        )
    elif what == "ways":  # a name that is assigned is local everywhere
        meanings.reads = lambda tree, whole=meanings.reads: {c: local for c, local in whole(tree).items() if not local}
    elif what == "held":  # a type is its name
        meanings._held_by = lambda walk, value: ""
    elif what == "added":
        meanings._added = lambda f: []
    elif what == "launches":  # what a launch sets on a function is the program's
        meanings._OF_LAUNCHES = ()
    elif what == "parse":  # a function is read by its kind's method
        meanings._added = lambda f, whole=meanings._added: [(n, held) for n, held in whole(f) if n != "parse"]
    elif what == "says":  # a value's claims say nothing
        meanings._may_be_read = lambda value, whole=meanings._may_be_read: (
            not hasattr(value, "__triton_builtin__") and whole(value)
        )
    elif what == "bits":
        meanings._bits = repr
    elif what == "repr":  # a kernel is named as its function
        meanings._name_of = lambda source: source.fn.fn.__name__
    elif what == "python":  # any one runs functions alike
        meanwhile.python = lambda: ""
    elif what == "hashes":
        meanwhile.hashes_are_fixed = lambda: True
    elif what == "followed":
        meanwhile.leads_elsewhere = lambda attribute: False
    elif what == "builtins":
        meanwhile._is_pythons = lambda value: True
    elif what == "files":
        manager.named_files = lambda seen: []
    elif what == "scopes":  # a function that Python runs is read as a kernel is
        meanings._Walk._run = lambda self, fn, scope: self._kernel(parsed(fn), scope)
    elif what == "owner":  # one folder for all that have Triton's key
        manager.folder_of = lambda owner, folder: folder
    elif what == "folder":  # a folder that is taken away stays away
        place._ATTEMPTS = 1
    elif what == "private":
        manager.private_folder = lambda: os.devnull
    elif what == "usable":  # a cache without a directory does as well
        manager._chosen = manager._cache
    elif what == "stamps":
        memo._stamp = lambda path, whole=memo._stamp: whole(path) and [path, 0, 0]
    elif what == "listings":
        whole = memo._on_event
        memo._on_event = lambda event, args: None if event == "os.listdir" else whole(event, args)
    elif what == "young":
        memo.proves = lambda stamp, read_ns: True
    elif what == "fingerprint":
        fingerprint._remembered = lambda cache, computes: computes()
    else:
        sys.exit(f"instrument: nothing is called {what!r}")


class Everything(frozenset):
    def __contains__(self, value):
        return True

    def issuperset(self, values):
        return True


def parsed(fn):
    return ast.parse(textwrap.dedent(inspect.getsource(fn)))


for mechanism in filter(None, os.environ.get("WITHOUT", "").split(",")):
    take_out(mechanism)
