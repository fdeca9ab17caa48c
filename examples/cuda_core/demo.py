"""cuda.core's programs from a jitcache: cold, in a fresh process, and beside cuda.core's own cache.

    pip install "cuda-core[cu13]"
    python examples/cuda_core/demo.py [FOLDER]

Each time is that of one compile in a new process, after cuda.core was imported.
FOLDER, by default build/demo-cuda-core, gets the caches. With a GPU the kernels are
launched and their results compared; without one they are compiled for sm_80. The exit
status is 0 if NVRTC was loaded exactly where it should be, and all results are right.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from programs import SCALE_H, Example, examples

ROOT = Path(__file__).resolve().parents[2]
N = 1000


def gpu() -> bool:
    """Make the first GPU current, if there is one."""
    from cuda.core import Device

    try:
        Device(0).set_current()
    except Exception:  # noqa: BLE001  without a driver or a device, which each says in its own way
        return False
    return True


def scaled(code: object, name: str) -> bool:
    """Launch a kernel that scales numbers, and check the result."""
    import numpy as np
    from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, launch

    stream = Device(0).create_stream()
    buffer = LegacyPinnedMemoryResource().allocate(4 * N)
    x = np.from_dlpack(buffer).view(np.float32)
    x[:] = np.arange(N)
    launch(
        stream,
        LaunchConfig(grid=(N + 255) // 256, block=256),
        code.get_kernel(name),
        buffer,
        np.float32(3),
        np.int32(N),
    )
    stream.sync()
    return bool((x == 3 * np.arange(N)).all())


def compiled(example: Example, options: object, own: Path | None) -> object:
    """Compile a program through our cache, or through cuda.core's own."""
    from cuda.core import Program
    from cuda.core.utils import FileStreamProgramCache
    from jitcache.adapters.cuda_core import compile_program

    if own is not None:
        return Program(example.source, "c++", options).compile("cubin", cache=FileStreamProgramCache(own))
    return compile_program(example.source, options=options, name_expressions=example.names)


def has_nvrtc(process: Path) -> bool:
    """Whether NVRTC is loaded in this process or in one that it has started, as jitcache does."""
    try:
        if "libnvrtc.so" not in (process / "maps").read_text():
            return False
        pid = int(process.name)
        while pid > 1 and pid != os.getpid():
            pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:  # it is gone, or another user's
        return False
    return pid == os.getpid()


def work(name: str, include: str, own: str) -> None:
    """Do the work of one process: compile once; print seconds, code, NVRTC's presence and the launch as JSON."""
    import cuda.core.utils  # noqa: F401
    import jitcache.adapters.cuda_core  # noqa: F401
    from cuda.core import ProgramOptions

    example, launches = examples(include)[name], gpu()
    options = ProgramOptions(**({} if launches else {"arch": "sm_80"}), **example.options)
    start = time.perf_counter()
    code = compiled(example, options, Path(own) if own else None)
    seconds = time.perf_counter() - start
    loaded = any(map(has_nvrtc, Path("/proc").glob("[0-9]*")))
    right = scaled(code, "scale<float>" if example.names else "scale") if launches and name != "large" else None
    print(json.dumps([seconds, code.code.hex(), loaded, right]))


def process(folder: Path, name: str, own: Path | str = "") -> tuple[float, str, bool, bool | None]:
    """Start a process with ``--work`` and return what it prints."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith("JITCACHE") or k == "JITCACHE_LIBRARY"}
    path = os.pathsep.join([str(ROOT / "python"), *filter(None, [os.environ.get("PYTHONPATH")])])
    env = {**clean, "PYTHONPATH": path, "JITCACHE_DIR": str(folder / "cache")}
    command = [sys.executable, __file__, "--work", name, str(folder), str(own)]
    return json.loads(subprocess.run(command, env=env, stdout=subprocess.PIPE, check=True).stdout)


def row(folder: Path, name: str, example: Example) -> list[str]:
    """Print the row of a program; return what is wrong, "" if nothing is."""
    cold, warm = process(folder, name), process(folder, name)
    times, runs = [f"{t * 1e3:.1f} ms" for t in (cold[0], warm[0])], [cold, warm]
    if example.cached_by_cuda_core:
        runs += [process(folder, name, folder / "cuda-core") for _ in range(2)]
        times.append(f"{runs[3][0] * 1e3:.1f} ms")
    else:
        times.append("refused")
    print(f"{name:10}{times[0]:>12}{times[1]:>16}{times[2]:>22}", flush=True)
    problems = []
    if len({code for _, code, _, _ in runs}) != 1:
        problems.append(f"{name}: results differ")
    if not cold[2] or warm[2]:
        problems.append(f"{name}: NVRTC was {'loaded by a hit' if warm[2] else 'never loaded'}")
    if any(right is False for *_, right in runs):
        problems.append(f"{name}: the kernel's result is wrong")
    return problems


def main() -> int:
    """Run the processes and print the table."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "demo-cuda-core").resolve()
    for name in ("cache", "cuda-core"):
        shutil.rmtree(folder / name, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "scale.h").write_text(SCALE_H)
    print(f"{'program':10}{'cold':>12}{'fresh process':>16}{'cuda.core own cache':>22}")
    problems = [p for name, example in examples(str(folder)).items() for p in row(folder, name, example)]
    for problem in problems:
        print(f"FAILED: {problem}")
    if not problems:
        launched = "launched" if gpu() else "not launched: there is no GPU"
        print(f"\nEach was compiled once, all results agree; {launched}.")
    return 1 if problems else 0


if __name__ == "__main__":
    try:
        import cuda.core as _  # noqa: F401
    except ImportError:
        sys.exit('demo: cuda.core is missing; pip install "cuda-core[cu13]"')
    if "--work" in sys.argv:
        work(*sys.argv[2:5])
    else:
        sys.exit(main())
