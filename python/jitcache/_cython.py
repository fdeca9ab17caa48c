"""Cython source to C or C++, through the cache: one more command that is observed."""

from __future__ import annotations

import json
import os
import re
import sys
from functools import lru_cache
from importlib.util import find_spec
from typing import TYPE_CHECKING

from ._errors import LibraryError
from ._native_job import Command, Source
from ._native_request import built

if TYPE_CHECKING:
    from ._cache import Cache

# What Python is started with: it finds modules as its own finders do, but asks for
# the names that it wants, where those read whole folders, and every package that is
# installed would be a change.
_START = """
import sys, json, os
from importlib import machinery, util
class Finder:
    kinds = [(s, machinery.ExtensionFileLoader) for s in machinery.EXTENSION_SUFFIXES]
    kinds += [(s, machinery.SourceFileLoader) for s in machinery.SOURCE_SUFFIXES]
    kinds += [(s, machinery.SourcelessFileLoader) for s in machinery.BYTECODE_SUFFIXES]
    def __init__(self, folder):
        if not os.path.isdir(folder):
            raise ImportError(folder)
        self.folder = folder
    def find_spec(self, name, target=None):
        base = os.path.join(self.folder, name.rpartition(".")[2])
        package = os.path.isdir(base)
        for path, places in ((os.path.join(base, "__init__"), [base]), (base, None)):
            if places is None or package:
                for suffix, loader in self.kinds:
                    if os.path.isfile(path + suffix):
                        path += suffix
                        return util.spec_from_file_location(
                            name, path, loader=loader(name, path), submodule_search_locations=places)
        if package:
            spec = machinery.ModuleSpec(name, None)
            spec.submodule_search_locations = [base]
            return spec
import zipimport
sys.path_hooks[:] = [zipimport.zipimporter, Finder]
sys.path_importer_cache.clear()
sys.path[:] = json.loads(sys.argv.pop(1))
from Cython.Compiler.Main import main
main(command_line=1)
"""

# What Python and Cython obey, started so.
_VARIABLES = ("LANG", "LC_*", "LANGUAGE", "LD_LIBRARY_PATH", "LD_PRELOAD", "PATH", "HOME")

# The comments before a source, in which Cython's users say that it is C++.
_CPLUS = re.compile(
    rb"\A(?:[ \t]*(?:#[^\n]*)?\n)*[ \t]*#[ \t]*distutils:[ \t]*language[ \t]*=[ \t]*c\+\+", re.IGNORECASE
)

# C of hits, so that one text is one object, whose hash is known.
_texts: dict[Command, bytes] = {}
_MOST = 64


@lru_cache(maxsize=4)
def _path(path: tuple[str, ...]) -> str:
    """Return sys.path for Cython's process, by our own."""
    if find_spec("Cython") is None:
        raise LibraryError("Cython is not installed")
    return json.dumps([os.path.abspath(p) for p in path if p])


def _command(source: Source, texts: list[Source], folders: list[str]) -> Command:
    name = os.path.basename(source.name)
    cplus = _CPLUS.match(source.read()) is not None
    output = os.path.splitext(name)[0] + (".cpp" if cplus else ".c")
    arguments = [sys.executable, "-I", "-S", "-c", _START, _path(tuple(sys.path)), name, "-o", "\1/" + output]
    if cplus:
        arguments.append("--cplus")
    # Beside texts in memory those may lie that a source on disk includes.
    for folder in [*(["\1"] if source.text is None and texts else []), *folders]:
        arguments += ["-I", folder]
    own = None if source.text is not None else os.path.dirname(source.name)
    return Command(tuple(arguments), tuple(texts), output, own, _VARIABLES, "cython", name)


def _translated(command: Command, cache: Cache | None, timeout: float | None) -> Source:
    with built(command, cache, timeout) as entry:
        view, text = entry.view, _texts.get(command)
        if text is None or text != view:
            text = bytes(view)
            if len(_texts) >= _MOST:
                _texts.clear()
            _texts[command] = text
    return Source(command.output, text)


def translate(
    sources: list[Source], include_dirs: list[str], cache: Cache | None, timeout: float | None
) -> list[Source]:
    """Return the sources with C or C++ in the place of Cython."""
    texts = [s for s in sources if s.text is not None]
    return [
        _translated(_command(s, texts, include_dirs), cache, timeout) if s.name.endswith(".pyx") else s for s in sources
    ]
