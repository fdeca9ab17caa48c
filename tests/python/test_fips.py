"""Hosts in FIPS mode, where Python has SHA-1 and SHA-2, and refuses other hashes."""

from __future__ import annotations

import re
from pathlib import Path

import jitcache
import processes

#: What a host in FIPS mode does to the hashes that it does not approve.
FIPS = """
import hashlib
def refused(*args, **options):
    raise ValueError("[digital envelope routines] unsupported")
for name in ("blake2b", "blake2s", "md5"):
    setattr(hashlib, name, refused)
"""

APP = """
import warnings
warnings.simplefilter("error")
import jitcache
calls = []
@jitcache.memoize
def f(x):
    return b"%d" % (x + N)
N = 1
"""


def test_memoize_keeps_results_in_fips_mode(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(APP)
    code = (
        FIPS
        + "import sys; sys.path.append(''); import app, jitcache; print(app.f(1)); print(jitcache.default_cache().stats()['total'])"
    )
    for puts, hits in ((1, 0), (1, 1)):
        out = processes.check(code, env={"JITCACHE_DIR": str(tmp_path / "cache")}, cwd=tmp_path)
        assert out.startswith("b'2'")
        assert f"'puts': {puts}," in out, out
        assert f"'hits_disk': {hits}," in out, out


def test_package_uses_no_hash_that_fips_mode_refuses() -> None:
    package = Path(jitcache.__file__).parent
    uses = re.compile(r"\b(blake2[bs]|md5|sha3_\d+|shake_\d+)\(")
    assert [p.name for p in package.rglob("*.py") if uses.search(p.read_text())] == []
