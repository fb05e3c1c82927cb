"""Random expressions mean the same after simplification, and lie where their intervals, remainders and bounds say."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tecomp.arith import (
    NO_FACTS,
    Facts,
    bounds_of,
    can_prove,
    constant_lower,
    constant_upper,
    interval,
    modular,
    simplify,
)
from tecomp.dtype import INDEX, DType
from tecomp.ir import expr as E
from tecomp.ir import make
from tecomp.ir.axis import Range
from tecomp.ir.evaluate import evaluate
from tests.arith.meaning import Env, assert_same, value
from tests.arith.random_expr import Maker, environment, index_vars, narrow_vars, number

KINDS = ("index", "int8", "uint8", "indexx4", "int8x4")
SEEDS = st.integers(0, 2**32)


def a_maker(kind: str, seed: int) -> tuple[random.Random, Maker]:
    rnd, dtype = random.Random(seed), DType(kind)
    variables = index_vars() if dtype.element is INDEX else narrow_vars(dtype.element)
    return rnd, Maker(rnd.randrange, variables, dtype.lanes)


def environments(rnd: random.Random, maker: Maker, count: int = 12) -> list[Env]:
    found = [environment(rnd.randrange, maker.variables) for _ in range(count)]
    return [env for env in found if env is not None]


@pytest.mark.parametrize("kind", KINDS)
@given(seed=SEEDS)
def test_simplified_integer_means_the_same(kind: str, seed: int) -> None:
    rnd, maker = a_maker(kind, seed)
    before = maker.integer(rnd.randrange(1, 5))
    after = simplify(before)
    assert_same(before, after, environments(rnd, maker))
    assert simplify(after) is after


@pytest.mark.parametrize("kind", KINDS)
@given(seed=SEEDS)
def test_simplified_condition_means_the_same(kind: str, seed: int) -> None:
    rnd, maker = a_maker(kind, seed)
    before = maker.condition(rnd.randrange(1, 4))
    assert_same(before, simplify(before), environments(rnd, maker))


@pytest.mark.parametrize("kind", KINDS)
@given(seed=SEEDS)
def test_simplified_means_the_same_where_facts_hold(kind: str, seed: int) -> None:
    rnd, maker = a_maker(kind, seed)
    condition = Maker(rnd.randrange, maker.variables).condition(2)
    before = maker.integer(rnd.randrange(1, 4))
    facts = NO_FACTS.assume(condition)
    after = simplify(before, facts)
    assert_same(before, after, environments(rnd, maker, 30), condition)
    assert simplify(after, facts) is after


@given(seed=SEEDS)
def test_congruences_as_facts(seed: int) -> None:
    rnd, maker = a_maker("index", seed)
    divisor = number(rnd.choice((2, 3, 4, 8)), INDEX)
    condition = E.Eq(E.FloorMod(maker.integer(1), divisor), number(rnd.randrange(2), INDEX))
    remainder, multiple = E.FloorMod(maker.integer(2), divisor), E.Mul(E.FloorDiv(maker.leaf(), divisor), divisor)
    before = rnd.choice((remainder, multiple))
    facts = NO_FACTS.assume(condition)
    assert_same(before, simplify(before, facts), environments(rnd, maker, 30), condition)


@pytest.mark.parametrize("kind", KINDS)
@given(seed=SEEDS)
def test_values_lie_in_the_interval(kind: str, seed: int) -> None:
    rnd, maker = a_maker(kind, seed)
    e = maker.integer(3) if rnd.random() < 0.8 else maker.condition(2)
    lo, hi = interval(e)
    for env in environments(rnd, maker):
        for lane in value(e, env) or ():
            assert (lo is None or lo <= lane) and (hi is None or lane <= hi), (e, env)


@given(seed=SEEDS)
def test_values_leave_the_remainders_that_modular_says(seed: int) -> None:
    rnd, maker = a_maker("index", seed)
    e = maker.integer(3)
    step, base = modular(e)
    for env in environments(rnd, maker):
        for lane in value(e, env) or ():
            assert (lane - base) % step == 0 if step else lane == base, (e, env)


@pytest.mark.parametrize("kind", ("index", "int8"))
@given(seed=SEEDS)
def test_what_is_proved_holds(kind: str, seed: int) -> None:
    rnd, maker = a_maker(kind, seed)
    fact, claim = maker.condition(1), maker.condition(2)
    if not can_prove(claim, NO_FACTS.assume(fact)):
        return
    for env in environments(rnd, maker, 30):
        if value(fact, env) == [True]:
            assert value(claim, env) in ([True], None), (fact, claim, env)


def relaxed_ranges(rnd: random.Random, maker: Maker) -> dict[E.Var, Range]:
    """Three variables whose ranges speak of outer ones and of each other."""
    n, m, io, *_ = maker.variables
    first, second, third = (E.Var(name, INDEX) for name in ("first", "second", "third"))

    def span(lows: list[object], extents: list[object]) -> Range:
        return Range(make.index(rnd.choice(lows)), make.index(rnd.choice(extents)))

    return {
        first: span([0, io * 4, -3, maker.integer(1)], [4, n, make.maximum(m, 1), 1]),
        second: span([0, first, first * 4, io], [3, m, n]),
        third: span([0, second + first, io], [5, n]),
    }


@pytest.mark.parametrize("lanes", (1, 4))
@given(seed=SEEDS)
def test_values_lie_in_the_bounds(lanes: int, seed: int) -> None:
    rnd, maker = a_maker("index", seed)
    ranges = relaxed_ranges(rnd, maker)
    e = Maker(rnd.randrange, [*maker.variables, *ranges, *ranges], lanes).integer(rnd.randrange(1, 4))
    lo, hi = bounds_of(e, ranges)
    for outer in environments(rnd, maker, 20):
        env = dict(outer)
        for var, span in ranges.items():
            count = (value(span.extent, env) or [0])[0]
            start = value(span.min, env)
            if count <= 0 or start is None:
                break
            env[var] = start[0] + rnd.choice((0, count - 1, rnd.randrange(count)))
        else:
            found = value(e, env) or ()
            assert lo is None or all((value(lo, outer) or [lane])[0] <= lane for lane in found), (e, ranges, lo, env)
            assert hi is None or all((value(hi, outer) or [lane])[0] >= lane for lane in found), (e, ranges, hi, env)


@given(seed=SEEDS)
def test_values_lie_between_the_constant_bounds(seed: int) -> None:
    rnd, maker = a_maker("index", seed)
    condition = maker.condition(1)
    facts = NO_FACTS.assume(condition) if rnd.random() < 0.5 else NO_FACTS
    e = maker.integer(2)
    lo, hi = constant_lower(e, facts), constant_upper(e, facts)
    for env in environments(rnd, maker, 20):
        if facts is NO_FACTS or value(condition, env) == [True]:
            for lane in value(e, env) or ():
                assert (lo is None or lo <= lane) and (hi is None or lane <= hi), (e, condition, env)


@given(seed=SEEDS)
def test_bounds_of_an_affine_form_are_attained(seed: int) -> None:
    rnd = random.Random(seed)
    spans = [Range(number(rnd.randrange(-4, 4), INDEX), number(rnd.randrange(1, 5), INDEX)) for _ in range(3)]
    loops = {E.Var(name, INDEX): span for name, span in zip("abc", spans, strict=True)}
    e = sum((var * rnd.randrange(-5, 6) for var in loops), number(rnd.randrange(-9, 9), INDEX))
    corners = [{}]
    for var, span in loops.items():
        first, count = span.min.value, span.extent.value
        corners = [{**env, var: end} for env in corners for end in (first, first + count - 1)]
    values = [evaluate(e, env) for env in corners]
    assert bounds_of(e, loops) == (number(min(values), INDEX), number(max(values), INDEX))


def test_facts_are_immutable() -> None:
    x = E.Var("x", INDEX)
    first = NO_FACTS.assume(x < 5)
    assert first is NO_FACTS.assume(x < 5)
    assert isinstance(first.assume(x < 3), Facts)
    assert not can_prove(x < 3, first)
    assert not can_prove(x < 5)
