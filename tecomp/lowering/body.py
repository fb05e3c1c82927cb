"""The innermost statements of a stage: elements stored, reductions started and continued."""

from __future__ import annotations

from ..bounds.program import Program, data_axes
from ..bounds.run_over import StageBounds
from ..ir import expr as E
from ..ir import make
from ..ir.node import Expr
from ..ir.stmt import Buffer, If, Let, Seq, Stmt, Store
from ..ir.subst import substitute
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

    def elements(self) -> list[tuple[Buffer, tuple[Expr, ...]]]:
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

    def step(self) -> Stmt:
        """Return the stores that join one more value to the results, where the reduction's condition holds."""
        assert self.reduce is not None
        combiner, count = self.reduce.combiner, len(self.reduce.source)
        so_far = [make.load(buffer, indices) for buffer, indices in self.elements()]
        names = dict(zip((*combiner.lhs, *combiner.rhs), (*so_far, *self.parts[:count]), strict=True))
        joined = [substitute(result, names) for result in combiner.result]
        stores = self._stores(joined) if count == 1 else self._stores_together(joined)
        condition = self.parts[count]
        return stores if condition is make.TRUE else If(condition, stores, loc=self.op.loc)

    def _stores(self, values: list[Expr]) -> Stmt:
        stores = [
            Store(buffer, indices, value, make.TRUE, loc=self.op.loc)
            for (buffer, indices), value in zip(self.elements(), values, strict=True)
        ]
        return stores[0] if len(stores) == 1 else Seq(tuple(stores))

    def _stores_together(self, values: list[Expr]) -> Stmt:
        """Compute all values before the first is stored: each may depend on every result so far."""
        held = [E.Var(f"{self.op.name}_v{number}", value.dtype) for number, value in enumerate(values)]
        result = self._stores(list(held))
        for var, value in reversed(list(zip(held, values, strict=True))):
            result = Let(var, value, result, loc=self.op.loc)
        return result
