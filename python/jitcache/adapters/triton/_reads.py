"""Reads: the globals that the text of a kernel may look up, each with the attributes that it asks for."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


def reads(tree: ast.Module) -> dict[tuple[str, ...], bool]:
    """Return each chain ``a.b.c`` whose first name a function may look up as a global.

    The value says whether the name may be local instead: it is assigned somewhere, but not
    on every path to the place where it is read. A branch that is not compiled assigns nothing.
    """
    found = _Reads()
    for function in tree.body:
        assert isinstance(function, ast.FunctionDef)
        found.look(function.args, set())  # defaults and annotations
        if function.returns is not None:
            found.look(function.returns, set())
        arguments = {node.arg for node in ast.walk(function.args) if isinstance(node, ast.arg)}
        found.block(function.body, arguments)
    assigned = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    return {chain: chain[0] in assigned for chain in found.chains}


class _Reads:
    def __init__(self) -> None:
        self.chains: dict[tuple[str, ...], None] = {}

    def look(self, node: ast.AST, bound: set[str]) -> None:
        """Add what is read below a node, except names that are local by then."""
        self.chains.update((chain, None) for chain in _chains(node) if chain[0] not in bound)

    def block(self, statements: list[ast.stmt], bound: set[str]) -> set[str]:
        """Add what consecutive statements read; return the names that are local after them."""
        for s in statements:
            if isinstance(s, ast.If):
                self.look(s.test, bound)
                bound = self.block(s.body, bound) & self.block(s.orelse, bound)
            elif isinstance(s, (ast.For, ast.While)):  # its body may never run
                self.look(s.iter if isinstance(s, ast.For) else s.test, bound)
                self.block(s.body, bound | _stored(s.target) if isinstance(s, ast.For) else bound)
                self.block(s.orelse, bound)
            else:
                self.look(s, bound)
                bound = bound | _assigned(s)
        return bound


def _assigned(s: ast.stmt) -> set[str]:
    """Return the names that are local when a statement has run."""
    if isinstance(s, ast.Assign):
        return set().union(*map(_stored, s.targets))
    if isinstance(s, ast.AugAssign) or (isinstance(s, ast.AnnAssign) and s.value is not None):
        return _stored(s.target)
    return set()


def _stored(target: ast.expr) -> set[str]:
    return {node.id for node in ast.walk(target) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def _chains(node: ast.AST) -> Iterator[tuple[str, ...]]:
    """Yield each name that is read below a node, with the attributes asked for: ``a.b.c``, and not ``a.b`` again."""
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        yield (node.target.id,)
    inner: set[int] = set()
    for part in ast.walk(node):  # from the outside to the inside
        if id(part) in inner or not isinstance(part, (ast.Name, ast.Attribute)):
            continue
        chain: list[str] = []
        at: ast.AST = part
        while isinstance(at, ast.Attribute):
            chain.insert(0, at.attr)
            at = at.value
            inner.add(id(at))
        if isinstance(at, ast.Name) and isinstance(at.ctx, ast.Load):
            yield (at.id, *chain)
