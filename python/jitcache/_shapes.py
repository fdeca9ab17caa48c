"""The shapes of what the cache says of itself, for type checkers. Nothing here is read at run time."""

from __future__ import annotations

from typing import TypedDict


class Bad(TypedDict):
    """A damaged entry."""

    path: str
    reason: str


class Verified(TypedDict):
    """What ``Cache.verify`` has found."""

    entries: int
    bytes: int
    bad: list[Bad]
    removed: int


class _Explained(TypedDict):
    key: str
    hit: bool


class Explanation(_Explained, total=False):
    """What ``Cache.explain`` says of a key."""

    name: str
    reason: str
    why: str
    last_key: str
    last_stored: str
    changed: list[str]
    added: list[str]
    removed: list[str]
