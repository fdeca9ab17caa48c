"""PyTensor with its C linker: one call compiles and links, in folders with random names."""

import pytensor
import pytensor.tensor as pt

x = pt.dvector("x")
f = pytensor.function([x], [pt.exp(x).sum(), (x * 2 + 1).prod()], mode=pytensor.compile.mode.Mode("cvm", "fast_run"))
print(*(float(v) for v in f([0.0, 1.0])))
