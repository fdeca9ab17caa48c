"""A kernel of Warp's from a jitcache, in a process whose folder of Warp's is empty; it says how often Warp's clang was called."""

from __future__ import annotations

import json
import tempfile

import jitcache.adapters.warp
import warp as wp
from warp._src import build

compiled: list[str] = []


@wp.kernel
def k(a: wp.array(dtype=float)):  # type: ignore[valid-type]
    i = wp.tid()
    a[i] = wp.sin(a[i]) * 2.0


def main() -> None:
    original = build.build_cpu

    def build_cpu(path: str, *args: object, **more: object) -> object:
        compiled.append(path)
        return original(path, *args, **more)

    build.build_cpu = build_cpu
    with tempfile.TemporaryDirectory() as own:
        wp.config.quiet, wp.config.kernel_cache_dir = True, own
        wp.init()
        assert jitcache.adapters.warp.install()
        a = wp.array([1.0, 2.0, 3.0], dtype=float, device="cpu")
        wp.launch(k, dim=3, inputs=[a], device="cpu")
        print(json.dumps([len(compiled), a.numpy().tolist(), jitcache.adapters.warp.uncached()]))


main()
