"""Reductions: how the values along axes fold into one.

A reducer is two functions: how two partial results join, and what joins without a trace (the identity). A reduction
keeps the type of what it folds, so a sum of float16 is a float16: widen the operand with .astype for a wider sum.

One file because te.sum and its kin are objects of the class that stands before them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, Final

from ..dtype import DType
from ..errors import UserError, UserTypeError
from ..ir import make
from ..ir.axis import AxisKind, IterVar
from ..ir.expr import Combiner, Const, Reduce, Var
from ..ir.node import Expr
from .joins import check_joins, parameters_of
from .shape import plain
from .symbol import max_value, min_value

Axes = tuple[IterVar, ...]


class Combination:
    """How two partial results of given types join: `lhs` and `rhs` name their parts, `result` is their join."""

    __slots__ = ("identity", "lhs", "name", "result", "rhs")

    def __init__(
        self,
        name: str,
        lhs: tuple[Var, ...],
        rhs: tuple[Var, ...],
        result: tuple[Expr, ...],
        identity: tuple[Expr, ...],
    ) -> None:
        self.name, self.lhs, self.rhs, self.result, self.identity = name, lhs, rhs, result, identity

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle: of te.sum and its kin by name, so that what is read back joins in the same way."""
        if self.name in PREDEFINED and PREDEFINED[self.name].makes(self):
            return _predefined, (self.name, tuple(var.dtype for var in self.lhs))
        return Combination, (self.name, self.lhs, self.rhs, self.result, self.identity)

    def __repr__(self) -> str:
        return self.name


