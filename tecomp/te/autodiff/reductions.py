"""The derivatives of reductions: what flows into the values that they fold.

    sum                        all of it, to each
    max, min                   to the first that is the extreme: its position is folded as well
    argmax, and whatever       to the ones that were chosen, by their position too
      chooses one of its sides
    prod                       times the product of the others: how many zeros, and the product of what is not zero
    any other                  by the derivative of its formula at the fold of all others: as many folds as values

A reducer is known by its formula, not by its name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from ...dtype import INT32, INT64
from ...errors import UserError
from ...ir import expr as E
from ...ir import make
from ...ir.node import Expr
from ...ir.subst import substitute
from ...ir.visit import walk
from ..reducers import Reducer, argmax, argmin, comm_reducer
from ..symbol import max_value
from ..tensor import ComputeOp, Tensor
from .forward import Fold, Frame, fold_again
from .partials import Flow, choose, partials, plus, times
from .solve import extent_of, least_of

Roots = list[tuple[Expr, Flow]]


class Folded(NamedTuple):
    """A reduction in index arithmetic: `at` is the element, `axes` are folded over, `seeds` flow into its results."""

    op: ComputeOp
    reduce: E.Reduce
    at: tuple[Expr, ...]
    axes: tuple[E.Var, ...]
    seeds: tuple[Expr | None, ...]
    guard: Expr
    frame: Frame
    asked: str

    def read(self, tensor: Tensor) -> Expr:
        """Return this element of a tensor that has the shape of the results."""
        return E.TensorRead(tensor, self.at)

    def again(self, kind: str, formula: Callable[..., Any], extents: Sequence[Expr] = ()) -> tuple[Tensor, ...]:
        """Return another fold of the same values."""
        return fold_again(self.op, self.frame, f"{self.op.name}.{kind}", formula, extents)

    def flows(self, source: Callable[[int], Expr | None], init: Callable[[int], Expr | None]) -> tuple[Roots, Roots]:
        """Return what flows into each folded value where the condition holds, and into each start value."""
        inside = make.logical_and(self.guard, self.reduce.condition)
        into_values = _roots(self.reduce.source, source, inside)
        return into_values, _roots(self.reduce.init, init, self.guard)


def _roots(parts: Sequence[Expr], share: Callable[[int], Expr | None], guard: Expr) -> Roots:
    shares = ((part, share(number)) for number, part in enumerate(parts) if part.dtype.is_float)
    return [(part, Flow(guard, flow)) for part, flow in shares if flow is not None]


def into_reduction(folded: Folded) -> tuple[Roots, Roots]:
    """Return the folded values and the start values, each with what flows into it."""
    combiner = folded.reduce.combiner
    slopes = _slopes(combiner, folded.asked)
    sides = {*combiner.lhs, *combiner.rhs}
    if not any(node in sides for slope in slopes.values() for node in walk(slope)):
        return folded.flows(*[lambda part: _sum_over_results(folded, slopes, part)] * 2)
    for rule in (_extreme, _choosing, _product):
        found = rule(folded)
        if found is not None:
            return found
    return _others(folded, slopes)


def _slopes(combiner: E.Combiner, asked: str) -> dict[tuple[int, int], Expr]:
    """Return the derivative of each result of a combiner by each part of its left side, where that is not 0."""
    found: dict[tuple[int, int], Expr] = {}
    parts: dict[Expr, int] = {var: part for part, var in enumerate(combiner.lhs)}
    for result, formula in enumerate(combiner.result):
        if not formula.dtype.is_float:
            continue
        one = Flow(make.TRUE, make.const(1, formula.dtype))
        flows = partials([(formula, one)], parts.__contains__, {}, asked)
        for leaf, flow in flows.items():
            found[result, parts[leaf]] = choose(flow.guard, flow.adjoint)
    return found


def _sum_over_results(folded: Folded, slopes: dict[tuple[int, int], Expr], part: int) -> Expr | None:
    total: Expr | None = None
    for result, seed in enumerate(folded.seeds):
        if seed is not None and (result, part) in slopes:
            share = times(seed, slopes[result, part])
            total = share if total is None else plus(total, share)
    return total


def _joins_sides(combiner: E.Combiner) -> type | None:
    """Return the operation that a combiner of one value is: Mul for x * y; None where it is no single operation."""
    (first, *others) = combiner.result
    return None if others or {*first.operands()} != {*combiner.lhs, *combiner.rhs} else type(first)


_POSITIONS: dict[type | None, Reducer] = {E.Max: argmax, E.Min: argmin}


def _extreme(folded: Folded) -> tuple[Roots, Roots] | None:
    fold_positions = _POSITIONS.get(_joins_sides(folded.reduce.combiner))
    if fold_positions is None:
        return None

    def formula(fold: Fold) -> Any:
        start = (make.const(-1, _position(fold.axes).dtype), *fold.init) if fold.init else None
        return fold_positions((_position(fold.axes), *fold.sources), init=start, **fold.options)

    return _to_chosen(folded, lambda: folded.again("position", formula)[0])


def _choosing(folded: Folded) -> tuple[Roots, Roots] | None:
    """Every result is one side's part, by one condition for all of them."""
    combiner = folded.reduce.combiner
    choices = [result for result in combiner.result if isinstance(result, (E.Select, E.IfElse))]
    sides = {(choice.yes, choice.no) for choice in choices}
    pairs = list(zip(combiner.lhs, combiner.rhs, strict=True))
    left_first = sides == set(pairs)
    same = len(choices) == len(pairs) and len({choice.condition for choice in choices}) == 1
    if not same or not (left_first or sides == {(y, x) for x, y in pairs}):
        return None
    keep = choices[0].condition if left_first else make.logical_not(choices[0].condition)

    def join(x: Sequence[Expr], y: Sequence[Expr]) -> list[Expr]:
        names = dict(zip((*combiner.lhs, *combiner.rhs), (*x[1:], *y[1:]), strict=True))
        return [make.select(substitute(keep, names), a, b) for a, b in zip(x, y, strict=True)]

    def formula(fold: Fold) -> Any:
        position = _position(fold.axes)
        reducer = comm_reducer(join, lambda *_: (max_value(position.dtype), *combiner.identity), combiner.name)
        start = (make.const(-1, position.dtype), *fold.init) if fold.init else None
        return reducer((position, *fold.sources), init=start, **fold.options)

    own = _own_position(folded)
    return _to_chosen(folded, lambda: folded.again("position", formula)[0] if own is None else own)


