"""Expressions: formulas as text, their derivatives, and their form in C.

Solvers take equations from their users as formulas, derive what Newton's method
needs, and write a function in C for each: this is a small one of that kind.
"""

from __future__ import annotations

import ast
import math

FUNCTIONS = ("cos", "exp", "sin", "sqrt")

_DERIVATIVES = {"cos": "-sin(a)", "exp": "exp(a)", "sin": "cos(a)", "sqrt": "0.5/sqrt(a)"}
_OPERATORS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
_ZERO = ast.Constant(0.0)


class Expression:
    """A formula of +, -, *, /, ** with a constant, and FUNCTIONS."""

    def __init__(self, text: str) -> None:
        self._tree = ast.parse(text, mode="eval").body
        self.text = text

    def derivative(self, name: str) -> Expression:
        """Return the derivative with respect to a variable."""
        return Expression(ast.unparse(_derive(self._tree, name)))

    def c(self) -> str:
        """Return it in C, which is valid Cython too."""
        return _c(self._tree)

    def value(self, **variables: float) -> float:
        """Return its value, computed by Python, to check compiled code with."""
        names = {f: getattr(math, f) for f in FUNCTIONS}
        return float(eval(self.text, {"__builtins__": {}}, {**names, **variables}))


def _derive(node: ast.expr, x: str) -> ast.expr:
    if isinstance(node, ast.Constant):
        return _ZERO
    if isinstance(node, ast.Name):
        return ast.Constant(1.0) if node.id == x else _ZERO
    if isinstance(node, ast.UnaryOp):
        return ast.UnaryOp(node.op, _derive(node.operand, x))
    if isinstance(node, ast.Call):
        inner = _derive(node.args[0], x)
        if _is_zero(inner):
            return _ZERO
        assert isinstance(node.func, ast.Name)
        return _build(f"({_DERIVATIVES[node.func.id]})*b", a=node.args[0], b=inner)
    assert isinstance(node, ast.BinOp)
    return _derive_operator(node, x)


def _derive_operator(node: ast.BinOp, x: str) -> ast.expr:
    a, b = node.left, node.right
    da, db = _derive(a, x), _derive(b, x)
    if _is_zero(da) and _is_zero(db):
        return _ZERO
    if isinstance(node.op, ast.Add):
        return _build("da + db", da=da, db=db)
    if isinstance(node.op, ast.Sub):
        return _build("da - db", da=da, db=db)
    if isinstance(node.op, ast.Mult):
        return _build("da*b + a*db", a=a, b=b, da=da, db=db)
    if isinstance(node.op, ast.Div):
        return _build("da/b - a*db/(b*b)", a=a, b=b, da=da, db=db)
    if isinstance(node.op, ast.Pow) and isinstance(b, ast.Constant):
        return _build("b*a**less*da", a=a, b=b, less=ast.Constant(b.value - 1), da=da)
    raise ValueError(f"no derivative of {ast.unparse(node)}")


def _is_zero(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 0


def _build(template: str, **parts: ast.expr) -> ast.expr:
    class Fill(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.expr:
            return parts.get(node.id, node)

    return Fill().visit(ast.parse(template, mode="eval").body)


def _c(node: ast.expr) -> str:
    if isinstance(node, ast.Constant):
        return repr(float(node.value))
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return f"(-{_c(node.operand)})"
    if isinstance(node, ast.Call):
        assert isinstance(node.func, ast.Name)
        assert node.func.id in FUNCTIONS
        return f"{node.func.id}({_c(node.args[0])})"
    assert isinstance(node, ast.BinOp)
    a, b = _c(node.left), _c(node.right)
    if isinstance(node.op, ast.Pow):
        return f"pow({a}, {b})"
    return f"({a} {_OPERATORS[type(node.op)]} {b})"
