"""`jitcache report`: the page in a browser, of a cache with a past, and of the demo."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import browser
import pytest

ROOT = browser.ROOT
sys.path.insert(0, str(ROOT / "tests" / "golden"))

import make_ledger

HITS, COMPILES, NANOSECONDS, SAVED, ABSENT = 1, 4, 5, 6, 17
#: The first two kinds' (cli/report/text.go).
BLUE, ORANGE = (0, 0x72, 0xB2), (0xE6, 0x9F, 0)

#: Puts two entries of one name, whose options differ, and looks a third one up.
PROGRAM = """
import jitcache
cache = jitcache.default_cache()
for n in range(3):
    key = jitcache.Key(options=n, source="s").named("saxpy <b>")
    if cache.get(key) is None and n < 2:
        cache.put(key, b"code" * 1000, kind="cubin")
cache.close()
"""


def environment(cache: Path) -> dict[str, str]:
    env = {k: v for k, v in os.environ.items() if not k.startswith("JITCACHE")}
    return {**env, "PYTHONPATH": str(ROOT / "python"), "JITCACHE_DIR": str(cache)}


def jitcache(env: dict[str, str], *args: str) -> str:
    p = subprocess.run([sys.executable, "-m", "jitcache", *args], env=env, capture_output=True, text=True, check=True)
    return p.stdout


def write_days(cache: Path, today: int) -> None:
    """Give the cache a month, of which every tenth day is idle."""
    make_ledger.DAYS = {
        day: {
            "cubin": {HITS: 40 * (n + 3), COMPILES: n % 5, NANOSECONDS: n % 5 * 2 * 10**9, SAVED: n * 10**11, ABSENT: n % 5},
            "native": {HITS: 300, COMPILES: 3, NANOSECONDS: 10**9, SAVED: 10**11, ABSENT: 3},
        }
        for n, day in enumerate(range(today - 29, today + 1))
        if n % 10 != 4
    }  # fmt: skip
    (cache / "v1" / "days").write_bytes(make_ledger.days())


@pytest.fixture(scope="module")
def past(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a report of a cache that has been used for a month."""
    folder = tmp_path_factory.mktemp("past")
    env = environment(folder / "cache")
    log = {"JITCACHE_LOG": "miss", "JITCACHE_LOG_FILE": str(folder / "log")}
    subprocess.run([sys.executable, "-c", PROGRAM], env={**env, **log}, check=True)
    write_days(folder / "cache", int(time.time()) // 86400)
    jitcache(env, "report", str(folder / "report.html"), "-log", str(folder / "log"))
    return folder / "report.html"


def test_report_of_a_past_is_drawn_and_asks_no_network(past: Path, tmp_path: Path) -> None:
    shown = browser.show(past, "report", tmp_path, height=2400)
    assert shown.errors == []
    assert shown.asked == []
    # 2 pictures of columns with much blue, and some orange; text alone would have neither.
    colours = browser.colours(shown.shot)
    assert colours[BLUE] > 5000
    assert colours[ORANGE] > 2000
    titles = re.findall(r"<title>(\d{4}-\d\d-\d\d), (\w+): ([^<]+)</title>", shown.dom)
    assert len({day for day, _, _ in titles}) == 27
    for text in ("Components that have changed", ">options<", "saxpy &lt;b&gt;", "native", "within an hour"):
        assert text in shown.dom, text


def test_report_is_dark_where_people_want_that(past: Path, tmp_path: Path) -> None:
    shown = browser.show(past, "report-dark", tmp_path, height=2400, dark=True)
    colours = browser.colours(shown.shot)
    assert sum(colours.most_common(1)[0][0]) < 3 * 64
    assert colours[BLUE] > 5000


def test_report_fits_a_narrow_window(past: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    asks = "<script>document.body.dataset.row = document.querySelector('tbody tr').offsetHeight</script>"
    text = past.read_text().replace("</body>", f"{asks}</body>")
    page.write_text(re.sub("<meta http-equiv=.Content-Security-Policy.[^>]*>", "", text))  # it runs no scripts
    shown = browser.show(page, "report-narrow", tmp_path, width=480, height=2400)
    assert browser.colours(shown.shot)[BLUE] > 2000
    assert shown.errors == []
    # A row of the first table is of one line: kinds do not stand letter below letter.
    (row,) = re.findall(r'data-row="(\d+)"', shown.dom)
    assert 10 < int(row) < 40, row


def test_report_of_the_demo_says_what_it_has_compiled(tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    env = environment(folder / "cache")
    subprocess.run(
        [sys.executable, str(ROOT / "examples/demo/demo.py"), "--only", "native", "--folder", str(folder)],
        env=env,
        check=True,
    )
    (cache,) = (path.parent.parent for path in folder.glob("**/v1/VERSION"))
    env = environment(cache)
    jitcache(env, "report", str(tmp_path / "demo.html"))
    shown = browser.show(tmp_path / "demo.html", "report-demo", tmp_path, height=2200)
    assert shown.errors == []
    assert browser.colours(shown.shot)[BLUE] > 1000
    stats = jitcache(env, "stats", "-since", "7d")
    (row,) = re.findall(r"^native +(\d+) +(\d+) +(\d+)", stats, re.MULTILINE)
    hits, misses, compiles = row
    cells = re.search(r"<th>native</th><td>(\d+)</td><td[^>]*>\d+</td><td>(\d+)</td><td>(\d+)</td>", shown.dom)
    assert cells is not None
    assert cells.groups() == (hits, misses, compiles)
    assert int(compiles) >= 2
