"""Rows about bundles: taking one in, beside tar and zstd on the same file."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Iterator

from rows_layers import environment
from runs import BenchError, Contender, Series
from workplace import SIZES, Workplace


class _Extract:
    """A contender: a command that fills a new folder from the bundle."""

    def __init__(self, w: Workplace, name: str, count: int, command: list[str]) -> None:
        self._w, self._name, self._count, self._command = w, name, count, command

    def __call__(self) -> float:
        folder = self._w.in_memory(self._name)
        assert folder
        command = [word.replace("{}", str(folder)) for word in self._command]
        start = time.perf_counter_ns()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        took = (time.perf_counter_ns() - start) / 1e3 / self._count
        found = sum(1 for _ in folder.rglob("*.jce"))
        shutil.rmtree(folder)
        if found != self._count:
            raise BenchError(f"{self._name}: {found} entries, and not {self._count}")
        return took


def bundle_add(w: Workplace) -> Iterator[Series]:
    """Signed entries that compress as code does: added to an empty directory on tmpfs, and unpacked there by tar and zstd.

    On a disk what a file costs to make would hide the rest.
    """
    import jitcache

    if shutil.which("zstd") is None or shutil.which("tar") is None:
        w.notes["not measured"]["bundle_add"] = "zstd or tar is not installed"
        return
    if w.in_memory("bundle") is None:
        return
    command = str(w.ground.library.parent / "jitcache")
    # No piece comes twice: what is the same would be in the bundle once.
    code = b"".join(path.read_bytes() for path in sorted(w.ground.library.parent.iterdir()) if not path.is_symlink())
    for at, size in (("4k", SIZES["4k"]), ("64k", SIZES["64k"])):
        home = w.folder(f"bundle-{at}")
        count = min(len(code) // size, 4 * w.scale.entries)
        secret, file = home / "secret", home / "all.jcb"
        made = subprocess.run([command, "trust", "new", str(secret)], stdout=subprocess.PIPE, text=True, check=True)
        with environment(JITCACHE_SIGNING_KEY_FILE=str(secret)), jitcache.Cache(home / "from", memory_size=0) as cache:
            for n in range(count):
                cache.put(jitcache.Key(n=n), code[n * size : (n + 1) * size])
        subprocess.run(
            [command, "-directory", str(home / "from"), "bundle", "create", str(file)],
            check=True, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        with environment(JITCACHE_KEYS=made.stdout.strip()):
            yield Series(
                at,
                [
                    Contender(
                        "tar_zstd", _Extract(w, f"tar-{at}", count, ["tar", "-I", "zstd", "-xf", str(file), "-C", "{}"])
                    ),
                    Contender(
                        "jitcache",
                        _Extract(w, f"add-{at}", count, [command, "-directory", "{}", "bundle", "add", str(file)]),
                    ),
                ],
                w.scale.slow,
            )
