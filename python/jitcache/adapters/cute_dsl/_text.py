"""Text: the source of a function as CuTe DSL will read it.

The DSL compiles the text of a function, not its bytecode: it reads the file when
it first meets the function, and then replaces the function's code. So the text counts.
It must be the text from which the function was imported: if the file was edited since,
the function is refused, because the result depends on when the DSL read the file.
"""

from __future__ import annotations

import ast
import linecache
import os
import symtable
import types as pytypes
import weakref
from typing import NamedTuple

from jitcache._code import Unkeyable, pack
from jitcache._fork import ForkLock

from ._visibility import TELLING


class Text(NamedTuple):
    """A function's syntax tree without comments and places, the names in it, and its attributes and strings."""

    tree: str
    names: tuple[str, ...]
    attributes: tuple[str, ...]


class _File(NamedTuple):
    source: str
    codes: dict[tuple[str, int], list[pytypes.CodeType]]
    nodes: dict[tuple[str, int], ast.AST]


_files: dict[str, _File] = {}
_originals: weakref.WeakKeyDictionary[pytypes.FunctionType, pytypes.CodeType] = weakref.WeakKeyDictionary()
_texts: weakref.WeakKeyDictionary[pytypes.FunctionType, tuple[str, Text]] = weakref.WeakKeyDictionary()
_lock = ForkLock()


def _codes(code: pytypes.CodeType, found: dict[tuple[str, int], list[pytypes.CodeType]]) -> None:
    for const in code.co_consts:
        if isinstance(const, pytypes.CodeType):
            found.setdefault((const.co_name, const.co_firstlineno), []).append(const)
            _codes(const, found)


def _file(path: str, space: dict[str, object]) -> _File:
    # Read like the DSL does, through linecache, which also has the cells of notebooks.
    linecache.checkcache(path)
    source = "".join(linecache.getlines(path, space))
    known = _files.get(path)
    if known is not None and known.source == source:
        return known
    if not source:
        raise Unkeyable("no source", path)
    codes: dict[tuple[str, int], list[pytypes.CodeType]] = {}
    nodes: dict[tuple[str, int], ast.AST] = {}
    try:
        tree = ast.parse(source, path)
        _codes(compile(source, path, "exec", dont_inherit=True), codes)
    except (SyntaxError, ValueError) as e:
        raise Unkeyable("source was edited", path) from e
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            line = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            nodes[node.name, line] = node
    found = _files[path] = _File(source, codes, nodes)
    return found


def _original(function: pytypes.FunctionType) -> pytypes.CodeType:
    """Return the code that a function was defined with."""
    code = _originals.get(function)
    if code is None:
        # The DSL keeps the original here when it replaces the code. If it did not, the code matches no text: refused.
        kept = function.__dict__.get("_original_code")
        code = _originals[function] = kept if isinstance(kept, pytypes.CodeType) else function.__code__
    return code


def text_of(function: pytypes.FunctionType) -> Text:
    """Return a function's text. Raises Unkeyable if the function was not defined by it."""
    with _lock():
        code = _original(function)
        file = _file(code.co_filename, function.__globals__)
        known = _texts.get(function)
        if known is not None and known[0] is file.source:
            return known[1]
        node = file.nodes.get((code.co_name, code.co_firstlineno))
        if node is None or code not in file.codes.get((code.co_name, code.co_firstlineno), []):
            raise Unkeyable("source was edited", code.co_filename)
        if known is None and function.__code__ is not code:
            # The DSL compiled it before it was first seen here, from a text that is not known.
            raise Unkeyable("compiled before", function.__qualname__)
        text = _describe(node, code)
        if known is not None and known[1] != text:
            raise Unkeyable("source was edited", code.co_filename)
        _texts[function] = (file.source, text)
        return text


def places_of(function: pytypes.FunctionType) -> str:
    """Return the place of each part of a function's text, and of its decoration. Raises what ``text_of`` raises."""
    text_of(function)
    code = _originals[function]
    node = _files[code.co_filename].nodes[code.co_name, code.co_firstlineno]
    decorated = function.__dict__.get("_decorator_location")
    return f"{place_of(code.co_filename)} {decorated} {ast.dump(node, include_attributes=True)}"


def place_of(path: str) -> str:
    """Return what line tables say of a file: its path, its time of modification in seconds, and its size."""
    path = os.path.abspath(path)
    try:
        found = os.stat(path)
    except OSError:
        return path
    return f"{path} {int(found.st_mtime)} {found.st_size}"


def file_of(function: object) -> bytes:
    """Return the content of the file that a function is in. Raises Unkeyable if there is none."""
    if not isinstance(function, pytypes.FunctionType):
        raise Unkeyable("no source", function)
    path = function.__code__.co_filename
    linecache.checkcache(path)
    text = "".join(linecache.getlines(path, function.__globals__))
    if not text:
        raise Unkeyable("no source", path)
    return text.encode("utf-8", "surrogatepass")


def lines_of(code: pytypes.CodeType) -> bytes:
    """Return the file and the lines of a code object, and of the code objects nested in it."""
    inner = (lines_of(const) for const in code.co_consts if isinstance(const, pytypes.CodeType))
    path = place_of(code.co_filename).encode("utf-8", "surrogateescape")
    return pack(path, str(code.co_firstlineno).encode(), code.co_linetable, *inner)


def _describe(node: ast.AST, code: pytypes.CodeType) -> Text:
    names: dict[str, None] = {}
    attributes: dict[str, None] = {}
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name):
            names[inner.id] = None
        elif isinstance(inner, ast.Attribute):
            attributes[inner.attr] = None
        elif isinstance(inner, ast.Constant) and isinstance(inner.value, str):
            attributes[inner.value] = None  # it may be an argument of getattr
        elif isinstance(inner, (ast.arg, ast.AnnAssign)) and isinstance(inner.annotation, ast.Constant):
            raise Unkeyable("annotation that is text", inner.annotation.value)
        elif isinstance(inner, (ast.Import, ast.ImportFrom)):
            _look_at_import(inner, attributes)
    if not TELLING.isdisjoint(names):
        # These names of builtins are most often those of local variables: only a name that is looked up counts.
        looked_up = _looked_up(node).difference(code.co_freevars)
        for name in TELLING.difference(looked_up).intersection(names):
            del names[name]
            attributes[name] = None
    return Text(ast.dump(node), tuple(names), tuple(attributes))


def _looked_up(node: ast.AST) -> set[str]:
    """Return the global names that a function, or a function nested in it, looks up."""
    found: set[str] = set()
    tables = symtable.symtable(ast.unparse(node), "<function>", "exec").get_children()
    while tables:
        table = tables.pop()
        found.update(s.get_name() for s in table.get_symbols() if s.is_global())
        tables += table.get_children()
    return found


def _look_at_import(node: ast.Import | ast.ImportFrom, attributes: dict[str, None]) -> None:
    """Refuse an import from anything but the DSL, and note the names that it imports from there."""
    from_ = isinstance(node, ast.ImportFrom)
    for alias in node.names:
        root = ("." * node.level + (node.module or "")) if isinstance(node, ast.ImportFrom) else alias.name
        if root.partition(".")[0] != "cutlass":
            raise Unkeyable("import in a function", root)
        if from_:
            attributes[alias.name] = None
