"""The areas of the tests: a name, and a function that runs them and counts."""

from __future__ import annotations

from . import c, control, go, package, python
from .common import Area, log_of

__all__ = ["AREAS", "REST", "TEST", "log_of"]

_interpreters = {f"python-{v}": python.on(path) for v, path in python.interpreters().items()}

AREAS: dict[str, Area] = {
    "go": go.tests,
    "header": c.header,
    "c": c.programs,
    "abi": package.abi,
    "python": python.tests,
    **_interpreters,
    "wheel": package.wheel,
    "controls": control.tests,
    # What follows needs root, Debian's packages or longer.
    "race": go.race,
    "root": python.root,
    "sdist": package.sdist,
    "portable": package.portable,
    "types": package.types,
    "calls": c.system_calls,
    "lint": package.lint,
    "fuzz": go.fuzz,
    "fuzz-short": go.fuzz_short,
}

#: Without root and without Debian's packages, in ten minutes.
TEST = ["go", "header", "c", "abi", "python", *_interpreters, "wheel", "controls"]

#: With root, Debian's packages (tests/deps-ci.sh) or longer.
REST = ["race", "root", "sdist", "portable", "types", "calls", "lint", "fuzz-short"]
