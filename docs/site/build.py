"""The documentation site: the pages of docs/ and those made from the sources, as HTML in build/docs/site.

    python docs/site/build.py PYTHON-WITH-MKDOCS

docs/*.md are read where they stand, too, so their links are to files of the
checkout; here they become links between pages. From the sources come the
interface of Python (mkdocstrings), the headers of C and C++, which are their own
manuals, and what the command says of itself.
"""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "build" / "docs" / "pages"
OVERVIEW = ["README.md", "SECURITY.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"]


def place(file: Path) -> Path | None:
    """Return the place on the site of a file of the checkout, by its path from the root; None if it has no page."""
    if file.parts[0] == "docs" and file.suffix in {".md", ".png", ".svg", ".json"} and "site" not in file.parts:
        return Path(*file.parts[1:])
    if str(file) in OVERVIEW:
        return Path("index.md" if str(file) == "README.md" else file)
    return Path("c", f"{file.name}.md") if file.parts[0] == "include" else None


def link(target: str, page: Path) -> str | None:
    """Return where a link of a file goes on the site, None if what it names has no page."""
    path, mark, anchor = target.partition("#")
    if "://" in target or not path:
        return target
    there, here = (place(p.resolve().relative_to(ROOT)) for p in (page.parent / path, page))
    if there is None or here is None:
        return None
    return os.path.relpath(there, here.parent) + mark + anchor


def page(source: Path) -> str:
    """Return a file as a page: links that lead nowhere on the site are texts."""
    fences = re.split(r"(^```.*?^```$)", source.read_text(), flags=re.DOTALL | re.MULTILINE)

    def linked(m: re.Match[str]) -> str:
        where = link(m[2], source)
        return m[1] if where is None else f"[{m[1]}]({where})"

    return "".join(
        text if text.startswith("```") else re.sub(r"(?<!!)\[([^\]]+)\]\(([^)\s]+)\)", linked, text) for text in fences
    )


def prose(comment: str) -> str:
    """Return a comment of a header as Markdown; what is indented by a tab stays code."""
    lines = []
    for line in comment.splitlines():
        text = re.sub(r"^ ?(/\*+|\*/|\*)? ?", "", line.rstrip()) if not line.startswith("\t") else line
        text = text.removesuffix("*/").rstrip()
        text = re.sub(r"^\*?\t", "    ", text)
        if not text.startswith("    "):
            text = re.sub(r"[&<*]", lambda m: {"&": "&amp;", "<": "&lt;", "*": "\\*"}[m[0]], text)
            text = re.sub(r"(?<![\w`])((?:jitcache|JITCACHE)_\w+(?:\(\))?)", r"`\1`", text)
            text = re.sub(r"^([A-Z][A-Z ]{4,})$", lambda m: f"## {m[1].capitalize()}", text)
        if text.startswith(("- ", "    ")) and lines and lines[-1] and not lines[-1].startswith(("- ", "  ")):
            lines.append("")
        lines.append(text)
    return "\n".join(lines).strip()


def header(source: Path) -> str:
    """Return a header as a page: its comments as text, what they are of as code."""
    out = [f"# {source.name}\n", f"`#include <{source.name}>`\n"]
    parts = re.split(r"(^/\*.*?\*/$)", source.read_text(), flags=re.DOTALL | re.MULTILINE)
    said: set[str] = set()
    for comment, declared in zip(parts[1::2], parts[2::2]):
        section = re.match(r"/\* -{3,} ([^\n]+?)(?: \*/)?\n", comment)
        if section:
            out.append(f"## {section[1].strip().capitalize()}\n")
        said_of = comment[section.end() :] if section else comment
        code = re.sub(r"^#(?:ifndef|define) \w+_H(?:PP)?$", "", declared.strip(), flags=re.MULTILINE).strip()
        names = re.findall(r"^JITCACHE_API .*?\b(jitcache_\w+)\(", code, re.MULTILINE)
        if names and names[0] not in said:
            said.add(names[0])
            out.append(f"### {names[0]}\n")
        out.append(prose(said_of) + "\n")
        if code:
            out.append(f"```{'cpp' if source.suffix == '.hpp' else 'c'}\n{code}\n```\n")
    return "\n".join(out)


