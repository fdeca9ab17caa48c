"""A fake with the shape of underworld3, and none of its code: the functions that its cache of compiled modules has.

It needs Cython, setuptools and a C compiler, and neither PETSc nor sympy. Its
cache shows what underworld3's shows, weaknesses included, so that what
jitcache.adapters.underworld3 changes can be seen beside it.
"""
