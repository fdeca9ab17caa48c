"""Links of several objects: cuda.core's Linker makes them, and the result is kept.

The key has the content of the objects in their order, the options, nvJitLink by its
content, and the variables that it may obey. An object that names a file is read once:
the bytes in the key are the bytes that are linked. What cannot be told from outside is
linked each time, and counted with its reason.
"""

from __future__ import annotations

import dataclasses
import os
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from cuda.core import Device, Linker, LinkerOptions, ObjectCode
from cuda.pathfinder import load_nvidia_dynamic_lib

from jitcache import Key, Tool, _library
from jitcache._module_files import is_older_than_process, stamp_of
from jitcache.adapters._named_variables import obeyed
from jitcache.cuda import _environment

from . import KIND
from ._job import REASONS
from ._linked import may_name_a_file
from ._program import _cache, _text_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jitcache import Cache

_LIBRARY = "nvJitLink"
_RESULTS = {"cubin": ObjectCode.from_cubin, "ptx": ObjectCode.from_ptx}
_OBJECTS = {
    kind: getattr(ObjectCode, f"from_{kind}") for kind in ("cubin", "fatbin", "library", "ltoir", "object", "ptx")
}

#: Text that is one word to nvJitLink. Blanks might begin another option, which names a file.
_WORD = re.compile(r"[^\s\"'@-][^\s\"']*")

_DEFAULTS = {field.name: field.default for field in dataclasses.fields(LinkerOptions)}

# The nvJitLink of this process; and the last answer of _world, with what it was made from.
_path = ""
_last_world: tuple[Any, dict[bytes, bytes], str] | None = None


class _Unkept(Exception):
    """Why a link is left to cuda.core."""


class _Link(NamedTuple):
    """The arguments of a caller, with objects that name no files."""

    objects: Sequence[Any]
    options: Any
    target: str

    def by_cuda_core(self) -> tuple[bytes, str, str]:
        """Link with cuda.core; return the code, what the linker said, and which linker it was."""
        options = LinkerOptions(**self.options) if isinstance(self.options, dict) else self.options
        linker = Linker(*self.objects, options=options)
        try:
            code = linker.link(self.target).code
            backend = linker.which_backend() if hasattr(linker, "which_backend") else linker.backend
            return bytes(code), linker.get_info_log(), _text_of(backend)
        finally:
            linker.close()


def link_any(objects: Sequence[Any], options: Any, target: Any, logs: Any, cache: Any) -> Any:
    """Return the ObjectCode, as ``link`` says."""
    found = _cache(cache)
    asked = _Link(tuple(objects), {} if options is None else options, _text_of(target))
    fields = (
        {**_DEFAULTS, **options}
        if isinstance(options, dict)
        else {n: getattr(options, n, d) for n, d in _DEFAULTS.items()}
    )
    if found is None or _library.load() is None:
        data, log, _ = asked.by_cuda_core()
    else:
        try:
            asked = asked._replace(objects=[_in_memory(code) for code in asked.objects])
            path = _nvjitlink()
            key = _key(asked, fields, path, found)
        except _Unkept as e:
            REASONS[str(e)] += 1
            data, log, _ = asked.by_cuda_core()
        else:
            data, log = _from(found, key, asked, path, wants_log=logs is not None)
    if log and logs is not None:
        logs.write(log)
    return _RESULTS[asked.target](data, name=fields["name"])


def _from(cache: Cache, key: Key, asked: _Link, path: str, *, wants_log: bool) -> tuple[bytes, str]:
    with cache.acquire(key, kind=KIND) as lease:
        if lease.data is not None:
            return lease.data, lease.entry().attributes.get("log", "") if wants_log else ""
        data, log, backend = asked.by_cuda_core()
        if backend != _LIBRARY.lower():
            REASONS["the driver links"] += 1
        elif not _is_loaded(path):
            REASONS["another nvJitLink was loaded"] += 1
        else:
            lease.commit(data, attributes={"target": asked.target, "log": log})
        return data, log


def _in_memory(code: Any) -> Any:
    """Return an object that holds its bytes."""
    if not isinstance(code, ObjectCode) or code.code_type not in _OBJECTS:
        raise _Unkept("not an object that is linked")
    if not isinstance(code.code, str):
        return code
    try:
        with open(code.code, "rb") as file:
            return _OBJECTS[code.code_type](file.read(), name=code.name)
    except OSError:
        raise _Unkept("file that cannot be read") from None


