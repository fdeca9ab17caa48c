"""Rows about launchers: ./configure, which compiles a hundred small files, each under the name conftest.c."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Callable

import ground
from rows_launch import said, tool
from runs import BenchError, Contender, Series
from workplace import Workplace

_LAUNCHER = str(ground.ROOT / "build" / "lib" / "jitcache")

#: What a small package asks: as much as GNU hello does without gnulib. Autoconf makes a script of it.
_CONFIGURE_AC = """AC_INIT([small], [1.0])
AC_CONFIG_HEADERS([config.h])
AC_PROG_CC
AC_USE_SYSTEM_EXTENSIONS
AC_SYS_LARGEFILE
AC_C_INLINE
AC_C_RESTRICT
AC_C_BIGENDIAN
AC_HEADER_STDBOOL
AC_HEADER_DIRENT
AC_CHECK_HEADERS([errno.h fcntl.h getopt.h langinfo.h libintl.h limits.h locale.h malloc.h mntent.h netdb.h \
  poll.h pthread.h sys/file.h sys/ioctl.h sys/mman.h sys/param.h sys/select.h sys/socket.h sys/time.h termios.h \
  wchar.h wctype.h winsock2.h])
AC_TYPE_SIZE_T
AC_TYPE_SSIZE_T
AC_TYPE_PID_T
AC_TYPE_OFF_T
AC_TYPE_UINT32_T
AC_CHECK_SIZEOF([int])
AC_CHECK_SIZEOF([long])
AC_CHECK_SIZEOF([void *])
AC_CHECK_MEMBERS([struct stat.st_blksize, struct stat.st_rdev, struct tm.tm_zone])
AC_CHECK_DECLS([strerror_r, strnlen, tzname])
AC_SEARCH_LIBS([dlopen], [dl])
AC_SEARCH_LIBS([pow], [m])
AC_CHECK_FUNCS([alarm atexit bzero dup2 endpwent ftruncate getcwd gethostname getpagesize gettimeofday \
  localtime_r memchr memmove memset mkdir munmap newlocale nl_langinfo putenv regcomp rmdir select setenv setlocale \
  socket stpcpy strcasecmp strchr strdup strerror strlcpy strnlen strrchr strstr strtol uname usleep])
AC_CONFIG_FILES([Makefile])
AC_OUTPUT
"""


def _script(folder: Path) -> Path | None:
    """Make configure in a folder; None if autoconf is not here, or fails."""
    autoconf = shutil.which("autoconf")
    if autoconf is None or shutil.which("autoheader") is None:
        return None
    (folder / "configure.ac").write_text(_CONFIGURE_AC)
    (folder / "Makefile.in").write_text("CC = @CC@\n")
    for command in ("autoheader", "autoconf"):
        if subprocess.run([command], cwd=folder, capture_output=True, check=False).returncode != 0:
            return None
    return folder / "configure"


def _configure(script: Path, build: Path, env: dict[str, str]) -> float:
    """Run configure in an empty folder, and return what processors worked, in us."""
    shutil.rmtree(build, ignore_errors=True)
    build.mkdir()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    p = subprocess.run([str(script), "-q"], cwd=build, env=env, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if p.returncode != 0:
        raise BenchError(f"configure has failed: {p.stderr}")
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1e6


def launch_configure(w: Workplace) -> Iterator[Series]:
    """./configure of a small package: with gcc, and through jitcache run and ccache, first and again; processor time."""
    folder = w.folder("configure")
    script = _script(folder)
    if script is None or shutil.which("gcc") is None:
        w.notes["not measured"]["launch_configure"] = "no autoconf, or no gcc, here"
        return
    stores: dict[str, Path] = {}
    headers: dict[str, str] = {}

    def contender(name: str, before: list[str]) -> Callable[[], dict[str, float]]:
        build = folder / f"build-{name}"

        def run() -> dict[str, float]:
            store = stores[name] = folder / f"{name}-{len(list(folder.iterdir()))}"
            env = {**os.environ, "CC": " ".join([*before, "gcc"]), "JITCACHE_DIR": str(store), "CCACHE_DIR": str(store)}
            found = {}
            for which in ("first", "again") if before else ("first",):
                found[which] = _configure(script, build, env)
                headers[f"{name} {which}"] = (build / "config.h").read_text()
            store.mkdir(exist_ok=True)  # the next one has another name
            return found

        return run

    found = [Contender("compiler", contender("compiler", []))]
    for name, before in (("ccache", tool("ccache")), ("jitcache", _LAUNCHER)):
        if before is None:
            w.notes["not measured"]["ccache"] = "ccache is not installed"
            continue
        found.append(Contender(name, contender(name, [before, "run"] if name == "jitcache" else [before])))
    yield Series("small", found, max(1, w.scale.slow // 7), warm=False)
    if len(set(headers.values())) != 1:
        raise BenchError("configure has found different things")
    env = {**os.environ, "JITCACHE_DIR": str(stores["jitcache"])}
    total = json.loads(said([_LAUNCHER, "stats", "-json"], env))["total"]
    if total["hits_disk"] < 50:
        raise BenchError(f"jitcache has hit {total['hits_disk']} times")
