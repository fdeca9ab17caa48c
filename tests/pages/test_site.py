"""The documentation site in a browser, and its samples, run as they stand there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

import browser
import pytest

ROOT = browser.ROOT
SITE = ROOT / "build" / "docs" / "site"
sys.path.insert(0, str(ROOT / "tests"))

import samples

site = pytest.mark.skipif("JITCACHE_TEST_SITE" not in os.environ, reason="the area pages makes the site")

#: One of each type of page, and what it has to show.
PAGES = {
    "index.html": ["A persistent compile cache"],
    "start.html": ["In two minutes", "get_or_compile"],
    "concepts.html": ["pictures/lease.svg"],
    "numba.html": ["Numba"],
    "troubleshooting.html": ["Why does it miss?"],
    "coming.html": ["joblib.Memory"],
    "sharing.html": ["Clusters"],
    "command.html": ["usage: jitcache stats"],
    "python.html": ["jitcache._cache.Cache.get_or_compile"],
    "c/jitcache.h.html": ["jitcache_get_or_compile"],
    "bench.html": ["bench.png"],
    "reliability.html": ["Figures of the last soak"],
}


class Links(HTMLParser):
    """What a page points to, and what in it may be pointed to."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.to: list[str] = []
        self.ids: set[str] = set()
        self.feed(page.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src") and value is not None:
                self.to.append(value)
            elif name in ("id", "name") and value:
                self.ids.add(value)


@site
def test_every_link_of_the_site_leads_somewhere() -> None:
    pages = {p: Links(p) for p in SITE.rglob("*.html") if p.name != "404.html"}
    assert len(pages) > 25
    wrong, seen = [], 0
    for page, links in pages.items():
        for link in links.to:
            path, anchor = urldefrag(link)
            if re.match(r"[a-z]+:", link):
                continue
            seen += 1
            target = (page.parent / unquote(path)).resolve() if path else page
            if target.is_dir():
                target /= "index.html"
            if not target.exists() or (anchor and target in pages and unquote(anchor) not in pages[target].ids):
                wrong.append(f"{page.relative_to(SITE)}: {link}")
    assert seen > 1000
    assert wrong == []


@site
def test_reference_has_everything_that_is_public() -> None:
    """Each name of the package and of its modules, and each method of a class, inherited ones too."""
    ask = """
import importlib, inspect, jitcache
for module in [jitcache, *(importlib.import_module(f"jitcache.{m}") for m in ("native", "cuda", "mpi"))]:
    for name in module.__all__:
        print(name)
        of = getattr(module, name)
        for member in dir(of) if inspect.isclass(of) else ():
            if member[0] != "_" and (inspect.isfunction(getattr(of, member)) or isinstance(getattr(of, member), property)):
                print(f"{name}.{member}")
"""
    env = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    names = subprocess.run(
        [sys.executable, "-c", ask], env=env, capture_output=True, text=True, check=True
    ).stdout.split()
    assert {"Cache.get", "Cache.stats", "memoize", "together"} <= set(names)
    page = SITE / "python.html"
    ids = Links(page).ids
    assert [n for n in names if not any(i.endswith(f".{n}") for i in ids)] == []
    # Nothing else of the modules.
    assert not any(i.endswith((".Wish", ".code_of", ".key_of")) for i in ids)


@site
@pytest.mark.parametrize("name", PAGES)
def test_page_is_shown_and_asks_no_network(name: str, tmp_path: Path) -> None:
    shown = browser.show(SITE / name, f"site-{name.replace('/', '-').removesuffix('.html')}", tmp_path, width=1280)
    for text in PAGES[name]:
        assert text in shown.dom, text
    assert [url for url in shown.asked if not url.startswith("file:")] == []
    assert shown.shot.stat().st_size > 20_000  # an empty one is 5,000


def test_control_page_that_asks_a_network_is_seen(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("<p>a page<img src='http://jitcache.invalid/x.png'>")
    assert browser.show(tmp_path / "page.html", "control", tmp_path).asked == ["http://jitcache.invalid/x.png"]


def test_start_page_reaches_a_warm_hit(tmp_path: Path) -> None:
    bin_, folder = tmp_path / "bin", tmp_path / "home"
    bin_.mkdir()
    folder.mkdir()
    for name, words in (("python", ""), ("jitcache", "-m jitcache ")):
        (bin_ / name).write_text(f'#!/bin/sh\nexec {sys.executable} {words}"$@"\n')
        (bin_ / name).chmod(0o755)
    env = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    p = subprocess.run(
        [sys.executable, str(ROOT / "tests" / "start.py"), bin_, folder], env=env, capture_output=True, text=True
    )
    assert p.returncode == 0, p.stdout + p.stderr
    assert p.stdout.endswith("warm\n")


def test_commands_of_troubleshooting_answer(tmp_path: Path) -> None:
    env = {k: v for k, v in os.environ.items() if not k.startswith("JITCACHE")}
    env.update(PYTHONPATH=str(ROOT / "python"), JITCACHE_DIR=str(tmp_path / "cache"))
    (tmp_path / "program.py").write_text(
        "import jitcache as j\nj.default_cache().get_or_compile(j.Key(a=1).named('n'), lambda: b'c')\n"
    )
    program = f"{sys.executable} {tmp_path / 'program.py'}"
    subprocess.run(["sh", "-c", program], env=env, check=True)
    for sample in samples.of("docs/troubleshooting.md"):
        lines = re.sub("^jitcache ", f"{sys.executable} -m jitcache ", sample.text, flags=re.MULTILINE)
        lines = lines.replace("PROGRAM", program).replace("NAME", "n")
        p = subprocess.run(["sh", "-e", "-c", lines], env=env, capture_output=True, text=True)
        assert p.returncode == 0, lines + p.stdout + p.stderr
