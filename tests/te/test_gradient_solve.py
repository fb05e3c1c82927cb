"""Index equations: the values found are all that read an element, and no others."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tecomp.dtype import INDEX
from tecomp.ir import expr as E
from tecomp.ir import make
from tecomp.ir.node import Expr
from tecomp.ir.subst import substitute
from tecomp.te.autodiff.solve import Solution, extent_of, least_of, solve
from tecomp.te.grid import evaluate

Point = dict[E.Var, int]


def axis(name: str, extent: int | Expr, least: int = 0) -> E.Var:
    return E.Var(name, INDEX, make.const(least, INDEX), make.index(extent))


i, j, k = axis("i", 10), axis("j", 10), axis("k", 3)
f = axis("f", 48)
x, y, z = axis("x", 4), axis("y", 3), axis("z", 4)
n, m = (E.Var(name, INDEX, make.const(0, INDEX)) for name in "nm")
row, column = axis("row", n), axis("column", m)
triangle = axis("l", i + 1)


def points(axes: Sequence[E.Var], at: Point) -> Iterator[Point]:
    """Yield all values of axes, whose ranges may depend on earlier ones."""
    if not axes:
        yield at
        return
    first, *rest = axes
    least, extent = (value(end, at) for end in (least_of(first), extent_of(first)))
    for number in range(least, least + extent):
        yield from points(rest, {**at, first: number})


def value(expr: Expr, at: Point) -> int:
    found = evaluate(expr, {var: np.array(number) for var, number in at.items()})
    assert found is not None
    return int(found)


def holds(conditions: Sequence[Expr], at: Point) -> bool:
    """Evaluate in order: a condition protects those after it."""
    return all(value(condition, at) for condition in conditions)


def check(index: Sequence[Expr], axes: Sequence[E.Var], shape: Sequence[int], sizes: Point | None = None) -> Solution:
    """Compare the solution with trying all values of the axes, for each element of a tensor of `shape`."""
    sizes = sizes or {}
    target = [axis(f"t{dim}", extent) for dim, extent in enumerate(shape)]
    solution = solve(index, target, axes)
    tried: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
    for at in points(axes, sizes):
        tried.setdefault(tuple(value(part, at) for part in index), []).append(tuple(at[axis] for axis in axes))
    for element in itertools.product(*map(range, shape)):
        known = {**sizes, **dict(zip(target, element, strict=True))}
        found = [
            tuple(value(substitute(axis, solution.values), at) for axis in axes)
            for at in points(solution.free, known)
            if holds(solution.conditions, at)
        ]
        assert sorted(found) == sorted(tried.get(element, [])), element
    return solution


CASES: dict[str, tuple[list[Any], list[E.Var], list[int], str]] = {
    "a permutation": ([j, i], [i, j], [10, 10], "no loops"),
    "a window": ([i + k], [i, k], [12], "k: 3"),
    "a window with a stride": ([i * 2 + k], [i, k], [21], "k: 2"),
    "a stride that the window fills": ([x * 3 + y], [x, y], [12], "no loops"),
    "a stride and holes in the window": ([i * 3 + x * 2], [i, x], [34], "x: 4"),
    "backwards": ([9 - i], [i], [10], "no loops"),
    "backwards with a stride": ([18 - i * 2 + k], [i, k], [21], "k: 2"),
    "a stride alone": ([i * 4 + 1], [i], [40], "no loops"),
    "all even": ([i * 2 + k * 2], [i, k], [24], "k: 3"),
    "a diagonal": ([i, i], [i], [10, 10], "no loops"),
    "one row": ([make.index(2), i], [i], [4, 10], "no loops"),
    "one row of many times": ([make.index(2)], [i], [4], "i: 10"),
    "a sum of three": ([i + j + k], [i, j, k], [21], "j: 10, k: 3"),
    "two windows": ([i + k, j + k], [i, j, k], [12, 12], "k: 3"),
    "digits": ([f // 12, f // 4 % 3, f % 4], [f], [4, 3, 4], "no loops"),
    "the first digit": ([f // 12], [f], [4], "remainder: 12"),
    "the last digit": ([f % 12], [f], [12], "quotient: 4"),
    "from digits": ([x * 12 + y * 4 + z], [x, y, z], [48], "no loops"),
    "digits turned": ([z * 12 + y * 4 + x], [x, y, z], [48], "no loops"),
    "digits that overlap": ([x * 2 + y], [x, y], [9], "y: 2"),
    "an average pool": ([i // 2], [i], [5], "remainder: 2"),
    "digits with a shift": ([(i + 3) // 4, (i + 3) % 4], [i], [4, 4], "no loops"),
    "an adaptive pool": ([i * 3 // 2 + k], [i, k], [16], "k: 3, remainder: 2"),
    "clamped": ([make.maximum(i - 1, 0)], [i], [9], "i: 10"),
    "a square": ([x * x], [x], [10], "x: 4"),
    "no value at all": ([i + 20], [i], [4], "no loops"),
    "a triangle": ([triangle], [i, triangle], [10], "i: 10"),
    "the long side of a triangle": ([i, triangle], [i, triangle], [10, 10], "no loops"),
    "below a triangle": ([i], [i, triangle], [10], "l: t0 + 1"),
    "another least value": ([axis("s", 4, 3)], [], [8], "no loops"),
}
"""What is read, over which axes, of a tensor of which shape; which loops are left."""


def loops(solution: Solution) -> str:
    return ", ".join(f"{var.name}: {extent_of(var)!r}" for var in solution.free) or "no loops"


@pytest.mark.parametrize("case", CASES)
def test_all_values_are_found(case: str) -> None:
    index, axes, shape, left = CASES[case]
    axes = axes or [node for node in index if isinstance(node, E.Var)]
    assert loops(check(index, axes, shape)) == left


SYMBOLIC: dict[str, tuple[list[Expr], list[E.Var], list[Expr], str, str]] = {
    "a matrix": ([row, column], [row, column], [n, m], "no loops", "()"),
    "a window": ([row + k], [row, k], [n + 2], "k: 3", "(k <= t0, t0 < k + n)"),
    "backwards": ([n - 1 - row], [row], [n], "no loops", "()"),
    "flattened": ([row * m + column], [row, column], [n * m], "no loops", "(t0 // m < n,)"),
    "flattened into more": (([row * m + column], [row, column], [n + m], "no loops", "(0 < m, t0 // m < n)")),
    "flattened with a step": ([row * m * 2 + column], [row, column], [n * m * 2], "no loops", ""),
    "digits": ([axis("f", n * m) // m, axis("f", n * m) % m], [], [n, m], "no loops", "()"),
}


@pytest.mark.parametrize("case", SYMBOLIC)
def test_symbolic_sizes(case: str) -> None:
    index, axes, shape, left, conditions = SYMBOLIC[case]
    if not axes:
        whole = axis("f", n * m)
        index, axes = [whole // m, whole % m], [whole]
    target = [axis(f"t{dim}", extent) for dim, extent in enumerate(shape)]
    solution = solve(index, target, axes)
    assert loops(solution) == left
    if conditions:
        assert repr(solution.conditions) == conditions
    for sizes in itertools.product((0, 1, 2, 5), repeat=2):
        at = dict(zip((n, m), sizes, strict=True))
        check(index, axes, [value(extent, at) for extent in shape], at)


@given(st.data())
def test_random_affine_reads(data: st.DataObject) -> None:
    """Up to three axes, two indices, any small strides of either sign."""
    axes = [axis(f"a{at}", data.draw(st.integers(0, 5))) for at in range(data.draw(st.integers(1, 3)))]
    index: list[Expr] = []
    for _ in range(data.draw(st.integers(1, 2))):
        part: Expr = make.index(data.draw(st.integers(-2, 6)))
        for one in axes:
            part = make.add(part, make.mul(one, make.index(data.draw(st.integers(-4, 4)))))
        if data.draw(st.booleans()):
            divide = data.draw(st.sampled_from([make.floordiv, make.floormod]))
            part = divide(part, make.index(data.draw(st.integers(1, 4))))
        index.append(part)
    check(index, axes, [9] * len(index))


def test_data_that_bounds_an_axis_is_read_at_its_own_axis() -> None:
    """Rows of a sparse matrix: the row stays an axis, whose element bounds the other one."""

    class Rows:
        name, dtype = "begin", INDEX

    begin = E.TensorRead(Rows(), (i,))
    inner = E.Var("l", INDEX, begin, make.index(4))
    solution = solve([i], [axis("t", 10)], [i, inner])
    assert loops(solution) == "i: 10, l: 4"
    assert repr(solution.conditions) == "(i == t,)"
