"""Memory with dimensions of its own: what a tensor that `transform_layout` was applied to takes, and where in it.

B: f32[8, m], element i, j at i // 4, j, i % 4      B: f32[2, m, 4]
of it, only rows r*4 to r*4 + 3 are held            B: f32[1, m, 4], element i, j at i // 4 - r, j, i % 4
"""

from __future__ import annotations

from collections.abc import Sequence

from ..arith import bounds_of, constant_upper, simplify
from ..dtype import INDEX
from ..ir import expr as E
from ..ir import make
from ..ir.axis import Range
from ..ir.node import Expr
from ..schedule.layout import Layout

ZERO, ONE = make.const(0, INDEX), make.const(1, INDEX)


def occupied(layout: Layout, extents: Sequence[Expr], held: Sequence[Range]) -> tuple[Range, ...]:
    """Return what of each dimension of its memory a tensor of these extents takes, where `held` of it is there."""
    whole = tuple(Range(ZERO, length) for length in layout.shape(extents))
    if all(part.min is ZERO and part.extent is extent for part, extent in zip(held, extents, strict=True)):
        return whole
    inside = [E.Var(f"d{number}", INDEX, ZERO, part.extent) for number, part in enumerate(held)]
    at = [make.add(part.min, var) for part, var in zip(held, inside, strict=True)]
    running = {var: Range(ZERO, part.extent) for var, part in zip(inside, held, strict=True)}
    places = layout.place(at, extents)
    return tuple(_reached(simplify(place), running, all_) for place, all_ in zip(places, whole, strict=True))


def _reached(place: Expr, running: dict[E.Var, Range], whole: Range) -> Range:
    """Return the values of an index while the variables run, at most `whole`; a constant number where one is known."""
    low, high = bounds_of(place, running)
    if low is None or high is None:
        return whole
    length = simplify(make.add(make.sub(high, low), ONE))
    most = constant_upper(length) if not isinstance(length, E.Const) else None
    return Range(simplify(low), length if most is None else make.const(max(most, 0), INDEX))
