"""Pages at the width of a phone and of a screen, light and dark: nothing is cut, and nothing scrolls to the side."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import browser
import pytest
from devtools import ASIDE, CUT, Browser
from test_report import past

__all__ = ["past"]  # a fixture

SITE = browser.ROOT / "build" / "docs" / "site"
site = pytest.mark.skipif("JITCACHE_TEST_SITE" not in os.environ, reason="the area pages makes the site")

#: Of the site: the overview, a page of tables, one of code, a reference, a page of a picture.
PAGES = ["index", "launcher", "cuda", "adapters", "remote", "bench"]
SHOWN = [(width, dark) for width in (390, 1280) for dark in (False, True)]


@pytest.fixture(scope="module")
def window(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("browser")) as b:
        yield b


def wrong(window: Browser) -> list[str]:
    """Say what is wrong with how the page is shown now."""
    aside = window.script(ASIDE)
    return [f"cut: {text}" for text in window.script(CUT)] + ([f"scrolls aside by {aside}"] if aside else [])


@site
@pytest.mark.parametrize("name", PAGES)
def test_page_of_the_site_is_whole_on_a_phone_and_on_a_screen(window: Browser, name: str) -> None:
    for width, dark in SHOWN:
        window.open(SITE / f"{name}.html", width=width, dark=dark)
        window.wait(f"document.body.dataset.mdColorScheme === '{'slate' if dark else 'default'}'")
        assert window.script("errorsSeen") == []
        assert wrong(window) == []
        window.shot(f"site-{name}-{width}{'-dark' if dark else ''}")


@site
def test_table_of_the_overview_needs_no_scrolling_on_a_phone(window: Browser) -> None:
    """Each of its tables, and each cell in it."""
    window.open(SITE / "index.html", width=390)
    scrolled = "[...document.querySelectorAll('.md-typeset__scrollwrap')].filter(e => e.scrollWidth > e.clientWidth + 1).length"
    assert window.script("document.querySelectorAll('.md-typeset__scrollwrap').length") >= 4
    assert window.script(scrolled) == 0


def found(window: Browser, site: Path, word: str) -> list[str]:
    """Search a site that is opened from the disk; return the pages, none if there are none after a while."""
    window.open(site / "index.html", width=1280)
    window.script("document.querySelector('.md-search__input').focus()")
    window.type(word)
    # What was found is listed, or the box says that it is not ready.
    listed = "[...document.querySelectorAll('.md-search-result__link')].map(a => a.pathname.split('/').pop())"
    for _ in range(10):
        pages = window.script(f"new Promise(r => setTimeout(() => r({listed}), 300))")
        if pages:
            return list(pages)
    return []


@site
def test_search_box_finds_pages_on_a_disk(window: Browser, tmp_path: Path) -> None:
    assert "format.html" in found(window, SITE, "outbox")
    # Without the two parts that this takes, a page that is no server's finds nothing.
    for part in ("iframe-worker.js", "search/search_index.js"):
        copy = tmp_path / part.replace("/", "-")
        copy.mkdir()
        for name in ("index.html", "assets", "search", "extra.css", "iframe-worker.js"):
            path = SITE / name
            (shutil.copytree if path.is_dir() else shutil.copy)(path, copy / name)
        (copy / part).unlink()
        assert found(window, copy, "outbox") == [], part


@site
def test_class_is_shown_with_its_constructor(window: Browser) -> None:
    window.open(SITE / "python.html", width=1280)
    for name, argument in (("_cache.Cache", "max_size"), ("_key.Key", "components"), ("_key.File", "path")):
        signature = (
            f"document.getElementById('jitcache.{name}').parentElement.querySelector('.doc-signature').textContent"
        )
        assert argument in window.script(signature), name


@pytest.mark.parametrize(("width", "dark"), SHOWN)
def test_report_is_whole_on_a_phone_and_on_a_screen(window: Browser, past: Path, width: int, dark: bool) -> None:
    window.open(past, width=width, dark=dark)
    assert wrong(window) == []
    # Labels of charts are as large as they are anywhere else.
    small = "Math.min(...[...document.querySelectorAll('figure *')].filter(e => e.textContent).map(e => parseFloat(getComputedStyle(e).fontSize)))"
    assert window.script(small) >= 12
    overlap = """
(() => [...document.querySelectorAll('.days')].some(days => {
  const boxes = [...days.children].map(e => e.getBoundingClientRect()).filter(r => r.width);
  return boxes.length < 2 || boxes.some((r, n) => n && r.left < boxes[n - 1].right);
}))()
"""
    assert window.script(overlap) is False
    # No table needs scrolling, not even on a phone.
    assert window.script("[...document.querySelectorAll('.wrap')].every(e => e.scrollWidth <= e.clientWidth)")
    window.shot(f"report-{width}{'-dark' if dark else ''}")


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("<div style='width: 600px'>wide</div>", ["scrolls aside by "]),
        (
            "<div style='width: 50px; overflow: hidden; white-space: nowrap'>a text that does not fit</div>",
            ["cut: a text that"],
        ),
        ("<div style='width: 50px; overflow: auto; white-space: nowrap'>a text that does not fit</div>", []),
        ("<p>a text</p>", []),
    ],
)
def test_control_page_that_is_cut_or_scrolls_is_seen(
    window: Browser, tmp_path: Path, body: str, says: list[str]
) -> None:
    page = tmp_path / "page.html"
    page.write_text(f"<!DOCTYPE html><meta name=viewport content='width=device-width'>{body}")
    window.open(page, width=390)
    seen = wrong(window)
    assert len(seen) == len(says)
    assert all(text.startswith(start) for text, start in zip(seen, says))
