"""The accesses of a hybrid function over exact integers, as its indices are once they are lowered."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ...arith import NO_FACTS, Facts
from ...arith.overlap import Place
from ...dtype import INDEX
from ...ir import expr as E
from ...ir import make
from ...ir.node import Expr
from ...ir.stmt import Buffer, For, If, Let, Stmt, Store
from ...ir.visit import conjuncts, walk
from ...location import Location
from ..index import Indexer, is_exact


class Access(NamedTuple):
    """One Load or Store: where it goes, whether it writes, the user's line."""

    buffer: Buffer
    place: Place
    writes: bool
    loc: Location | None


class Accesses:
    """Reads the statements of one body."""

    def __init__(self, body: Stmt) -> None:
        self.indexer = Indexer()
        self.values: dict[E.Var, Expr] = {}
        """What the variable of each loop has become."""
        for node in walk(body):
            if isinstance(node, For):
                self.values[node.var] = E.Var(node.var.name, INDEX, self.index(node.min), self.index(node.extent))

    def of(self, node: Stmt, facts: Facts = NO_FACTS) -> Iterator[Access]:
        """Yield all accesses of a statement, with what the conditions around them tell."""
        for expr in node.expressions():
            loads = (below for below in walk(expr) if isinstance(below, E.Load))
            yield from (Access(load.buffer, self._place(load, facts), False, node.loc) for load in loads)
        if isinstance(node, Store):
            yield Access(node.buffer, self._place(node, facts), True, node.loc)
        if isinstance(node, If):
            yield from self.of(node.then, self._under(node.condition, facts))
            if node.otherwise is not None:
                yield from self.of(node.otherwise, self._under(make.logical_not(node.condition), facts))
            return
        for below in node.substatements():
            yield from self.of(below, facts)

    def variables(self, node: Stmt) -> set[Expr]:
        """Return what the variables of loops, and the names, in a statement have become."""
        found = (below.var for below in walk(node) if isinstance(below, (For, Let)))
        return {self.indexer.lower(var, self.values) for var in found if is_exact(var.dtype)}

    def index(self, expr: Expr) -> Expr:
        """Return an integer as an index."""
        return make.index(self.indexer.lower(expr, self.values))

    def _place(self, node: E.Load | Store, facts: Facts) -> Place:
        return Place(self.indexer.indices(node.indices, self.values), facts)

    def _under(self, condition: Expr, facts: Facts) -> Facts:
        for part in conjuncts(condition):
            if not any(isinstance(node, (E.Load, E.Call)) or node.dtype.is_float for node in walk(part)):
                facts = facts.assume(self.indexer.lower(part, self.values))
        return facts
