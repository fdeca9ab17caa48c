"""Runs the example's server with a framework whose compiler is a library: says on standard error when it compiles."""

import runpy
import sys

if "cute_dsl" in sys.argv:
    from cutlass.base_dsl.compiler import Compiler

    run_passes = Compiler.compile

    def counting(self, *args, **more):
        print("compiler in the process", file=sys.stderr)
        return run_passes(self, *args, **more)

    Compiler.compile = counting
del sys.argv[0]
sys.path.insert(0, sys.argv[0].rpartition("/")[0])
runpy.run_path(sys.argv[0], run_name="__main__")
