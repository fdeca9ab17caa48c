"""What tests ask of a framework's prepared processes: that a child of one is as a fresh process is."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from prepared import Process

if TYPE_CHECKING:
    from prepared import Prepared


class Place(Protocol):
    """Where processes run: a project of a framework's tests."""

    home: Path

    def environment(self) -> dict[str, str]: ...


#: The modules of a package with what each of their tables holds, all names of modules, and the environment.
HELD = """
import json, os, sys, {imports}
found = {{}}
for name, module in [*sys.modules.items()]:
    if name.partition(".")[0] in {packages}:
        found[name] = sorted((k, len(v) if issubclass(type(v), (dict, frozenset, list, set, tuple)) else type(v).__name__) for k, v in vars(module).items())
print(json.dumps([found, sorted(n for n in sys.modules if n.partition(".")[0] in {packages}), dict(os.environ), {also}]))
"""


def said(prepared: Prepared, place: Place, code: str, fresh: str = "", more: Mapping[str, str] | None = None) -> str:
    """Return what a process prints that begins without what a row begins with."""
    p = prepared.start(code, env={**place.environment(), **(more or {})}, cwd=place.home, fresh=fresh)
    assert isinstance(p, subprocess.Popen if fresh else Process)
    out, err = p.communicate(timeout=600)
    assert (err, p.returncode) == ("", 0)
    return out


def kinds(processes: Sequence[Any]) -> list[type]:
    """Return how processes were started, which must succeed."""
    for p in processes:
        out, err = p.communicate(timeout=600)
        assert p.returncode == 0, out + err
    return [type(p) for p in processes]


def assert_likeness(prepared: Prepared, place: Place, imports: str, packages: Sequence[str], also: str = "None") -> Any:
    """Assert that imports have made the same in both, among it the environment; return what ``also`` is."""
    code = HELD.format(imports=imports, packages=[*packages], also=also)
    forked, fresh = (json.loads(said(prepared, place, code, why)) for why in ("", "to compare"))
    assert len(forked[0]) > 30
    assert forked == fresh
    return forked[-1]


def mapped(prepared: Prepared, place: Place, names: Sequence[str], first: str = "") -> list[str]:
    """Return which libraries a child has loaded, by parts of their names, after a line of code."""
    asked = f"{first}\nmaps = open('/proc/self/maps').read(); print(*(name for name in {[*names]} if name in maps))"
    return said(prepared, place, asked).split()


def threads(prepared: Prepared, place: Place, imports: str) -> int:
    """Return how many threads a fresh process has after imports. A child of fork has none of its parent's but one."""
    asked = f"import os, {imports}; print(len(os.listdir('/proc/self/task')))"
    return int(said(prepared, place, asked, "its threads are counted"))
