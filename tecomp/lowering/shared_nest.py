"""The nest of a reduction that threads share out: each folds a part of its own, and all parts are joined.

B(i) = sum over k of A[i, k], k split by 16, k.inner bound to threadIdx.x

    for i in range(n):
        B_part: f32
        with across(['threadIdx.x'], [B_part], [0.0], lambda x, y: x + y):
            for k_inner in thread('threadIdx.x', 16):
                for k_outer in range(m // 16):
                    B_part = B_part + A[i, k_outer * 16 + k_inner]
        B[i] = B_part
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..arith import simplify
from ..bounds.program import Program, data_axes
from ..bounds.run_over import StageBounds
from ..bounds.shared_out import outside_join, shared_out
from ..dtype import INDEX
from ..errors import ScheduleError
from ..ir import expr as E
from ..ir import make
from ..ir.axis import IterVar
from ..ir.node import Expr
from ..ir.stmt import Across, Alloc, Buffer, For, If, LoopKind, Seq, Stmt
from ..ir.subst import substitute
from ..ir.visit import walk
from ..schedule.relation import carrying
from .body import Body
from .nest import Nest


def check_not_shared_out(stage: StageBounds, program: Program) -> None:
    """Raise ScheduleError for a tensorized stage whose reduction threads would share out."""
    tensorized, threads = stage.state.tensorized, shared_out(stage.state)
    if tensorized is not None and threads:
        raise ScheduleError(
            f"tensorize: '{stage.op.name}' by '{tensorized.intrin.name}'",
            because=f"threads share its reduction out ('{threads[0].name}'), "
            "and the intrinsic knows no part that is one thread's",
            legal=f"'{threads[0].name}' as a serial loop",
            location=program.schedule.location_of(stage.op, "tensorize"),
        )


class SharedNest(Nest):
    """Builds the nest of a stage some of whose loops that reduce are bound to threads."""

    def reduce(self, body: Body, start: StageBounds, start_body: Body) -> Stmt:
        """Return the nest; the result is joined to a start value only once, where it is stored."""
        return self.join(body, start_body.finish)

    def join(self, body: Body, store: Callable[[Sequence[Expr]], Stmt]) -> Stmt:
        """Return the nest in which `store` does something with the result that all threads have."""
        assert body.reduce is not None
        count = outside_join(self.stage.state)
        outer, inner = self.leaves[:count], self.leaves[count:]
        self._check_one_element(inner)
        loc, combiner = self.stage.op.loc, body.reduce.combiner
        parts = tuple(
            Buffer(f"{element.name}_part", (), element.dtype, "local", loc=loc) for element, _ in body.elements()
        )
        fold = self._loops(body.step([(part, ()) for part in parts]), inner)
        results = [make.load(part, ()) for part in parts]
        stmt: Stmt = Seq((Across(self._threads(), parts, combiner, fold, loc=loc), self._stored(store(results))))
        for part in reversed(parts):
            stmt = Alloc(part, stmt, loc=loc)
        return self._guarded(self._loops(stmt, outer), self.guards.get(None, ()))

    def _threads(self) -> tuple[str, ...]:
        marks = (self.stage.state.mark(leaf) for leaf in shared_out(self.stage.state))
        return tuple(sorted(mark.thread.thread_tag for mark in marks if mark.thread is not None))

    def _stored(self, stores: Stmt) -> Stmt:
        """Return the stores where the schedule's predicate holds, which may name the threads that reduce.

        Of these there is one at least: a reduction over nothing has a result too.
        """
        predicate = self.stage.predicate
        if predicate is None:
            return stores
        named = set(walk(predicate))
        loops: list[For] = []
        for leaf in shared_out(self.stage.state):
            var, thread = self.stage.loops[leaf], self.stage.state.mark(leaf).thread
            if var is not None and thread is not None and var in named:
                assert var.extent is not None
                again = E.Var(var.name, INDEX, var.min, simplify(make.maximum(var.extent, make.index(1))))
                predicate = substitute(predicate, {var: again})
                loops.append(For(again, LoopKind.THREAD, stores, thread.thread_tag, loc=stores.loc))
        stores = self._asked(If(predicate, stores, loc=stores.loc))
        for loop in reversed(loops):
            stores = loop.copy(body=stores)
        return stores

    def _check_one_element(self, inner: Sequence[IterVar]) -> None:
        """Raise ScheduleError for a loop over both data and what is reduced: a thread's part is of one element."""
        stage = self.stage.op
        for data in data_axes(stage):
            of_data = carrying([data], self.stage.state.relations)
            mixed = next((leaf for leaf in inner if leaf in of_data), None)
            if mixed is not None:
                raise ScheduleError(
                    f"threads cannot share the reduction of '{stage.name}' out",
                    because=f"'{data.name}' of the data is fused into its loop '{mixed.name}', "
                    "and each thread folds a part of one element",
                    legal="fuse reduce axes with each other only",
                    location=self.storage.program.schedule.location_of(stage, "fuse"),
                )
