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

import numpy as np

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
    shot: Path  # its picture


def asked(log: Path, page: Path) -> list[str]:
    """Read Chromium's log of its network: what was asked for by a page."""
    text = log.read_text().rstrip().removesuffix(",")
    try:
        found = json.loads(text)
    except ValueError:
        found = json.loads(text + "]}")
    # The browser looks for its own updates, too; such a request is of no origin.
    of_pages = (
        e["params"] for e in found["events"] if e.get("params", {}).get("initiator", "not an origin") != "not an origin"
    )
    urls = {p["url"] for p in of_pages if "url" in p}
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
    assert (depth, interlaced) == (8, 0)
    assert colour in (2, 6)
    n = 3 if colour == 2 else 4
    rows = np.frombuffer(zlib.decompress(packed), np.uint8).reshape(height, width * n + 1)
    before = np.zeros((width, n), np.uint8)
    points = np.empty((height, width, n), np.uint8)
    for y in range(height):
        points[y] = before = unfilter(rows[y, 0], rows[y, 1:].reshape(width, n), before)
    packed_points = points[..., 0].astype(np.uint32) << 16 | points[..., 1].astype(np.uint32) << 8 | points[..., 2]
    values, counts = np.unique(packed_points, return_counts=True)
    return Counter({(int(v) >> 16, int(v) >> 8 & 255, int(v) & 255): int(k) for v, k in zip(values, counts)})


def unfilter(how: int, row: Any, up: Any) -> Any:
    """Undo the filter of one row."""
    if how == 0:
        return row
    if how == 1:
        return np.cumsum(row, axis=0, dtype=np.uint8)
    if how == 2:
        return row + up
    out = row.astype(int)  # the other two depend on what is on the left
    left = corner = np.zeros(row.shape[1], int)
    for x, above in enumerate(up.astype(int)):
        if how == 3:
            guess = (left + above) // 2
        else:
            p = left + above - corner
            a, b, c = abs(p - left), abs(p - above), abs(p - corner)
            guess = np.where((a <= b) & (a <= c), left, np.where(b <= c, above, corner))
        out[x] = left = (out[x] + guess) & 255
        corner = above
    return out.astype(np.uint8)


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
    return Shown(dom.stdout, errors, asked(log, page), shot)
