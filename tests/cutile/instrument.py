"""Imported by every process that a test starts: takes mechanisms out, which $WITHOUT names."""

from __future__ import annotations

import os
import sys


class Never(Exception):
    """Nobody raises it."""


def take_out(what: str) -> None:
    """Take a mechanism out; the test of its promise has to be red."""
    from jitcache.adapters import cutile
    from jitcache.adapters.cutile import _hooks as hooks

    if what == "served":  # cuTile runs its compiler itself
        hooks._running = lambda cache, original: original
    elif what == "own":  # cuTile's own cache is asked and filled
        replace = hooks._replace
        hooks._replace = lambda place, name, function: replace(place, name, function) if name == "run" else None
    elif what == "text":  # the bytecode does not count
        command = hooks.Command
        hooks.Command = lambda *args, **named: command(*args, **named, derived=True)
    elif what == "flags":  # nor do the options for a kernel
        given = hooks.Command
        hooks.Command = lambda words, *more, **named: given(without_flags(words), *more, **named)
    elif what == "variables":
        hooks._GIVEN = ("strict",)
    elif what == "strict":
        hooks._GIVEN = ()
    elif what == "refused":  # what tileiras refuses is an error of ours
        hooks.CompileError = hooks.Error = Never
    elif what == "guard":
        hooks.unfit = lambda: ""
    elif what == "put back":
        hooks.detach = lambda: None
    elif what == "kind":
        cutile.clear = lambda: cutile._cache().clear()
    else:
        sys.exit(f"instrument: nothing is called {what!r}")


def without_flags(words):
    return (*words[:4], "--gpu-name", "sm_100", "-O3", "--lineinfo") if "--lineinfo" in words else words


for mechanism in filter(None, os.environ.get("WITHOUT", "").split(",")):
    take_out(mechanism)
