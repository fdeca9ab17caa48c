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
    """A contender: a command that fills a new folder from the bundle, maybe beside another command."""

    def __init__(
        self, w: Workplace, name: str, count: int, command: list[str], beside: list[str] | None = None
    ) -> None:
        self._w, self._name, self._count, self._command, self._beside = w, name, count, command, beside

    def __call__(self) -> float:
        folder = self._w.in_memory(self._name)
        assert folder
        command = [word.replace("{}", str(folder)) for word in self._command]
        start = time.perf_counter_ns()
        other = self._beside and subprocess.Popen(self._beside)
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        if other and other.wait() != 0:
            raise BenchError(f"{self._beside}: status {other.returncode}")
        took = (time.perf_counter_ns() - start) / 1e3 / self._count
        found = sum(1 for _ in folder.rglob("*.jce"))
        shutil.rmtree(folder)
        if found != self._count:
            raise BenchError(f"{self._name}: {found} entries, and not {self._count}")
        return took


def bundle_add(w: Workplace) -> Iterator[Series]:
    """Signed entries that compress as code does: added to an empty directory on tmpfs, and unpacked there by tar and zstd.

    On a disk what a file costs to make would hide the rest. The floor is tar and zstd, and at the same time one Ed25519 an
    entry on all processors.
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
            tar = ["tar", "-I", "zstd", "-xf", str(file), "-C", "{}"]
            add = [command, "-directory", "{}", "bundle", "add", str(file)]
            signatures = [str(w.ground.signatures), str(count)]
            contenders = [
                Contender("tar_zstd", _Extract(w, f"tar-{at}", count, tar)),
                Contender("jitcache", _Extract(w, f"add-{at}", count, add)),
                Contender("tar_zstd_signatures", _Extract(w, f"floor-{at}", count, tar, signatures)),
            ]
            yield Series(at, contenders, w.scale.slow)
