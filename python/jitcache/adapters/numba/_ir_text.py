"""IR text: what LLVM is given for a library, without the names that differ between processes.

Numba puts numbers into names, by which it tells functions of one name apart: one that it draws for
each function, and addresses. A number in a name says only what is the same and what is not, so it is
replaced by its turn in the text. Numbers anywhere else, as in constants, stay as they are.
The names of values and blocks in a function mean nothing outside it. Numba counts some of them through all
that a process compiles, so each is replaced by its turn in the function.
"""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

#: How many digits a number has that is drawn for a name. All have as many, so that names in code keep their length.
DIGITS = 19
_LOWEST = 10 ** (DIGITS - 1)
_source = random.SystemRandom()
_drawn: set[str] = set()


def draw() -> int:
    """Return a number for a name that no other process draws, not even a forked child."""
    number = _source.randrange(_LOWEST, 2**63)
    _drawn.add(str(number))
    return number


def draw_short() -> int:
    """Return such a number for a name in which it is written in base 16."""
    number = _source.randrange(16**11, 16**12)
    _drawn.update((hex(number), f"{number:x}"))
    return number


def drawn() -> Iterator[int]:
    """Return an iterator over such numbers. Unlike a generator, several threads may use it."""
    return iter(draw, None)


# The names of constants, which no other library sees.
_OF_CONSTANTS = (".bytes.", ".const.")
# The names that code keeps: those, and the names of variables with an address, which are in no code that is kept.
_LEFT = (*_OF_CONSTANTS, "numba.dynamic.globals.")

# A number that may have been drawn. Those that were are known, so others of this length stay.
_DRAWN = re.compile(rf"(?<!\d)\d{{{DIGITS}}}(?!\d)|0x[0-9a-f]{{12}}|(?:(?<=_23)|(?<=#))[0-9a-f]{{12}}")
# The same in a whole text. One pattern for all takes three times as long.
_LONG, _HEX = re.compile(rf"\d{{{DIGITS}}}(?!\d)"), re.compile("0x[0-9a-f]{12}")
_SHORT = re.compile("(_23|#)([0-9a-f]{12})")
# The name of a global in IR, if it has an address in it, or the hash of what it names.
_NAME = re.compile(
    r'@"([^"\n]*(?:0x[0-9a-f]{8,16}|numba\.dynamic\.globals\.|\.bytes\.-?\d|\.const\.pickle|\.kernel\.\d)[^"\n]*)"'
)
_ADDRESS = re.compile(
    r"numba\.dynamic\.globals\.[0-9a-f]+|0x[0-9a-f]{8,16}|(?<=\.kernel\.)\d+|\.bytes\.-?\d+|\.const\.pickle(?:data|buf)\.[0-9a-f]+"
)
# The message for an environment that is missing: a constant that has the name of the environment in it.
_MISSING = re.compile(r'c"missing Environment: [^"\n]*0x[0-9a-f]{8,16}[^"\n]*"')
# A function's definition, the label of a block in it, and anything in quotes there: names of values begin with %.
_BODY = re.compile(r"^define .*?^}", re.MULTILINE | re.DOTALL)
_LABEL = re.compile(r'^(?:"([^"\n]*)"|([^\s:@%;"]+)):', re.MULTILINE)
_QUOTED = re.compile(r'([%@!c]?"[^"\n]*")')
_NAMED_TYPE = re.compile(r"^%[^\n=]* = type ", re.MULTILINE)
# An instruction with flags of fast arithmetic. Numba writes them in the order of a set; the order means nothing.
_FLAG = "(?:afn|arcp|contract|fast|ninf|nnan|nsz|reassoc) "
_FLAGS = re.compile(
    rf'^(  (?:%"[^"\n]*" = )?(?:tail )?(?:f[a-z]+|call|phi|select) )({_FLAG}{_FLAG}(?:{_FLAG})*)', re.MULTILINE
)
# The hash of a pickle that is a constant beside it. The pickle may have a drawn number in it.
_HASH = re.compile(r'^(@"\.const\.pickledata\.[^"\n]*\.sha1" = internal constant \[20 x i8\] )c"[^"\n]*"', re.MULTILINE)
# The lines of IR that name a module, and that define or declare a global.
_MODULE = re.compile(r"^(; ModuleID|source_filename) = .*\n", re.MULTILINE)
_EXTERNAL = r"@[^\n]* = (?:external|extern_weak) "
_GLOBAL = r'@("[^"\n]*"|[-\w$.]+)'
_DECLARED = re.compile(rf"^(?:declare [^@\n]*|(?={_EXTERNAL})){_GLOBAL}", re.MULTILINE)
_DEFINED = re.compile(rf"^(?:define [^@\n]*|(?!{_EXTERNAL})){_GLOBAL}", re.MULTILINE)


