"""The innermost statements of a stage: elements stored, reductions started and continued."""

from __future__ import annotations

from collections.abc import Sequence

from ..bounds.program import Program, data_axes
from ..bounds.run_over import StageBounds
from ..ir import expr as E
from ..ir import make
from ..ir.atomic import atomic_of, atomic_update
from ..ir.join import Place, join_into, joined, stores
from ..ir.node import Expr
from ..ir.stmt import Evaluate, If, Stmt
from ..ir.visit import ExprTable, rewrite_expr
from ..te.tensor import ComputeOp
from .choice import Choices
from .storage import Storage


class Body:
    """Makes the stores of one stage from its bounds; `storage` knows where each tensor lies."""

    def __init__(self, program: Program, storage: Storage, stage: StageBounds) -> None:
        assert isinstance(stage.op, ComputeOp)
        self.stage, self.op, self.storage = stage, stage.op, storage
        first = program.bodies[stage.op][0]
        self.reduce = first if isinstance(first, E.Reduce) else None
        table: ExprTable = {E.TensorRead: storage.load, E.Select: Choices(stage).select}
        memo: dict[Expr, Expr] = {}
        self.parts = [rewrite_expr(part, table, memo) for part in stage.body]

    def elements(self) -> list[Place]:
        """Return for each result the buffer and the indices of the element that the loop variables name."""
        at = [self.stage.values[axis] for axis in data_axes(self.op)]
        outputs = [self.op.output(number) for number in range(self.op.num_outputs)]
        return [(self.storage.buffer(output), self.storage.indices(output, at)) for output in outputs]

    def whole(self) -> Stmt:
        """Return the stores of a stage that is no reduction; its results do not depend on each other."""
        return self._stores(self.parts)

    def start(self) -> Stmt:
        """Return the stores of a reduction's start values: those given, or the combiner's identity."""
        assert self.reduce is not None
        return self._stores(self.parts or list(self.reduce.combiner.identity))

    def step(self, into: Sequence[Place] = ()) -> Stmt:
        """Return the stores that join one more value to the results, where the reduction's condition holds.

        They are joined `into` other places where these are given.
        """
        assert self.reduce is not None
        count = len(self.reduce.source)
        stores = join_into(into or self.elements(), self.reduce.combiner, self.parts[:count], self.op.name, self.op.loc)
        condition = self.parts[count]
        return stores if condition is make.TRUE else If(condition, stores, loc=self.op.loc)

    def update(self, part: Expr | None = None) -> Stmt:
        """Return the atomic update of the result by one more value, where the reduction's condition holds, or by the
        join of some, `part`."""
        assert self.reduce is not None
        name = atomic_of(self.reduce.combiner)
        assert name is not None
        value, condition = self.parts if part is None else (part, make.TRUE)
        ((buffer, indices),) = self.elements()
        update = Evaluate(atomic_update(name, buffer, indices, value), loc=self.op.loc)
        return update if condition is make.TRUE else If(condition, update, loc=self.op.loc)

    def finish(self, results: Sequence[Expr]) -> Stmt:
        """Return the stores of a reduction's results over all values, joined to the start values where these are given.

        It is asked of the body of the start.
        """
        assert self.reduce is not None
        return self._stores(joined(self.reduce.combiner, self.parts, results) if self.parts else results)

    def _stores(self, values: Sequence[Expr]) -> Stmt:
        return stores(self.elements(), values, self.op.loc)
