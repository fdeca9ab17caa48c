"""Things outside all keys that a source may make the compiler look at: files that snippets name, and the clock."""

from __future__ import annotations

import re

from warp._src import codegen

#: Headers of Warp's, which are in the key.
_HEADERS = {b'"builtin.h"', b'"deterministic.h"', b'"aot.h"'}

#: Directives that look at nothing. A definition must not contain ``#``, which can join words into others.
_HARMLESS = re.compile(
    rb"\#\s*(?:(?:define|undef|if|ifdef|ifndef|elif)\b[^#]*|else|endif|pragma\s+unroll(?:\s+\w+)?|line\s+\d+\s+\"[^\"]*\")\s*"
)
_INCLUDE = re.compile(rb"\#\s*include\s*(\"[^\"]*\")\s*")

_SPLICE = re.compile(rb"\\[ \t]*\r?\n")
_COMMENT_OR_TEXT = re.compile(rb"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.DOTALL)

#: Words that ask the compiler for the time, or whether a file exists; and assembler, which can include files.
_WORDS = re.compile(rb"\b(?:__DATE__|__TIME__|__TIMESTAMP__|__has_\w+|_Pragma|asm|__asm|__asm__)\b")

#: Other ways to write what is searched for here: raw strings and trigraphs.
_DISGUISES = (b'R"', b"??=", b"??/")

# The directives that Warp itself writes at the beginning of each source.
_WARPS = {
    line.strip().encode()
    for text in vars(codegen).values()
    if isinstance(text, str)
    for line in text.splitlines()
    if line.strip().startswith("#")
}


def unseen(source: bytes) -> str:
    """Return what in a source makes the compiler look at something that no key has, "" if nothing does."""
    if any(disguise in source for disguise in _DISGUISES):
        return "raw text"
    text = _COMMENT_OR_TEXT.sub(_without_comments, _SPLICE.sub(b"", source))
    for line in map(bytes.strip, text.splitlines()):
        if line in _WARPS:
            continue
        bare = _COMMENT_OR_TEXT.sub(b"", line)
        if found := _WORDS.search(bare):
            return found[0].decode()
        if (b"#" in bare or b"%:" in bare) and not _is_harmless(line):
            return "include"
    return ""


def _without_comments(found: re.Match[bytes]) -> bytes:
    return b" " if found[0].startswith(b"/") else found[0]


def _is_harmless(directive: bytes) -> bool:
    included = _INCLUDE.fullmatch(directive)
    return included[1] in _HEADERS if included else _HARMLESS.fullmatch(directive) is not None
