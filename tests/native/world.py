"""A small closed world: compilers, wrappers, headers and libraries of its own, and what can be done to them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

from conftest import need
from jitcache import native

VALUE = "int value(void);\nint f(void) { return value(); }\n"


class World:
    """A folder, and a compile in it that is done with the cache and without."""

    def __init__(self, folder: Path, compiler: str) -> None:
        self.folder, self.compiler = folder, compiler
        self.asked: dict[str, Any] = {"compiler": compiler}
        self.missed = ""  # why the last build with the cache was none from it
        folder.mkdir(parents=True, exist_ok=True)

    def put(self, name: str, text: str | bytes, mode: int = 0o644) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        path.chmod(mode)
        return path

    def run(self, *words: Any) -> None:
        subprocess.run([str(w) for w in words], check=True, cwd=self.folder, stdout=subprocess.DEVNULL)

    def object(self, name: str, value: int) -> Path:
        """Compile an object whose function returns a value; equal values are equal bytes."""
        source = self.put(f"{Path(name).name}.c", f"int value(void) {{ return {value}; }}\n")
        out = self.folder / name
        out.parent.mkdir(parents=True, exist_ok=True)
        self.run(need("gcc"), "-O1", "-fPIC", "-c", source, "-o", out)
        source.unlink()
        return out

    def archive(self, name: str, value: int, *, thin: bool = False) -> Path:
        out = self.folder / name
        member = self.object(f"{name}.value.o", value)
        out.unlink(missing_ok=True)
        self.run(need("ar"), "rcD" + ("T" if thin else ""), out, member)
        if not thin:
            member.unlink()
        return out

    def shared(self, name: str, value: int) -> Path:
        out = self.folder / name
        member = self.object(f"{name}.value.o", value)
        self.run(need("gcc"), "-shared", "-Wl,--build-id=none", f"-Wl,-soname,{value}.so", member, "-o", out)
        member.unlink()
        return out

    def script(self, name: str, text: str) -> Path:
        return self.put(name, f"#!/bin/sh\n{text}\n", 0o755)

    def fresh(self) -> bytes | None:
        """Build without a cache; None: it fails."""
        try:
            with native.build(cache=False, **self.asked) as entry:
                return bytes(entry)
        except native.CompileError:
            return None

    def cached(self, cache: Any) -> tuple[bytes | None, bool, str]:
        """Build with a cache; return the result, whether it was a hit, and why it is not kept."""
        try:
            with native.build(cache=cache, **self.asked) as entry:
                self.missed = entry.missed
                return bytes(entry), entry.hit, entry.refused
        except native.CompileError:
            self.missed = ""
            return None, False, ""


def remake(link: Path, target: str) -> None:
    """Point a link elsewhere."""
    link.unlink(missing_ok=True)
    os.symlink(target, link)
