"""PTX and NVVM IR: NVRTC does not compile them, so cuda.core does, and the result is kept.

cuda.core's own key covers what it passes to the linker or to libNVVM. But it covers
only the version of a library, and refuses libdevice. Here the content of both files is
in the key, as are the variables that the library may obey. What else a library reads is
not seen: with options that may name a file, nothing is kept.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

from cuda.core import Program
from cuda.core.utils import make_program_cache_key
from cuda.pathfinder import find_bitcode_lib, load_nvidia_dynamic_lib

from jitcache import File, Key, Tool
from jitcache._module_files import is_older_than_process
from jitcache.adapters._named_variables import obeyed

from . import KIND
from ._job import REASONS, object_code

if TYPE_CHECKING:
    from jitcache import Cache

    from ._job import Job


#: Options of ptxas that name no file. This is an allow-list: ``--options-file``, for example, is read by nvJitLink.
_NAMES = (
    "allow-expensive-optimizations", "c", "compile-only", "def-load-cache", "def-store-cache", "device-debug",
    "disable-warnings", "dlcm", "dscm", "fmad", "force-load-cache", "force-store-cache", "g", "generate-line-info",
    "lineinfo", "maxrregcount", "opt-level", "position-independent-code", "preserve-relocs", "register-usage-level",
    "return-at-end", "suppress-async-bulk-multicast-advisory-warning", "suppress-stack-size-warning", "v", "verbose",
    "w", "warn-on-double-precision-use", "warn-on-local-memory-usage", "warn-on-spills", "warning-as-error",
)  # fmt: skip
_NO_FILE = re.compile(rf"-O\d|--?(?:{'|'.join(_NAMES)})(?:=\w+)?|\d+")


def may_name_a_file(given: Any) -> bool:
    """Return whether options for ptxas, one text or several, may name a file."""
    texts = (given,) if isinstance(given, str) else given or ()
    return not all(_NO_FILE.fullmatch(word) for text in texts for word in str(text).split())


class _Log:
    """Collects what a compiler prints."""

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> None:
        self.text += text


_linker = ""


def _library_of(job: Job) -> str:
    """Return the library that compiles such code, by its name in cuda.pathfinder."""
    global _linker
    if job.code_type == "nvvm":
        return "nvvm"
    if not _linker:  # cuda.core decides once per process
        program = Program(job.source, job.code_type, job.options)
        _linker = "cuda" if str(program.backend).lower() == "driver" else "nvJitLink"
        program.close()
    return _linker


def _linked_key(job: Job, cache: Cache) -> Key | str:
    """Return the key of a job, or why it has none: it is not known which library compiles it, or what that reads.

    The library is not known if its file has changed since the process started: the
    process may have loaded the old one.
    """
    if may_name_a_file(job.options.ptxas_options):
        return "option that may name a file"
    more: dict[str, Any] = {}
    digest = None
    if job.code_type == "nvvm" and job.options.use_libdevice:
        more["libdevice"] = File(find_bitcode_lib("device"))
        digest = b"libdevice"  # tells cuda.core that the caller keys it
    program = make_program_cache_key(
        code=job.source, code_type=job.code_type, options=job.options, target_type=job.target, extra_digest=digest
    )
    path = load_nvidia_dynamic_lib(_library_of(job)).abs_path
    try:
        if not path or not is_older_than_process(os.stat(path)):
            return "library has changed since the process started"
    except OSError:  # it was removed after it was loaded
        return "library is gone"
    variables = obeyed(cache, path)
    return Key({"cuda.core code": program, "library": Tool(path), "variables": variables, **more}).named(
        job.options.name or ""
    )


def link(job: Job, cache: Cache) -> Any:
    """Return the ObjectCode of a job of PTX or NVVM IR. Raises what cuda.core raises."""
    key = _linked_key(job, cache)
    if isinstance(key, str):
        REASONS[key] += 1
        return job.by_cuda_core()
    with cache.acquire(key, kind=KIND) as lease:
        if lease.data is None:
            log = _Log()
            data = bytes(job._replace(logs=log).by_cuda_core().code)
            lease.commit(data, attributes={"target": job.target, "log": log.text})
            text = log.text
        else:
            data = lease.data
            text = lease.entry().attributes.get("log", "") if job.logs is not None else ""
    if text and job.logs is not None:
        job.logs.write(text)
    return object_code(job, data, {})
