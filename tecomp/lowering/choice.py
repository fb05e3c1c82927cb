"""Select, both sides of which are evaluated, where one of them may fail: it becomes the lazy choice.

    select(0 < i, A[i - 1], 0.0)    ->    A[i - 1] if 0 < i else 0.0

What may fail is a read that is not proved to lie in its buffer, and a division by what is not proved to differ from 0.
Everywhere else select stays, which needs neither a branch nor a masked load.
"""

from __future__ import annotations

from ..arith import NO_FACTS, Facts, can_prove
from ..bounds.run_over import StageBounds
from ..ir import expr as E
from ..ir import make
from ..ir.node import Expr

_DIVISIONS = (E.FloorDiv, E.FloorMod, E.TruncDiv, E.TruncMod)


class Choices:
    """Decides about the selects of a stage's body, inner ones first."""

    def __init__(self, stage: StageBounds) -> None:
        self._facts = _inside_loops(stage)
        self._failing: set[Expr] = set()
        """The choices that were made lazy: where they stand, they may fail."""

    def select(self, node: E.Select) -> Expr:
        """Return the select, or the lazy choice where a side may fail."""
        if not self._may_fail(node.yes) and not self._may_fail(node.no):
            return node
        lazy = make.if_then_else(node.condition, node.yes, node.no)
        self._failing.add(lazy)
        return lazy

    def _may_fail(self, root: Expr) -> bool:
        stack: list[Expr] = [root]
        seen: set[Expr] = set()
        while stack:
            node = stack.pop()
            if node in self._failing or self._fails(node):
                return True
            if node not in seen:
                seen.add(node)
                # The sides of a select that stays were looked at.
                stack += (node.condition,) if isinstance(node, E.Select) else node.operands()
        return False

    def _fails(self, node: Expr) -> bool:
        """Return whether the operation of `node` itself is not proved to be possible."""
        if isinstance(node, E.Load):
            return not all(map(self._is_inside, node.indices, node.buffer.shape))
        if isinstance(node, _DIVISIONS) and node.dtype.is_integer:
            return not can_prove(make.ne(node.b, make.const(0, node.b.dtype)), self._facts)
        return False

    def _is_inside(self, index: Expr, extent: Expr) -> bool:
        low, high = make.le(make.const(0, index.dtype), index), make.lt(index, extent)
        return can_prove(low, self._facts) and can_prove(high, self._facts)


def _inside_loops(stage: StageBounds) -> Facts:
    """Return what holds in the innermost loop: the guards, and that no loop around it is empty."""
    facts = NO_FACTS
    for var in stage.loops.values():
        if var is not None and var.extent is not None:
            facts = facts.assume(make.lt(var, var.extent))
    for guard in stage.guards:
        facts = facts.assume(guard)
    return facts
