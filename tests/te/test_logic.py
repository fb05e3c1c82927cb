"""Conditions and choices."""

from __future__ import annotations

import pytest

from tecomp import te
from tecomp.ir import expr as E
from tests.te.message import message, text

i, n = te.var("i"), te.var("n")
x = te.var("x", "float32")


def test_all_and_any() -> None:
    assert te.all(i > 0) is (i > 0)
    assert isinstance(te.all(i > 0, i < n, n > 3), E.And)
    assert isinstance(te.any(i > 0, i < n), E.Or)
    assert te.all(i > 0, True) is (i > 0)
    assert te.any(True, i > 0).value is True


def test_choices() -> None:
    assert isinstance(te.if_then_else(i > 0, x, 0), E.IfElse)
    assert isinstance(te.Select(i > 0, x, 0), E.Select)
    assert te.if_then_else(i > 0, x, 0).dtype == "float32"
    assert te.if_then_else(i > 0, x, i).no is te.cast(i, "float32")
    assert te.if_then_else(True, x, i) is x


def test_likely_is_the_condition() -> None:
    assert te.likely(i < n) is (i < n)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (te.all, text("te.all of nothing", "it takes one condition or more", "te.all(i >= 1, i < n)")),
        (te.any, text("te.any of nothing", "it takes one condition or more", "te.any(i >= 1, i < n)")),
        (lambda: te.all(i), text("te.all of int32", "it takes bools", "a comparison, or .astype('bool')")),
        (
            lambda: te.if_then_else(x, 1, 2),
            text("te.if_then_else of float32", "it takes bools", "a comparison, or .astype('bool')"),
        ),
        (lambda: te.Select(i, 1, 2), text("te.select of int32", "it takes bools", "a comparison, or .astype('bool')")),
    ],
)
def test_refused(call, said) -> None:
    assert message(call) == said


@pytest.mark.parametrize(
    "call", [lambda: (i > 0) and 1, lambda: (i > 0) or 1, lambda: not (i > 0), lambda: 1 if i > 0 else 2]
)
def test_pythons_own_words_are_refused(call) -> None:
    assert message(call) == text(
        "an expression was used as a Python condition",
        "its value is known only when the program runs",
        "te.all, te.any, te.if_then_else in place of and, or, not, if",
    )
