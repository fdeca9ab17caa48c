"""The parts of Python's own library that look at nothing outside of a program.

This allow-list is the only one. What uses anything else of the standard library may
depend on a file, the environment, the clock or chance. A walk over functions does not
see that, so their results are not kept.

Each row says how it was found out. ``tests/python/test_pure_stdlib.py`` repeats that
for the modules in Python.
"""

from __future__ import annotations

from typing import NamedTuple


class Row(NamedTuple):
    """A module: which of its names are pure, and how that was found out."""

    found: str
    names: frozenset[str] | None = None  # None: all, and those of the modules inside it
    beside: tuple[str, ...] = ()  # what its source imports that is not on the list


#: The module is in C, and by its documentation works on the values that it is given.
C = "in C"
#: The module is in Python: its source, of 3.9 to 3.14, imports only modules of the list, and ``beside``.
SOURCE = "source"
#: Only these names were read, with all that they call.
NAMES = "names"

_BUILTINS = frozenset((
    "__build_class__", "abs", "all", "any", "ascii", "bin", "callable", "chr", "delattr", "divmod", "format", "getattr",
    "hasattr", "hash", "hex", "isinstance", "issubclass", "iter", "len", "locals", "max", "min", "next", "oct", "ord",
    "pow", "print", "repr", "round", "setattr", "sorted", "sum", "vars",
))  # fmt: skip

# Of Python 3.9 to 3.14. Without functions that look names up by texts (get_type_hints, ForwardRef,
# evaluate_forward_ref) or return what others have registered (get_overloads). So the module is not allowed as a whole.
_TYPING = frozenset((
    "AbstractSet", "Annotated", "Any", "AnyStr", "AsyncContextManager", "AsyncGenerator", "AsyncIterable",
    "AsyncIterator", "Awaitable", "BinaryIO", "ByteString", "Callable", "ChainMap", "ClassVar", "Collection",
    "Concatenate", "Container", "ContextManager", "Coroutine", "Counter", "DefaultDict", "Deque", "Dict", "Final",
    "FrozenSet", "Generator", "Generic", "Hashable", "IO", "ItemsView", "Iterable", "Iterator", "KeysView", "List",
    "Literal", "LiteralString", "Mapping", "MappingView", "Match", "MutableMapping", "MutableSequence", "MutableSet",
    "NamedTuple", "Never", "NewType", "NoDefault", "NoExtraItems", "NoReturn", "NotRequired", "Optional",
    "OrderedDict", "ParamSpec", "ParamSpecArgs", "ParamSpecKwargs", "Pattern", "Protocol", "ReadOnly", "Required",
    "Reversible", "Self", "Sequence", "Set", "Sized", "SupportsAbs", "SupportsBytes", "SupportsComplex",
    "SupportsFloat", "SupportsIndex", "SupportsInt", "SupportsRound", "TYPE_CHECKING", "Text", "TextIO", "Tuple",
    "Type", "TypeAlias", "TypeAliasType", "TypeGuard", "TypeIs", "TypeVar", "TypeVarTuple", "TypedDict", "Union",
    "Unpack", "ValuesView", "assert_never", "assert_type", "cast", "dataclass_transform", "final", "get_args",
    "get_origin", "get_protocol_members", "is_protocol", "is_typeddict", "no_type_check", "no_type_check_decorator",
    "overload", "override", "reveal_type", "runtime_checkable",
    # The classes of the objects that these return.
    "NoDefaultType", "_AnnotatedAlias", "_AnyMeta", "_CallableGenericAlias", "_CallableType",
    "_ConcatenateGenericAlias", "_DeprecatedGenericAlias", "_GenericAlias", "_LiteralGenericAlias",
    "_LiteralSpecialForm", "_NoExtraItemsType", "_ProtocolMeta", "_Sentinel", "_SpecialForm", "_SpecialGenericAlias",
    "_TupleType", "_TypedCacheSpecialForm", "_TypedDictMeta", "_UnionGenericAlias", "_UnpackGenericAlias",
    # Functions that typing puts into classes and in place of decorated functions, by the names of their code. Those for
    # annotations ask only for what is in their closures.
    "<lambda>", "__annotate__", "annotate", "inner", "new_type", "_generic_class_getitem", "_namedtuple_mro_entries",
    "_no_init_or_replace_init", "_overload_dummy", "_proto_hook",
))  # fmt: skip

