"""The one traversal, in two verbs: `walk` asks, `rewrite` changes. `conjuncts` asks of one condition."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from operator import is_not
from typing import Any

from .expr import And
from .node import Expr
from .stmt import Alloc, Let, Seq, Stmt

ExprTable = Mapping[type, Callable[[Any], Expr]]
StmtTable = Mapping[type, Callable[[Any], Stmt]]


def walk(root: Expr | Stmt) -> Iterator[Any]:
    """Yield `root` and everything below it, statements in program order, each expression once.

    The stack is explicit: expressions may be thousands of nodes deep.
    """
    seen: set[Expr] = set()
    stack: list[Expr | Stmt] = [root]
    while stack:
        node = stack.pop()
        if isinstance(node, Expr):
            if node in seen:
                continue
            seen.add(node)
            yield node
            if node.children:
                stack += node.operands()[::-1]
        else:
            yield node
            stack += [*node.expressions(), *node.substatements()][::-1]


def conjuncts(condition: Expr) -> Iterator[Expr]:
    """Yield the conditions that all must hold for `condition` to hold."""
    stack = [condition]
    while stack:
        node = stack.pop()
        if isinstance(node, And):
            stack += [node.b, node.a]
        else:
            yield node


def rewrite_expr(root: Expr, table: ExprTable, memo: dict[Expr, Expr] | None = None) -> Expr:
    """Return `root` with each node replaced, bottom-up, by `table[type(node)](node)`; itself when nothing changed.

    A function sees the node over already rewritten operands. `memo` may be shared between calls with one table.
    """
    done: dict[Expr, Expr] = {} if memo is None else memo
    stack: list[Expr] = [root]
    while stack:
        node = stack[-1]
        if node in done:
            stack.pop()
            continue
        operands = node.operands() if node.children else ()
        waiting = [operand for operand in operands if operand not in done]
        if waiting:
            stack += waiting[::-1]
            continue
        stack.pop()
        new = node
        if operands:
            mapped = [done[operand] for operand in operands]
            if any(map(is_not, operands, mapped)):
                new = node.with_operands(mapped)
        verb = table.get(type(new))
        done[node] = new if verb is None else verb(new)
    return done[root]


def rewrite(root: Stmt, exprs: ExprTable | None = None, stmts: StmtTable | None = None) -> Stmt:
    """Return `root` with expressions and statements replaced bottom-up; itself when nothing changed.

    The range of a loop's variable is not rewritten: that would be another variable (see `subst`).
    """
    memo: dict[Expr, Expr] = {}

    def on_expr(node: Expr) -> Expr:
        return rewrite_expr(node, exprs, memo) if exprs else node

    done: dict[Stmt, Stmt] = {}
    stack = [root]
    while stack:
        node = stack[-1]
        waiting = [below for below in node.substatements() if below not in done]
        if waiting:
            stack.extend(reversed(waiting))
            continue
        new = node.map(done.__getitem__, on_expr)
        verb = stmts.get(type(new)) if stmts else None
        done[stack.pop()] = new if verb is None else verb(new)
    return done[root]


def suite(root: Stmt) -> Iterator[Stmt]:
    """Yield the statements of a block in order, each declaration before what it is for: programs allocate in long
    chains, which do not nest."""
    stack = [root]
    while stack:
        node = stack.pop()
        if isinstance(node, Seq):
            stack += reversed(node.stmts)
            continue
        yield node
        if isinstance(node, (Alloc, Let)):
            stack.append(node.body)
