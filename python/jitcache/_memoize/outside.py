"""The parts of Python's own library that look at nothing outside of a program.

This allow-list is the only one. A function that uses anything else of the standard
library may depend on a file, the environment or the clock, which the walk does not
see, and its results are not kept.
"""

from __future__ import annotations

import _thread
import collections
import functools
import re
import types

_ALL: frozenset[str] = frozenset()  # of a module: all its names

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
_INSIDE: dict[str, frozenset[str]] = {
    "builtins": _BUILTINS,
    "__future__": _ALL,
    "_abc": _ALL,
    "_bisect": _ALL,
    "_blake2": _ALL,
    "_collections": _ALL,
    "_collections_abc": _ALL,
    "_functools": _ALL,
    "_hashlib": _ALL,
    "_heapq": _ALL,
    "_io": frozenset(("BytesIO", "StringIO")),
    "_json": _ALL,
    "_md5": _ALL,
    "_operator": _ALL,
    "_sha1": _ALL,
    "_sha2": _ALL,
    "_sha256": _ALL,
    "_sha3": _ALL,
    "_sha512": _ALL,
    "_sre": _ALL,
    "_struct": _ALL,
    "_thread": frozenset(("RLock", "lock")),
    "_typing": _ALL,
    "_weakrefset": _ALL,
    "abc": _ALL,
    "array": _ALL,
    "ast": _ALL,
    "base64": _ALL,
    "binascii": _ALL,
    "bisect": _ALL,
    "cmath": _ALL,
    "collections": _ALL,
    "colorsys": _ALL,
    "contextlib": _ALL,
    "copy": _ALL,
    "copyreg": _ALL,
    "dataclasses": _ALL,
    "difflib": _ALL,
    "enum": _ALL,
    "fractions": _ALL,
    "functools": _ALL,
    "genericpath": frozenset(("_splitext", "commonprefix")),
    "graphlib": _ALL,
    "hashlib": _ALL,
    "heapq": _ALL,
    "hmac": _ALL,
    "html": _ALL,
    "io": frozenset(("BytesIO", "StringIO")),
    "itertools": _ALL,
    "json": _ALL,
    "keyword": _ALL,
    "logging": frozenset((
        "CRITICAL", "DEBUG", "ERROR", "INFO", "Logger", "WARNING", "critical", "debug", "error", "exception",
        "info", "log", "warning",
    )),
    "math": _ALL,
    "numbers": _ALL,
    "operator": _ALL,
    "os": frozenset(("altsep", "extsep", "fsdecode", "fsencode", "fspath", "linesep", "pathsep", "sep")),
    "posix": frozenset(("fspath",)),
    "posixpath": frozenset((
        "basename", "commonpath", "commonprefix", "dirname", "isabs", "join", "normcase", "normpath", "sep", "split",
        "splitext",
    )),
    "pprint": _ALL,
    "re": _ALL,
    "reprlib": _ALL,
    "shlex": frozenset(("join", "quote", "split")),
    "string": _ALL,
    "struct": _ALL,
    "sys": frozenset((
        "byteorder", "float_info", "hexversion", "implementation", "int_info", "maxsize", "maxunicode", "platform",
        "version", "version_info",
    )),
    "textwrap": _ALL,
    "types": _ALL,
    "typing": _TYPING,
    "unicodedata": _ALL,
    "urllib.parse": _ALL,
    "warnings": frozenset(("warn",)),
    "zlib": _ALL,
    # This package: only its exceptions. Making a key may read files.
    "jitcache": frozenset(("CompileError", "DriverError", "Error", "LibraryError", "RefusedError")),
    "jitcache._errors": _ALL,
}  # fmt: skip


def is_inside(module: str, name: str = "") -> bool:
    """Return whether a name of a module looks at nothing outside; without one, whether all its names do."""
    found = _INSIDE.get(module)
    if found is None and _INSIDE.get(module.partition(".")[0]) is _ALL:  # json.encoder, by json
        found = _ALL
    if found is None:
        return False
    return found is _ALL or name in found


# Attributes with two underscores that lead to nothing beyond the value: those of data types, and these.
_DATA = (object, int, float, complex, str, bytes, bytearray, memoryview, list, dict, set, range, slice, BaseException)
_SAID = (
    "__annotations__", "__args__", "__await__", "__call__", "__cause__", "__context__", "__dict__", "__enter__",
    "__exit__", "__func__", "__instancecheck__", "__members__", "__metadata__", "__missing__", "__module__",
    "__mro__", "__name__", "__next__", "__notes__", "__origin__", "__post_init__", "__prepare__",
    "__qualname__", "__set__", "__set_name__", "__slots__", "__subclasscheck__", "__version__", "__wrapped__",
)  # fmt: skip
_PROTOCOL = frozenset(name for kind in _DATA for name in dir(kind)) | frozenset(_SAID)
_PROTOCOL -= {"__hash__", "__traceback__", "__reduce__", "__reduce_ex__", "__subclasshook__"}
_LOCKS = (_thread.LockType, _thread.RLock)
#: Attributes of locks that tell who holds one: all but what ``with`` uses.
ASKS_LOCKS = frozenset(name for kind in _LOCKS for name in dir(kind)) - {*dir(object), "__enter__", "__exit__"}
#: Attributes that tell whose memory an array is in.
ASKS_ARRAYS = frozenset(("base", "flags", "owndata", "resize"))
#: Attributes of a logger by which code finds loggers that nobody has named,
LEADS_FROM_LOGGERS = frozenset(("getChild", "getChildren", "loggerDict", "manager"))
#: or what stands behind it.
ASKS_LOGGERS = LEADS_FROM_LOGGERS | {"callHandlers", "filter", "filters", "handle", "handlers", "parent", "root"}
# Attributes that lead to frames, and so to everything that runs.
_FRAMES = frozenset(("ag_frame", "cr_frame", "f_back", "f_builtins", "f_globals", "f_locals", "gi_frame", "tb_frame"))


def leads_elsewhere(attribute: str) -> bool:
    """Return whether an attribute may lead to something that the value does not hold, such as a function's globals."""
    if attribute in _FRAMES:
        return True
    return attribute.startswith("__") and attribute.endswith("__") and attribute not in _PROTOCOL


# Further attributes of functions, classes and packages. getattr may ask any value for them, by a text.
_MACHINERY = (type, types.FunctionType, types.BuiltinFunctionType, types.MethodType)
_LEADING = frozenset(name for kind in _MACHINERY for name in dir(kind)) | _FRAMES
_LEADING |= {name for name in vars(collections) if name.startswith("__")} - {"__all__", "__getattr__"}
_LEADING -= _PROTOCOL | {*functools.WRAPPER_ASSIGNMENTS}  # functools.wraps puts these into the __dict__ of a wrapper
_WORDS = re.compile(r"\w+")


def is_leading(text: str) -> bool:
    """Return whether a text is the name of such an attribute, for getattr."""
    return text in _LEADING


def leading_words(text: str) -> list[str]:
    """Return the names of such attributes in a text, which str.format may ask for."""
    return [word for word in _WORDS.findall(text) if word in _LEADING]