def python() -> str:
    """Return the reference of Python: each public name of the package, and its public modules."""
    names: dict[str, object] = {}
    text = (ROOT / "python" / "jitcache" / "__init__.py").read_text()
    exec(re.search(r"^__all__ = \[.*?^\]", text, re.DOTALL | re.MULTILINE)[0], names)  # type: ignore[index]
    exec(re.search(r"^_MODULES = \{.*?^\}", text, re.DOTALL | re.MULTILINE)[0], names)  # type: ignore[index]
    where: dict[str, str] = names["_MODULES"]  # type: ignore[assignment]
    out = ["# Python\n", "`import jitcache`\n", "## jitcache\n"]
    out += [f"::: jitcache.{where[name]}.{name}\n" for name in names["__all__"]]  # type: ignore[attr-defined]
    out += [module_of(f"jitcache.{name}") for name in ("native", "cuda", "mpi")]
    return "\n".join(out)


def adapters() -> str:
    """Return the reference of the adapters, each with its public names."""
    folder = ROOT / "python" / "jitcache" / "adapters"
    names = sorted(path.parent.name for path in folder.glob("*/__init__.py"))
    return "\n".join(["# Python: adapters\n", *(module_of(f"jitcache.adapters.{name}") for name in names)])


def module_of(name: str) -> str:
    """Return a section about a module: what it says of itself, and each of its public names."""
    path = ROOT / "python" / name.replace(".", "/")
    source = path.with_suffix(".py") if path.with_suffix(".py").exists() else path / "__init__.py"
    members = re.search(r"^__all__ = (\[.*?\])", source.read_text(), re.DOTALL | re.MULTILINE)[1]  # type: ignore[index]
    members = json.dumps(ast.literal_eval(members))
    return f"## {name}\n\n::: {name}\n    options:\n      show_root_heading: false\n      members: {members}\n"


def command() -> str:
    """Return what the command says of itself."""
    env = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "NO_COLOR": "1"}

    def help_of(*words: str) -> str:
        return subprocess.run(
            [sys.executable, "-m", "jitcache", "help", *words], env=env, capture_output=True, text=True, check=True
        ).stdout

    whole = help_of()
    out = ["# The command\n", f"```text\n{whole}```\n"]

    def named(text: str) -> list[str]:
        listed = text.partition("commands:\n")[2].partition("\n\n")[0]
        return re.findall(r"^  ([\w-]+) +\S", listed, re.MULTILINE)

    for name in named(whole):
        text = help_of(name)
        out.append(f"## {name}\n\n```text\n{text}```\n")
        out.extend(f"### {name} {below}\n\n```text\n{help_of(name, below)}```\n" for below in named(text))
    return "\n".join(out)


def main() -> int:
    shutil.rmtree(PAGES, ignore_errors=True)
    (PAGES / "c").mkdir(parents=True)
    for pattern in ("*.md", "why/*.md", "*.png", "*.json", "pictures/*.svg"):
        for source in sorted((ROOT / "docs").glob(pattern)):
            target = PAGES / source.relative_to(ROOT / "docs")
            target.parent.mkdir(exist_ok=True)
            if source.suffix == ".md":
                target.write_text(page(source))
            else:
                shutil.copy(source, target)
    for name in ("extra.css", "iframe-worker/iframe-worker.js"):
        shutil.copy(ROOT / "docs" / "site" / name, PAGES)
    for name in OVERVIEW:
        (PAGES / ("index.md" if name == "README.md" else name)).write_text(page(ROOT / name))
    for source in sorted((ROOT / "include").iterdir()):
        (PAGES / "c" / f"{source.name}.md").write_text(header(source))
    (PAGES / "python.md").write_text(python())
    (PAGES / "adapters.md").write_text(adapters())
    (PAGES / "command.md").write_text(command())
    return subprocess.run(
        [sys.argv[1], "-m", "mkdocs", "build", "-q", "--strict", "-f", str(ROOT / "docs" / "site" / "mkdocs.yml")],
        check=False,
    ).returncode


if __name__ == "__main__":
    sys.exit(main())
