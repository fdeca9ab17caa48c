"""What fast means: the table of bounds.

Names are stable: README and others quote docs/bench.json by them.
"""

from __future__ import annotations

from typing import NamedTuple

_OPEN = ("open", "openat", "openat2")
_FSTAT = ("fstat", "newfstatat", "statx")


class Bound(NamedTuple):
    """One line of the table: a contender of ours held against another, or against a figure."""

    name: str  # stable: README and others quote by it
    text: str
    row: str
    at: str
    ours: str
    theirs: str  # "" for a bound on our own figure
    limit: float
    how: str = "ratio"  # ratio, faster (theirs to ours), means, beyond, value, worst, calls
    unit: str = ""
    calls: tuple[tuple[str, ...], ...] = ()
    floor: str = ""  # what nothing that does this can beat: if it misses the bound, the verdict says so
    base: str = ""  # of beyond: what ours contains and does not count


BOUNDS = [
    Bound(
        "memory_hit_c", "memory hit, from C, to an empty C-to-Go call",
        "memory_hit_c", "64k", "jitcache", "empty_go_call", 2,
    ),
    Bound(
        "memory_hit_view_python", "memory hit to a view, from Python, to an empty ctypes call (jitcache_abi_version)",
        "memory_hit_view_python", "64k", "jitcache", "empty_ctypes_call", 3,
    ),
    Bound(
        "disk_hit_c", "disk hit with checksum, from C, to open+fstat+read+close in C",
        "disk_hit_c", "64k", "jitcache", "c_read", 1.5,
    ),
    Bound(
        "disk_hit_calls", "system calls of a disk hit: open, fstat, read, close",
        "system_calls", "calls", "hit", "", 4, "calls", calls=(_OPEN, _FSTAT, ("read",), ("close",)),
    ),
    Bound(
        "disk_hit_bytes_24k", "disk hit to bytes, from Python, 24 KB: cuda.core's to ours",
        "disk_hit_bytes_python", "24k", "jitcache", "cuda_core", 3.5, "faster", floor="python_verified",
    ),
    Bound(
        "disk_hit_bytes_24k_hot", "disk hit to bytes, from Python, 24 KB, of 16 entries: cuda.core's to ours",
        "disk_hit_bytes_python", "24k_hot", "jitcache", "cuda_core", 3.5, "faster", floor="python_verified",
    ),
    Bound(
        "disk_hit_bytes_64k", "disk hit to bytes, from Python, 64 KB: cuda.core's to ours",
        "disk_hit_bytes_python", "64k", "jitcache", "cuda_core", 2.5, "faster", floor="python_verified",
    ),
    Bound(
        "disk_hit_bytes_64k_hot", "disk hit to bytes, from Python, 64 KB, of 16 entries: cuda.core's to ours",
        "disk_hit_bytes_python", "64k_hot", "jitcache", "cuda_core", 2.5, "faster", floor="python_verified",
    ),
    Bound(
        "disk_hit_bytes_1m", "disk hit to bytes, from Python, 1 MB: cuda.core's to ours",
        "disk_hit_bytes_python", "1m", "jitcache", "cuda_core", 1, "faster", floor="python_verified",
    ),
    Bound(
        "disk_hit_view_python", "disk hit to a memoryview, from Python, to open+fstat+read+close in Python",
        "disk_hit_view_python", "64k", "jitcache", "python_read", 1.3,
    ),
    Bound(
        "disk_hit_8_threads", "disk hits of 8 threads: p99 to median",
        "hit_among_threads", "64k", "disk_8_threads_p99", "disk_8_threads_p50", 20,
    ),
    Bound(
        "memory_hit_8_threads", "memory hits of 8 threads: p99 to median",
        "hit_among_threads", "64k", "memory_8_threads_p99", "memory_8_threads_p50", 20,
    ),
    Bound(
        "layer_hit", "hit in a layer that is trusted by its owner, from C, to one in the own directory",
        "layer_hit", "64k", "jitcache", "own", 1.1, floor="floor",
    ),
    Bound(
        "layer_hit_empty", "the same where nothing was stored in the own directory yet",
        "layer_hit", "64k_empty", "jitcache", "own", 1.1, floor="floor",
    ),
    Bound(
        "signed_layer", "first hit in a signed layer, which verifies and copies 64 KB, beyond a put, from Python",
        "signed_layer", "64k", "jitcache_beyond_put", "", 150, "value", "us",
    ),
    *(
        Bound(
            f"bundle_add_{at}", f"bundle add, of signed entries of {text}, to tar and zstd on the same file",
            "bundle_add", at, "jitcache", "tar_zstd", 2, floor="tar_zstd_signatures",
        )
        for at, text in (("4k", "4 KB"), ("64k", "64 KB"))
    ),
    *(
        Bound(
            f"remote_hit_{at}", f"first hit of {text} in a Redis on loopback, to a bare GET by go-redis and a put",
            "remote_hit", at, "jitcache_hit", "jitcache_floor", 2, floor="jitcache_relayed",
        )
        for at, text in (("4k", "4 KB"), ("64k", "64 KB"), ("1m", "1 MB"))
    ),
    *(
        Bound(
            f"remote_signed_{at}", f"the same of {text} if it is signed, beyond one that is not",
            "remote_hit", at, "jitcache_beyond_unsigned", "", 150, "value", "us", floor="jitcache_digest",
        )
        for at, text in (("4k", "4 KB"), ("64k", "64 KB"), ("1m", "1 MB"))
    ),
    Bound("remote_beside_hit", "hit in the own directory, from C, with a remote to one without", "beside_remote", "hit", "jitcache", "own", 1.02),
    Bound("remote_off_miss", "miss, from C, while the remote is off, to one without a remote", "beside_remote", "miss", "jitcache", "own", 1.05),
    Bound("miss_c", "miss, from C, to a failing open in C", "miss", "c", "jitcache", "c_open", 1.5),
    Bound("miss_calls", "system calls of a miss: open", "system_calls", "calls", "miss", "", 1, "calls", calls=(_OPEN,)),
    Bound("put_c", "put, from C, to write+rename in C", "put", "c", "jitcache", "c_write", 1.5),
    Bound("put_c_tmpfs", "put, from C, to write+rename in C, on tmpfs", "put", "c_tmpfs", "jitcache", "c_write", 1.5),
    Bound(
        "key_64k_c", "key of a 64 KB source, from C, to its BLAKE3 (the library's own, in Go)",
        "key", "64k", "jitcache", "go_blake3", 1.3,
    ),
    Bound(
        "import_python", "import of Cache and Key, beyond that of ctypes, to a whole bare Python (-c pass)",
        "process", "64k", "jitcache_import", "python_pass", 0.25, "beyond", base="python_ctypes",
    ),
    Bound(
        "first_hit_python", "from import to the first hit, beyond the import of ctypes, to a whole bare Python",
        "process", "64k", "jitcache_python", "python_pass", 0.6, "beyond", base="python_ctypes",
    ),
    Bound("open_100k", "open with 100,000 entries", "open", "capped", "jitcache_100k", "", 200, "value", "us"),
    Bound(
        "open_same", "open with 100,000 entries to one with 1,000",
        "open", "capped", "jitcache_100k", "jitcache_1k", 1.25,
    ),
    Bound("open_opens", "files opened by an open", "system_calls", "calls", "open_opens", "", 6, "value", "calls"),
    Bound(
        "load", "first load of the library: dlopen and the first call into Go",
        "load", "c", "jitcache", "", 10_000, "value", "us",
    ),
    Bound(
        "put_full", "put into a full cache of 100,000 entries, amortised, to one into an empty cache",
        "put_full", "100k", "jitcache", "jitcache_empty", 2, "means",
    ),
    Bound(
        "put_full_tmpfs", "put into a full cache of 100,000 entries, amortised, the same on tmpfs",
        "put_full", "100k_tmpfs", "jitcache", "jitcache_empty", 2, "means",
    ),
    *(
        Bound(
            f"put_room{at[4:]}", f"put into a cache of 100,000 entries with a tenth of room below its cap, to one into an empty cache{text}",
            "put_full", at, "jitcache_room", "jitcache_empty", 1.5, "means",
        )
        for at, text in (("100k", ""), ("100k_tmpfs", ", on tmpfs"))
    ),
    Bound(
        "cuda_trivial", "CUDA: warm call for a trivial kernel: cuda.core's to ours",
        "cuda_hit", "trivial", "jitcache", "cuda_core", 3, "faster",
    ),
    Bound(
        "cuda_64k", "CUDA: warm call for a source of 64 KB: cuda.core's to ours",
        "cuda_hit", "64k", "jitcache", "cuda_core", 3, "faster",
    ),
    Bound(
        "cuda_core_compile", "cuda.core: warm compile(cache=) for a trivial kernel: with its cache to with ours",
        "cuda_core_hit", "trivial", "program_cache", "cuda_core", 2, "faster", floor="in_memory",
    ),
    Bound(
        "cuda_core_get", "cuda.core: the lookup in that: its own to ours",
        "cuda_core_hit", "get", "program_cache", "cuda_core", 4, "faster",
    ),
    Bound(
        "cuda_core_program", "cuda.core: warm compile_program for a trivial kernel: compile(cache=) with its cache to it",
        "cuda_core_hit", "trivial", "compile_program", "cuda_core", 2, "faster",
    ),
    Bound("native_c", "C: warm build of a small file: ccache's to ours", "native_hit", "c", "jitcache", "ccache", 10, "faster"),
    Bound("native_stl", "C++: warm build with five headers of the STL: ccache's to ours", "native_hit", "stl", "jitcache", "ccache", 8, "faster"),
    Bound("launch_c", "jitcache run gcc -c, a small C file that is known: to ccache's", "launch_hit", "c", "jitcache", "ccache", 1),
    Bound("launch_stl", "jitcache run g++ -c, five headers of the STL: to ccache's", "launch_hit", "stl", "jitcache", "ccache", 1),
    Bound("launch_first_c", "jitcache run gcc -c, a small C file that is new: to gcc alone", "launch_first", "c", "jitcache_time", "compiler_time", 1.65),
    Bound("launch_first_c_ccache", "the same, to ccache's", "launch_first", "c", "jitcache_time", "ccache_time", 1),
    Bound("launch_first_c_1", "the same, to ccache's, with one processor", "launch_first", "c_1", "jitcache_time", "ccache_time", 1),
    Bound("launch_first_stl", "jitcache run g++ -c, five headers of the STL, new: to g++ alone", "launch_first", "stl", "jitcache_time", "compiler_time", 1.15),
    Bound("nvcc_hit", "jitcache run nvcc -c, a small kernel that is known: ccache's to ours", "nvcc_hit", "object", "jitcache", "ccache", 5, "faster"),
    Bound("nvcc_first", "jitcache run nvcc -c, a small kernel that is new: to nvcc alone", "nvcc_first", "object", "jitcache_time", "nvcc_time", 1.15),
    Bound("launch_configure_first", "./configure of a small package with CC='jitcache run gcc', new: processor time, to gcc", "launch_configure", "small", "jitcache_first", "compiler_first", 1.6),
    Bound("launch_configure_again", "the same, known", "launch_configure", "small", "jitcache_again", "compiler_first", 0.5),
    Bound("launch_memory_new", "jitcache run as, an object of 400 MB that is new: memory beyond that of as", "launch_memory", "400m", "jitcache_new_more", "", 64, "value", "MB"),
    Bound("launch_memory_known", "the same object, known", "launch_memory", "400m", "jitcache_known_more", "", 64, "value", "MB"),
    Bound("first_c", "C: first build of a small file, observed: how much more than gcc", "first_compile", "c", "with_more", "", 40_000, "value", "us"),
    Bound("first_stl", "C++: first build with five headers of the STL, observed, to g++", "first_compile", "stl", "with_jitcache", "with_compiler", 1.3),
    Bound("first_cuda", "CUDA: first compile of a process, observed, to NVRTC in the process", "first_compile", "cuda", "jitcache_first", "nvrtc_first", 1.3),
    Bound("tenth_cuda", "CUDA: tenth compile of a process, observed, to NVRTC in the process", "first_compile", "cuda", "jitcache_tenth", "nvrtc_tenth", 1.05),
    Bound("native_cython", "Cython: warm build of a module of 18 functions", "native_hit", "cython", "jitcache", "", 2000, "value", "us"),
    Bound("cuda_cub", "CUDA: warm call for a kernel with CUB", "cuda_cub", "cub", "jitcache", "", 2000, "value", "us"),
    Bound(
        "cute_source", "CuTe DSL: hit by source in a fresh process, after the import: cute.compile's to ours",
        "cute_hit", "matmul", "jitcache_source", "cute_compile", 20, "faster",
    ),
    Bound("cute_source_ms", "the same hit", "cute_hit", "matmul", "jitcache_source", "", 50_000, "value", "us"),
    Bound(
        "cute_traced", "CuTe DSL: hit by trace in a fresh process, after the import: cute.compile's to ours",
        "cute_hit", "matmul", "jitcache_traced", "cute_compile", 2, "faster",
    ),
    Bound(
        "triton_remote", "Triton: first hit of a kernel in a Redis on loopback: its own RemoteCacheManager's to ours",
        "triton_remote", "kernel", "jitcache", "triton", 1, "faster",
    ),
    Bound("put_full_worst", "the longest of those puts", "put_full", "100k", "jitcache_worst", "", 250_000, "worst", "us"),
]  # fmt: skip