class Given(NamedTuple):
    """The text of modules without the numbers in names, and these in the order of the text."""

    text: str
    numbers: tuple[str, ...]
    defined: frozenset[str]  # the numbers in the names of what is defined there
    declared: frozenset[str]


def numbers_in(text: str) -> list[str]:
    """Return the numbers in a name."""
    return [*(n for n in _DRAWN.findall(text) if n in _drawn), *_ADDRESS.findall(text)]


_LEARNED = re.compile(rf"(?<=v)\d{{{DIGITS}}}(?!\d)")


def numbers_of(names: list[str]) -> tuple[str, ...]:
    """Return the numbers in the names that a library defines, some of which another process may have drawn."""
    for name in names:
        _drawn.update(_LEARNED.findall(name))
    return tuple(dict.fromkeys(n for name in names for n in numbers_in(name)))


def given(modules: list[str]) -> Given:
    """Return the text of a library's modules as it is compared."""
    text = _MODULE.sub("", "\0".join(modules))
    turns: dict[str, str] = {}

    def turn(number: str) -> str:
        return turns.setdefault(number, f"#{len(turns)}")

    def of_drawn(found: re.Match[str]) -> str:
        return turn(found[0]) if found[0] in _drawn else found[0]

    def of_short(found: re.Match[str]) -> str:
        return found[1] + turn(found[2]) if found[2] in _drawn else found[0]

    def of_name(found: re.Match[str]) -> str:
        return _ADDRESS.sub(lambda m: turn(m[0]), found[0])

    text = _HASH.sub(r"\1", text)
    text = _FLAGS.sub(lambda m: m[1] + " ".join(sorted(m[2].split())) + " ", text)
    plain = _SHORT.sub(of_short, _HEX.sub(of_drawn, _LONG.sub(of_drawn, text)))
    plain = _MISSING.sub(of_name, _NAME.sub(of_name, plain))
    if not _NAMED_TYPE.search(plain):  # types have names of the same form; Numba's have none
        plain = _BODY.sub(_without_local_names, plain)
    found = (frozenset(n for name in form.findall(text) for n in numbers_in(name)) for form in (_DEFINED, _DECLARED))
    return Given(plain, tuple(turns), *found)


def shared(numbers: tuple[str, ...]) -> list[str]:
    """Return those numbers that are in names which other libraries see."""
    return [number for number in numbers if not number.startswith(_OF_CONSTANTS)]


def _without_local_names(body: re.Match[str]) -> str:
    """Return a function's definition with a turn for the name of each argument, value and block."""
    parts = _QUOTED.split(_LABEL.sub(r'%"\1\2":', body[0]))
    turns = {name: f"%{turn}" if name[0] == "%" else name for turn, name in enumerate(dict.fromkeys(parts[1::2]))}
    parts[1::2] = map(turns.__getitem__, parts[1::2])
    return "".join(parts)


def renamed(data: bytes, old: tuple[str, ...], new: tuple[str, ...]) -> bytes:
    """Return code with other numbers in its names. Raises ValueError if their lengths differ."""
    moves = {o.encode(): n.encode() for o, n in zip(old, new) if o != n and not o.startswith(_LEFT)}
    if len(old) != len(new) or any(len(o) != len(n) for o, n in moves.items()):
        raise ValueError("a number in a name has another length here")
    if not moves:
        return data
    return re.sub(b"|".join(map(re.escape, moves)), lambda m: moves[m[0]], data)
