"""Attributes by which code leaves a value: for frames, globals, loggers and what an array's memory belongs to."""

from __future__ import annotations

import _thread
import collections
import functools
import re
import types

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