def _own_position(folded: Folded) -> Tensor | None:
    """Return the result that is the position already: what argmax((k, A[k]), axis=k) has for k."""
    if len(folded.axes) > 1 or folded.reduce.init:
        return None
    values = folded.reduce.source
    bare = (value.value if isinstance(value, E.Cast) else value for value in values)
    at = next((number for number, value in enumerate(bare) if value is _position(folded.axes)), None)
    return None if at is None else folded.frame.value(folded.op.output(at))


def _to_chosen(folded: Folded, position_of: Callable[[], Tensor]) -> tuple[Roots, Roots]:
    """All flows to the values at the position that was chosen; -1 is the start value's."""
    _check_rectangular(folded)
    chosen = folded.read(position_of())

    def seed(part: int) -> Expr | None:
        return folded.seeds[part]

    here = make.eq(make.cast(chosen.dtype, _position(folded.axes)), chosen)
    into_values, into_start = folded.flows(seed, seed)
    nothing_beats_it = make.eq(chosen, -1)
    return _where(into_values, here), _where(into_start, nothing_beats_it)


def _where(roots: Roots, condition: Expr) -> Roots:
    return [(part, Flow(make.logical_and(flow.guard, condition), flow.adjoint)) for part, flow in roots]


def _position(axes: Iterable[Any]) -> Expr:
    """Return the number of a value in the order of the axes, the last one fastest."""
    variables = [axis if isinstance(axis, E.Var) else axis.var for axis in axes]
    count = 1
    for var in variables:
        extent = extent_of(var)
        count = count * int(extent.value) if isinstance(extent, E.Const) else 1 << 31
    wide = len(variables) > 1 and count >= 1 << 31 and variables[0].dtype is INT32
    number: Expr = make.const(0, INT64 if wide else variables[0].dtype)
    for var in variables:
        number = make.add(make.mul(number, extent_of(var)), make.sub(var, least_of(var)))
    return number


