"""Named variables: those of this process that a compiler in a shared library may obey.

No manual says which these are: libmathdx, for example, passes the text of ``LIBMATHDX_NVRTC_ARGS_EXTRA`` to NVRTC. A
compiler asks for a variable by its name, so its library contains the name; NVIDIA's contain some by ROT13 (``AB_BCG``
is ``NO_OPT``). So a variable counts if the library contains its name, either way. libNVVM hides a few names better;
they were seen when it asked for them.
"""

from __future__ import annotations

import codecs
import functools
import mmap
import os
import re
from typing import TYPE_CHECKING

from jitcache import Key, Tool

if TYPE_CHECKING:
    from jitcache import Cache

#: The kind of the entries that hold the names in a library: to find them takes seconds.
KIND = "_library-names"

#: Variables of logins, shells and terminals, whose names are words that any large file contains. They say where things
#: are, who asks and how to print. This is an allow-list: all others count.
_HARMLESS = frozenset(
    (
        "COLUMNS", "DISPLAY", "EDITOR", "HOME", "HOST", "HOSTNAME", "LANG", "LANGUAGE", "LINES", "LOGNAME", "MAIL",
        "OLDPWD", "PAGER", "PATH", "SHELL", "SHLVL", "SSL_CERT_DIR", "SSL_CERT_FILE", "TEMP", "TERM", "TMP",
        "TMPDIR", "USER", "_",
    )
)  # fmt: skip

#: How the hidden names begin: ``NV_NVVM_VERSION`` is the version of the IR that libNVVM reads.
_HIDDEN = ("LIBNVVM_", "NV_NVVM_")

# A name may stand in a longer text, or beside another without a NUL between them.
_WORD = re.compile(rb"[A-Z_][A-Z0-9_]{3,}")

_texts: dict[str, str] = {}  # the words of a library, by the key of their entry


def obeyed(cache: Cache, library: str) -> list[str]:
    """Return the variables that the library at a path may obey, as ``NAME=value``. Raises OSError."""
    memo = Key(names=Tool(library)).named(os.path.basename(library))
    if memo.hex not in _texts:
        _texts[memo.hex] = _known_words(cache, memo, library)
    names = _names_in(_texts[memo.hex], tuple(os.environ))
    return [f"{name}={os.environ[name]}" for name in names if name in os.environ]


@functools.lru_cache(maxsize=16)
def _names_in(text: str, names: tuple[str, ...]) -> list[str]:
    return sorted(
        name
        for name in names
        if name not in _HARMLESS
        and (name.startswith(_HIDDEN) or any(_is_in(text, word) for word in (name, codecs.encode(name, "rot13"))))
    )


def _is_in(text: str, name: str) -> bool:
    return (name if "_" in name else f"\n{name}\n") in text  # LANG is a part of LANGUAGE


def _known_words(cache: Cache, memo: Key, library: str) -> str:
    stored = cache.get(memo, kind=KIND)
    if stored is not None:
        return bytes(stored).decode()
    with open(library, "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as content:
        words = sorted({found.group().decode() for found in _WORD.finditer(content)})
    text = "\n".join(("", *words, ""))
    cache.put(memo, text.encode(), kind=KIND)
    return text
