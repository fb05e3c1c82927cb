"""Whether a map of elements to places is one to one, and if not, why."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from ..arith import can_prove, simplify
from ..ir import expr as E
from ..ir import make
from ..ir.node import Expr
from ..ir.subst import substitute
from ..ir.visit import walk
from .extent import Exact, constant, show
from .index_map import IndexMap
from .layout import Layout

_MOST_TRIED = 4096
"""How many elements are looked at to find two that would lie in one place."""


def why_not_once(layout: Layout, index_map: IndexMap, shape: Sequence[Expr]) -> str:
    """Say which elements would lie in one place, or which digits stand twice; nothing where each digit stands once."""
    for axis, extent in enumerate(shape):
        name, digits = index_map.parameters[axis].name, layout.digits(axis)
        places = [digit for number in layout.numbers for digit in number if digit.axis == axis]
        reached: int | None = 1
        """Below which value the digits so far tell all apart; None is the extent."""
        for digit in digits:
            if reached is None or digit.low < reached:
                below = f"{name} % {reached}" if reached else f"all of {name}"
                return f"{below} and {name} // {digit.low} overlap, so not every place is taken"
            if digit.low > reached:
                return _together(index_map, axis, reached)
            reached = None if digit.extent is None else reached * digit.extent
        size = constant(extent)
        if reached is not None and (size is None or size > reached):
            return _together(index_map, axis, reached)
        if len(places) > len(digits):
            return f"a digit of {name} stands in it twice, so not every place is taken"
    return ""


def why_gaps(layout: Layout, index_map: IndexMap, shape: Sequence[Expr]) -> str:
    """Say which places no element takes: an axis ends in the middle of its highest digit's last value."""
    for axis, extent in enumerate(shape):
        name, step, size = index_map.parameters[axis].name, _step(layout, axis), constant(extent)
        if size is None and not can_prove(make.eq(make.floormod(Exact()(extent), step), 0)):
            return f"{step} does not provably divide the extent {show(extent)} of {name}, so places may stay empty"
        if size is not None and size % step:
            places = size + -size % step
            return f"{step} does not divide the extent {size} of {name}: {places - size} of {places} places stay empty"
    return ""


def _step(layout: Layout, axis: int) -> int:
    """Return what one step of the highest digit of an axis is."""
    return max((digit.low for digit in layout.digits(axis)), default=1)


def colliding(index_map: IndexMap, shape: Sequence[Expr]) -> str:
    """Name two elements that would lie in one place, where trying those of small indices finds such."""
    sizes = [constant(extent) for extent in shape]
    named = {node for index in index_map.indices for node in walk(index) if isinstance(node, E.Var)}
    if not named <= set(index_map.parameters):
        return ""
    most = max(2, int(_MOST_TRIED ** (1 / max(len(shape), 1))))
    seen: dict[tuple[int, ...], tuple[int, ...]] = {}
    for at in product(*(range(most if size is None else min(size, most)) for size in sizes)):
        values = {var: make.const(value) for var, value in zip(index_map.parameters, at, strict=True)}
        found = [constant(simplify(substitute(index, values))) for index in index_map.indices]
        place = tuple(value for value in found if value is not None)
        if len(place) < len(found):
            return ""
        if seen.setdefault(place, at) != at:
            return f"the elements {_tuple(seen[place])} and {_tuple(at)} would both lie at {_tuple(place)}"
    return ""


def _together(index_map: IndexMap, axis: int, value: int) -> str:
    """Say that an element of value 0 along an axis and one of `value` lie in one place."""
    nothing = [0] * len(index_map.parameters)
    other = [*nothing[:axis], value, *nothing[axis + 1 :]]
    return f"the elements {_tuple(nothing)} and {_tuple(other)} would lie in one place"


def _tuple(numbers: Sequence[int]) -> str:
    return f"({', '.join(map(str, numbers))})"
