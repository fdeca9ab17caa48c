"""Settings of the interpreter that change the results of code that does not ask for them."""

from __future__ import annotations

import _locale  # importing locale would take a millisecond
import functools
import hashlib
import os
import re
import sys
import warnings
from typing import Any

from jitcache import _processor
from jitcache._code import Unkeyable
from jitcache._version import __version__


@functools.cache
def python_version() -> bytes:
    """Return what tells this Python from others, as far as the results of its functions depend on it.

    The C library, and NumPy, choose their mathematics by the processor. Raises Unkeyable
    if the processor cannot be found out.
    """
    flags = tuple(getattr(sys.flags, name) for name in ("optimize", "utf8_mode", "bytes_warning"))
    # Without PYTHONHASHSEED the hashes of texts, and with them the order of sets, are random.
    hashes = hash("jitcache") if os.environ.get("PYTHONHASHSEED", "random") != "random" else None
    if (processor := _processor.description()) is None:
        raise Unkeyable("unknown processor", os.uname().machine)
    said = (
        sys.version,
        sys.implementation.cache_tag,
        sys.byteorder,
        sys.maxsize,
        sys.platform,
        os.uname().machine,
        os.confstr("CS_GNU_LIBC_VERSION") if "CS_GNU_LIBC_VERSION" in os.confstr_names else None,
        os.environ.get("GLIBC_TUNABLES"),
        sys.getfilesystemencoding(),
        sys.getfilesystemencodeerrors(),
        processor,
        flags,
        hashes,
    )
    return hashlib.sha256(repr((said, __version__)).encode()).digest()[:16]


#: One, a number that is too small to change it, the smallest normal number, and the smallest of all. They are no
#: constants, because Python computes with constants only once.
_FLOATS = [1.0, 2.0**-60, sys.float_info.min, 5e-324]


def settings() -> bytes:
    """Return the settings that count.

    They are the recursion limit, the digits of int to str, the warnings that are errors,
    the locale's numbers and letters, and how this thread's processor rounds.
    """
    said = (
        sys.getrecursionlimit(),
        getattr(sys, "get_int_max_str_digits", int)(),
        _errors(),
        _numbers(),
        _letters(_locale.setlocale(_locale.LC_CTYPE)),
        _rounding(),
    )
    return repr(said).encode()


def _numbers() -> list[Any]:
    """Return how the locale writes numbers. Its name says less: ``LOCPATH`` may lead to another of that name."""
    found: Any = _locale.localeconv()
    return [found[name] for name in ("decimal_point", "thousands_sep", "grouping")]


@functools.cache
def hashes_of_system() -> bytes:
    """Return the hashes that the system's OpenSSL offers, which its configuration decides."""
    hashlib.new("sha256")  # which reads it
    system: Any = sys.modules.get("_hashlib")
    if system is None:
        return b""
    return repr((sorted(system.openssl_md_meth_names), system.get_fips_mode())).encode()


@functools.cache
def _letters(locale: str) -> str:  # noqa: ARG001 - the one that is set
    """Return a digest of which bytes are letters for re.LOCALE, and which of them have another case."""
    every = bytes(range(256))
    letters = re.findall(rb"(?L)\w", every)
    cased = [c for c in letters if len(re.findall(b"(?Li)" + re.escape(c), every)) > 1]
    return hashlib.sha256(b"".join(letters) + b" " + b"".join(cased)).hexdigest()[:16]


def _rounding() -> tuple[bool, ...]:
    """Return in which direction floats are rounded, and whether the smallest count as zero, as with -ffast-math."""
    one, little, small, least = _FLOATS
    return one + little > one, one - little < one, -one - little < -one, small / 2 == 0.0, least == 0.0


def _errors() -> list[tuple[Any, ...]]:
    """Return the filters of warnings if one of them raises. A warning that is only shown is no result."""
    filters: Any = warnings.filters
    if not any(one[0] == "error" for one in filters):
        return []
    return [
        (action, _pattern_text(message), f"{category.__module__}.{category.__qualname__}", _pattern_text(module), line)
        for action, message, category, module, line in filters
    ]


def _pattern_text(pattern: Any) -> str | None:
    return None if pattern is None else str(getattr(pattern, "pattern", pattern))
