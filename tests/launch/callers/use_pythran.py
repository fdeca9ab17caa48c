"""Pythran: a module, compiled and linked under temp names."""

import importlib.util
import os

import pythran

path = pythran.compile_pythrancode(
    "dot",
    "#pythran export dot(float list, float list)\ndef dot(a, b):\n    return sum(x * y for x, y in zip(a, b))\n",
    output_file=os.environ["OWN"] + "/dot.so",
)
spec = importlib.util.spec_from_file_location("dot", path)
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
print(module.dot([1.0, 2.0], [3.0, 4.0]))
