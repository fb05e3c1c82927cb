"""Indices as sums of variables."""

from __future__ import annotations

import pytest

from tecomp import te
from tecomp.te.linear import linear

i, j = te.var("i"), te.var("j")
A = te.placeholder((9,), "int32", name="A")


@pytest.mark.parametrize(
    ("expr", "terms", "constant"),
    [
        (i, {i: 1}, 0),
        (te.const(7), {}, 7),
        (i - 1, {i: 1}, -1),
        (2 * (i + 3) - j, {i: 2, j: -1}, 6),
        ((i + j) - (i - 1), {j: 1}, 1),
        (i * 0 + j, {j: 1}, 0),
        (i.astype("int64") + 5, {i: 1}, 5),
    ],
)
def test_linear(expr, terms, constant) -> None:
    form = linear(expr)
    assert form is not None
    assert {var: c for var, c in form.terms.items() if c} == terms
    assert form.constant == constant


@pytest.mark.parametrize(
    "expr", [i * j, i // 2, i % 3, A[i], i.astype("int8") + 1, te.max(i, j), te.var("x", "float32") + 1.0, i > j]
)
def test_not_linear(expr) -> None:
    assert linear(expr) is None


def test_a_long_sum() -> None:
    total = i + 0
    for _ in range(5000):
        total = total + j
    form = linear(total)
    assert form is not None and form.terms == {i: 1, j: 5000}
