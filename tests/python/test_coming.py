"""docs/coming.md: what stands on the right of its tables does what stands on the left."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from samples import ROOT

PAGE = (ROOT / "docs" / "coming.md").read_text()


def cells(heading: str) -> list[tuple[str, list[str]]]:
    """Return the rows of the table below a heading: the left cell, and the code of the right one."""
    part = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (.+?) \| (.+) \|$", part, re.MULTILINE)
    return [(left, re.findall(r"`([^`]+)`", right.replace("\\|", "|"))) for left, right in rows if "`" in left]


class Place:
    """A folder with a source, and a PATH with the command and a gcc that notes its runs where it looks at nothing."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.bin = folder, folder / "bin"
        self.bin.mkdir()
        (self.bin / "jitcache").symlink_to(ROOT / "build" / "lib" / "jitcache")
        self.env = {
            "PATH": f"{self.bin}:/usr/local/bin:/usr/bin:/bin",
            "HOME": str(folder),
            "JITCACHE_DIR": str(folder / "cache"),
            "PYTHONPATH": str(ROOT / "python"),
        }
        # The result differs each time, so equal bytes are a hit.
        (self.bin / "gcc").write_text(
            '#!/bin/sh\nexec /usr/bin/gcc -DDICE=0x$(od -A n -N 4 -t x4 /dev/urandom | tr -d " ") "$@"\n'
        )
        (self.bin / "gcc").chmod(0o755)
        (folder / "a.c").write_text("unsigned f(void) { return DICE; }\n")

    def sh(self, line: str, **env: str) -> str:
        p = subprocess.run(
            ["sh", "-euc", line], cwd=self.folder, env={**self.env, **env}, capture_output=True, text=True
        )
        assert p.returncode == 0, line + p.stdout + p.stderr
        return p.stdout

    def python(self, code: str) -> str:
        (self.folder / "program.py").write_text(code)
        return self.sh(f"{sys.executable} program.py")

    def compiled(self, line: str, **env: str) -> bytes:
        (self.folder / "a.o").unlink(missing_ok=True)
        self.sh(line, **env)
        return (self.folder / "a.o").read_bytes()


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_ccache_s_words(place: Place) -> None:
    if shutil.which("gcc") != "/usr/bin/gcc":
        pytest.skip("no gcc")
    rows = dict(cells("ccache"))
    (launch,) = rows["`ccache gcc -c a.c`"]
    first = place.compiled(launch)
    assert place.compiled(launch) == first
    (off,) = rows["`CCACHE_DISABLE=1`"]
    assert place.compiled(f"{off} {launch}") != first
    (anew,) = rows["`CCACHE_RECACHE=1`"]
    again = place.compiled(f"{anew} {launch}")
    assert place.compiled(launch) == again != first
    (link,) = rows["links named `gcc` in PATH"]
    (place.folder / "DIR").mkdir()
    place.sh(link)
    linked = {"PATH": f"{place.folder / 'DIR'}:{place.env['PATH']}"}
    assert place.compiled("gcc -c a.c", **linked) == place.compiled("gcc -c a.c", **linked)
    stats, zero, since = rows["`ccache -s`, `-z`"]
    assert "total" in place.sh(stats)
    assert "total" in place.sh(f"{stats} {since}")
    place.sh(zero)
    assert re.search(r"^total +0 +0 +0 ", place.sh(stats), re.MULTILINE)
    (cap,) = rows["`ccache -M 20G`"]
    place.sh(cap)
    assert "of 18.6 GiB" in place.sh(stats)
    (evict,) = rows["`ccache --evict-older-than 30d`"]
    assert place.sh(evict).startswith("evicted 0 entries")
    (clear,) = rows["`ccache -C`"]
    place.sh(clear)
    assert place.compiled(launch) not in (first, again)
    settings = {span for left, spans in rows.items() if left in SETTINGS for span in spans}
    assert {span for spans in rows.values() for span in spans} == settings | {
        launch,
        link,
        off,
        anew,
        stats,
        zero,
        since,
        cap,
        evict,
        clear,
    }


#: Rows of ccache's table that test_ccache_s_settings tries.
SETTINGS = [
    "`CCACHE_READONLY=1`",
    "`CCACHE_DIR=DIR`",
    "`CCACHE_BASEDIR=$PWD`",
    "`CCACHE_REMOTE_STORAGE=file:$SHARED`",
    "`CCACHE_LOGFILE=FILE`",
    "`ccache -p`",
]


