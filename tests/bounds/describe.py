"""Bounds as text: of each stage its region, what each axis is of the loops, and the guards."""

from __future__ import annotations

from collections.abc import Sequence

from tecomp.bounds.infer import infer
from tecomp.bounds.program import Program
from tecomp.bounds.run_over import StageBounds
from tecomp.schedule import Schedule
from tecomp.te import Tensor


def described(schedule: Schedule, args: Sequence[Tensor]) -> str:
    """Return the bounds of every stage, consumers first.

    B in shared: [i_outer * 4, +5]           from the first element on, so many
      i = i_outer * 4 + i, 5 values
      where i_outer * 4 + i < n
    """
    return "\n".join(line for stage in infer(Program(schedule, args)).values() for line in _lines(stage))


def _lines(stage: StageBounds) -> list[str]:
    scope = "" if stage.scope == "global" else f" in {stage.scope}"
    region = ", ".join(f"[{held.min}, +{held.extent}]" for held in stage.region)
    axes = [f"  {axis.name} = {value}, {stage.domains[axis].extent} values" for axis, value in stage.values.items()]
    return [f"{stage.op.name}{scope}: {region}".rstrip(), *axes, *(f"  where {guard}" for guard in stage.guards)]