def _key(asked: _Link, fields: dict[str, Any], path: str, cache: Cache) -> Key:
    """Return the key of a link. Raises what cuda.core raises if there is no architecture and no device."""
    if asked.target not in _RESULTS or not asked.objects:
        raise _Unkept("nothing that cuda.core links")
    if type(asked.options) not in (dict, LinkerOptions) or len(fields) > len(_DEFAULTS):
        raise _Unkept("unknown options")
    if fields["arch"] is None:
        fields = {**fields, "arch": "sm_" + "".join(str(i) for i in Device().compute_capability)}
    try:
        components = {
            "cuda.core link": asked.target,
            "objects": [_content(code) for code in asked.objects],
            "options": _options(fields),
            "world": _world(path, cache),
        }
        return Key(components).named(fields["name"])
    except (OSError, TypeError, ValueError):  # the library is gone; a name is no text
        raise _Unkept("no key") from None


def _content(code: Any) -> tuple[str, str, bytes]:
    """Return what a link depends on of an object."""
    return code.code_type, str(code.name), code.code


def _options(fields: dict[str, Any]) -> dict[str, Any]:
    """Return what a link depends on of its options."""
    return {name: _described(name, value) for name, value in fields.items() if value is not None}


def _described(name: str, value: Any) -> Any:
    """Return the value of an option, for a key."""
    if name == "ptxas_options":
        if may_name_a_file(value):
            raise _Unkept("option that may name a file")
    elif name == "time" or (name.startswith("split_compile") and value == 0 and value is not False):
        # The log tells how long this link took; 0 stands for as many threads as there are processors.
        raise _Unkept(f"option {name}")
    elif name != "name" and not _is_plain(value):
        raise _Unkept("option of another form")
    return list(value) if isinstance(value, (list, tuple)) else value


def _is_plain(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return all(isinstance(word, str) and _is_plain(word) for word in value)
    return isinstance(value, int) or (isinstance(value, str) and _WORD.fullmatch(value) is not None)


def _nvjitlink() -> str:
    """Return the path of the nvJitLink that links in this process.

    A hit does not load it: that takes 7 ms. So if it is not loaded at the first call,
    the path is that of the file that cuda.pathfinder would load.
    """
    global _path
    if not _path:
        try:
            _path = str(_in_a_package() or load_nvidia_dynamic_lib(_LIBRARY).abs_path or "")
        except Exception:  # noqa: BLE001  cuda.core then takes the driver, or says what is wrong
            raise _Unkept("nvJitLink is not found") from None
    if not _path or not _is_unchanged(_path):
        raise _Unkept("nvJitLink has changed since the process started")
    return _path


def _is_loaded(path: str) -> bool:
    """Return, after a link, whether it was made by the nvJitLink at a path. If not, that one counts from now on."""
    global _path
    _path = str(load_nvidia_dynamic_lib(_LIBRARY).abs_path)
    return _path == path and _is_unchanged(path)


def _world(path: str, cache: Cache) -> str:
    """Return a text for the content of nvJitLink and the variables that it may obey."""
    global _last_world
    state = path, stamp_of(os.stat(path))
    last = _last_world
    if last is None or last[0] != state or last[1] != _environment:
        key = Key(library=Tool(path), variables=obeyed(cache, path))
        last = _last_world = state, dict(_environment), key.hex
    return last[2]


def _in_a_package() -> str:
    """Return the nvJitLink of a wheel or of conda, "" if the process has loaded one or it is not known."""
    try:
        from cuda.pathfinder._dynamic_libs import load_dl_linux, search_steps
        from cuda.pathfinder._dynamic_libs.lib_descriptor import LIB_DESCRIPTORS

        described = LIB_DESCRIPTORS[_LIBRARY]
        if load_dl_linux.check_if_already_loaded_from_elsewhere(described):
            return ""
        found = search_steps.run_find_steps(search_steps.SearchContext(described), search_steps.EARLY_FIND_STEPS)
    except (ImportError, AttributeError, LookupError, TypeError):  # private, and other versions have it elsewhere
        return ""
    return found.abs_path if found is not None else ""


def _is_unchanged(path: str) -> bool:
    try:
        return is_older_than_process(os.stat(path))
    except OSError:
        return False