def test_ccache_s_settings(place: Place) -> None:
    if shutil.which("gcc") != "/usr/bin/gcc":
        pytest.skip("no gcc")
    rows = dict(cells("ccache"))
    readonly, directory, base, remote, log, conf = (rows[left][0] for left in SETTINGS)
    launch = "jitcache gcc -g -c a.c"
    assert place.compiled(f"{readonly} {launch}") != place.compiled(f"{readonly} {launch}")
    (place.folder / "DIR").mkdir()
    assert place.compiled(f"{directory} {launch}") == place.compiled(f"{directory} {launch}") != place.compiled(launch)
    place.sh(f"{log} JITCACHE=refresh {launch}")
    assert "miss" in (place.folder / "FILE").read_text()
    made = {}
    for name in ("one", "two"):
        (place.folder / name).mkdir()
        for setting in (base, "true;"):
            place.sh(f"cd {name} && cp ../a.c . && {setting} {launch}")
            made[name, setting] = (place.folder / name / "a.o").read_bytes()
            (place.folder / name / "a.o").unlink()
    assert made["one", base] == made["two", base]
    assert made["one", "true;"] != made["two", "true;"]
    (place.folder / "shared").mkdir()
    on = {"SHARED": str(place.folder / "shared")}
    first = place.compiled(f"JITCACHE_REMOTE_EXIT_WAIT=20s JITCACHE_DIR=$PWD/here {remote} {launch}", **on)
    assert place.compiled(f"JITCACHE_DIR=$PWD/there {remote} {launch}", **on) == first
    assert "max-size = " in place.sh(conf)


def test_sccache_s_words(place: Place) -> None:
    if shutil.which("gcc") != "/usr/bin/gcc":
        pytest.skip("no gcc")
    rows = dict(cells("sccache"))
    (launch,) = rows["`sccache gcc -c a.c`"]
    first = place.compiled(launch)
    assert place.compiled(launch) == first
    (anew,) = rows["`SCCACHE_RECACHE=1`"]
    assert place.compiled(f"{anew} {launch}") != first
    (directory,) = rows["`SCCACHE_DIR=DIR`"]
    assert place.compiled(f"{directory} {launch}") != place.compiled(launch)
    stats, zero = rows["`sccache --show-stats`, `--zero-stats`"]
    place.sh(zero)
    assert re.search(r"^total +0 +0 +0 ", place.sh(stats), re.MULTILINE)
    place.sh(*rows["`SCCACHE_CACHE_SIZE=20G`"])
    assert "of 18.6 GiB" in place.sh(stats)
    builds = (ROOT / "docs" / "launcher.md").read_text()  # whose settings tests/launch/test_callers.py builds with
    for left in ("`RUSTC_WRAPPER=sccache`", "`CMAKE_C_COMPILER_LAUNCHER=sccache`"):
        assert all(word in builds for word in rows[left][0].split())


def test_joblib_s_words(place: Place) -> None:
    rows = dict(cells("joblib.Memory"))
    (decorator,) = rows["`@memory.cache`"]
    (clear,) = rows["`memory.clear()`"]
    program = (
        f"import pickle\nimport jitcache\n{decorator}\ndef f(x):\n    return [x, x + 1]\nprint(f(1), f.last_reason)\n"
    )
    hits = f"{sys.executable} -c \"import jitcache; print(jitcache.default_cache().stats()['total']['hits_disk'])\""
    assert [place.python(program), place.sh(hits)] == ["[1, 2] \n", "0\n"]
    assert [place.python(program), place.sh(hits)] == ["[1, 2] \n", "1\n"]
    place.sh(clear)
    assert [place.python(program), place.sh(hits)] == ["[1, 2] \n", "1\n"]
    assert sum(len(spans) for spans in rows.values()) == 2


def test_diskcache_s_words(place: Place) -> None:
    rows = dict(cells("diskcache"))
    (put,) = rows["`cache[key] = value`"]
    (compile_,) = rows['`with Lock(cache, "x")`']
    (decorator,) = rows["`@cache.memoize()`"]
    same = re.findall(r"`([^`]+)`", next(left for left in rows if "key in cache" in left))
    program = "import jitcache\ncache, key, value = jitcache.default_cache(), jitcache.Key(a=1), b'v'\n"
    program += f"compile = lambda: print('compiled') or b'c'\n{put}\nprint([{', '.join(same)}])\nkey = jitcache.Key(a=2)\n{compile_}\n{compile_}\n"
    assert place.python(program) == "[b'v', True, 1]\ncompiled\n"
    assert decorator == dict(cells("joblib.Memory"))["`@memory.cache`"][0]
    assert sum(len(spans) for spans in rows.values()) == 3


def test_variables_of_frameworks_are_theirs() -> None:
    """The page names them, and each adapter's page says what happens to them."""
    for variable, page in (("TRITON_CACHE_DIR", "triton.md"), ("jax_compilation_cache_dir", "jax.md")):
        assert variable in PAGE
        assert variable in (ROOT / "docs" / page).read_text()
