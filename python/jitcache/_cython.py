"""Cython: its sources translated to C or C++ through the cache, by a command that is observed."""

from __future__ import annotations

import json
import os
import re
import sys
from functools import lru_cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, NamedTuple

from ._errors import LibraryError
from ._native_job import Command, Source
from ._native_process import environment_words
from ._native_request import built

if TYPE_CHECKING:
    from ._cache import Cache
    from ._native_job import BuildArguments
    from ._native_process import Environment

# The program that runs Cython. It changes what the observer would see:
# - Python's finders, and Cython where it looks for the declarations for its version
#   (numpy/__init__.cython-30.pxd), read whole folders, so every package that is installed
#   later would count as a change. Here both ask for the names that they want, and find
#   the same.
# - Cython gives each source the names of the host and of its kernel. Here it asks for
#   them only if the source does, so that they do not count otherwise.
# - It sees no times of files.
_START = """
import sys, json, os, glob, re
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
def timeless(look):
    def told(*args, **options):
        return os.stat_result((*look(*args, **options)[:7], 0, 0, 0))
    return told
os.stat, os.lstat, os.fstat = timeless(os.stat), timeless(os.lstat), timeless(os.fstat)
import Cython
newest = int("".join(re.findall("[0-9]+", Cython.__version__)[:2]))
def find(pattern, *args, original=glob.glob, **options):
    before, star, after = pattern.rpartition(".cython-*")
    if not star or glob.has_magic(after) or os.sep in after:
        return original(pattern, *args, **options)
    before = re.sub(r"\\[([*?[])\\]", r"\\1", before)
    names = (f"{before}.cython-{version}{after}" for version in range(newest + 1))
    return [name for name in names if os.path.lexists(name)]
glob.glob = find
import platform
from collections import UserString
from Cython.Compiler import ExprNodes
class Asked(UserString):
    def __init__(self, field):
        self.field = field
    @property
    def data(self):
        return os.uname()[self.field]
class Host(list):
    def __getattr__(self, name, original=platform.uname):
        return getattr(original(), name)
platform.uname = lambda: Host(["Linux", *map(Asked, range(1, 5))])
def value(self, scope, original=ExprNodes.NameNode.compile_time_value):
    found = original(self, scope)
    return found.data if isinstance(found, Asked) else found
ExprNodes.NameNode.compile_time_value = value
from Cython.Compiler.Main import main
main(command_line=1)
"""

# The variables that Python and Cython read in this program. HOME is left out: both would
# look there for caches and for the user's modules, which are not wanted.
_VARIABLES = ("LANG", "LC_*", "LANGUAGE", "LD_LIBRARY_PATH", "LD_PRELOAD", "PATH")

# The comment at the begin of a source that says that it is C++.
_CPLUS = re.compile(
    rb"\A(?:[ \t]*(?:#[^\n]*)?\n)*[ \t]*#[ \t]*distutils:[ \t]*language[ \t]*=[ \t]*c\+\+", re.IGNORECASE
)

# The C texts of hits: the same text is the same object, which has its hash already.
_texts: dict[Command, bytes] = {}
_MOST = 64


@lru_cache(maxsize=4)
def _path_as_json(path: tuple[str, ...]) -> str:
    """Return ``sys.path`` for Cython's process, as JSON. Raises LibraryError without Cython."""
    if find_spec("Cython") is None:
        raise LibraryError("Cython is not installed")
    return json.dumps([os.path.abspath(p) for p in path if p])


def _command(source: Source, texts: list[Source], folders: list[str], environment: Environment) -> Command:
    name = os.path.basename(source.name)
    cplus = _CPLUS.match(source.read()) is not None
    output = os.path.splitext(name)[0] + (".cpp" if cplus else ".c")
    arguments = [sys.executable, "-I", "-S", "-c", _START, _path_as_json(tuple(sys.path)), name, "-o", "\1/" + output]
    if cplus:
        arguments.append("--cplus")
    # A source on disk may include texts that are given in memory.
    for folder in [*(["\1"] if source.text is None and texts else []), *folders]:
        arguments += ["-I", folder]
    own = None if source.text is not None else os.path.dirname(source.name)
    return Command(
        tuple(arguments),
        tuple(texts),
        output,
        own,
        _VARIABLES,
        "cython",
        name,
        timeless=True,
        environment=environment_words(environment),
    )


class Translated(NamedTuple):
    """Sources with the Cython ones translated, and ``missed`` and ``refused`` of the translation, as in ``Built``."""

    sources: list[Source]
    missed: str
    refused: str


def _translated(command: Command, cache: Cache | None, timeout: float | None) -> tuple[Source, str, str]:
    entry = built(command, cache, timeout)
    with entry:
        view, text = entry.view, _texts.get(command)
        if text is None or text != view:
            text = bytes(view)
            if len(_texts) >= _MOST:
                _texts.clear()
            _texts[command] = text
        return Source(command.output, text), entry.missed, entry.refused


def translate(
    sources: list[Source], arguments: BuildArguments, cache: Cache | None, timeout: float | None
) -> Translated:
    """Return the sources, those in Cython translated to C or C++ with the folders and variables of the arguments."""
    texts = [s for s in sources if s.text is not None]
    done, missed, refused = [], "", ""
    for s in sources:
        if s.name.endswith(".pyx"):
            command = _command(s, texts, arguments.folders(), arguments.environment)
            source, why, why_not = _translated(command, cache, timeout)
            done.append(source)
            missed, refused = missed or why, refused or why_not
        else:
            done.append(s)
    return Translated(done, missed, refused)