def _product(folded: Folded) -> tuple[Roots, Roots] | None:
    if _joins_sides(folded.reduce.combiner) is not E.Mul:
        return None

    def split(value: Expr) -> tuple[Expr, Expr]:
        is_zero = make.eq(value, make.const(0, value.dtype))
        return make.select(is_zero, make.const(1, INT32), make.const(0, INT32)), make.select(is_zero, 1.0, value)

    def formula(fold: Fold) -> Any:
        reducer = comm_reducer(
            lambda x, y: (x[0] + y[0], x[1] * y[1]), lambda zeros, product: (0, make.const(1, product)), "zeros"
        )
        return reducer(split(fold.sources[0]), init=split(fold.init[0]) if fold.init else None, **fold.options)

    zeros, rest = map(folded.read, folded.again("zeros", formula))
    seed = folded.seeds[0]
    assert seed is not None

    def without(value: Expr) -> Expr:
        """Return the product of all values but one."""
        nothing = make.const(0, value.dtype)
        of_zero = make.select(make.eq(zeros, 1), rest, nothing)
        of_other = make.select(make.eq(zeros, 0), rest / value, nothing)
        return times(seed, make.select(make.eq(value, nothing), of_zero, of_other))

    reduce = folded.reduce
    return folded.flows(lambda _: without(reduce.source[0]), lambda _: without(reduce.init[0]))


def _others(folded: Folded, slopes: dict[tuple[int, int], Expr]) -> tuple[Roots, Roots]:
    """By commutativity each value is the left side of a join with the fold of all the others."""
    _check_rectangular(folded)
    reduce, axes = folded.reduce, folded.axes
    combiner = reduce.combiner

    def fold_all_but(fold: Fold, *places: Expr) -> Any:
        differs = [
            make.ne(axis.var, make.add(place, least_of(axis.var)))
            for axis, place in zip(fold.axes, places, strict=False)
        ]
        where = make.logical_and(fold.condition, make.logical_or(*differs)) if places else fold.condition
        init = fold.init if places else ()
        count = range(len(fold.sources))
        return tuple(E.Reduce(combiner, fold.sources, fold.axes, where, init, index) for index in count)

    def share(values: Sequence[Expr], rest: Sequence[Expr]) -> Callable[[int], Expr | None]:
        names = dict(zip((*combiner.lhs, *combiner.rhs), (*values, *rest), strict=True))
        here = {key: substitute(slope, names) for key, slope in slopes.items()}
        return lambda part: _sum_over_results(folded, here, part)

    others = folded.again("others", fold_all_but, [extent_of(axis.var) for axis in folded.op.reduce_axis])
    places = [make.sub(axis, least_of(axis)) for axis in axes]
    rest = [E.TensorRead(tensor, (*folded.at, *places)) for tensor in others]
    into_values = share(reduce.source, rest)
    if not reduce.init:
        return folded.flows(into_values, lambda _: None)
    values = [folded.read(tensor) for tensor in folded.again("folded", fold_all_but)]
    return folded.flows(into_values, share(reduce.init, values))


def _check_rectangular(folded: Folded) -> None:
    """Refuse what numbers the folded values where how many there are is not the same for all elements."""
    axes = {axis.var for axis in (*folded.op.axis, *folded.op.reduce_axis)}
    for axis in folded.op.reduce_axis:
        if any(node in axes or isinstance(node, E.TensorRead) for node in walk(extent_of(axis.var))):
            raise UserError(
                folded.asked,
                because=f"the extent of its axis '{axis.name}', {extent_of(axis.var)!r}, is not the same everywhere",
                legal="an axis of the greatest extent, and where= for the values that are folded",
            )
