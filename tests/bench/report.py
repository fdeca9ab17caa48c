"""What is written: docs/bench.json, docs/bench.md, and a table on standard output."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from bounds import BOUNDS, Bound
from judge import far_off, summarise, value_of, verdict

BEGIN, END = "<!-- bench.py writes from here -->", "<!-- bench.py writes to here -->"

Raw = dict[str, dict[str, dict[str, list[float]]]]

LABELS = {
    "jitcache": "jitcache",
    "into": "jitcache_get_into, one buffer",
    "jitcache_named": "jitcache, named key",
    "jitcache_get": "GET, go-redis",
    "jitcache_copied": "jitcache, until it is copied",
    "jitcache_relayed": "GET, bare relay, and a put",
    "jitcache_digest": "BLAKE3 of as much, Go",
    "jitcache_lease": "jitcache, acquire and commit",
    "jitcache_empty": "jitcache, empty cache",
    "jitcache_python": "jitcache, Python",
    "jitcache_import": "jitcache, Python, its import",
    "jitcache_c": "jitcache, C",
    "cuda_core": "cuda.core",
    "c_read": "open+fstat+read+close, C",
    "c_open": "failing open, C",
    "c_write": "write+rename, C",
    "c_flock": "open+flock+unlink, C",
    "jitcache_thread": "jitcache, a thread waits",
    "jitcache_process": "jitcache, a process waits",
    "python_ctypes": "import ctypes, Python",
    "python_read": "open+fstat+read+close, Python",
    "python_verified": "the same and XXH3, Python",
    "go_blake3": "BLAKE3, Go, the library's",
    "blake3_python": "BLAKE3, PyPI's blake3",
    "empty_go_call": "empty C-to-Go call",
    "empty_ctypes_call": "empty ctypes call",
    "cute_compile": "cute.compile",
    "jitcache_traced": "jitcache, by trace",
    "jitcache_source": "jitcache, by source",
    "tar_zstd": "tar and zstd",
    "tar_zstd_signatures": "tar and zstd, and Ed25519",
    "true": "/bin/true",
    "python_pass": "python -c pass",
}


def label(name: str) -> str:
    return LABELS.get(name) or name.replace("cuda_core", "cuda.core").replace("_", " ")


def document(raw: Raw, notes: dict[str, Any], machine: dict[str, Any], titles: dict[str, str]) -> dict[str, Any]:
    """Return what docs/bench.json holds."""
    figures = {
        row: {at: {name: rounded(summarise(s), 3) for name, s in samples.items()} for at, samples in series.items()}
        for row, series in raw.items()
    }
    bounds = {}
    for b in BOUNDS:
        if b.row not in raw and b.row not in titles:
            continue
        value = value_of(b, raw)
        bounds[b.name] = {"text": b.text, "limit": b.limit, "at_least": b.how == "faster", "unit": b.unit or "ratio"}
        if b.how == "calls":
            bounds[b.name]["unit"] = "calls"
        bounds[b.name].update(rounded(value) if value else {"value": None, "of_minima": None})
    out = {"format": 1, "machine": machine, "bounds": bounds, "titles": titles, "figures_us": figures, "notes": notes}
    judge(out)
    return out


def rounded(values: dict[str, float], digits: int = 4) -> dict[str, float]:
    """Round to so many digits. Of times the third already differs from run to run."""
    return {k: float(f"{v:.{digits}g}") for k, v in values.items()}


def judge(doc: dict[str, Any]) -> list[str]:
    """Set the verdicts of a document by the bounds of today; return a line for each that is missed."""
    lines = []
    for b in BOUNDS:
        entry = doc["bounds"].get(b.name)
        if entry is None:
            continue
        calls = doc["notes"].get("system calls", {}).get(b.ours, {}).get("calls")
        entry["limit"], entry["text"] = b.limit, b.text
        entry["verdict"] = verdict(b, entry["value"], entry.get("floor"), calls)
        if entry["verdict"] == "MISSED":
            far = far_off(b, entry["value"])
            lines.append(f"MISSED{' by more than 20 %' if far else ''}: {b.text}: {shown(b, entry)}")
            entry["far_off"] = far
        else:
            entry.pop("far_off", None)
    return lines


def shown(b: Bound, entry: dict[str, Any]) -> str:
    return f"{number(entry['value'], b.unit)}, bound {'at least' if b.how == 'faster' else 'at most'} {number(b.limit, b.unit)}"


def number(value: float | None, unit: str = "") -> str:
    if value is None:
        return "-"
    if unit == "us" and value >= 10_000:
        return f"{value / 1000:.3g} ms"
    digits = f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"
    return f"{digits} {unit}".strip()


def table(head: list[str], rows: list[list[str]], right: int) -> list[str]:
    """Return a Markdown table whose columns from ``right`` on are aligned right."""
    rule = ["---" if i < right else "---:" for i in range(len(head))]
    widths = [max(len(r[i]) for r in [head, rule, *rows]) for i in range(len(head))]

    def line(cells: list[str]) -> str:
        return (
            "| "
            + " | ".join(c.ljust(w) if i < right else c.rjust(w) for i, (c, w) in enumerate(zip(cells, widths)))
            + " |"
        )

    return [line(head), line(rule), *map(line, rows)]


def bounds_table(doc: dict[str, Any]) -> list[str]:
    rows = []
    for b in BOUNDS:
        entry = doc["bounds"].get(b.name)
        if entry is not None:
            sign = "≥" if b.how == "faster" else "≤"
            rows.append([
                b.text, f"{sign} {number(b.limit, b.unit)}", number(entry["value"], b.unit),
                number(entry["of_minima"], b.unit), entry["verdict"],
            ])  # fmt: skip
    return table(["what", "bound", "measured", "of minima", "verdict"], rows, 1)


#: What the floor of a bound is, by its contender.
FLOORS = {
    "python_verified": "a bare open, fstat, read and close of the same files and XXH3 of their bytes, in Python",
    "floor": "a hit in the own directory behind an open that fails, because that directory is looked at first",
    "in_memory": "cuda.core's own cache in memory, which looks at no file",
    "jitcache_relayed": "a GET of the same value through a bare relay in C, and a put",
    "jitcache_digest": "the BLAKE3 of the payload alone, which is what a signature is of",
    "tar_zstd_signatures": "tar and zstd, and at the same time as many Ed25519 signatures",
}


def floors_lines(doc: dict[str, Any]) -> list[str]:
    """Return a line for each bound that nothing could keep here: what the least is, and that it misses the bound too."""
    lines = []
    for b in BOUNDS:
        entry = doc["bounds"].get(b.name)
        if entry is None or "floor" not in entry["verdict"]:
            continue
        lines.append(
            f"- {b.text}: missed, and out of reach on this machine. It is {number(entry['floor'], b.unit)} for "
            f"{FLOORS[b.floor]}; the bound is {number(b.limit, b.unit)}."
        )
    return ["", "Missed with a floor:", "", *lines] if lines else []


#: Of rows that are no times.
OTHER_UNITS = {"launch_memory": "MB"}


def figures_tables(doc: dict[str, Any]) -> list[str]:
    lines = []
    for row, series in doc["figures_us"].items():
        if row == "system_calls":
            continue
        names = list(dict.fromkeys(name for contenders in series.values() for name in contenders))
        names = [n for n in names if not n.endswith("_p999")]  # bench.json has them
        head = [f"{OTHER_UNITS.get(row, 'us')}, min / median", *series]
        rows = []
        for name in names:
            cells = [s.get(name) for s in series.values()]
            rows.append([label(name), *(f"{number(c['min'])} / {number(c['median'])}" if c else "" for c in cells)])
        lines += ["", f"### {doc['titles'][row]}", "", *table(head, rows, 1)]
    return lines


def notes_lines(doc: dict[str, Any]) -> list[str]:
    lines = []
    found = doc["notes"].get("system calls")
    if found:
        rows = []
        for what, entry in found.items():
            calls = ", ".join(f"{name} {n:g}" if n != 1 else name for name, n in entry["calls"].items())
            rows.append([what.replace("_", " "), f"{sum(map(round, entry['calls'].values()))}", calls])
        lines += [
            "",
            f"### {doc['titles'].get('system_calls', 'System calls')}",
            "",
            *table(["what", "calls", "which"], rows, 3),
        ]
    for what, why in doc["notes"].get("not measured", {}).items():
        lines += ["", f"Not measured: {what}: {why}."]
    for at, full in doc["notes"].get("full cache", {}).items():
        lines += [
            "",
            f"The full cache ({label(at)}) held {full['entries']:,} entries and was at its cap of {full['cap']:,} bytes; "
            f"{full['puts']:,} puts evicted {full['evicted']:,} entries.",
        ]
    return lines


def machine_lines(m: dict[str, Any]) -> list[str]:
    packages = ", ".join(f"{k} {v}" for k, v in m["packages"].items())
    load = f", load {m['load'][0]} before and {m['load'][1]} after" if "load" in m else ""
    return [
        f"{m['date']}, commit {m['commit']}. {m['cpu']}, {m['cores']} cores{load}, {m['memory_gib']} GiB; {m['kernel']}, {m['file_system']};",
        f"{m['go']}, {m['compiler']}, Python {m['python']}; {packages}.",
    ]  # fmt: skip


def generated(doc: dict[str, Any]) -> str:
    """Return the part of docs/bench.md between the markers."""
    lines = [
        *machine_lines(doc["machine"]),
        "",
        "### Bounds",
        "",
        *bounds_table(doc),
        *floors_lines(doc),
        *figures_tables(doc),
        *notes_lines(doc),
    ]
    return "\n".join(lines)


README_BEGIN, README_END = "<!-- bench -->", "<!-- /bench -->"

# A line of the README: what, row, series, contender of ours, floor, and the
# series of the rivals where it is another one.
README_LINES = [
    ("hit on disk, 64 KB, from C", "disk_hit_c", "64k", "jitcache", "c_read", "64k"),
    ("hit on disk, 64 KB, to bytes, from Python", "disk_hit_bytes_python", "64k", "jitcache", "python_read", "64k"),
    ("hit in memory, 64 KB, from C", "memory_hit_c", "64k", "jitcache", "empty_go_call", "64k"),
    ("hit in memory, 64 KB, to a view, from Python", "memory_hit_view_python", "64k", "jitcache", "empty_ctypes_call", "64k"),
    ("miss, from Python", "miss", "python", "jitcache", "", "python"),
    ("put of 64 KB, from Python", "put", "python", "jitcache", "", "python"),
    ("put into a full cache, 100,000 entries (cuda.core: 10,000)", "put_full", "100k", "jitcache", "", "10k"),
    ("open with 100,000 entries", "open", "capped", "jitcache_100k", "", "capped_rival"),
    ("new Python process to its first hit", "process", "64k", "jitcache_python", "python_pass", "64k"),
]  # fmt: skip


def time_of(us: float) -> str:
    """Return a time with three digits, in the unit that suits it."""
    if us >= 1000:
        return f"{us / 1000:.3g} ms"
    return f"{us:.3g} us" if us >= 1 else f"{us * 1000:.3g} ns"


def readme_table(doc: dict[str, Any]) -> list[str]:
    """Return the table of the README: the smallest figures of some rows. It has three columns, for a phone."""

    def cell(row: str, at: str, *names: str) -> str:
        series = doc["figures_us"][row].get(at, {})
        return next((time_of(series[n]["min"]) for n in names if n in series), "")

    rows = []
    for what, row, at, ours, floor, others in README_LINES:
        beside = [
            (label(floor), cell(row, at, floor)),
            ("cuda.core's cache", cell(row, others, "cuda_core", "cuda_core_100k")),
            ("diskcache", cell(row, others, "diskcache")),
        ]
        rows.append([what, cell(row, at, ours), "; ".join(f"{name}: {time}" for name, time in beside if time)])
    return table(["", "jitcache", "beside it"], rows, 3)


def write_readme(path: Path, doc: dict[str, Any]) -> None:
    """Replace the table of the README."""
    before, _, rest = path.read_text().partition(README_BEGIN)
    after = rest.partition(README_END)[2]
    lines = "\n".join(readme_table(doc))
    path.write_text(f"{before}{README_BEGIN}\n\n{lines}\n\n{README_END}{after}")


def write_markdown(path: Path, template: str, doc: dict[str, Any]) -> None:
    """Replace what stands between the markers."""
    text = path.read_text() if path.exists() else template
    before, _, rest = text.partition(BEGIN)
    after = rest.partition(END)[2]
    path.write_text(f"{before}{BEGIN}\n\n{generated(doc)}\n\n{END}{after}")


def write_json(path: Path, doc: dict[str, Any]) -> None:
    path.write_text(json.dumps(doc, indent=1, ensure_ascii=False) + "\n")
