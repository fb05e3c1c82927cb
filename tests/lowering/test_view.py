"""Where an intrinsic's elements lie in a tensor: solved from both index expressions."""

from __future__ import annotations

from typing import Any

import pytest

from tecomp import te
from tecomp.dtype import INDEX
from tecomp.ir import expr as E
from tecomp.ir import make
from tecomp.ir.node import Expr
from tecomp.lowering.intrinsic.view import View, linear, view_of
from tests.ir.programs import at, axis, size

n, o = size("n"), size("o")
i, j, k = axis("i", 16), axis("j", 8), axis("k", 4)
T = te.placeholder((64, 64), name="T")
LINE = te.placeholder((4096,), name="LINE")


def seen(tensor: Any, stage: list[Expr], declared: list[Expr]) -> View | None:
    return view_of(tensor, stage, declared, frozenset((i, j, k)))


@pytest.mark.parametrize(
    ("tensor", "stage", "declared", "base", "steps"),
    [
        (T, [o * 16 + i, j + 3], [i, j], "(o * 16, 3)", "((1, 0), (0, 1))"),
        (T, [j, o + i], [i, j], "(0, o)", "((0, 1), (1, 0))"),
        (T, [i * 2 + 1, n], [i], "(1, n)", "((2, 0),)"),
        (LINE, [o + i * 8 + j], [i, j], "(o,)", "((8,), (1,))"),
        (LINE, [i * n + j], [i, j], "(0,)", "((n,), (1,))"),
        (T, [i + k, j], [i + k, j], "(0, 0)", "((1, 0), (0, 1))"),
        (T, [k // 2 + o, k % 2], [k // 2, k % 2], "(o, 0)", "((1, 0), (0, 1))"),
        (T, [o, n], [at(0)], "(o, n)", "((0, 0),)"),
        (T, [i, j], [i * 2, j], None, None),
        (T, [i, j], [i, i], None, None),
        (T, [i * j, j], [i, j], None, None),
        (T, [i, i + j], [i, j], "(0, 0)", "((1, 1), (0, 1))"),
        (T, [i, j], [i], None, None),
    ],
)
def test_a_view(tensor: Any, stage: list[Expr], declared: list[Expr], base: str | None, steps: str | None) -> None:
    view = seen(tensor, stage, declared)
    assert (view and repr(view.base), view and repr(view.steps)) == (base, steps)


def test_where_an_element_is() -> None:
    view = seen(T, [o * 16 + i, j * 2], [i, j])
    assert view is not None
    assert repr(view.at([at(3), k])) == "(o * 16 + 3, k * 2)"
    lanes = E.Ramp(at(0), at(1), 8)
    assert repr(view.at([i, lanes])) == "(o * 16 + i, ramp(0, 2, 8))"


def test_views_are_the_same_where_their_elements_are() -> None:
    first, other = seen(T, [o * 16 + i, j], [i, j]), seen(T, [i + 8 * (o + o), j], [i, j])
    assert first is not None and other is not None
    assert first.same(other)
    moved = seen(T, [o * 16 + i + 1, j], [i, j])
    assert moved is not None and not first.same(moved)
    elsewhere = seen(te.placeholder((64, 64)), [o * 16 + i, j], [i, j])
    assert elsewhere is not None and not first.same(elsewhere)


def test_a_linear_form() -> None:
    form = linear(make.add(make.mul(make.mul(i, n), at(3)), make.add(o, 5)), frozenset((i, j)))
    assert [(repr(term), repr(scale)) for term, scale in form.coefficients.items()] == [("i", "n * 3")]
    assert repr(form.rest) == "o + 5"
    assert form.rest.dtype is INDEX
