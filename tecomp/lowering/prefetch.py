"""What an iteration asks for ahead of its time: one request a cache line of what a later iteration reads.

C(i) = sum over k of A[i, k], k in [0, 64), A prefetched 4 iterations of i ahead:

    if i + 4 < n:
        for k_line in range(5):
            prefetch(A[i + 4, min(k_line * 16, 63)])
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from ..arith import NO_FACTS, Facts, bounds_of, can_prove, simplify
from ..bounds.attach import Place
from ..bounds.run_over import ONE, ZERO, StageBounds
from ..dtype import INDEX
from ..errors import ScheduleError
from ..ir import expr as E
from ..ir import make
from ..ir.axis import IterVar, Range
from ..ir.node import Expr
from ..ir.stmt import Evaluate, For, If, LoopKind, Stmt
from ..ir.subst import substitute
from ..ir.visit import walk
from ..location import Location
from ..schedule.prefetch import check_trivial, not_read
from ..schedule.stage import Prefetch
from .storage import Storage

LINE: Final = 64
"""Bytes that one request brings."""


def prefetches(stage: StageBounds, leaf: IterVar, storage: Storage) -> list[Stmt]:
    """Return the statements at the loop `leaf` of a stage that ask for what later iterations read."""
    return [_Ahead(stage, leaf, storage, ahead).stmt() for ahead in stage.state.mark(leaf).prefetches]


class _Ahead:
    def __init__(self, stage: StageBounds, leaf: IterVar, storage: Storage, ahead: Prefetch) -> None:
        self.stage, self.leaf, self.storage = stage, leaf, storage
        self.tensor, self.offset = ahead
        schedule = storage.program.schedule
        self.view = schedule[stage.op]
        self.location: Location | None = schedule.location_of(stage.op, "prefetch", leaf)

    def stmt(self) -> Stmt:
        check_trivial(self.view, self.tensor, self.leaf, self.stage.domains[self.leaf].extent, self.location)
        held_now = self._region()
        self._check_memory()
        var = self.stage.loops[self.leaf]
        assert var is not None and var.min is not None and var.extent is not None
        later = simplify(make.add(var, self.offset))
        comes = make.lt(later, simplify(make.add(var.min, var.extent)))
        region = [Range(*(substitute(end, {var: later}) for end in held)) for held in held_now]
        return If(comes, self._requests(region, NO_FACTS.assume(comes)), loc=self.location)

    def _requests(self, region: Sequence[Range], facts: Facts) -> Stmt:
        """Return the loops over the lines of a region, the last dimension in steps of a line."""
        step = max(LINE // self.tensor.dtype.bytes, 1)
        at: list[Expr] = []
        lines: list[E.Var] = []
        for number, held in enumerate(region, 1):
            wide = step if number == len(region) else 1
            count = simplify(make.add(make.floordiv(make.add(held.extent, wide - 2), wide), 1))
            line = E.Var(f"{self.tensor.name}_line", INDEX, ZERO, count)
            if count is not ONE:
                lines.append(line)
            first = ZERO if count is ONE else make.minimum(make.mul(line, wide), make.sub(held.extent, 1))
            at.append(make.add(held.min, first))
        buffer, indices = self.storage.buffer(self.tensor), self.storage.indices(self.tensor, at)
        stmt: Stmt = Evaluate(make.call("prefetch", "int32", make.load(buffer, indices)), loc=self.location)
        inside = list(_unproved(indices, buffer.shape, facts))
        if inside:
            stmt = If(make.logical_and(*inside), stmt, loc=self.location)
        for line in reversed(lines):
            stmt = For(line, LoopKind.SERIAL, stmt, loc=self.location)
        return stmt

    def _region(self) -> list[Range]:
        """Return what one iteration of the loop reads of the tensor."""
        nodes = (node for part in self._evaluated() for node in walk(part))
        reads = [node.indices for node in nodes if isinstance(node, E.TensorRead) and node.tensor is self.tensor]
        if not reads:
            raise not_read(self.view, self.tensor, self.leaf, self.location)
        leaves = self.stage.state.leaves
        inner = leaves[leaves.index(self.leaf) + 1 :]
        loops, domains = self.stage.loops, self.stage.domains
        running = {var: domains[leaf] for leaf in inner if (var := loops[leaf]) is not None}
        shape = self.storage.program.shape(self.tensor.op)
        return [
            self._hull(dict.fromkeys(read[number] for read in reads), running, extent)
            for number, extent in enumerate(shape)
        ]

    def _evaluated(self) -> Iterator[Expr]:
        """Yield all that reads tensors, the start of a reduction as if it ran in the loops of its updates."""
        start, values = self.stage.start, self.stage.values
        same = {} if start is None else {var: values[axis] for axis, var in start.loops.items() if var is not None}
        return (substitute(part, same) for part in self.stage.evaluated())

    def _hull(self, reads: Iterable[Expr], running: dict[E.Var, Range], extent: Expr) -> Range:
        """Return from the least to the greatest of index expressions, cut to [0, extent) where that is known to cut."""
        low: Expr | None = None
        high: Expr | None = None
        for read in reads:
            first, last = bounds_of(read, running)
            if first is None or last is None or any(isinstance(node, E.TensorRead) for node in walk(read)):
                because = f"which elements '{self.stage.op.name}' reads is decided by data"
                raise self._refusal(because, "no prefetch of it")
            low = first if low is None else make.minimum(low, first)
            high = last if high is None else make.maximum(high, last)
        assert low is not None and high is not None
        low = ZERO if can_prove(make.le(low, ZERO)) else low
        high = make.sub(extent, 1) if can_prove(make.le(extent, make.add(high, 1))) else high
        return Range(simplify(low), simplify(make.add(make.sub(high, low), 1)))

    def _check_memory(self) -> None:
        """Raise ScheduleError for a tensor that is not in global memory, or whose later values are not there yet."""
        program, name = self.storage.program, self.tensor.name
        if any(place == Place(self.stage.op, self.leaf) for place in program.placement.path(self.tensor.op)):
            because = f"'{name}' is computed in that loop, and not yet for a later iteration"
            raise self._refusal(because, f"s[{name}].double_buffer()")
        scope = self.storage.buffer(self.tensor).scope
        if scope != "global":
            raise self._refusal(f"'{name}' is in {scope} memory, which is near already", "a tensor in global memory")

    def _refusal(self, because: str, legal: str) -> ScheduleError:
        asked = f"prefetch: '{self.tensor.name}' along '{self.leaf.name}' of '{self.stage.op.name}'"
        return ScheduleError(asked, because, legal, location=self.location)


def _unproved(indices: Sequence[Expr], shape: Sequence[Expr], facts: Facts) -> Iterator[Expr]:
    """Yield what must hold for an element to exist, as far as it is not provable."""
    for index, extent in zip(indices, shape, strict=True):
        for condition in (make.le(ZERO, index), make.lt(index, extent)):
            if not can_prove(condition, facts):
                yield condition
