"""Devito: an operator, compiled and linked in one call by codepy."""

import devito

devito.configuration["log-level"] = "ERROR"
grid = devito.Grid(shape=(8, 8))
f = devito.TimeFunction(name="f", grid=grid, space_order=2)
f.data[:] = 0.1
devito.Operator(devito.Eq(f.forward, f.laplace + 0.5 * f + 1.0)).apply(time=3)
print(float(f.data[0, 4, 4]) > 0, f.data.shape)