class Reducer:
    """A commutative, associative operation that folds along axes, and joins plain values.

    `r(expr, axis)` is a reduction, the whole body of a compute; a tuple of expressions is folded together and gives a
    tuple. `where` leaves out the values for which it does not hold; `init` is what the fold starts from in place of the
    identity. `r(a, b, c)` joins plain values.
    """

    def __init__(
        self, combine: Callable[[Any, Any], Any], identity: Callable[..., Any], name: str, doc: str = ""
    ) -> None:
        self._combine, self._identity, self.name = combine, identity, name
        self._of_user = not doc
        self._combinations: dict[tuple[DType, ...], Combination] = {}
        self.__doc__ = doc or type(self).__doc__

    def __call__(self, expr: Any, *values: Any, axis: Any = None, where: Any = None, init: Any = None) -> Any:
        """Return the reduction of `expr` over `axis`, or the join of plain values."""
        given = {"axis": axis, "where": where, "init": init}
        named = {name: value for name, value in given.items() if value is not None}
        if named or (values and _are_axes(values[0])):
            return self._fold(expr, *values, **named)
        return self._join([expr, *values])

    def _fold(self, expr: Any, axis: Any = None, where: Any = None, init: Any = None) -> Any:
        axes = self._axes(axis)
        sources = tuple(map(make.convert, expr)) if isinstance(expr, (tuple, list)) else (make.convert(expr),)
        self._check_count(len(sources))
        combination = self.combination(tuple(source.dtype for source in sources))
        condition = make.TRUE if where is None else self._where(where)
        starts = self._init(init, sources)
        parts = tuple(Reduce(combination, sources, axes, condition, starts, index) for index in range(len(sources)))
        return parts if isinstance(expr, (tuple, list)) else parts[0]

    def _check_count(self, count: int) -> None:
        """Raise UserError where another number of values is folded than the identity is made for."""
        wanted = parameters_of(self._identity)
        if wanted is not None and wanted != count:
            names = ", ".join(f"x{number}" for number in range(wanted))
            legal = f"{self.name}(({names}), axis=k)" if wanted > 1 else f"{self.name}(x0, axis=k)"
            because = f"its identity is made of {wanted} type{'s' if wanted > 1 else ''}, one for each value"
            raise UserError(f"reducer '{self.name}' of {_values(count)}", because, legal)

    def combination(self, dtypes: tuple[DType, ...]) -> Combination:
        """Return how partial results of these types join."""
        known = self._combinations.get(dtypes)
        if known is None:
            known = self._combinations[dtypes] = self._combination(dtypes)
        return known

    def makes(self, combination: Combiner) -> bool:
        """Return whether values join in this way by this reducer."""
        return any(combination is known for known in self._combinations.values())

    def keep(self, combination: Combination) -> None:
        """Let values of these types join in this way."""
        self._combinations[tuple(var.dtype for var in combination.lhs)] = combination

    def _combination(self, dtypes: tuple[DType, ...]) -> Combination:
        single = len(dtypes) == 1
        suffixes = [""] if single else [str(index) for index in range(len(dtypes))]
        lhs = tuple(Var(f"x{suffix}", dtype) for suffix, dtype in zip(suffixes, dtypes, strict=True))
        rhs = tuple(Var(f"y{suffix}", dtype) for suffix, dtype in zip(suffixes, dtypes, strict=True))
        result = self._combine(lhs[0], rhs[0]) if single else self._combine(lhs, rhs)
        combination = Combination(
            self.name,
            lhs,
            rhs,
            self._typed("fcombine", result, dtypes),
            self._typed("fidentity", self._identity(*dtypes), dtypes),
        )
        if self._of_user:
            check_joins(self.name, combination)
        return combination

    def _typed(self, role: str, values: Any, dtypes: tuple[DType, ...]) -> tuple[Expr, ...]:
        """Return what a function of the reducer gave, one value of each type; plain numbers take the type."""
        given = tuple(values) if isinstance(values, (tuple, list)) else (values,)
        asked = f"reducer '{self.name}': {role}"
        if len(given) != len(dtypes):
            raise UserError(asked, because=f"it gives {_values(len(given))} for {_values(len(dtypes))} to fold")
        typed = tuple(make.convert(value, dtype) for value, dtype in zip(given, dtypes, strict=True))
        for position, (value, dtype) in enumerate(zip(typed, dtypes, strict=True)):
            if value.dtype is not dtype:
                raise UserError(
                    asked,
                    because=f"its value {position} is {value.dtype}, what it folds is {dtype}",
                    legal=f".astype('{dtype}')",
                )
        return typed

    def _axes(self, axis: Any) -> Axes:
        if not _are_axes(axis):
            raise UserTypeError(
                f"te.{self.name} over {plain(axis) if isinstance(axis, Expr) else axis!r}",
                because="that is no axis to fold over" if axis is not None else "where= and init= are of a reduction",
                legal="axis=te.reduce_axis((0, n))",
            )
        axes: Axes = (axis,) if isinstance(axis, IterVar) else tuple(axis)
        asked = f"te.{self.name} over {', '.join(a.name for a in axes) or 'no axis'}"
        if not axes:
            raise UserError(asked, because="it has nothing to fold", legal="one te.reduce_axis or more")
        for position, one in enumerate(axes):
            if one.kind is not AxisKind.REDUCE:
                raise UserError(
                    asked,
                    because=f"'{one.name}' is no reduce axis: its kind is {one.kind.value}",
                    legal="te.reduce_axis",
                )
            if one in axes[:position]:
                raise UserError(asked, because=f"'{one.name}' is named twice", legal="each axis once")
        return axes

    def _where(self, where: Any) -> Expr:
        condition = make.convert(where)
        if condition.dtype.is_bool:
            return condition
        raise UserTypeError(
            f"te.{self.name}: where={plain(condition)}",
            because=f"it is {condition.dtype}",
            legal="a comparison, te.all, te.any",
        )

    def _init(self, init: Any, sources: tuple[Expr, ...]) -> tuple[Expr, ...]:
        if init is None:
            return ()
        given = tuple(init) if isinstance(init, (tuple, list)) else (init,)
        if len(given) != len(sources):
            raise UserError(
                f"te.{self.name}: init",
                because=f"it gives {_values(len(given))} for {_values(len(sources))} to fold",
                legal="one for each",
            )
        typed = tuple(make.convert(value, source.dtype) for value, source in zip(given, sources, strict=True))
        for value, source in zip(typed, sources, strict=True):
            if value.dtype is not source.dtype:
                raise UserError(
                    f"te.{self.name}: init={plain(value)}",
                    because=f"it is {value.dtype}, what it folds is {source.dtype}",
                    legal=f".astype('{source.dtype}')",
                )
        return typed

    def _join(self, values: Sequence[Any]) -> Any:
        if len(values) < 2:
            raise UserTypeError(
                f"te.{self.name} of one value",
                because="there is no axis to fold over",
                legal=f"te.{self.name}(expr, axis=k), te.{self.name}(a, b)",
            )
        return reduce(self._combine, values[1:], values[0])

    def __reduce__(self) -> Any:
        """Pickle those of te by name; one of a user's own is pickled as its functions are."""
        return self.name if PREDEFINED.get(self.name) is self else super().__reduce_ex__(2)

    def __repr__(self) -> str:
        return f"te.{self.name}"


