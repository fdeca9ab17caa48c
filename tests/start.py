"""Follow the page docs/start.md word by word, with an installed package.

    python tests/start.py BIN FOLDER

does in the empty FOLDER what the page says after the installation: it saves the program,
and runs each line of shell. The environment has only a home of its own, and a PATH that
begins with BIN, where python and jitcache are. It fails unless the second process finds
what the first has compiled.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import samples

#: The steps after the installation: the program, then lines of shell.
STEPS = [
    samples.under("docs/start.md", "Use it", 0),
    samples.under("docs/start.md", "Use it", 1),
    samples.under("docs/start.md", "Use it", 2),
    samples.under("docs/start.md", "Use it", 3),
]


def follow(bin_: Path, folder: Path) -> str:
    """Follow the page; return all that was printed."""
    env = {"HOME": str(folder), "PATH": f"{bin_}:/usr/bin:/bin", "LANG": "C.UTF-8"}
    env.update({name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ})  # a checkout's
    printed = ""
    (folder / "hello.py").write_text(STEPS[0])
    for text in STEPS[1:]:
        p = subprocess.run(["sh", "-eu", "-c", text], cwd=folder, env=env, capture_output=True, text=True, check=False)
        printed += p.stdout
        assert p.returncode == 0, p.stdout + p.stderr
    return printed


def main() -> None:
    bin_, folder = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    printed = follow(bin_, folder)
    print(printed)
    twice, rest = printed.split("b'ANOTHER KERNEL'")
    assert twice == "compiling\nb'A KERNEL'\nb'A KERNEL'\ncompiling\n", twice
    assert re.search(r"^difference +changed source$", rest, re.MULTILINE), rest
    assert re.search(r"^total +1 +2 +2 ", rest, re.MULTILINE), rest
    assert (folder / "report.html").read_text().startswith("<!DOCTYPE html>")
    # Nothing was written beside the programs, the page and the cache.
    assert sorted(p.name for p in folder.iterdir()) == [".cache", "hello.py", "report.html"]
    print("warm")


if __name__ == "__main__":
    main()
