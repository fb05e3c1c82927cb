"""The refusal of an intrinsic that does not compute what the loops do: both formulas, and where they part."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from ...arith import simplify
from ...bounds.program import Program, data_axes
from ...bounds.run_over import StageBounds
from ...dtype import INDEX
from ...errors import ScheduleError
from ...ir import expr as E
from ...ir.axis import IterVar
from ...ir.node import Expr
from ...ir.subst import substitute
from ...te.index import Indexer
from ...te.shape import plain
from ...te.tensor import ComputeOp, domain
from ...te.tensor_intrin import TensorIntrin
from .counters import Tile
from .unify import Difference

EXTENTS: Final = -1
RESULTS: Final = 1 << 30
"""How far an attempt came that failed before the formulas were compared, and one that failed after."""


class Attempt(NamedTuple):
    """One way to see the loops, how far the comparison came, and why it ended."""

    tile: Tile
    reached: int
    because: str


def parted(tile: Tile, difference: Difference | None, axes: Mapping[E.Var, Expr], stage: StageBounds) -> Attempt:
    """Return the attempt that ended at `difference`; without one the results were no region."""
    if difference is None:
        return Attempt(tile, RESULTS, f"the elements of '{stage.op.name}' that these loops store are no region of it")
    names: dict[E.Var, Expr] = {
        value: E.Var(axis.name, INDEX) for axis, value in axes.items() if isinstance(value, E.Var)
    }
    own = plain(substitute(difference.intrinsic, names))
    why = f": {difference.why}" if difference.why else ""
    return Attempt(tile, difference.size, f"they part at {plain(difference.stage)}, where the intrinsic has {own}{why}")


def unlike_extents(tile: Tile, intrin: TensorIntrin) -> Attempt:
    """Return the attempt that ended before the formulas: as many loops, of those extents, the intrinsic has not."""
    loops = [_range(counter.name, counter.extent, counter.reduces) for counter in tile.counters]
    reduced = intrin.op.reduce_axis
    own = [_range(axis.name, domain(axis).extent, axis in reduced) for axis in (*intrin.op.axis, *reduced)]
    because = f"the loops run over {', '.join(loops) or 'one element'}, the intrinsic over {', '.join(own)}"
    return Attempt(tile, EXTENTS, because)


def _range(name: str, extent: Expr, reduces: bool) -> str:
    return f"{'reduce ' if reduces else ''}{name}({plain(extent)})"


def refuse(
    program: Program, stage: StageBounds, inner: Sequence[IterVar], intrin: TensorIntrin, attempts: Sequence[Attempt]
) -> ScheduleError:
    """Return the refusal, with the reason of the attempt that came furthest."""
    furthest = max(attempts, key=lambda attempt: attempt.reached)
    computed = [*_stage(program, stage, furthest.tile), *_intrinsic(intrin)]
    return ScheduleError(
        f"tensorize: the loops of '{stage.op.name}' from '{inner[0].name}' on are not what '{intrin.name}' computes",
        because=furthest.because,
        legal="loops, or an intrinsic, of the same formula and extents",
        ir="\n".join(computed),
        location=program.schedule.location_of(stage.op, "tensorize"),
    )


def formulas(program: Program, stage: StageBounds) -> tuple[Expr, ...]:
    """Return the bodies of a stage, inlined stages within them."""
    assert isinstance(stage.op, ComputeOp)
    return program.bodies[stage.op]


def _stage(program: Program, stage: StageBounds, tile: Tile) -> Iterator[str]:
    """Yield what the stage computes, a line for each result, over the counters."""
    at = ", ".join(plain(tile.over(stage.values[axis])) for axis in data_axes(stage.op))
    parts = [tile.over(part) for part in stage.body]
    for number, tensor in enumerate(stage.op.outputs):
        whole = formulas(program, stage)[number]
        yield f"stage      {tensor.name}[{at}] = {_formula(whole, parts, number)}"


def _intrinsic(intrin: TensorIntrin) -> Iterator[str]:
    """Yield what the intrinsic computes, a line for each result, over its own axes."""
    indexer = Indexer()
    axes: dict[E.Var, Expr] = {axis.var: E.Var(axis.name, INDEX) for axis in (*intrin.op.axis, *intrin.op.reduce_axis)}
    at = ", ".join(axis.name for axis in intrin.op.axis)
    first = intrin.op.body[0]
    whole = [*first.source, first.condition] if isinstance(first, E.Reduce) else intrin.op.body
    parts = [simplify(indexer.data(part, axes)) for part in whole]
    for number, tensor in enumerate(intrin.op.outputs):
        yield f"intrinsic  {tensor.name}[{at}] = {_formula(intrin.op.body[number], parts, number)}"


def _formula(whole: Expr, parts: Sequence[Expr], number: int) -> str:
    """Return a body as text: of a reduction its operation, the values, and the condition where there is one."""
    if not isinstance(whole, E.Reduce):
        return plain(parts[number])
    values = [plain(part) for part in parts[: len(whole.source)]]
    condition = parts[len(whole.source)]
    where = "" if isinstance(condition, E.Const) else f", where={condition!r}"
    result = f".v{number}" if len(values) > 1 else ""
    return f"{whole.combiner.name}({', '.join(values)}{where}){result}"