def _are_axes(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return all(isinstance(one, IterVar) for one in value)
    return isinstance(value, IterVar)


def _values(count: int) -> str:
    return "1 value" if count == 1 else f"{count} values"


def comm_reducer(fcombine: Callable[[Any, Any], Any], fidentity: Callable[..., Any], name: str = "reduce") -> Reducer:
    """Return a reducer of one's own.

    fcombine(x, y)    joins two partial results; each is a tuple where several values are folded together
    fidentity(dtype)  gives what changes nothing, one argument for each value

    The order of folding is the schedule's, so `fcombine` must be commutative and associative.
    """
    if not callable(fcombine) or not callable(fidentity):
        raise UserTypeError(
            "te.comm_reducer",
            because="fcombine and fidentity are functions",
            legal="comm_reducer(lambda x, y: x + y, lambda t: te.const(0, t))",
        )
    return Reducer(fcombine, fidentity, name)


def folding(combination: Combination) -> Reducer:
    """Return the reducer whose partial results join so; it folds values of those types only."""

    def given(*_: Any) -> Any:
        return combination.identity

    reducer = Reducer(lambda x, y: combination.result, given, combination.name)
    reducer.keep(combination)
    return reducer


def _least(dtype: DType) -> Expr:
    return Const(-math.inf, dtype) if dtype.is_float else min_value(dtype)


def _greatest(dtype: DType) -> Expr:
    return Const(math.inf, dtype) if dtype.is_float else max_value(dtype)


sum = Reducer(make.add, lambda dtype: make.const(0, dtype), "sum", "Sum along axes; of nothing, 0.")
prod = Reducer(make.mul, lambda dtype: make.const(1, dtype), "prod", "Product along axes; of nothing, 1.")
max = Reducer(
    make.maximum, _least, "max", "Greatest along axes, NaN when any is; of nothing, -inf or the type's least value."
)
min = Reducer(
    make.minimum, _greatest, "min", "Least along axes, NaN when any is; of nothing, +inf or the type's greatest value."
)


def _first_extreme(ahead: Callable[[Any, Any], Any]) -> Callable[[Any, Any], tuple[Expr, Expr]]:
    """Return how two (index, value) pairs join: the value that is ahead wins, NaN before all, then the lower index."""

    def is_nan(value: Expr) -> Expr:
        return make.call("isnan", "bool", value) if value.dtype.is_float else make.FALSE

    def combine(x: tuple[Expr, Expr], y: tuple[Expr, Expr]) -> tuple[Expr, Expr]:
        (i, a), (j, b) = x, y
        a_nan, b_nan = is_nan(a), is_nan(b)
        wins = make.logical_or(ahead(a, b), make.logical_and(a_nan, make.logical_not(b_nan)))
        ties = make.logical_or(make.eq(a, b), make.logical_and(a_nan, b_nan))
        keep = make.logical_or(wins, make.logical_and(ties, make.lt(i, j)))
        return make.select(keep, i, j), make.select(keep, a, b)

    return combine


class _ArgReducer(Reducer):
    def __call__(self, expr: Any, *values: Any, axis: Any = None, where: Any = None, init: Any = None) -> Any:
        """Return the (index, value) reductions of a pair, or of one expression over one axis, whose index it takes."""
        over = values[0] if values else axis
        pair = (over, expr) if isinstance(over, IterVar) and not isinstance(expr, (tuple, list)) else expr
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise UserTypeError(
                f"te.{self.name} of {expr!r}",
                because="it folds an index with a value",
                legal=f"te.{self.name}((k, A[k]), axis=k)",
            )
        index = make.convert(pair[0])
        if not index.dtype.is_integer:
            raise UserTypeError(
                f"te.{self.name}: index {plain(index)}",
                because=f"it is {index.dtype}",
                legal="an integer, then the value",
            )
        return super().__call__(pair, *values, axis=axis, where=where, init=init)


_PAIRS = (
    "as (index, value) along axes: of equal values the lowest index, NaN before all; fold the pair (k, A[k]) over k."
)
argmax = _ArgReducer(
    _first_extreme(lambda a, b: make.lt(b, a)), lambda i, v: (max_value(i), _least(v)), "argmax", f"Greatest {_PAIRS}"
)
argmin = _ArgReducer(_first_extreme(make.lt), lambda i, v: (max_value(i), _greatest(v)), "argmin", f"Least {_PAIRS}")

PREDEFINED: Final[dict[str, Reducer]] = {reducer.name: reducer for reducer in (sum, prod, max, min, argmax, argmin)}
"""The reducers of te, by name."""


def _predefined(name: str, dtypes: tuple[DType, ...]) -> Combination:
    return PREDEFINED[name].combination(dtypes)
