"""The nest of a stage whose innermost loops an instruction takes the place of.

C(i) = A[i] + B[i], i split by 16, i.inner tensorized          for i_outer in range((n + 15) // 16):
                                                                   if i_outer * 16 + 16 <= n:
                                                                       <the instruction>
                                                                   else:
                                                                       for i_inner in range(16):
                                                                           if i_outer * 16 + i_inner < n:
                                                                               C[...] = A[...] + B[...]

Of a reduction with loops outside that reduce, the instruction's `reduce_init` stands where the reduction starts, its
`reduce_update` inside.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from ..arith import bounds_of, simplify
from ..bounds.program import Program, data_axes
from ..bounds.run_over import ZERO, StageBounds
from ..bounds.start import elements, outside_reduction
from ..errors import InternalError, ScheduleError
from ..ir import expr as E
from ..ir import make
from ..ir.axis import IterVar, Range
from ..ir.foreign import addressed
from ..ir.node import Expr
from ..ir.stmt import If, LoopKind, Seq, Stmt
from ..ir.subst import substitute
from ..ir.visit import rewrite_expr, walk
from ..schedule.relation import carrying
from ..te.buffer import DeclaredBuffer
from .body import Body
from .intrinsic.match import match
from .intrinsic.place import Placed
from .intrinsic.view import View
from .nest import Nest, Producers, alone
from .storage import Storage

Ordinary = Callable[[], Stmt]


class TensorNest(Nest):
    """Builds the nest of a stage some of whose loops an intrinsic takes the place of."""

    def __init__(self, program: Program, stage: StageBounds, producers: Producers, storage: Storage) -> None:
        super().__init__(stage, producers, storage)
        assert stage.state.tensorized is not None
        self.program, self.intrin = program, stage.state.tensorized.intrin
        self.within = stage.state.by_intrinsic
        self.outside = self.leaves[: len(self.leaves) - len(self.within)]
        self._check_outside()
        self.placed = Placed(program, storage, stage, self.intrin, match(program, stage, self.within, self.intrin))

    def compute(self, body: Body) -> Stmt:
        """Return the nest of a computation that is no reduction."""
        if self.intrin.body is None:
            raise self._refuse("it has no body", "fcompute that gives a body")
        stmt = self._instead(
            self.placed.statement(self.intrin.body), lambda: self._loops(self._stored(body.whole()), self.within)
        )
        return self._guarded(self._loops(stmt, self.outside), self.guards.get(None, ()))

    def reduce(self, body: Body, start: StageBounds, start_body: Body) -> Stmt:
        """Return the nest of a reduction: all of it by the intrinsic, or part by part where loops outside reduce."""
        count = outside_reduction(self.stage)
        if count >= len(self.outside):
            stmt = self._instead(self._complete(), lambda: self._reduction(body, start, start_body, self.within))
            return self._guarded(self._loops(stmt, self.outside), self.guards.get(None, ()))
        if self.intrin.reduce_update is None:
            raise self._no_update(count)
        update = self._instead(
            self.placed.statement(self.intrin.reduce_update),
            lambda: self._loops(self._stored(body.step()), self.within),
        )
        parts = (self._start(count, start, start_body), self._loops(update, self.outside[count:]))
        return self._guarded(self._loops(Seq(parts), self.outside[:count]), self.guards.get(None, ()))

    def _complete(self) -> Stmt:
        """Return the statement that gives the whole result: a body that only stores it, else start and update."""
        body, init, update = self.intrin.body, self.intrin.reduce_init, self.intrin.reduce_update
        parts = (init, update) if init is not None and update is not None else ()
        if body is not None and not (parts and self._reads_result(body)):
            return self.placed.statement(body)
        if parts:
            return Seq(tuple(map(self.placed.statement, parts)))
        raise self._refuse(
            "it has no body, and not both reduce_init and reduce_update",
            "fcompute that gives (body, reduce_init, reduce_update)",
        )

    def _reads_result(self, stmt: Stmt) -> bool:
        """Return whether a statement goes on with what the result holds."""
        results = set(self.intrin.buffers[len(self.intrin.inputs) :])
        loads = {node.buffer for node in walk(stmt) if isinstance(node, E.Load)}
        return bool(results & (loads | addressed(stmt, "r")))

    def _start(self, count: int, start: StageBounds, start_body: Body) -> Stmt:
        """Return the start of a reduction whose first loop that reduces stands outside the intrinsic."""
        if start_body.parts or self.intrin.reduce_init is None:
            self._check_elements("the values that its reduction starts from")
            return Nest(start, alone, self.storage).inside(self, count, start_body)
        leaves = start.state.leaves
        outer = len(leaves) - len(elements(self.stage, self.within))
        nest = _StartNest(self, start, leaves[outer:])
        stmt = nest._instead(
            self.placed.statement(self.intrin.reduce_init, nest.results()),
            lambda: nest._loops(nest._stored(start_body.start()), nest.within),
        )
        return nest.unasked(self, count, nest._loops(stmt, leaves[count:outer]))

    def _instead(self, stmt: Stmt, ordinary: Ordinary) -> Stmt:
        """Return the intrinsic's statement where all elements that it computes exist, the ordinary loops elsewhere."""
        predicate = self.stage.predicate
        loops = {var for leaf in self.within if (var := self.stage.loops[leaf]) is not None}
        if predicate is not None and not loops.isdisjoint(walk(predicate)):
            raise self._refuse(
                f"the store predicate {predicate!r} asks of each element, and the intrinsic stores all of them",
                "a predicate over loops outside",
            )
        guards = [guard for leaf in self.within for guard in self.guards.get(leaf, ())]
        full = make.logical_and(*(self._always(guard) for guard in guards))
        stmt = self._stored(stmt)
        if full is make.TRUE:
            return stmt
        self._check_elements("the part tile at the end of an axis")
        return If(full, stmt, ordinary(), loc=stmt.loc)

    def _always(self, guard: Expr) -> Expr:
        """Return a condition under which a guard holds in all iterations of the intrinsic's loops.

        i_outer * 16 + i_inner < n, i_inner in [0, 16)  ->  i_outer * 16 + 16 <= n
        """
        running = [var for leaf in self.within if (var := self.stage.loops[leaf]) is not None]
        still, read = _standing(guard, running)
        if isinstance(still, (E.Lt, E.Le)):
            ranges = {
                var: Range(var.min, var.extent) for var in running if var.min is not None and var.extent is not None
            }
            _, most = bounds_of(make.sub(still.a, still.b), ranges)
            if most is not None:
                return self.storage.loaded(substitute(simplify(type(still)(most, ZERO)), read))
        raise InternalError(f"the guard {guard!r} of a tile", because="when it holds for the whole tile is not known")

    def _check_outside(self) -> None:
        """Raise ScheduleError where the iterations of a loop around are to be lanes."""
        for leaf in self.outside:
            if self.stage.state.mark(leaf).kind is LoopKind.VECTORIZED:
                because = f"'{leaf.name}' around it is vectorized, and an instruction has no lanes but its own"
                raise self._refuse(because, f"s[{self.stage.op.name}].unroll in place of vectorize")

    def _check_elements(self, what: str) -> None:
        """Raise ScheduleError where `what` would be stored element by element into memory that has none."""
        for tensor in self.stage.op.outputs:
            buffer = self.storage.buffer(tensor)
            if buffer.scope.startswith("wmma."):
                raise self._refuse(
                    f"{what} would be stored element by element, and '{buffer.name}' is in {buffer.scope}, whose "
                    "elements lie with the threads of a warp as the hardware likes",
                    "extents that the tiles divide; an intrinsic with reduce_init",
                )

    def _no_update(self, count: int) -> ScheduleError:
        reduced = carrying(self.stage.reduce_axis, self.stage.state.relations)
        loop = next(leaf for leaf in self.outside[count:] if leaf in reduced)
        return self._refuse(
            f"'{loop.name}' reduces outside of it, and it has no reduce_update",
            f"tensorize '{loop.name}', or fcompute that gives (body, reduce_init, reduce_update)",
        )

    def _refuse(self, because: str, legal: str) -> ScheduleError:
        location = self.program.schedule.location_of(self.stage.op, "tensorize")
        return ScheduleError(
            f"tensorize: '{self.stage.op.name}' by '{self.intrin.name}'", because, legal, location=location
        )


