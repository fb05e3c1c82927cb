"""Expressions evaluated over the values of axes, against Python."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tecomp import te
from tecomp.ir import make
from tecomp.te.grid import ALL_POINTS, evaluate, grid

n = te.var("n")


def axes(*extents):
    return [te.reduce_axis((0, extent), name=f"a{at}").var for at, extent in enumerate(extents)]


def trunc(a, b):
    return int(a / b)


@pytest.mark.parametrize(
    ("build", "python"),
    [
        (lambda a, b: a + b * 3 - 7, lambda a, b: a + b * 3 - 7),
        (lambda a, b: (a - 5) // (b + 1), lambda a, b: (a - 5) // (b + 1)),
        (lambda a, b: (a - 5) % (b - 9), lambda a, b: (a - 5) % (b - 9)),
        (lambda a, b: te.truncdiv(a - 5, b - 9), lambda a, b: trunc(a - 5, b - 9)),
        (lambda a, b: te.truncmod(a - 5, b - 9), lambda a, b: (a - 5) - (b - 9) * trunc(a - 5, b - 9)),
        (lambda a, b: te.min(a, b) * te.max(a, 2), lambda a, b: min(a, b) * max(a, 2)),
        (lambda a, b: te.if_then_else(a > b, a, b * 2), lambda a, b: a if a > b else b * 2),
        (lambda a, b: te.Select(te.any(a == b, a < 2), 1, 0), lambda a, b: int(a == b or a < 2)),
        (lambda a, b: te.all(a != b, b <= 3), lambda a, b: a != b and b <= 3),
        (lambda a, b: make.logical_not(te.all(a != b, b <= 3)), lambda a, b: not (a != b and b <= 3)),
        (lambda a, b: a.astype("int64") * 2**40 + b, lambda a, b: a * 2**40 + b),
        (lambda a, b: (a > b).astype("int32") + b, lambda a, b: (a > b) + b),
    ],
)
def test_evaluate_as_python_does(build, python) -> None:
    a, b = axes(8, 6)
    points = grid([build(a, b)], [], {})
    assert points is not None
    got = np.broadcast_to(evaluate(build(a, b), points.values), points.shape)
    for at in itertools.product(*map(range, points.shape)):
        values = points.point(at)
        assert got[at] == python(values[a], values[b])


@pytest.mark.parametrize(
    "build",
    [
        lambda a: te.placeholder((9,), "int32")[a],
        lambda a: a + n,
        lambda a: a.astype("int8"),
        lambda a: a * 0.5,
        te.popcount,
    ],
)
def test_what_data_or_sizes_decide_is_not_evaluated(build) -> None:
    (a,) = axes(8)
    assert evaluate(build(a), {a: np.arange(8)}) is None


def test_conditions_say_which_points_exist() -> None:
    a, b = axes(8, 6)
    points = grid([a], [te.all(a > b, b > 2)], {})
    assert points is not None and len(points.conditions) == 2
    assert points.holds().sum() == sum(x > y > 2 for x in range(8) for y in range(6))
    (free,) = axes(8)
    unknown = grid([free], [te.placeholder((9,), name="A")[free] > 0], {})
    assert unknown is not None and unknown.holds() is None


def test_few_points_are_all_tried() -> None:
    a, b = axes(ALL_POINTS // 4, 4)
    assert grid([a + b], [], {}).shape == (ALL_POINTS // 4, 4)


def test_of_many_points_the_telling_ones_are_tried() -> None:
    a, b = axes(10**6, 10**6)
    points = grid([a % 100 + b], [a < 77], {})
    tried = set(points.values[a].ravel().tolist())
    assert {0, 1, 76, 77, 78, 99, 100, 101, 10**6 - 1} <= tried and len(tried) < 20


def test_of_too_many_points_the_ends_are_tried_or_none() -> None:
    many = axes(*[10**6] * 8)
    total = many[0]
    for axis in many[1:]:
        total = total + axis % 1000
    assert grid([total], [], {}).shape == (4,) * 8
    assert grid([total + 0], [te.max(*axes(*[10**6] * 9)) > 0], {}) is None


def test_an_axis_whose_range_depends_on_another() -> None:
    (a,) = axes(4)
    k = te.reduce_axis((a, 2 * a + 1), name="k").var
    points = grid([k], [], {})
    exists = points.holds()
    got = {(points.point(at)[a], points.point(at)[k]) for at in np.argwhere(exists)}
    assert got == {(x, y) for x in range(4) for y in range(x, 2 * x + 1)}


def test_a_symbolic_axis_begins_at_its_first_value() -> None:
    k = te.reduce_axis((3, n), name="k").var
    assert grid([k], [], {}).values[k].tolist() == [3]
    assert grid([k], [], {k: (5, 7)}).values[k].tolist() == [5, 6, 7]
    assert grid([k], [], {k: (5, None)}).values[k].tolist() == [5]
    assert grid([te.reduce_axis((n, n + 3)).var], [], {}) is None
    assert grid([te.reduce_axis((0, te.placeholder((), "int32")())).var], [], {}) is None
