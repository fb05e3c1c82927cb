"""Affine forms: the value of an integer, and the spelling of a sum."""

from __future__ import annotations

import pytest

from tecomp.arith import affine
from tecomp.arith.affine import Affine, factors, lane, monomial
from tecomp.arith.sums import collect, in_ring, is_linear, leaves
from tecomp.dtype import INDEX, DType
from tecomp.ir import expr as E
from tecomp.ir import make
from tests.arith.scope import a, expr, i, j, k, m, n, s, u, x, y


@pytest.mark.parametrize(
    ("text", "terms", "constant"),
    [
        ("io * 256 + ii", {"io": 256, "ii": 1}, 0),
        ("x - y - 3", {"x": 1, "y": -1}, -3),
        ("x - x + 2", {}, 2),
        ("(x + 1) * (y - 2)", {"x * y": 1, "x": -2, "y": 1}, -2),
        ("x * y - y * x", {}, 0),
        ("x // 4 * 4", {"x // 4": 4}, 0),
        ("s * 3 + t", {"s": 3, "t": 1}, 0),
        ("u + 1", {"u + 1": 1}, 0),
        ("s * 100", {"s * 100": 1}, 0),
        ("index(s * 3) + x", {"s": 3, "x": 1}, 0),
        ("index(i32(k) + 1)", {"k": 1}, 1),
        ("index(a + 1)", {"a + 1": 1}, 0),
        ("index(i8(x))", {"i8(x)": 1}, 0),
        ("broadcast(x + 1, 4)", {"x": 1}, 1),
        ("ramp(x, 3, 4)", {"x": 1, "lane": 3}, 0),
    ],
)
def test_affine_form_of_a_value(text: str, terms: dict[str, int], constant: int) -> None:
    form = affine(expr(text))
    assert {repr(term): count for term, count in form.terms.items()} == terms
    assert form.constant == constant


def test_products_that_may_wrap_are_not_multiplied_out() -> None:
    wide = E.Var("wide", DType("int8"), make.const(100, "int8"), make.const(20, "int8"))
    narrow = E.Sub(wide, wide)
    difference = E.Sub(wide, E.Var("other", DType("int8"), make.const(100, "int8"), make.const(20, "int8")))
    assert affine(E.Mul(narrow, s)).terms == {}
    assert list(affine(E.Mul(difference, s)).terms) == [E.Mul(difference, s)]


def test_monomials_are_one_whatever_their_order() -> None:
    assert monomial([m, i, n]) is monomial([n, m, i])
    assert repr(monomial([m, i, n])) == "i * n * m"
    assert factors(monomial([m, i])) == [i, m]
    assert factors(u * u) == [u * u]
    assert factors(u * u, in_ring=True) == [u, u]


def test_arithmetic_of_forms() -> None:
    form = Affine({x: 2, y: -4}, 6)
    assert form.plus(Affine({x: 1}, 1), -2).key() == Affine({y: -4}, 4).key()
    assert form.scaled(-1).key() == Affine({x: -2, y: 4}, -6).key()
    assert form.shifted(1).constant == 7
    assert form.without(x).key() == Affine({y: -4}, 6).key()
    assert form.content() == 2
    assert list(form.replaced(x, Affine({i: 1, j: 1}), 3).terms) == [i, j, y]
    assert repr(form) == "Affine({x: 2, y: -4}, 6)"


@pytest.mark.parametrize(
    ("form", "text"),
    [
        (Affine({}, -2), "-2"),
        (Affine({x: 1}), "x"),
        (Affine({x: -1}), "0 - x"),
        (Affine({x: -2}), "x * -2"),
        (Affine({x: -1, y: 1}), "y - x"),
        (Affine({x: -1}, 5), "5 - x"),
        (Affine({x: -1}, -5), "0 - x - 5"),
        (Affine({x: 3, y: -2}, -1), "x * 3 - y * 2 - 1"),
        (Affine({s: 1}, 1), "index(s) + 1"),
    ],
)
def test_form_as_an_expression(form: Affine, text: str) -> None:
    assert repr(form.expr()) == text


def test_ring_of_a_type() -> None:
    int8, uint8 = DType("int8"), DType("uint8")
    assert in_ring(Affine({u: 200, s: 256}, -300), int8).key() == Affine({u: -56}, -44).key()
    assert in_ring(Affine({u: 200, s: -3}, 300), uint8).key() == Affine({u: 200, s: -3}, 44).key()
    assert in_ring(Affine({x: 2**70}), INDEX).terms == {x: 2**70}


def test_collected_sum_leaves_products_alone() -> None:
    assert collect(expr("(x + 1) * y + x * 2")).terms == {expr("(x + 1) * y"): 1, x: 2}
    assert leaves(expr("x * 4 + (y - x)")) == [x, y]
    assert is_linear(a + 1)
    assert not is_linear(expr("f + 1.0"))
    assert not is_linear(x * y)


def test_lane_is_one_variable_for_each_width() -> None:
    assert lane(4) is lane(4)
    assert lane(4) is not lane(8)
    assert affine(E.Ramp(k, make.index(1), 4)).interval() == (0, 6)
