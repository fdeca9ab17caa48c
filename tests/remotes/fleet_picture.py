"""The picture of docs/remote.md, drawn from docs/fleet.json: how long fleets take after the last compile.

.venv/bin/python tests/remotes/fleet_picture.py
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
WIDTH, HEIGHT = 640, 340
LEFT, RIGHT, TOP, BOTTOM = 60, 24, 66, 50
COLOURS = {"Redis": "#0072b2", "S3": "#d55e00"}
TITLE = "From the last compile until the last process of a fleet has all keys"


def text(x: float, y: float, said: str, more: str = "") -> str:
    """Return a text of the picture."""
    return f'<text x="{x:.0f}" y="{y:.0f}" fill="#1c1e21" font-size="13"{more}>{said}</text>'


def scale(values: list[float]) -> list[float]:
    """Return the powers of ten around values."""
    least, most = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return [10.0**n for n in range(least, most + 1)]


class Axes:
    """Places of values, on logarithmic scales: what grows in a line has the slope of the diagonal."""

    def __init__(self, across: list[float], up: list[float]) -> None:
        self.across, self.up = (
            (math.log10(min(across)), math.log10(max(across))),
            (math.log10(min(up)), math.log10(max(up))),
        )

    def x(self, value: float) -> float:
        least, most = self.across
        return LEFT + (WIDTH - LEFT - RIGHT) * (math.log10(value) - least) / (most - least)

    def y(self, value: float) -> float:
        least, most = self.up
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (math.log10(value) - least) / (most - least)

    def line(self, points: list[tuple[float, float]], colour: str, more: str = "") -> str:
        """Return a line through points."""
        places = " ".join(f"{self.x(a):.1f},{self.y(b):.1f}" for a, b in points)
        return f'<polyline points="{places}" fill="none" stroke="{colour}" stroke-width="2"{more}/>'


def picture(doc: dict[str, Any]) -> str:
    """Return the picture as SVG."""
    # Where keys are compiled again and again, the last compile is near the end whatever the fleet does.
    fleets: list[dict[str, Any]] = [f for f in doc["fleets"] if f["compiles"] < 1.1 * f["keys"]]
    sizes = sorted({f["processes"] for f in fleets})
    limit = [(n, (doc["wait"] - 1) * fleets[0]["compile"] + doc["a_process"] * n / doc["processors"]) for n in sizes]
    ups = scale([*(f["beyond"] for f in fleets), *(b for _, b in limit)])
    axes = Axes(sizes, ups)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" role="img" aria-label="{TITLE}">',
        f"<title>{TITLE}</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" rx="8" fill="#f4f5f7"/>',
        text(16, 26, TITLE, ' font-weight="600"'),
    ]
    for up in ups:
        out.append(
            f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{axes.y(up):.1f}" y2="{axes.y(up):.1f}" stroke="#d5d8dd"/>'
        )
        out.append(text(LEFT - 8, axes.y(up) + 4, f"{up:g} s", ' text-anchor="end"'))
    for n in sizes:
        out.append(text(axes.x(n), HEIGHT - 30, f"{n:,}", ' text-anchor="middle"'))
    out.append(
        text(
            (LEFT + WIDTH - RIGHT) / 2,
            HEIGHT - 11,
            "processes, on two processors" if doc["processors"] == 2 else "processes",
            ' text-anchor="middle"',
        )
    )
    for at, (engine, colour) in enumerate(COLOURS.items()):
        points = sorted((f["processes"], f["beyond"]) for f in fleets if f["engine"] == engine)
        out.append(axes.line(points, colour))
        out += [f'<circle cx="{axes.x(a):.1f}" cy="{axes.y(b):.1f}" r="4" fill="{colour}"/>' for a, b in points]
        out.append(f'<rect x="{LEFT + at * 90}" y="38" width="12" height="12" rx="2" fill="{colour}"/>')
        out.append(text(LEFT + at * 90 + 18, 49, engine))
    out.append(axes.line(limit, "#5c6066", ' stroke-dasharray="5 4"'))
    out.append(
        f'<line x1="{LEFT + 180}" x2="{LEFT + 204}" y1="44" y2="44" stroke="#5c6066" stroke-width="2" stroke-dasharray="5 4"/>'
    )
    out.append(text(LEFT + 210, 49, "bound"))
    return "\n".join([*out, "</svg>"]) + "\n"


def draw(figures: Path, target: Path) -> None:
    """Draw the figures of a file."""
    target.write_text(picture(json.loads(figures.read_text())))


if __name__ == "__main__":
    draw(ROOT / "docs" / "fleet.json", ROOT / "docs" / "pictures" / "fleet.svg")