# The names of modules in C stand beside the modules through which programs reach them.
ROWS: dict[str, Row] = {
    "__future__": Row(SOURCE),
    "_abc": Row(C),
    "_bisect": Row(C),
    "_blake2": Row(C),
    "_collections": Row(C),
    "_collections_abc": Row(SOURCE, beside=("sys", "warnings")),
    "_functools": Row(C),
    "_hashlib": Row(C),
    "_heapq": Row(C),
    "_io": Row(NAMES, frozenset(("BytesIO", "StringIO"))),
    "_json": Row(C),
    "_md5": Row(C),
    "_operator": Row(C),
    "_sha1": Row(C),
    "_sha2": Row(C),
    "_sha256": Row(C),
    "_sha3": Row(C),
    "_sha512": Row(C),
    "_sre": Row(C),
    "_struct": Row(C),
    "_thread": Row(NAMES, frozenset(("RLock", "lock"))),
    "_typing": Row(C),
    "_weakrefset": Row(SOURCE, beside=("_weakref",)),
    "abc": Row(SOURCE, beside=("_py_abc",)),
    "array": Row(C),
    # Its command line, and the interpreter's own parser.
    "ast": Row(SOURCE, beside=("_ast", "_ast_unparse", "_colorize", "argparse", "inspect", "sys", "warnings")),
    "base64": Row(SOURCE, beside=("getopt", "sys", "warnings")),  # its command line
    "binascii": Row(C),
    "bisect": Row(SOURCE),
    "builtins": Row(NAMES, _BUILTINS),
    "cmath": Row(C),
    "collections": Row(SOURCE, beside=("_weakref", "sys", "warnings")),  # names for tracebacks
    "colorsys": Row(SOURCE),
    # The exception that is handled; os for chdir alone, which returns nothing.
    "contextlib": Row(SOURCE, beside=("os", "sys")),
    "copy": Row(SOURCE, beside=("org.python.core", "weakref")),  # the weak references that it copies
    "copyreg": Row(SOURCE),
    # The module of a class, by its name.
    "dataclasses": Row(SOURCE, beside=("_thread", "annotationlib", "builtins", "inspect", "sys")),
    "difflib": Row(SOURCE, beside=("_colorize", "doctest")),  # its tests
    "enum": Row(SOURCE, beside=("builtins", "sys", "warnings")),  # the module of a class, by its name
    "fractions": Row(SOURCE, beside=("decimal", "sys", "warnings")),  # the hash of numbers
    "functools": Row(SOURCE, beside=("_thread", "typing", "warnings", "weakref")),  # locks of its caches
    "genericpath": Row(NAMES, frozenset(("_splitext", "commonprefix"))),
    "graphlib": Row(SOURCE),
    "hashlib": Row(SOURCE, beside=("logging", "warnings")),  # a message if a digest is missing
    "heapq": Row(SOURCE, beside=("doctest",)),  # its tests
    "hmac": Row(SOURCE, beside=("_hmac", "warnings")),
    "html": Row(SOURCE),
    "io": Row(NAMES, frozenset(("BytesIO", "StringIO"))),
    "itertools": Row(C),
    "json": Row(SOURCE, beside=("codecs",)),  # the marks of encodings
    "keyword": Row(SOURCE, beside=("sys",)),
    "logging": Row(NAMES, frozenset((
        "CRITICAL", "DEBUG", "ERROR", "INFO", "Logger", "WARNING", "critical", "debug", "error", "exception",
        "info", "log", "warning",
    ))),
    "math": Row(C),
    "numbers": Row(SOURCE),
    "operator": Row(SOURCE, beside=("builtins",)),
    "os": Row(NAMES, frozenset(("altsep", "extsep", "fsdecode", "fsencode", "fspath", "linesep", "pathsep", "sep"))),
    "posix": Row(NAMES, frozenset(("fspath",))),
    "posixpath": Row(NAMES, frozenset((
        "basename", "commonpath", "commonprefix", "dirname", "isabs", "join", "normcase", "normpath", "sep", "split",
        "splitext",
    ))),
    "pprint": Row(SOURCE, beside=("_colorize", "io", "sys", "time")),  # its measurements; the width is an argument
    # The flag LOCALE, of patterns of bytes.
    "re": Row(SOURCE, beside=("_locale", "sre_compile", "sre_constants", "sre_parse", "warnings")),
    "reprlib": Row(SOURCE, beside=("_thread", "builtins")),  # the thread, against endless recursion
    "shlex": Row(NAMES, frozenset(("join", "quote", "split"))),
    "string": Row(SOURCE, beside=("_string",)),
    "struct": Row(SOURCE),
    "sys": Row(NAMES, frozenset((
        "byteorder", "float_info", "hexversion", "implementation", "int_info", "maxsize", "maxunicode", "platform",
        "version", "version_info",
    ))),
    "textwrap": Row(SOURCE),
    "types": Row(SOURCE, beside=("_socket", "_types", "sys")),  # types of the interpreter
    "typing": Row(NAMES, _TYPING),
    "unicodedata": Row(C),
    "urllib.parse": Row(SOURCE, beside=("ipaddress", "sys", "warnings")),  # forms of addresses
    "warnings": Row(NAMES, frozenset(("warn",))),
    "zlib": Row(C),
    # This package: only its exceptions. Making a key may read files.
    "jitcache": Row(NAMES, frozenset(("CompileError", "DriverError", "Error", "LibraryError", "RefusedError"))),
    "jitcache._errors": Row(SOURCE),
}  # fmt: skip


def is_pure(module: str, name: str = "") -> bool:
    """Return whether a name of a module looks at nothing outside; without one, whether all its names do."""
    row = ROWS.get(module)
    if row is None:
        around = ROWS.get(module.partition(".")[0])  # json.encoder, by json
        return around is not None and around.names is None
    return row.names is None or name in row.names
