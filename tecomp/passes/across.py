"""Across: how the threads of a block join the parts of a reduction that they folded apart.

    with launch(blockIdx_x=n, threadIdx_x=16):              with launch(blockIdx_x=n, threadIdx_x=16):
        B_part: f32                                             B_part: f32
        with across(['threadIdx.x'], [B_part],                  B_part = 0.0
                    [0.0], lambda x, y: x + y):        ->       for k in range(m):
            for k in range(m):                                      B_part = B_part + A[blockIdx_x, k, threadIdx_x]
                B_part = B_part + A[...]                        B_part = B_part + shuffle_xor(B_part, 8, 65535)
        ...                                                     B_part = B_part + shuffle_xor(B_part, 4, 65535)
                                                                ...

All threads of a block come to a join, those too that a guard keeps from the work: the guard stands around what they
fold, and around what is done with the result.

    if i < n:                                               with across(...):
        with across(...):                                       if i < n:
            B_part = ...                               ->           B_part = ...
        B[i] = B_part                                       if i < n:
                                                                B[i] = B_part
"""

from __future__ import annotations

from collections.abc import Iterable

from ..errors import ScheduleError
from ..ir import make
from ..ir.func import Func
from ..ir.join import stores
from ..ir.stmt import Across, Alloc, For, If, Launch, Let, Seq, Stmt
from ..target import Target
from .accesses import has, loaded, stored
from .events import Scope
from .kernel_checks import last_store
from .simplify import simplified
from .thread_groups import groups_of
from .thread_join import ThreadJoin


def run(func: Func, target: Target) -> Func:
    """Return `func` with the joins of its kernels as exchanges between lanes and through shared memory."""

    def host(node: Stmt) -> Stmt:
        if not isinstance(node, Launch):
            return node.map(host, lambda expr: expr)
        if not has(node, Across):
            return node
        return node.copy(body=_Kernel(node, target.limits.threads_per_block).body())

    return func.with_body(host(func.body))


class _Kernel:
    """One kernel: brings all threads to each join, and writes it out."""

    def __init__(self, launch: Launch, most: int) -> None:
        self.launch, self.most = launch, most
        self.axes = {tag: var for tag, var in sorted(launch.threads) if tag.startswith("threadIdx")}

    def body(self) -> Stmt:
        """Return the kernel's body."""
        return self.stmt(self.launch.body, Scope(varying=frozenset(self.axes.values())))

    def stmt(self, node: Stmt, scope: Scope) -> Stmt:
        """Return a statement that all threads come to."""
        if not has(node, Across):
            return node
        match node:
            case Across():
                return self.join(node, scope)
            case If() if scope.varies(node.condition):
                return self.stmt(_below(node), scope)
            case For():
                varies = scope.varies(node.min, node.extent)
                if varies:
                    raise _refusal(node, f"how often the loop '{node.var.name}' runs")
                inner = scope.inside(node.var, varies)
            case Let():
                inner = scope.inside(node.var, scope.varies(node.value))
            case _:
                inner = scope
        return node.map(lambda part: self.stmt(part, inner), lambda expr: expr)

    def join(self, node: Across, scope: Scope) -> Stmt:
        fold = self.stmt(node.body, scope)
        start = stores([(buffer, ()) for buffer in node.buffers], list(node.combiner.identity), node.loc)
        joined = ThreadJoin(node, groups_of(self.axes, node.threads), self.most).statement()
        return Seq((start, fold, simplified(joined)))


def _below(guard: If) -> Stmt:
    """Return the same with the guard one level further down, where joins stand that all threads must come to."""
    if loaded(guard.condition) & stored(guard):
        raise _refusal(guard, f"the condition {guard.condition!r}, which reads what is written under it,")
    if guard.otherwise is not None:
        other = If(make.logical_not(guard.condition), guard.otherwise, loc=guard.loc)
        return Seq((guard.copy(otherwise=None), other))
    match guard.then:
        case Seq(stmts=stmts):
            return Seq(tuple(If(guard.condition, part, loc=guard.loc) for part in _in_pieces(stmts)))
        case If(otherwise=None) as inner:
            return inner.copy(condition=make.logical_and(guard.condition, inner.condition))
        case Across() | Alloc() | For() as inner:
            return inner.copy(body=If(guard.condition, inner.body, loc=guard.loc))
        case inner:
            raise _refusal(inner, f"the condition {guard.condition!r}")


def _in_pieces(stmts: Iterable[Stmt]) -> list[Stmt]:
    """Return statements in a row as few as they can be with those that join threads apart."""
    pieces: list[list[Stmt]] = []
    for stmt in stmts:
        if pieces and not has(stmt, Across) and not has(pieces[-1][-1], Across):
            pieces[-1].append(stmt)
        else:
            pieces.append([stmt])
    return [piece[0] if len(piece) == 1 else Seq(tuple(piece)) for piece in pieces]


def _refusal(node: Stmt, what: str) -> ScheduleError:
    return ScheduleError(
        f"threads share the reduction of {last_store(node)} out where not all of them come",
        because=f"{what} differs from thread to thread, and they wait for each other's parts",
        legal="compute_at outside it, or bind the loop that reduces to no thread",
        location=node.loc,
    )
