"""Other machines: what differs there without need is no miss.

A machine is a root of its own over that of this one, in which every file has another
device, with another host name; some files are copies, or a package was installed.
Each command puts a random number into what it leaves: so equal bytes are a replay.
"""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path
from typing import Any

import conftest
import pytest

pytestmark = pytest.mark.rest

#: Copies of the compiler, of headers and of the sources, with other inodes and times.
COPIES = """
    for path in /usr/lib/gcc /usr/include $SOURCES; do
        cp -a --no-preserve=timestamps "$path" "$path.new"
        mv "$path" "$path.old"
        mv "$path.new" "$path"
    done
"""

#: What apt install and pip install of something unrelated leave.
PACKAGE = """
    cp /lib/x86_64-linux-gnu/libm.so.6 /usr/lib/x86_64-linux-gnu/libunrelated.so.1
    echo "#define UNRELATED 1" > /usr/include/unrelated.h
    mkdir -p /usr/include/unrelated /usr/share/doc/unrelated /usr/lib/python3/dist-packages/unrelated
    echo > /usr/lib/python3/dist-packages/unrelated/__init__.py
    cp /bin/true /usr/bin/unrelated
    ldconfig
"""

COMMANDS = {
    "C": "gcc -flto -c a.c -o out/a",
    "C++": "g++ -flto -c b.cpp -o out/a",
    "Fortran": "gfortran -flto -c f.f90 -J out -o out/a",
    "compile and link": "gcc -shared -fPIC a.c -lm -Wl,--build-id=uuid -o out/a",
    "clang links": "clang -shared -fPIC a.c -lm -Wl,--build-id=uuid -o out/a",
    "wrapper": "./wrapper a.c -lm -Wl,--build-id=uuid -o out/a",
}


@pytest.fixture(autouse=True)
def root() -> None:
    if os.geteuid() != 0:
        pytest.skip("not root")
    if subprocess.run(["unshare", "-m", "true"], check=False, capture_output=True).returncode != 0:
        pytest.skip("nothing can be mounted here")


class Project:
    """Sources, a cache, and a folder that machines share."""

    def __init__(self, place: Any) -> None:
        self.folder: Path = place.folder
        self.env = place.env
        self.top = self.folder.parent
        for folder in (self.top, *self.top.parents):
            if len(folder.parts) > 2:
                folder.chmod(folder.stat().st_mode | 0o055)
        (self.folder / "out").mkdir()
        place.write(
            a_c='#include <stdio.h>\n#include <math.h>\n#include "v.h"\nint main(void) { return V; }\n',
            v_h="#define V 1\n",
            b_cpp="#include <vector>\n#include <string>\nint f() { return 1; }\n",
            f_f90="module m\ncontains\nsubroutine s()\nend subroutine\nend module\n",
        )
        place.tool("cc-of-the-site", '#!/bin/sh\nexec gcc -DSITE=$(cat /etc/debian_version | wc -l) "$@"\n')
        (self.folder / "wrapper").write_text('#!/bin/sh\nexec cc-of-the-site "$@"\n')
        (self.folder / "wrapper").chmod(0o755)
        (self.top / "shared").mkdir()
        self.cache = self.top / "shared" / "cache"

    def words(self, command: str, cache: Path, **env: str) -> str:
        """A line of the shell that launches, and prints what came of it."""
        env = {**self.env, "JITCACHE_DIR": str(cache), "JITCACHE_LOG": "miss", **env}
        set_ = " ".join(shlex.quote(f"{k}={v}") for k, v in env.items())
        return f"cd {self.folder} && rm -rf out && mkdir out && env -i {set_} {conftest.PROGRAM} run {command} </dev/null && sha256sum out/*"

    def here(self, command: str, **env: str) -> str:
        return said(["sh", "-c", self.words(command, self.cache, **env)])

    def there(self, command: str, before: str, user: int = 0, **env: str) -> str:
        """The same on another machine, after a script."""
        cache = self.cache
        if user:
            cache = self.top / "shared" / "theirs"
            before += f"\ncp -r {self.cache} {cache}; chown -R {user} {cache} {self.folder} $TMPDIR\n"
        machine = self.top / "machine"
        machine.mkdir(exist_ok=True)
        script = f"""
            set -e
            export SOURCES={self.folder} TMPDIR={self.top}/tmp
            hostname elsewhere
            cd {machine}
            mount -t tmpfs none {machine}
            mkdir upper work root
            mount -t overlay overlay -o lowerdir=/,upperdir=upper,workdir=work root
            mount --rbind /proc root/proc
            mount --rbind /dev root/dev
            mkdir -p root{self.top}/shared
            mount --bind {self.top}/shared root{self.top}/shared
            chroot root /bin/sh -ec {shlex.quote(before)}
            exec chroot --userspec={user}:{user} root /bin/sh -c {shlex.quote(self.words(command, cache, **env))}
        """
        return said(["unshare", "-m", "-u", "sh", "-c", script])


def said(command: list[str]) -> str:
    p = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert p.returncode == 0, p.stderr + p.stdout
    return p.stdout


@pytest.fixture
def project(place: Any) -> Project:
    return Project(place)


@pytest.mark.parametrize("before", [":", COPIES, PACKAGE], ids=["as it is", "copied files", "another package"])
@pytest.mark.parametrize("name", COMMANDS)
def test_same_files_on_another_machine_are_replayed(project: Project, name: str, before: str) -> None:
    command = COMMANDS[name]
    conftest.need(command.split()[0].replace("./wrapper", "gcc"))
    first = project.here(command)
    assert project.here(command) == first
    assert project.there(command, before) == first
    assert project.here(command) == first


@pytest.mark.parametrize("name", COMMANDS)
def test_another_user_with_another_home_gets_a_replay(project: Project, name: str) -> None:
    """A wrapper may obey any variable, and so may not move to another home."""
    command = COMMANDS[name]
    conftest.need(command.split()[0].replace("./wrapper", "gcc"))
    first = project.here(command)
    home = {} if name == "wrapper" else {"HOME": "/nowhere", "USER": "nobody"}
    assert project.there(command, ":", user=65534, **home) == first


@pytest.mark.parametrize("name", ["C", "compile and link", "wrapper"])
def test_another_header_on_another_machine_is_none(project: Project, name: str) -> None:
    first = project.here(COMMANDS[name])
    other = project.there(COMMANDS[name], "echo '#define V 2' > $SOURCES/v.h")
    assert other != first
