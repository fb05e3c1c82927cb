"""Whether a result that is also an argument is written whole, although its stage sits in another stage's loops."""

from __future__ import annotations

from ..arith import can_prove, simplify
from ..arith.affine import affine
from ..errors import ScheduleError
from ..ir import expr as E
from ..ir import make
from ..ir.axis import Range
from ..ir.node import Expr
from .program import Program
from .run_over import ZERO, Bounds


def check_covered(program: Program, bounds: Bounds) -> None:
    """Raise ScheduleError for an argument of which the stages around it do not provably ask for every element."""
    for op, stage in bounds.items():
        if not program.is_argument(op) or not program.placement.path(op):
            continue
        for number, (held, extent) in enumerate(zip(stage.region, program.shape(op), strict=True)):
            if not _covers(held, extent):
                raise ScheduleError(
                    f"'{op.name}' is an argument and computed inside other loops",
                    because=f"only what is read of it is computed there, not provably all of dimension {number}",
                    legal=f"s[{op.name}].compute_root(), or leave '{op.name}' out of the arguments",
                    location=program.schedule.location_of(op, "compute_at"),
                )


def _covers(held: Range, extent: Expr) -> bool:
    """Return whether [min, min + length) over all values of the loop variables in min leaves no gap in [0, extent).

    min is a sum of coefficient * variable; from the smallest coefficient on, each step must not be longer than what the
    steps before it reach.
    """
    form = affine(simplify(held.min))
    reach: Expr = held.extent
    if form.constant > 0:
        return False
    reach = make.add(reach, make.const(form.constant, reach.dtype))
    for term, coefficient in sorted(form.terms.items(), key=lambda item: item[1]):
        if not isinstance(term, E.Var) or term.extent is None or coefficient < 0 or term.min is not ZERO:
            return False
        if not can_prove(make.le(make.index(coefficient), reach)):
            return False
        reach = make.add(reach, make.mul(make.sub(term.extent, 1), make.index(coefficient)))
    return can_prove(make.le(extent, reach))
