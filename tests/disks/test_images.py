"""Images that are mounted in turn: their files are equal in all that stat says, and differ in content."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import jitcache
import pytest
from jitcache import native
from mounts import mounted, run

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(not shutil.which("mksquashfs"), reason="needs squashfs-tools"),
]

SOURCE = '#include "value.h"\nint value(void) { return VALUE; }\n'
WHEN = 1_700_000_000


class Images:
    """Two images at one place, one at a time."""

    def __init__(self, folder: Path, kind: str) -> None:
        self.folder, self.kind, self.place = folder, kind, folder / "place"
        self.seen: set[tuple[int, ...]] = set()
        self._now = contextlib.ExitStack()
        for n in (1, 2):
            content = folder / str(n)
            content.mkdir()
            (content / "value.h").write_text(f"#define VALUE {n}\n")
            for path in (content / "value.h", content):
                os.utime(path, (WHEN, WHEN))
            run("mksquashfs", content, folder / f"{n}.img", "-quiet", "-no-progress", "-mkfs-time", str(WHEN))

    def mount(self, n: int) -> None:
        """Have image n there, and nothing else."""
        self.unmount()
        if self.kind == "overlay":
            lower = self._now.enter_context(mounted(self.folder / "lower", "-o", "loop", self.folder / f"{n}.img"))
            (self.folder / "empty").mkdir(exist_ok=True)
            layers = f"lowerdir={lower}:{self.folder / 'empty'}"
            self._now.enter_context(mounted(self.place, "-t", "overlay", "-o", layers, "overlay"))
        else:
            self._now.enter_context(mounted(self.place, "-o", "loop", self.folder / f"{n}.img"))
        st = os.stat(self.place / "value.h")
        self.seen.add((st.st_dev, st.st_ino, st.st_size, st.st_mtime_ns, st.st_ctime_ns))

    def unmount(self) -> None:
        self._now.close()


@pytest.fixture(params=["squashfs", "overlay"])
def images(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Images]:
    made = Images(tmp_path, request.param)
    try:
        yield made
    finally:
        made.unmount()


@pytest.mark.control("noimages", rows=["squashfs", "overlay"])
def test_header_of_another_image_is_another_header(images: Images, tmp_path: Path) -> None:
    values = []
    for n in (1, 2, 1, 2):
        images.mount(n)
        # A process of its own: nothing is known but what is in the directory.
        with jitcache.Cache(tmp_path / "cache") as cache:
            entry = native.build(SOURCE, flags=[f"-I{images.place}"], cache=cache)
            values.append(native.load_shared(entry).value())
    assert values == [1, 2, 1, 2]
    assert len(images.seen) == 1, "the images could be told apart by stat: nothing was tested"


def test_header_of_the_same_image_is_the_same(images: Images, tmp_path: Path) -> None:
    hits = []
    for _ in range(2):
        images.mount(1)
        with jitcache.Cache(tmp_path / "cache") as cache:
            hits.append(native.build(SOURCE, flags=[f"-I{images.place}"], cache=cache).hit)
    assert hits == [False, True]


@pytest.mark.control("noimages", rows=["squashfs"])
def test_result_is_not_stored_for_an_image_that_was_replaced_meanwhile(images: Images, tmp_path: Path) -> None:
    images.mount(1)
    key = jitcache.Key(source=jitcache.File(images.place / "value.h"))

    def compile() -> bytes:
        images.mount(2)
        return (images.place / "value.h").read_bytes()

    with jitcache.Cache(tmp_path / "cache", memory_size=0) as cache:
        assert cache.get_or_compile(key, compile) == b"#define VALUE 2\n"
        assert cache.get(key) is None
    assert len(images.seen) == 1


def test_file_that_nobody_vouches_for_is_read_again(tmp_path: Path) -> None:
    """/proc has no times of change: what is there is the same if its content is."""
    kept = Path("/proc/sys/kernel/ostype")
    key = jitcache.Key(source=jitcache.File(kept))
    with jitcache.Cache(tmp_path / "cache", memory_size=0) as cache:
        assert cache.get_or_compile(key, lambda: b"code") == b"code"
        assert cache.get(key) == b"code"
