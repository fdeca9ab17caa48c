"""Pages as a browser shows them: headless Chromium, which can reach no network."""

from __future__ import annotations

import json
import shutil
import struct
import subprocess
import zlib
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent.parent
#: The screenshots, for people.
SHOTS = ROOT / "build" / "pages" / "screenshots"


def chromium() -> str | None:
    """Return the browser, None if there is none."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-headless-shell", "google-chrome"))), None)


class Shown(NamedTuple):
    """A page after it was loaded."""

    dom: str
    errors: list[str]  # of its console
    asked: list[str]  # addresses that it asked for, beside the file itself
    colours: Counter[tuple[int, int, int]]  # of the screenshot, and how many points have each


def asked(log: Path, page: Path) -> list[str]:
    """Read Chromium's log of its network: what was asked for by a page."""
    text = log.read_text().rstrip().removesuffix(",")
    try:
        found = json.loads(text)
    except ValueError:
        found = json.loads(text + "]}")
    urls = {e["params"]["url"] for e in found["events"] if "url" in e.get("params", {})}
    return sorted(u for u in urls if not u.startswith(("data:", f"file://{page.parent}")))


def colours(picture: Path) -> Counter[tuple[int, int, int]]:
    """Count the points of a PNG by their colour: 8 bits, without alpha or with it, not interlaced."""
    data, at, packed, head = picture.read_bytes(), 8, b"", b""
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at : at + 8])
        body = data[at + 8 : at + 8 + size]
        head, packed = (body, packed) if kind == b"IHDR" else (head, packed + body if kind == b"IDAT" else packed)
        at += size + 12
    width, height, depth, colour, _, _, interlaced = struct.unpack(">IIBBBBB", head)
    assert (depth, interlaced) == (8, 0) and colour in (2, 6)
    n = 3 if colour == 2 else 4
    raw, before = zlib.decompress(packed), bytearray(width * n)
    found: Counter[tuple[int, int, int]] = Counter()
    for y in range(height):
        start = y * (width * n + 1)
        row = unfilter(raw[start], bytearray(raw[start + 1 : start + 1 + width * n]), before, n)
        found.update(zip(row[0::n], row[1::n], row[2::n]))
        before = row
    return found


def unfilter(how: int, row: bytearray, up: bytearray, n: int) -> bytearray:
    """Undo the filter of one row."""
    for i in range(len(row)):
        left = row[i - n] if i >= n else 0
        corner = up[i - n] if i >= n else 0
        if how == 1:
            row[i] = row[i] + left & 255
        elif how == 2:
            row[i] = row[i] + up[i] & 255
        elif how == 3:
            row[i] = row[i] + (left + up[i]) // 2 & 255
        elif how == 4:
            p = left + up[i] - corner
            distances = [(abs(p - v), k, v) for k, v in enumerate((left, up[i], corner))]
            row[i] = row[i] + min(distances)[2] & 255
    return row


def show(page: Path, name: str, folder: Path, *, width: int = 820, height: int = 1400, dark: bool = False) -> Shown:
    """Open a page; leave its screenshot as build/pages/screenshots/NAME.png."""
    program = chromium()
    assert program is not None
    SHOTS.mkdir(parents=True, exist_ok=True)
    shot, log = SHOTS / f"{name}.png", folder / f"{name}.net.json"
    shot.unlink(missing_ok=True)
    command: list[Any] = [
        program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
        "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run",
        "--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={folder / 'profile'}", "--enable-logging=stderr",
        f"--log-net-log={log}", f"--window-size={width},{height}", *(["--force-dark-mode", "--blink-settings=preferredColorScheme=0"] if dark else []),
    ]  # fmt: skip
    p = subprocess.run([*command, f"--screenshot={shot}", page.as_uri()], capture_output=True, text=True, timeout=120)
    assert shot.exists(), p.stderr
    dom = subprocess.run([*command, "--dump-dom", page.as_uri()], capture_output=True, text=True, timeout=120)
    errors = [line for line in (p.stderr + dom.stderr).splitlines() if "CONSOLE" in line]
    return Shown(dom.stdout, errors, asked(log, page), colours(shot))
