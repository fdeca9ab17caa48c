"""cffi: an extension in API mode, in a folder that is invented each time."""

import importlib.util
import tempfile

import cffi

ffi = cffi.FFI()
ffi.cdef("double half(double x);")
ffi.set_source("_half", "static double half(double x) { return x / 2; }")
path = ffi.compile(tmpdir=tempfile.mkdtemp(prefix="cffi-"))
spec = importlib.util.spec_from_file_location("_half", path)
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
print(module.lib.half(5.0))
