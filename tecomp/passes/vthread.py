"""Virtual threads: each statement that tells them apart is done for all of them in turn; the others are done once.

    for v in vthread(2):                              acc = alloc(f32[2], 'local')
        acc: f32                                      for v in unrolled(2):
        acc = 0.0                                         acc[v] = 0.0
        for k in range(8):                            for k in range(8):
            S[0] = A[k]                      ->           S[0] = A[k]
            acc = acc + S[0] * B[v, k]                    for v in unrolled(2):
        C[v] = acc                                            acc[v] = acc[v] + S[0] * B[v, k]
                                                      for v in unrolled(2):
                                                          C[v] = acc[v]

A statement tells them apart that names the virtual thread, or memory whose contents depend on it; such memory, where it
is allocated within, becomes one copy for each. Loops and conditions that are the same for all stay around.

Interleaving changes nothing where no two virtual threads touch one element that either writes. Where that cannot be
proved, where a function is called that may do anything, and where real threads join what they reduced, virtual threads
run whole, one after the other, as the iterations of an unrolled loop.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from ..arith.overlap import Overlap
from ..ir import expr as E
from ..ir.foreign import is_opaque
from ..ir.func import Func
from ..ir.node import Expr
from ..ir.stmt import Across, Alloc, Buffer, For, If, Let, LoopKind, Seq, Stmt, Store
from ..ir.subst import substitute_stmt
from ..ir.visit import rewrite, walk
from ..target import Target
from .accesses import allocated, bound_vars, loaded, stored, uses
from .copies import copied, in_copy
from .events import Events, Scope
from .sink import Guard

Thing: TypeAlias = E.Var | Buffer


def run(func: Func, target: Target) -> Func:
    """Return `func` without loops over virtual threads."""
    return func.with_body(rewrite(func.body, stmts={For: _loop}))


def _loop(loop: For) -> Stmt:
    if loop.kind is not LoopKind.VIRTUAL:
        return loop
    body = _sunk(loop.body, frozenset([loop.var]))
    different = _different(body, loop.var)
    if any(isinstance(node, Across) or is_opaque(node) for node in walk(body)) or not _apart(loop, body, different):
        return loop.copy(kind=LoopKind.UNROLLED)
    return _Dealt(loop, different).stmt(body)


def _sunk(node: Stmt, own: frozenset[E.Var]) -> Stmt:
    """Return `node` with the guards that name the virtual thread below the work that all of them share."""
    new = node.map(lambda part: _sunk(part, own), lambda expr: expr)
    if isinstance(new, If) and new.otherwise is None and uses(new.condition, own):
        return Guard(new, own).over(new.then)
    return new


def _different(body: Stmt, var: E.Var) -> set[Thing]:
    """Return the variables and buffers in `body` that do not hold the same whatever `var` is."""
    found: set[Thing] = {var}
    count = 0
    while count < len(found):
        count = len(found)
        _spread(body, found, under=False)
    return found


def _spread(node: Stmt, found: set[Thing], under: bool) -> None:
    """Add what `node` writes or defines, where that depends on what is `found`; all of it `under` what does."""
    under = under or _names(node.expressions(), found)
    if under and isinstance(node, Store):
        found.add(node.buffer)
    if under and isinstance(node, (For, Let)):
        found.add(node.var)
    for part in node.substatements():
        _spread(part, found, under)


def _names(parts: Iterable[Expr | Stmt], things: set[Thing]) -> bool:
    """Return whether any of the parts names a variable, reads or writes a buffer among `things`."""
    return any(
        node in things if isinstance(node, E.Var) else isinstance(node, (E.Load, Store)) and node.buffer in things
        for part in parts
        for node in walk(part)
    )


def _apart(loop: For, body: Stmt, different: set[Thing]) -> bool:
    """Return whether virtual threads may be interleaved: none touches what another writes outside their own memory,
    and what they do once gives the same however often it is done."""
    outside = stored(body) - allocated(body)
    overlap = Overlap([loop.var], (bound_vars(body) | {loop.var}).__contains__)
    touches = Events(outside).first(body, Scope(varying=frozenset([loop.var])))
    for buffer in outside:
        own = [event for event in touches if event.buffer is buffer]
        writes, reads = ([event.place for event in own if event.writes is kind] for kind in (True, False))
        if buffer not in different:
            if buffer in loaded(body):
                return False
        elif not overlap.all_apart(writes, reads):
            return False
    return True


class _Dealt:
    """Puts the loop over virtual threads around each statement in which they differ."""

    def __init__(self, loop: For, different: set[Thing]) -> None:
        self.loop, self.different = loop, different
        self.own: dict[Buffer, Buffer] = {}
        """The memory in copies, one for each virtual thread."""

    def stmt(self, node: Stmt) -> Stmt:
        """Return `node` done for all virtual threads; once, where it is the same for all."""
        if not _names([node], self.different):
            return node
        if isinstance(node, Seq):
            return node.map(self.stmt, lambda expr: expr)
        vector = isinstance(node, For) and node.kind is LoopKind.VECTORIZED
        if isinstance(node, (For, If, Let, Alloc)) and not vector and not _names(node.expressions(), self.different):
            return self._alloc(node) if isinstance(node, Alloc) else node.map(self.stmt, lambda expr: expr)
        return self._each(node)

    def _alloc(self, node: Alloc) -> Stmt:
        if node.buffer not in self.different:
            return node.map(self.stmt, lambda expr: expr)
        self.own[node.buffer] = memory = copied(node.buffer, self.loop.extent)
        return node.copy(buffer=memory, body=self.stmt(node.body))

    def _each(self, node: Stmt) -> Stmt:
        var = E.Var(self.loop.var.name, self.loop.var.dtype, self.loop.min, self.loop.extent)
        body = in_copy(substitute_stmt(node, {self.loop.var: var}), self.own, var)
        return For(var, LoopKind.UNROLLED, body, loc=self.loop.loc)
