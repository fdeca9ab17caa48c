"""A warmed image serves commands that are launched elsewhere."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.mark.control("nolayers")
def test_warmed_image_runs_nothing(place: Any) -> None:
    def run(**env: str) -> bytes:
        for name in ("a.o", "random.out"):
            (place.folder / name).unlink(missing_ok=True)
        out: bytes = place.run(script, env=env).stdout
        return out

    place.write(a_h="#define A 1\n", a_c='#include <stdio.h>\n#include "a.h"\nint f(void) { return A; }\n')
    script = place.tool("counted", "#!/bin/sh\nrandom random.out\nexec gcc -c a.c -o a.o\n")
    first = run()
    made = (place.read("a.o"), place.read("random.out"))
    image = place.cache.rename(place.cache.parent / "image")
    for path in [image, *image.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    for mode in ("readonly", "on", "on"):
        assert run(JITCACHE=mode, JITCACHE_LAYERS=str(image)) == first
        assert (place.read("a.o"), place.read("random.out")) == made
    place.write(a_h="#define A 2\n")
    assert run(JITCACHE_LAYERS=str(image)) != first
    place.write(a_h="#define A 1\n")
    assert run(JITCACHE_LAYERS=str(image)) == first


def test_layer_serves_where_no_directory_can_be_used(place: Any) -> None:
    first = place.run("random", "random.out").stdout
    image = place.cache.rename(place.cache.parent / "image")
    place.cache.mkdir()
    place.cache.chmod(0o777)
    env = {"JITCACHE_LAYERS": str(image)}
    (place.folder / "random.out").unlink()
    assert place.run("random", "random.out", env=env).stdout == first
    assert place.run("random", "other.out", env=env).stdout != first
    assert list(place.cache.iterdir()) == []
