"""What an area says of itself: what it runs and when, and which rooms its tests stand on."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from .common import Count


class When(enum.Enum):
    """What runs an area."""

    TEST = "make test"
    PUSH = "every push"
    ALL = "make test-all"
    NAMED = "who names it"


@dataclass(frozen=True)
class Area:
    """An area of the tests."""

    name: str
    #: Runs it, or those of its rows that ``common.pytest`` and ``chosen`` leave to it, and counts.
    run: Callable[[], Count]
    when: When
    #: The rooms that all its tests stand on; ``*`` ends a name that stands for several.
    uses: tuple[str, ...]
    #: What only some of its files of tests stand on, beside ``uses``.
    parts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    #: The folders of its tests, of which each file test_*.py is a part of its own.
    folders: tuple[str, ...] = ()
    #: Patterns of the files of tests in its folders that it has rows of, where these are not all.
    only: tuple[str, ...] = ()
    #: Tests that make test leaves to a push, as the area NAME-push: a pattern of their names, and of how many rows make
    #: test runs one, 0 for none.
    pushed: Mapping[str, int] = field(default_factory=dict)
    #: Tests that a push leaves to make test-all: a pattern of their names, and of how many rows a push runs one, 0 for none.
    later: Mapping[str, int] = field(default_factory=dict)
    #: Runs what is left to make test-all, as the area NAME-rest, where that is no matter of rows.
    rest: Callable[[], Count] | None = None
    #: It waits for compilers and measures no times, so it runs beside the others.
    beside: bool = False
    #: Part of make test, it runs on a push with gcc too.
    with_gcc: bool = False
    #: Its tests run in so many areas, each a part of their tables.
    shards: int = 1
    #: The environment with a framework that it makes, where making it takes as long as tests; "all" if it makes all of them.
    environment: str = ""
    #: It runs whatever has changed: it checks what the choice rests on, or reads all files.
    always: bool = False
