"""Read a built library back: whether the runtime in it is the changed one.

    python -m capi.overlay.readback LIBRARY

What is looked at is what the library will do, not what the build meant to do:
the table of signals as the linker laid it out, the names of the functions that
were linked, the value of the variable that holds the runtime's settings. The
library may be stripped and of another machine. Prints what is wrong.
"""

from __future__ import annotations

import struct
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from .elf import Library

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Settings of Go's runtime, through a variable that is internal to it; tests hold
#: what they do. Its preemption signal, SIGURG, makes PETSc abort the job. The
#: collector must not take away the room for handlers that capi/room.go has made.
#: And files of the cgroup need not be open, for capi sets GOMAXPROCS by itself.
NO_PREEMPTION = "asyncpreemptoff=1"
NO_SHRINKING = "gcshrinkstackoff=1"
NO_CGROUP = "containermaxprocs=0,updatemaxprocs=0"
SETTINGS = f"{NO_PREEMPTION},{NO_SHRINKING},{NO_CGROUP}"

# Faults, which Go turns into panics, and two signals of glibc's own, which no
# host can block.
MAY_UNBLOCK = {4, 5, 7, 8, 11, 32, 33}

_SIG_UNBLOCK = 1 << 7  # runtime/signal_unix.go
_ENTRY = struct.Struct("<iiQQ")  # sigTabT: flags, padding, the name's address (filled by the loader), its length

_NAMES = {1: b"SIGHUP: ", 11: b"SIGSEGV: ", 17: b"SIGCHLD: ", 34: b"signal 34", 64: b"signal 64"}

# As the table of functions has them, which Go's tracebacks need: a NUL behind each.
_OURS = b"runtime.netpollSleep\0"
_POLLERS = tuple(
    f"internal/runtime/syscall/linux.{name}\0".encode() for name in ("EpollCreate1", "EpollCtl", "EpollWait", "Eventfd")
)


def problems(path: Path) -> list[str]:
    """Return in what a library's runtime is not what it has to be; [] if it is."""
    library = Library(path)
    return [*_settings(library), *_signals(library), *_poller(library)]


def _strings(library: Library) -> Iterator[tuple[int, bytes]]:
    """Yield the variables and fields that could hold a string: where, and the string."""
    for where, address in library.pointers.items():
        word = library.read(where + 8, 8)
        size = struct.unpack("<Q", word)[0] if len(word) == 8 else 0
        if 0 < size < 200:
            yield where, library.read(address, size)


def _settings(library: Library) -> Iterator[str]:
    values = {text for _, text in _strings(library)}
    if SETTINGS.encode() not in values:
        yield f"no variable of the runtime holds {SETTINGS}"
    for name in (setting.partition("=")[0] for setting in SETTINGS.split(",")):
        if name.encode() not in values:
            yield f"the runtime knows no setting {name}"


def _signals(library: Library) -> Iterator[str]:
    for where, text in _strings(library):
        table = where - 8 - _ENTRY.size  # SIGHUP is the second
        if text.startswith(_NAMES[1]) and all(_name(library, table, n).startswith(t) for n, t in _NAMES.items()):
            break
    else:
        yield "no table of signals was found"
        return
    flags = [_ENTRY.unpack(library.read(table + n * _ENTRY.size, _ENTRY.size))[0] for n in range(65)]
    unblocked = {n for n in range(65) if flags[n] & _SIG_UNBLOCK}
    if not unblocked >= {7, 8, 11}:  # faults are always; so the bit has got another meaning
        yield f"of all signals the runtime unblocks {sorted(unblocked)}, which cannot be"
    if unblocked - MAY_UNBLOCK:
        yield f"the runtime unblocks the host's signals {sorted(unblocked - MAY_UNBLOCK)}"


def _name(library: Library, table: int, signal: int) -> bytes:
    """Return the name of a signal in what may be the table, b"" if it is not."""
    entry = table + signal * _ENTRY.size
    raw = library.read(entry, _ENTRY.size)
    address = library.pointers.get(entry + 8)
    if len(raw) < _ENTRY.size or address is None:
        return b""
    return library.read(address, min(_ENTRY.unpack(raw)[3], 100))


def _poller(library: Library) -> Iterator[str]:
    if not library.holds(_OURS):
        yield f"the runtime has no {_OURS[:-1].decode()}, so its poller is not ours"
    for name in _POLLERS:
        if library.holds(name):
            yield f"the runtime can open descriptors by {name[:-1].decode()}"


def main() -> int:
    """Print what is wrong with the library that is named."""
    found = problems(Path(sys.argv[1]))
    print("\n".join(found))
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
