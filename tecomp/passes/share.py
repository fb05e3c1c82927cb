"""Name what each thread of a kernel computes more than once of its own number.

    if blockIdx_x * 256 + threadIdx_x < n:                     i = blockIdx_x * 256 + threadIdx_x
        B[blockIdx_x * 256 + threadIdx_x] =             ->     if i < n:
            A[blockIdx_x * 256 + threadIdx_x] + 1.0                B[i] = A[i] + 1.0

The names are those a reader would choose: i, j, k. Only the largest such expressions are named, none whose
divisibility a vector access could need, and none of which a part has a name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ..arith import interval, modular
from ..dtype import INDEX
from ..ir import expr as E
from ..ir import make
from ..ir.func import Func
from ..ir.node import Expr
from ..ir.stmt import Launch, Let, Stmt
from ..ir.visit import rewrite, walk
from ..target import Target

NAMES = "ijkpqr"


def run(func: Func, target: Target) -> Func:
    """Return `func` with the threads' coordinates named in its kernels."""
    return func.with_body(rewrite(func.body, stmts={Launch: _named}))


def _named(launch: Launch) -> Stmt:
    threads = {var for _, var in launch.threads}
    uses = Counter(
        found for stmt in _statements(launch.body) for expr in stmt.expressions() for found in _largest(expr, threads)
    )
    often = {expr: None for expr, count in uses.items() if count > 1 and modular(expr).coefficient == 1}
    shared = [expr for expr in often if not any(part in often for part in walk(expr) if part is not expr)]
    if not shared:
        return launch
    names: dict[Expr, Expr] = {expr: _name(letter, expr) for letter, expr in zip(NAMES, shared, strict=False)}

    def named(node: Expr) -> Expr:
        return names.get(node, node)

    body = rewrite(launch.body, exprs=dict.fromkeys({type(expr) for expr in shared}, named))
    for expr, var in reversed(names.items()):
        assert isinstance(var, E.Var)
        body = Let(var, expr, body)
    return launch.copy(body=body)


def _statements(root: Stmt) -> Iterator[Stmt]:
    return (node for node in walk(root) if isinstance(node, Stmt))


def _largest(root: Expr, threads: set[E.Var]) -> Iterator[Expr]:
    """Yield the largest index expressions below `root` that are made of `threads` and constants only, each time they
    occur."""
    own: dict[Expr, bool] = {}
    for node in reversed(list(walk(root))):
        below = node.operands()
        own[node] = node.dtype is INDEX and (
            node in threads
            or isinstance(node, E.Const)
            or (bool(below) and all(own.get(part, False) for part in below))
        )
    stack = [root]
    while stack:
        node = stack.pop()
        if own[node] and isinstance(node, E.Binary):
            yield node
        elif not own[node]:
            stack.extend(reversed(node.operands()))


def _name(letter: str, expr: Expr) -> E.Var:
    """Return a variable for `expr` with the range that is known of it."""
    bounds = interval(expr)
    if bounds.lo is None or bounds.hi is None:
        return E.Var(letter, INDEX, None if bounds.lo is None else make.const(bounds.lo, INDEX))
    return E.Var(letter, INDEX, make.const(bounds.lo, INDEX), make.const(bounds.hi - bounds.lo + 1, INDEX))
