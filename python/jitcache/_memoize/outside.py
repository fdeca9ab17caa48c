"""What of Python's own library looks at nothing outside of a program.

This is the one list of that, and it lists what is allowed: a function that uses
anything else of the standard library depends on what nobody sees, a file, the
environment, the clock, and is not kept.
"""

from __future__ import annotations

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

# Of Python 3.9 to 3.14. Not what looks names up by texts (get_type_hints, ForwardRef, evaluate_forward_ref), nor what
# answers by what others have registered (get_overloads): so not the module as a whole either.
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
    # The classes of what these give.
    "NoDefaultType", "_AnnotatedAlias", "_AnyMeta", "_CallableGenericAlias", "_CallableType",
    "_ConcatenateGenericAlias", "_DeprecatedGenericAlias", "_GenericAlias", "_LiteralGenericAlias",
    "_LiteralSpecialForm", "_NoExtraItemsType", "_ProtocolMeta", "_Sentinel", "_SpecialForm", "_SpecialGenericAlias",
    "_TupleType", "_TypedCacheSpecialForm", "_TypedDictMeta", "_UnionGenericAlias", "_UnpackGenericAlias",
    # Functions that it puts into classes and in place of what is decorated, by the names of their code. What those of
    # annotations ask is in their closures.
    "<lambda>", "__annotate__", "annotate", "inner", "new_type", "_generic_class_getitem", "_namedtuple_mro_entries",
    "_no_init_or_replace_init", "_overload_dummy", "_proto_hook",
))  # fmt: skip

# A name of C stands beside the module that its objects are asked for in.
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
    # This package: what it raises. A key may read files.
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


# Attributes with two underscores that say what a value is or does, and lead nowhere else: those of data, and these.
_DATA = (object, int, float, complex, str, bytes, bytearray, memoryview, list, dict, set, range, slice, BaseException)
_SAID = (
    "__annotations__", "__args__", "__await__", "__call__", "__cause__", "__context__", "__dict__", "__enter__",
    "__exit__", "__func__", "__instancecheck__", "__members__", "__metadata__", "__missing__", "__module__",
    "__mro__", "__name__", "__next__", "__notes__", "__origin__", "__post_init__", "__prepare__",
    "__qualname__", "__set__", "__set_name__", "__slots__", "__subclasscheck__", "__version__", "__wrapped__",
)  # fmt: skip
_PROTOCOL = frozenset(name for kind in _DATA for name in dir(kind)) | frozenset(_SAID)
_PROTOCOL -= {"__hash__", "__traceback__", "__reduce__", "__reduce_ex__", "__subclasshook__"}
# Of frames, which lead to all that runs.
_FRAMES = frozenset(("ag_frame", "cr_frame", "f_back", "f_builtins", "f_globals", "f_locals", "gi_frame", "tb_frame"))


def leads_elsewhere(attribute: str) -> bool:
    """Return whether an attribute of a value may give what the value does not hold, its function's globals say."""
    if attribute in _FRAMES:
        return True
    return attribute.startswith("__") and attribute.endswith("__") and attribute not in _PROTOCOL


# What functions, classes and packages have beside that. By a text it may be asked of any value.
_MACHINERY = (type, types.FunctionType, types.BuiltinFunctionType, types.MethodType)
_LEADING = frozenset(name for kind in _MACHINERY for name in dir(kind)) | _FRAMES
_LEADING |= {name for name in vars(collections) if name.startswith("__")} - {"__all__", "__getattr__"}
_LEADING -= _PROTOCOL | {*functools.WRAPPER_ASSIGNMENTS}  # which stand in the __dict__ of what wraps
_WORDS = re.compile(r"\w+")


def is_leading(text: str) -> bool:
    """Return whether a text is the name of such an attribute, for getattr."""
    return text in _LEADING


def leading_words(text: str) -> list[str]:
    """Return the names of such attributes in a text, which str.format may ask for."""
    return [word for word in _WORDS.findall(text) if word in _LEADING]
