"""SymPy's autowrap, by Cython: a temp folder of its own making."""

from sympy.abc import x, y
from sympy.utilities.autowrap import autowrap

print(autowrap((x - y) ** 2 / 4, args=(x, y), backend="cython")(5.0, 1.0))
