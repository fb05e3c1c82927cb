"""Splits that the schedule declares to leave no rest: they have no guard, and what makes that right is required.

i in [0, n), split by 16, disable_predication    ->    requires n % 16 == 0
"""

from __future__ import annotations

from collections.abc import Iterator

from ..arith import simplify
from ..errors import ScheduleError
from ..ir import expr as E
from ..ir import make
from ..ir.axis import IterVar
from ..ir.node import Expr
from ..ir.visit import walk
from ..schedule.relation import Split
from .program import Program
from .run_over import ZERO, StageBounds


def required(stage: StageBounds, program: Program) -> Iterator[tuple[Expr, str]]:
    """Yield what must hold of sizes so that splits without a guard leave no rest, and why.

    Raises ScheduleError where that can never hold, or no call could tell.
    """
    for split in stage.state.relations:
        if isinstance(split, Split) and split.whole:
            extent, length = stage.domains[split.parent].extent, stage.domains[_given(split)].extent
            condition = simplify(make.eq(make.floormod(extent, length), ZERO))
            if condition is make.FALSE:
                raise _refusal(stage, split, program, f"{length!r} does not divide its extent {extent!r}")
            if not _depends_on_sizes(condition, program):
                because = "how long the loop is differs from iteration to iteration, so no call can check it"
                raise _refusal(stage, split, program, because)
            if condition is not make.TRUE:
                yield condition, f"the split of '{split.parent.name}' of '{stage.op.name}' has no guard"


def _given(split: Split) -> IterVar:
    """Return the piece whose length the user gave."""
    return split.outer if split.factor is None else split.inner


def _depends_on_sizes(condition: Expr, program: Program) -> bool:
    """Return whether nothing but sizes decides a condition."""
    sizes = set(program.indexer.sizes.values())
    nodes = list(walk(condition))
    return all(node in sizes for node in nodes if isinstance(node, E.Var)) and not any(
        isinstance(node, E.TensorRead) for node in nodes
    )


def _refusal(stage: StageBounds, split: Split, program: Program, because: str) -> ScheduleError:
    return ScheduleError(
        f"split: '{split.parent.name}' of '{stage.op.name}' without predication",
        because=because,
        legal="a length that divides the extent, or the split with its guard",
        location=program.schedule.location_of(stage.op, "split", split.parent),
    )
