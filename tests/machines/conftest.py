"""Another machine: a root of its own, with copied files, another host name, user and home."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [
    str(ROOT / "python"),
    str(ROOT / "tests"),
    str(ROOT / "tests" / "python"),
    str(Path(__file__).resolve().parent),
]

from producers import HOME

USER, LAYER = 61001, "/srv/image"

#: No folder of a home: what is looked for in one counts, and so does the variable that names it.
PATH = "/usr/local/bin:/usr/bin:/bin"

#: A folder with nothing in it: a word of a command that names something where it runs makes that folder count.
EMPTY = "/mnt"

#: What compiles, and what starts a compile. That none of them ran is what strace saw.
COMPILERS = re.compile(
    r'execve\("[^"]*/(cc1|cc1plus|as|ld|collect2|clang[^/"]*|cython|jitcache-nvrtc|jitcache-observe)"'
)


class Outcome(NamedTuple):
    """What a command has printed, the compilers that ran, and what it said of misses."""

    out: str
    compilers: list[str]
    said: str


class Machine:
    """A machine that has the same packages at the same paths, and nothing else in common.

    Its files are seen through an overlay, so that each has another device; those that
    compilers and modules are made of are copies, with inodes and times of their own. It
    has no network.
    """

    def __init__(self, folder: Path, copies: list[Path]) -> None:
        self.folder, self.transfer = folder, folder / "transfer"
        folder.mkdir()
        self.transfer.mkdir()
        script = f"""
            set -e
            hostname another
            cd {folder}
            mkdir here
            mount -t tmpfs none here
            cd here
            mkdir upper work root
            mount -t overlay overlay -o lowerdir=/,upperdir=upper,workdir=work root
            mount --rbind /proc root/proc
            mount --rbind /sys root/sys
            mount --rbind /dev root/dev
            mkdir -p root{HOME} root/transfer root/tmp
            mount --bind {self.transfer} root/transfer
            mount -t tmpfs none root/tmp
            chmod 1777 root/tmp
            case {ROOT} in /tmp/*)
                mkdir -p root{ROOT} upper-own work-own
                mount -t overlay overlay -o lowerdir={ROOT},upperdir=upper-own,workdir=work-own root{ROOT}
            esac
            chown {USER}:{USER} root{HOME}
            for path in {" ".join(map(str, copies))}; do
                cp -a --no-preserve=timestamps root$path root$path.new
                mv root$path root$path.old
                mv root$path.new root$path
            done
            path={ROOT}
            while [ $path != / ]; do chmod a+rx root$path; path=$(dirname $path); done
            path={os.path.realpath(sys.executable)}
            while [ $path != / ]; do chmod a+rx root$path; path=$(dirname $path); done
            echo ready
            exec sleep 3600
        """
        self._holder = subprocess.Popen(
            ["unshare", "-m", "-u", "-n", "sh", "-c", script], stdout=subprocess.PIPE, text=True
        )
        assert self._holder.stdout is not None
        assert self._holder.stdout.readline() == "ready\n", "no machine"
        self._root = f"{folder}/here/root"
        self._copied: set[Path] = set()

    def close(self) -> None:
        self._holder.kill()
        self._holder.communicate()

    def _inside(self, *words: str) -> list[str]:
        return ["nsenter", "-m", "-u", "-n", "-t", str(self._holder.pid), "chroot", *words]

    def root(self, script: str) -> None:
        """Run a script in it as root."""
        subprocess.run([*self._inside(self._root), "/bin/sh", "-ec", script], check=True)

    def copy(self, folder: Path) -> None:
        """Put copies in the place of the files of a folder, once."""
        if folder not in self._copied:
            self._copied.add(folder)
            self.root(
                f"cp -a --no-preserve=timestamps {folder} {folder}.new && mv {folder} {folder}.old && mv {folder}.new {folder}"
            )

    def forget(self) -> None:
        """Take the layer, and what the user had of his own."""
        self.root(f"rm -rf {LAYER} {HOME}/.cache {HOME}/.config")

    def install(self, cache: Path) -> None:
        """Copy a cache directory to be the machine's layer, as an image has it, and take what the user had of his own."""
        shutil.rmtree(self.transfer / "cache", ignore_errors=True)
        shutil.copytree(cache, self.transfer / "cache")
        self.forget()
        self.root(f"cp -r /transfer/cache {LAYER} && chmod -R go+rX,go-w {LAYER}")

    def run(self, *command: str, folder: str = EMPTY, traced: bool = True, kernel: bool = False, **env: str) -> Outcome:
        """Run a command as the machine's user, over the layer, with another kernel by name.

        Without strace nobody sees what it runs.
        """
        log = self.transfer / "strace"
        log.unlink(missing_ok=True)
        given = {"PATH": PATH, "HOME": HOME, "LANG": "C", "USER": "other", "JITCACHE_LAYERS": LAYER, **env}
        words = [f"{name}={value}" for name, value in given.items()]
        system = ["setarch", "--uname-2.6"] if kernel else []  # which says that it is an older one
        words = ["env", "-i", "-C", folder, *words, *system, *command]
        inside = self._inside(f"--userspec={USER}:{USER}", self._root, *words)
        strace = ["strace", "-f", "-qq", "-s", "300", "-e", "trace=execve", "-e", "signal=none", "-o", str(log)]
        p = subprocess.run([*strace, *inside] if traced else inside, capture_output=True, text=True, check=False)
        assert p.returncode == 0, p.stderr + p.stdout
        lines = log.read_text().splitlines() if traced else []
        ran = [m[1] for line in lines if " = 0" in line and (m := COMPILERS.search(line))]
        return Outcome(p.stdout, ran, p.stderr)


def here(*command: str, folder: str = EMPTY, **env: str) -> str:
    """Run a command on this machine; return what it printed."""
    given = {"PATH": PATH, "HOME": "/home/first", "LANG": "C", "USER": "first", **env}
    p = subprocess.run(command, cwd=folder, env=given, capture_output=True, text=True, check=False)
    assert p.returncode == 0, p.stderr + p.stdout
    return p.stdout


#: The folders of compilers and headers that a machine has copies of.
SYSTEM = [Path("/usr/lib/gcc"), Path("/usr/include"), Path("/usr/local/include")]


def copied() -> list[Path]:
    """These, and the folders of modules."""
    folders = SYSTEM.copy()
    for module in ("Cython", "setuptools", "jitcache"):
        for base in (Path(p) for p in sys.path if p.endswith("site-packages")):
            if (base / module).is_dir():
                folders.append(base / module)
    wheels = os.environ.get("JITCACHE_TEST_CUDA12")
    return [f for f in folders if f.is_dir()] + ([Path(wheels)] if wheels else [])


def _made(folder: Path, copies: list[Path]) -> Iterator[Machine]:
    if os.geteuid() != 0:
        pytest.skip("not root")
    if shutil.which("strace") is None:
        pytest.skip("no strace")
    if subprocess.run(["unshare", "-m", "-u", "-n", "true"], check=False, capture_output=True).returncode != 0:
        pytest.skip("nothing can be mounted here")
    made = Machine(folder / "another", copies)
    yield made
    made.close()


@pytest.fixture(scope="session")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """Another machine."""
    yield from _made(tmp_path_factory.mktemp("machines"), copied())


@pytest.fixture(scope="session")
def dated_machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """One on which the modules of Python have the times that they have here."""
    yield from _made(tmp_path_factory.mktemp("dated"), [folder for folder in SYSTEM if folder.is_dir()])
