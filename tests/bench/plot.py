"""docs/bench.png: a disk hit to bytes against size."""

from __future__ import annotations

from pathlib import Path
from typing import Any

LINES = {
    "cuda_core": ("cuda.core FileStreamProgramCache", "#76b900", "-"),
    "diskcache": ("diskcache", "#c44e52", "-"),
    "sqlite3": ("sqlite3, WAL", "#8172b2", "-"),
    "jitcache": ("jitcache", "#1f4e9c", "-"),
    "lmdb": ("lmdb", "#937860", "-"),
    "python_read": ("open+fstat+read+close, Python", "#999999", "--"),
    "c_read": ("open+fstat+read+close, C", "#bbbbbb", "--"),
}


def draw(series: dict[str, dict[str, Any]], sizes: dict[str, int], path: Path) -> None:
    series = {at: s for at, s in series.items() if at in sizes}
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(7.2, 4.6), dpi=150)
    x = [sizes[at] / 1024 for at in series]
    for name, (text, colour, style) in LINES.items():
        if any(name not in s for s in series.values()):
            continue
        y = [s[name]["median"] for s in series.values()]
        own = name == "jitcache"
        axes.plot(x, y, style, color=colour, marker="o", markersize=5 if own else 3.5, linewidth=2.4 if own else 1.3,
                  zorder=3 if own else 2, label=text)  # fmt: skip
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(x, [at.upper().replace("K", " KB").replace("M", " MB") for at in series])
    ticks = [1, 2, 5, 10, 20, 50, 100, 200]
    axes.set_yticks(ticks, [str(t) for t in ticks])
    axes.minorticks_off()
    axes.grid(visible=True, which="major", color="#e6e6e6", linewidth=0.8)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.set_xlabel("size of the entry")
    axes.set_ylabel("microseconds, median over rounds")
    axes.set_title("A hit on disk, to bytes, from Python (warm page cache)", fontsize=11, loc="left")
    axes.legend(fontsize=8, frameon=False, loc="upper left")
    figure.tight_layout()
    figure.savefig(path)
    plt.close(figure)
