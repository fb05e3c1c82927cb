"""When two accesses touch one element: which threads or lanes must be one."""

from __future__ import annotations

from itertools import product

import pytest

from tecomp.arith import NO_FACTS
from tecomp.arith.overlap import Overlap, Place, hulls
from tecomp.dtype import INDEX
from tecomp.ir import expr as E
from tecomp.ir import make
from tecomp.ir.node import Expr


def var(name: str, extent: int | None) -> E.Var:
    return E.Var(name, INDEX, make.const(0, INDEX), None if extent is None else make.const(extent, INDEX))


TY, TX, K = var("ty", 4), var("tx", 8), var("k", 3)
BX, N = var("bx", None), var("n", None)
OWNERS = (TY, TX)

APART: dict[str, tuple[Expr, ...]] = {
    "both": (TY, TX),
    "digits": (TY * 8 + TX,),
    "digits, far apart": (TY * 100 + TX * 3 + K,),
    "private in the middle": (TY * 24 + K * 8 + TX,),
    "common offset": (TY * 8 + TX + N * 5,),
    "quotient and remainder": ((TY * 8 + TX) // 5, (TY * 8 + TX) % 5),
    "quotient and remainder with a private digit": ((TY * 24 + TX * 3 + K) // 7, (TY * 24 + TX * 3 + K) % 7),
    "simplified remainder": ((TY * 24 + TX * 3 + K) // 7, (TY * 3 + TX * 3 + K) % 7),
    "three digits": ((TY * 24 + TX * 3 + K) // 10, (TY * 2 + (TX * 3 + K) // 2) % 5, (TX * 3 + K) % 2),
    "quotient and remainder of lanes": tuple(
        verb(E.Ramp(TY * 16 + TX * 2, make.index(1), 2), E.Broadcast(N, 2)) for verb in (E.FloorDiv, E.FloorMod)
    ),
    "negative": (100 - TY * 8 - TX,),
}
TOGETHER: dict[str, tuple[Expr, ...]] = {
    "one axis": (TX,),
    "overlapping digits": (TY * 7 + TX,),
    "private reaches the neighbour": (TY * 16 + TX * 2 + K,),
    "remainder alone": (TY, TX % 4),
    "sum": (TY + TX,),
    "nothing": (make.const(0, INDEX),),
}


@pytest.mark.parametrize("indices", APART.values(), ids=APART)
def test_apart(indices: tuple[Expr, ...]) -> None:
    assert Overlap(OWNERS, lambda v: v is K).apart(Place(indices), Place(indices))


@pytest.mark.parametrize("indices", TOGETHER.values(), ids=TOGETHER)
def test_together(indices: tuple[Expr, ...]) -> None:
    assert not Overlap(OWNERS, lambda v: v is K).apart(Place(indices), Place(indices))


def test_never_equal_needs_no_owner() -> None:
    overlap = Overlap(OWNERS, lambda v: v is K)
    assert overlap.agreeing(Place((TX * 2,)), Place((TX * 2 + 1,))) is None
    assert overlap.agreeing(Place((TX,)), Place((TX + 8,))) is None
    assert overlap.agreeing(Place((N % 2,)), Place((N % 2,))) == frozenset()


def test_never_equal_although_each_digit_may_be() -> None:
    overlap, f = Overlap(OWNERS, lambda v: v is K), TY * 16 + TX * 2
    assert overlap.agreeing(Place((f // 5, f % 5)), Place(((f + 1) // 5, (f + 1) % 5))) is None
    assert overlap.agreeing(Place((f // 5,)), Place(((f + 1) // 5,))) is not None


def test_remainders_of_values_a_fixed_step_apart() -> None:
    """(k + 1) % 2 is never k % 2 of the same k; (k + 2) % 2 always is, and any other k may give either."""
    k = var("k", 8)
    for step, owner_independent in ((1, True), (3, True), (2, False), (0, False)):
        here, there = Place((E.FloorMod(k + step, make.index(2)),)), Place((E.FloorMod(k, make.index(2)),))
        assert Overlap(OWNERS, lambda v: False).apart(here, there) == owner_independent
        assert not Overlap(OWNERS, lambda v: v is k).apart(here, there)


def test_remainders_by_a_divisor_that_differs_tell_nothing() -> None:
    f = TY * 8 + TX
    assert not Overlap(OWNERS, lambda v: v is K).apart(
        Place((f // (K + 3), f % (K + 3))), Place((f // (K + 3), f % (K + 3)))
    )


def test_an_offset_to_one_side_leaves_room_on_the_other() -> None:
    """2 * (bx - bx') = k - 1, with k in [0, 2), lies in {-1, 0}."""
    k = var("k2", 2)
    overlap = Overlap((BX,), lambda v: v is k)
    assert overlap.apart(Place((BX * 2 + 1,)), Place((BX * 2 + k,)))
    assert not overlap.apart(Place((BX * 2 + 2,)), Place((BX * 2 + k,)))


def test_an_owner_that_one_side_knows_and_does_not_name() -> None:
    overlap = Overlap((TX,), lambda v: v is K)
    known = Place((make.index(6) + K,), NO_FACTS.assume(make.eq(TX, 2)))
    assert overlap.apart(known, Place((TX * 3,)))
    assert overlap.apart(Place((TX * 3,)), known)
    assert not overlap.apart(known, Place((TX * 2,)))


def test_unbounded_greatest_digit() -> None:
    overlap = Overlap((BX, TX), lambda v: v is K)
    assert overlap.apart(Place((BX * 24 + TX * 3 + K,)), Place((BX * 24 + TX * 3 + K,)))
    assert overlap.agreeing(Place((BX * 24 + TX * 3 + K + N,)), Place((BX * 24 + TX * 3 + K + N,))) == {BX, TX}
    assert overlap.agreeing(Place((BX * 23 + TX * 3 + K,)), Place((BX * 23 + TX * 3 + K,))) == frozenset()


def test_different_loops_over_one_range() -> None:
    other = var("k2", 3)
    overlap = Overlap(OWNERS, lambda v: v in (K, other))
    assert overlap.apart(Place((TY * 24 + K * 8 + TX,)), Place((TY * 24 + other * 8 + TX,)))
    assert not overlap.apart(Place((TY, TX + K)), Place((TY, TX + other)))


def test_memory_is_unknown() -> None:
    table = type("B", (), {"dtype": INDEX, "name": "t", "shape": (), "scope": "global"})()
    found = E.Load(table, (TX,), make.TRUE)
    assert not Overlap((TX,), lambda v: False).apart(Place((found,)), Place((found,)))
    assert Overlap((TX,), lambda v: False).apart(Place((found, TX)), Place((found, TX)))


@pytest.mark.parametrize("scale", list(product((1, 2, 3, 8), (1, 2, 8, 24))), ids=str)
@pytest.mark.parametrize("shift", [0, 1, 7])
def test_agrees_with_enumeration(scale: tuple[int, int], shift: int) -> None:
    """Sound always: what is called apart is apart for all threads and private values."""
    p, q = scale
    claimed = Overlap(OWNERS, lambda v: v is K).apart(
        Place((TX * p + TY * q + K,)), Place((TX * p + TY * q + K + shift,))
    )
    threads = list(product(range(4), range(8)))
    reach = {(ty, tx): {tx * p + ty * q + k for k in range(3)} for ty, tx in threads}
    really = all(a == b or not reach[a] & {value + shift for value in reach[b]} for a, b in product(threads, threads))
    assert really or not claimed


def test_accesses_that_differ_in_constants_are_one() -> None:
    many = [Place((TX * 8 + i, TY)) for i in range(8)]
    assert len(hulls(many)) == 1
    assert Overlap(OWNERS, lambda v: False).all_apart(many, many)
    assert not Overlap(OWNERS, lambda v: False).all_apart([*many, Place((TX * 8 + 8, TY))], many)


def test_digits_of_unknown_size() -> None:
    """tx * q + i with i in [0, q): the size of a digit need not be known."""
    q = var("q", None)
    i = E.Var("i", INDEX, make.const(0, INDEX), q)
    j = E.Var("j", INDEX, make.const(0, INDEX), q)
    overlap = Overlap((BX, TX), lambda v: v in (i, j))
    index = (BX * 8 * 3 + TX * 3,)
    assert overlap.apart(Place(index), Place(index))
    assert Overlap((TY, TX), lambda v: v is i).apart(
        Place((TY * q * 24 + i * 24 + TX * 3,)), Place((TY * q * 24 + i * 24 + TX * 3,))
    )
    assert Overlap((TY, TX), lambda v: v in (i, j)).apart(
        Place((TY * q * 8 + i * 8 + TX,)), Place((TY * q * 8 + j * 8 + TX,))
    )
    assert not Overlap((TY, TX), lambda v: v is i).apart(
        Place((TY * q * 8 + i * 9 + TX,)), Place((TY * q * 8 + i * 9 + TX,))
    )


def test_what_holds_there_narrows_a_digit() -> None:
    wide = var("wide", 32)
    overlap = Overlap((TY, wide), lambda v: False)
    index = (TY * 16 + wide,)
    narrow = NO_FACTS.assume(wide < 16)
    assert not overlap.apart(Place(index), Place(index))
    assert overlap.apart(Place(index, narrow), Place(index, narrow))
    one = NO_FACTS.assume(wide < 1)
    assert overlap.apart(Place((TY,), one), Place((TY,), one))
    assert not overlap.apart(Place((TY,), one), Place((TY,)))
