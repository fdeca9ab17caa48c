"""Rows of the table of classes: what a wrapper asks about its process, in which no file is another."""

from __future__ import annotations

import os
import resource
from collections.abc import Callable
from typing import Any

from conftest import need
from rows import case, source, void
from rows_tools import wrapped
from world import World


def asking(w: World, question: str) -> None:
    """A wrapper that compiles the answer in, as far as it is digits."""
    source(w, "int f(void) { return V; }\n")
    wrapped(w, f'v=$({question} | tr -cd 0-9)\nexec {need(w.compiler)} -DV=1$v "$@"')


@case
def umask_by_what_a_wrapper_makes(w: World, _: Any) -> Callable[[], None]:
    asking(w, 'mkdir "$TMPDIR/made" && stat -c %a "$TMPDIR/made"; rmdir "$TMPDIR/made"')
    return lambda: void(os.umask(0o077))


@case
def umask_by_what_proc_says(w: World, _: Any) -> Callable[[], None]:
    asking(w, "grep Umask /proc/self/status")
    return lambda: void(os.umask(0o077))


@case
def limit_that_bash_is_asked_for(w: World, _: Any) -> Callable[[], None]:
    asking(w, f"{need('bash')} -c 'ulimit -u'")
    most = resource.getrlimit(resource.RLIMIT_NPROC)[1]
    return lambda: resource.setrlimit(resource.RLIMIT_NPROC, (4321, most))
