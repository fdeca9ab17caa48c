"""Other machines, other images: what differs there without need is no miss, and what looks equal is no hit."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import PROGRAM, ROOT, need, rest
from jitcache import native

pytestmark = rest


@pytest.fixture(autouse=True)
def root() -> None:
    if os.geteuid() != 0:
        pytest.skip("not root")
    if subprocess.run(["unshare", "-m", "true"], check=False, capture_output=True).returncode != 0:
        pytest.skip("nothing can be mounted here")


class Machine:
    """A root of its own over that of this machine, in which every file has another device, and some are copies."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()

    def run(self, before: str, command: list[str]) -> Any:
        """Change the root by a script, and run a command in it; return what it prints."""
        script = f"""
            set -e
            cd {self.folder}
            mount -t tmpfs none {self.folder}
            mkdir upper work root
            mount -t overlay overlay -o lowerdir=/,upperdir=upper,workdir=work root
            mount --rbind /proc root/proc
            mount --rbind /dev root/dev
            mkdir -p root{self.folder.parent}/shared
            mount --bind {self.folder.parent}/shared root{self.folder.parent}/shared
            chroot root /bin/sh -ec '{before}'
            exec chroot root "$@"
        """
        p = subprocess.run(
            ["unshare", "-m", "sh", "-c", script, "sh", *command], capture_output=True, text=True, check=False
        )
        assert p.returncode == 0, p.stderr + p.stdout
        return json.loads(p.stdout.splitlines()[-1])


#: Copies of the compiler, of its headers and of the C library's, with other inodes and times.
COPIES = """
    for path in /usr/lib/gcc /usr/include; do
        cp -a --no-preserve=timestamps "$path" "$path.new"
        mv "$path" "$path.old"
        mv "$path.new" "$path"
    done
"""

#: What a package brings: a program, a library, headers, messages; and what its installation does.
PACKAGE = """
    cp /lib/x86_64-linux-gnu/libm.so.6 /usr/lib/x86_64-linux-gnu/libunrelated.so.1
    echo "#define UNRELATED 1" > /usr/include/unrelated.h
    mkdir -p /usr/include/unrelated /usr/share/doc/unrelated
    cp /bin/true /usr/bin/unrelated
    ldconfig
"""


@pytest.mark.parametrize("before", [":", COPIES, PACKAGE], ids=["as it is", "copied files", "another package"])
@pytest.mark.parametrize("compiler", ["gcc", "g++", "clang"])
def test_same_files_on_another_machine_are_a_hit(tmp_path: Path, compiler: str, before: str) -> None:
    need(compiler)
    shared = tmp_path / "shared"
    shared.mkdir()
    header = (
        "#include <stdio.h>\n#include <math.h>\n" if compiler != "g++" else "#include <vector>\n#include <string>\n"
    )
    ending = "cpp" if compiler == "g++" else "c"
    asked: Any = {
        "sources": {f"f.{ending}": header + "int f(void) { return 1; }\n"},
        "compiler": compiler,
        "libraries": ["m"],
    }
    command = [sys.executable, "-c", PROGRAM, str(ROOT / "python"), json.dumps(asked), str(shared / "cache")]

    def here() -> Any:
        return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)

    first = here()
    assert (first["hit"], first["refused"]) == (False, "")
    assert here()["hit"]
    there = Machine(tmp_path / "machine").run(before, command)
    assert there["hit"], there["missed"]
    assert there["bytes"] == first["bytes"]
    assert here()["hit"]


class Images:
    """Two images that have equal stamps and other contents, mounted in turn at one path."""

    def __init__(self, folder: Path, how: str) -> None:
        self.folder, self.how = folder, how
        (folder / "inc").mkdir(parents=True)
        (folder / "content").mkdir()
        (folder / "content" / "v.h").write_text("#define V_OF_THE_IMAGE 1\n")
        self.images = [folder / "1.img", folder / "2.img"]
        self.images[0].write_bytes(bytes(8 << 20))
        command = [
            need("mkfs.ext4"),
            "-q",
            "-O",
            "^has_journal,^metadata_csum",
            "-d",
            folder / "content",
            self.images[0],
        ]
        subprocess.run(command, check=True)
        # Long ago: what changed a moment ago is read again in any case.
        for path in ("/v.h", "/"):
            for field in ("mtime", "ctime"):
                old = [need("debugfs"), "-w", "-R", f"set_inode_field {path} {field} 20240101000000", self.images[0]]
                subprocess.run(old, check=True, capture_output=True)
        image = self.images[0].read_bytes()
        assert image.count(b"V_OF_THE_IMAGE 1") == 1
        self.images[1].write_bytes(image.replace(b"V_OF_THE_IMAGE 1", b"V_OF_THE_IMAGE 2"))
        for i in (1, 2):
            (folder / f"lower{i}").mkdir()
        self.mounted: list[Path] = []

    def mount(self, n: int) -> None:
        inc = self.folder / "inc"
        if self.how == "image":
            self._mount("-o", "loop,ro", self.images[n - 1], inc)
        else:
            lower = self.folder / f"lower{n}"
            self._mount("-o", "loop,ro", self.images[n - 1], lower)
            self._mount("-t", "overlay", "-o", f"lowerdir={lower}:{self.folder}/content-none", "none", inc)

    def _mount(self, *words: Any) -> None:
        (self.folder / "content-none").mkdir(exist_ok=True)
        if subprocess.run(["mount", *words], check=False, capture_output=True).returncode != 0:
            pytest.skip("cannot mount this")
        self.mounted.append(words[-1])

    def unmount(self) -> None:
        while self.mounted:
            subprocess.run(["umount", self.mounted.pop()], check=True)


@pytest.fixture(params=["image", "overlay"])
def images(tmp_path: Path, request: Any) -> Iterator[Images]:
    made = Images(tmp_path / "images", request.param)
    yield made
    made.unmount()


@pytest.mark.control("noimages", rows=["image", "overlay"])
def test_image_that_is_mounted_in_place_of_another_with_equal_stamps(images: Images, cache: Any) -> None:
    def build(of: Any) -> Any:
        flags = [f"-I{images.folder}/inc"]
        return native.build("#include <v.h>\nint f(void) { return V_OF_THE_IMAGE; }\n", flags=flags, cache=of)

    stamps: list[tuple[int, ...]] = []
    for n, hit in ((1, False), (2, False), *[(1, True), (2, True)] * 8):
        images.mount(n)
        st = os.stat(images.folder / "inc" / "v.h")
        stamps.append((st.st_dev, st.st_ino, st.st_size, st.st_mtime_ns, st.st_ctime_ns))
        entry = build(cache)
        assert native.load_shared(entry).f() == n
        assert bytes(entry) == bytes(build(False))
        assert entry.hit is hit
        assert build(cache).hit
        images.unmount()
        # Somebody else's mount may have taken the number of the first device meanwhile.
        if len(stamps) > 3 and any(a == b for a, b in zip(stamps, stamps[1:])):
            break
    assert any(a == b for a, b in zip(stamps, stamps[1:])), "the stamps tell the images apart, and nothing is proved"
