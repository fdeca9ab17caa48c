"""Records: what a compile looked at, kept beside its result.

The first key is known before a compile. Under it are the records of the compiles that
were made for it. The present state of everything that a record names gives the key of
a result.
"""

from __future__ import annotations

import marshal
import types as pytypes
from typing import TYPE_CHECKING, Any, NamedTuple

from jitcache._module_files import content_of_module

from ._code import Unkeyable, codes_in, number_of
from ._others import refuse, refuse_warnings
from ._registered import describe, registrations, written
from ._seen import Names, Seen, require_as_made
from ._walk import Walker

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ._registered import Registration

#: How many records are kept for one first key, the newest first.
MOST = 8


class Record(NamedTuple):
    """What a compile looked at, without the state of it."""

    asked: tuple[tuple[str, tuple[str, ...]], ...]
    files: tuple[str, ...]  # the modules of compiled functions that are described by nothing else
    names: tuple[Names, ...]
    classes: tuple[str, ...]  # the pinned classes in pickles in the code

    def look(self, walker: Walker) -> tuple[dict[str, Any], Seen, list[Registration]]:
        """Return the present state of what the record names: as components of a key, as Seen, and what is registered.

        ``walker`` made the first key. Raises Unkeyable.
        """
        seen = Seen()
        seen.asked = {name: set(about) for name, about in self.asked}
        seen.names = {label: label.value(Walker()) for label in self.names}
        found = registrations.counting(seen.asked)
        seen.registered = len(registrations.all())
        return _components(self, seen, found, walker), seen, found


def require_nothing_else_made(walker: Walker, found: list[Registration]) -> None:
    """Raise Unkeyable if Numba would use what it has made, in this process, of something that has changed since.

    Another process, in which nothing was made before the change, has kept another result.
    ``walker`` has made the first key, and ``found`` is what is registered and counts.
    """
    require_as_made(walker.dispatchers)
    for registration in found:
        require_as_made(thing for part in registration.parts for thing in _kept_by(part))


def _kept_by(part: Any) -> Iterator[Any]:
    """Yield that by which Numba keeps what it makes of a part of a registration."""
    thing = (written(part) or part) if isinstance(part, type) else part
    if isinstance(thing, (type, pytypes.FunctionType)):
        yield thing
        yield from codes_in(thing.__code__) if isinstance(thing, pytypes.FunctionType) else ()


def _components(record: Record, seen: Seen, found: list[Registration], walker: Walker) -> dict[str, Any]:
    out: dict[str, Any] = {}
    if found:
        out["registered"] = describe(found, Walker())
    for name in record.files:
        out[f"file {name}"] = content_of_module(name)
    for label in record.names:
        out[f"constants of {label.module}: {' '.join(label.names)}"] = seen.names[label]
    if record.classes:
        out["classes"] = [number_of(walker.classes[name]) for name in record.classes]
    return out


def record_of(seen: Seen, walker: Walker, classes: list[str]) -> tuple[Record, dict[str, Any]]:
    """Return the record of a compile, and the components that it adds to the key of the result.

    ``walker`` made the first key. Raises Unkeyable if something that counts cannot be
    described, or has changed since it was looked at.
    """
    if seen.refused:
        raise Unkeyable(*seen.refused)
    refuse(seen.others)
    refuse_warnings(seen.warned)
    described = {inner for code in walker.codes for inner in codes_in(code)}
    files: set[str] = set()
    names: set[Names] = set()
    homeless: set[pytypes.CodeType] = set()
    for code, module in seen.compiled.items():
        if code in described:
            continue
        if not module:
            homeless.add(code)
        else:
            names.update(n for n in seen.names if n.module == module)
            files.add(module)
    asked = tuple(sorted((name, tuple(sorted(about))) for name, about in seen.asked.items()))
    record = Record(asked, tuple(sorted(files)), tuple(sorted(names)), tuple(sorted(classes)))
    components, now, _ = record.look(walker)
    _require_unchanged(seen, now)
    seen.require_same_states()
    _require_described(homeless, seen)
    return record, components


def _require_unchanged(seen: Seen, now: Seen) -> None:
    """Raise Unkeyable if something has changed since this compile, or the compile of a callee, looked at it."""
    for label, value in seen.names.items():
        if (now.names[label] if label in now.names else label.value(Walker())) != value:
            raise Unkeyable("changed while it was compiled", f"names of {label.module}")


def _require_described(codes: set[Any], seen: Seen) -> None:
    """Raise Unkeyable for code without a file, unless something through which it is reached is described by value."""
    if not codes:
        return
    walker = Walker()
    describe(registrations.counting(seen.asked), walker)
    described = {inner for code in (walker.codes | seen.described) for inner in codes_in(code)}
    for code in codes - described:
        raise Unkeyable("code without a file", code.co_name)


def dump(records: list[Record]) -> bytes:
    """Return records as bytes."""
    return marshal.dumps([(r.asked, r.files, tuple(map(tuple, r.names)), r.classes) for r in records])


def load(data: bytes | None) -> list[Record]:
    """Return records from bytes, an empty list if these are not records."""
    if data is None:
        return []
    try:
        rows = marshal.loads(data)  # noqa: S302 - as trusted as the pickles in entries
        return [Record(asked, files, tuple(Names(*n) for n in names), classes) for asked, files, names, classes in rows]
    except (ValueError, EOFError, TypeError):
        return []
