"""Fresh processes, and the last lines of the output: what the examples of frameworks share."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


def process(script: str, *args: str, without: tuple[str, ...], **env: str) -> Any:
    """Run a script with ``--work`` in a process of its own; return the JSON that it prints.

    ``without``: what variables begin with that it is not to see.
    """
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("JITCACHE", *without))}
    path = os.pathsep.join([str(ROOT / "python"), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, script, "--work", *args]
    out = subprocess.run(command, env={**clean, "PYTHONPATH": path, **env}, stdout=subprocess.PIPE, check=True).stdout
    return json.loads(out)


def end(problems: list[str]) -> int:
    """Print what was wrong, or that everything was right; return the exit status."""
    for problem in problems:
        print(f"FAILED: {problem}")
    if not problems:
        print("\nEach was compiled once.")
    return 1 if problems else 0
