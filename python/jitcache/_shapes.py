"""Shapes of the dicts that ``Cache`` returns, for type checkers. No code imports them at run time."""

from __future__ import annotations

from typing import TypedDict


class Bad(TypedDict):
    """A damaged entry."""

    path: str
    reason: str


class Verified(TypedDict):
    """What ``Cache.verify`` returns."""

    entries: int
    bytes: int
    bad: list[Bad]
    removed: int


class _Explained(TypedDict):
    key: str
    hit: bool


class Explanation(_Explained, total=False):
    """What ``Cache.explain`` returns."""

    name: str
    reason: str
    why: str
    last_key: str
    last_stored: str
    changed: list[str]
    added: list[str]
    removed: list[str]