def _standing(guard: Expr, running: Collection[E.Var]) -> tuple[Expr, dict[E.Var, Expr]]:
    """Return a guard with a variable for each element of a tensor that stays the same while the loops run."""
    names: dict[Expr, E.Var] = {}

    def name(node: E.TensorRead) -> Expr:
        if not set(running).isdisjoint(walk(node)):
            return node
        return names.setdefault(node, E.Var(node.tensor.name, node.dtype))

    still = rewrite_expr(guard, {E.TensorRead: name})
    return still, {var: node for node, var in names.items()}


class _StartNest(TensorNest):
    """The loops of a reduction's start, `within` of which the intrinsic's `reduce_init` takes the place of."""

    def __init__(self, whole: TensorNest, start: StageBounds, within: Sequence[IterVar]) -> None:
        Nest.__init__(self, start, alone, whole.storage)
        self.program, self.intrin, self.placed = whole.program, whole.intrin, whole.placed
        self.within = tuple(within)

    def results(self) -> dict[DeclaredBuffer, View]:
        """Return where the results lie, by the loops of the start: where all of `within` stand at 0."""
        first: dict[E.Var, Expr] = {var: ZERO for leaf in self.within if (var := self.stage.loops[leaf]) is not None}
        base = tuple(simplify(substitute(self.stage.values[axis], first)) for axis in data_axes(self.stage.op))
        buffers = self.intrin.buffers[len(self.intrin.inputs) :]
        return {buffer: self.placed.views[buffer]._replace(base=base) for buffer in buffers}
