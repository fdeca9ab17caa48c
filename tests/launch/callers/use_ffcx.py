"""FFCx: a form, by cffi, in a cache folder."""

import os

import basix.ufl
import ffcx.codegeneration.jit
import ufl

element = basix.ufl.element("Lagrange", "triangle", 1)
domain = ufl.Mesh(basix.ufl.element("Lagrange", "triangle", 1, shape=(2,)))
space = ufl.FunctionSpace(domain, element)
u, v = ufl.TrialFunction(space), ufl.TestFunction(space)
forms, module, _ = ffcx.codegeneration.jit.compile_forms(
    [ufl.inner(ufl.grad(u), ufl.grad(v)) * ufl.dx], cache_dir=os.environ["OWN"] + "/ffcx"
)
print(forms[0].rank)
