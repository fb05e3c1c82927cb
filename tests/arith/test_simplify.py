"""Simplification, text in and text out; every case also by evaluation on a grid, and twice."""

from __future__ import annotations

import pytest

from tecomp.arith import NO_FACTS, simplify
from tecomp.dtype import INDEX
from tecomp.ir import expr as E
from tecomp.ir import make
from tests.arith.meaning import assert_same, grid
from tests.arith.scope import A, a, expr, f, i, ii, io, j, k, n, u, x, y

SUMS = """
io * 256 + ii                            io * 256 + ii
x + y - x                                y
x * 4 - x * 3 - y - y                    x - y * 2
y - (x - 3)                              y - x + 3
5 - x                                    5 - x
0 - x - x                                x * -2
(x + 1) * m - x * m                      m
(x + y) * (x - y)                        (x + y) * (x - y)
(x * 2 + 4) * (y * 3)                    (x + 2) * y * 6
m * j + j * m                            j * m * 2
x // 8 * 8 + x % 8                       x
(x + 3) // 8 * 8 + (x + 3) % 8 - 3       x
x // n * n + x % n                       x
x // (n * 2) * n * 2 + x % (n * 2)       x
x - x % 4                                x // 4 * 4
(ii // 16 * 16 + ii % 16) * m + j        ii * m + j
u * 100 + u * 100                        u * -56
i << 2                                   i * 4
"""

DIVISIONS = """
(io * 256 + ii) // 256                   io
(io * 256 + ii) % 256                    ii
(x * 6 + k) // 6                         x
(x * 6 + k) % 6                          k
(x * 4 + 2) // 8                         x // 2
(x * 4 + 2) % 8                          x % 2 * 4 + 2
(x * 8 + y * 4 + 5) // 4                 x * 2 + y + 1
x // 4 // 3                              x // 12
(x // 4 + 3) // 2                        (x + 4) // 8 + 1
x % 64 // 16                             x // 16 % 4
x % 64 % 16                              x % 16
(x * 5 + y) % 4                          (x + y) % 4
(x % 4 + y) % 4                          (x + y) % 4
x // -3                                  (0 - x) // 3
x % -3                                   0 - (0 - x) % 3
(n - 1) // 256                           (n + 255) // 256 - 1
(n + 256) // 256                         n // 256 + 1
(x * n + i) // n                         x
(x * n + i) % n                          i
(x * n + y) // n                         x + y // n
(x * n + y) % n                          y % n
(x * n * m + y) // (n * m)               x + y // (n * m)
n * m // n                               m
(n + 1) * x // (n + 1)                   x
x // 1                                   x
x // 0                                   x // 0
i >> 2                                   i // 4
truncdiv(i, 4)                           i // 4
truncmod(i, 4)                           i % 4
truncdiv(x, 4)                           truncdiv(x, 4)
(s * 4 + 1) // 4                         s
(u * 4 + 1) // 4                         (u * 4 + 1) // 4
"""

ORDER = """
max(i, 0)                                i
min(i, n)                                i
min(min(x, 4), 7)                        min(x, 4)
min(x + z, y + z)                        min(x, y) + z
max(min(x, y), x)                        x
min(io * 256 + ii, n)                    min(io * 256 + ii, n)
min(tail + io * 256, n)                  tail + io * 256
i < n                                    True
io * 256 + ii < n                        io * 256 + ii < n
to * 64 + ti < n                         True
tail + io * 256 < n                      True
i * m + j < n * m                        True
i * 4 + 3 < j * 4                        i < j
x <= 7                                   x < 8
5 <= x                                   4 < x
x + 1 <= y                               x < y
x - 3 < y                                x <= y + 2
i <= n - 1                               True
x * 2 == y * 2 + 1                       False
x * 2 != y * 2 + 1                       True
x + 2 == y + 5                           x == y + 3
3 == x                                   x == 3
x != x                                   False
u + 1 < u + 2                            u + 1 < u + 2
s + 1 < s + 2                            True
"""

CONDITIONS = """
x < y and x < y                          x < y
x < 3 and x < 5                          x < 3
x < 5 and x < 3                          x < 3
x < 3 and 5 < x                          False
x < 3 or x < 5                           x < 5
x < 3 or 3 <= x                          True
not (x < y and p)                        y <= x or not p
p and (p or q)                           p
select(p, x, x)                          x
select(not p, x, y)                      select(p, y, x)
select(x < y, x, y)                      min(x, y)
select(x < 5, max(x, 5), y)              select(x < 5, 5, y)
x if x < 5 else (x if x < 7 else y)      x if x < 7 else y
y if x < 5 else (z if 3 < x else y)      y if x < 5 else z
A[i] if i < n else 0.0                   A[i]
A[x] if 0 <= x and x < n else 0.0        A[x] if -1 < x and x < n else 0.0
"""

CASTS_AND_LANES = """
index(i32(k * 3)) + 1                    k * 3 + 1
index(i32(i))                            index(i32(i))
index(a + 1)                             index(a + 1)
i8(i32(u))                               u
ramp(x, 1, 4) + broadcast(y, 4)          ramp(x + y, 1, 4)
ramp(x, 1, 4) - ramp(y, 1, 4)            broadcast(x - y, 4)
ramp(x * 4, 1, 4) // broadcast(4, 4)     broadcast(x, 4)
ramp(x * 4, 1, 4) % broadcast(4, 4)      ramp(0, 1, 4)
ramp(x, 4, 4) // broadcast(4, 4)         ramp(x // 4, 1, 4)
ramp(x, 4, 4) % broadcast(4, 4)          broadcast(x % 4, 4)
ramp(x, 1, 4) // broadcast(4, 4)         ramp(x, 1, 4) // 4
ramp(k, 1, 4) < broadcast(7, 4)          broadcast(True, 4)
ramp(x, 0, 4)                            broadcast(x, 4)
ramp(i, 1, 4) * broadcast(m, 4)          ramp(i * m, m, 4)
f * 1.0                                  f
f + 0.0                                  f + 0.0
f - 0.0                                  f
f * 0.0                                  f * 0.0
A[x + 1 - 1]                             A[x]
"""


def cases(text: str) -> list[tuple[str, str]]:
    return [(line[:41].strip(), line[41:].strip()) for line in text.splitlines() if line]


@pytest.mark.parametrize(("before", "after"), cases(SUMS + DIVISIONS + ORDER + CONDITIONS + CASTS_AND_LANES))
def test_simplified_text(before: str, after: str) -> None:
    e = expr(before)
    simple = simplify(e)
    assert repr(simple) == after
    assert simplify(simple) is simple
    if "[" not in before and "// 0" not in before:
        assert assert_same(e, simple, grid(e, most=400)) > 0


def test_constants_fold_in_their_type() -> None:
    int8 = [make.const(value, "int8") for value in (100, 100)]
    assert simplify(E.Add(*int8)) is make.const(-56, "int8")
    assert simplify(E.Lt(*int8)) is make.FALSE
    assert simplify(E.Cast(INDEX, make.const(7, "int8"))) is make.const(7, INDEX)


def test_a_branch_knows_its_condition() -> None:
    guarded = expr("A[min(x, n - 1)] if x < n else A[max(x, n) - n]")
    assert repr(simplify(guarded)) == "A[x] if x < n else A[x - n]"


def test_a_constant_condition() -> None:
    facts = NO_FACTS.assume(expr("x == 7"))
    yes, no = expr("y < n"), expr("y < x")
    assert simplify(E.IfElse(make.TRUE, yes, no), facts) is yes
    assert simplify(E.And(make.TRUE, yes), facts) is yes
    assert simplify(E.Or(make.FALSE, yes), facts) is yes


def test_a_condition_that_protects_a_read_stays() -> None:
    for text in ("0 < x and A[x - 1] < 2.0 and 4 < x", "x < 1 or A[x - 1] < 2.0 or x < 5"):
        assert simplify(expr(text)) is expr(text)
    assert repr(simplify(expr("A[x] < 2.0 and 0 < x and 4 < x"))) == "A[x] < 2.0 and 4 < x"


def test_a_select_does_not_unguard_what_it_evaluates_anyway() -> None:
    read = expr("select(x < n, A[x] if x < n else 0.0, 0.0)")
    assert simplify(read) is read
    division = expr("select(u == i8(0), truncmod(i8(1), u), u)")
    assert simplify(division) is division


def test_a_fact_decides_what_stands_under_it() -> None:
    facts = NO_FACTS.assume(expr("io * 256 + ii < n"))
    assert simplify(expr("io * 256 + ii < n and j < m"), facts) is make.TRUE
    assert simplify(expr("min(io * 256 + ii, n)"), facts) is expr("io * 256 + ii")
    assert repr(simplify(expr("x + 1"), NO_FACTS.assume(expr("x == 3")))) == "4"
    assert repr(simplify(expr("n // 4 * 4 + n % 4 * x"), NO_FACTS.assume(expr("n % 4 == 0")))) == "n"


def test_the_same_object_comes_back() -> None:
    for simple in (io * 256 + ii, x - y, E.Lt(io * 256 + ii, n), E.Load(A, (i,), make.TRUE), f * 2.0, u * 3):
        assert simplify(simple) is simple


def test_terms_keep_the_order_they_were_written_in() -> None:
    assert repr(simplify(y + x + y)) == "y * 2 + x"
    assert repr(simplify(x + y + x)) == "x * 2 + y"
    assert repr(simplify(i * make.index(4) + j * k)) == "i * 4 + j * k"


def test_thousands_of_terms() -> None:
    total = make.index(0)
    for step in range(3000):
        total = E.Add(total, E.Mul(x if step % 2 else y, make.index(step)))
    assert repr(simplify(total)) == "y * 2248500 + x * 2250000"


def test_thousands_of_levels() -> None:
    deep, nested = f, x
    for step in range(3000):
        deep = E.Add(deep, f)
        nested = E.FloorDiv(E.Mul(nested, y), make.index(step % 5 + 2))
    assert simplify(deep) is deep
    assert simplify(simplify(nested)) is simplify(nested)


def test_nested_minima_take_bounded_effort() -> None:
    nested = x
    for step in range(60):
        nested = E.Min(E.FloorDiv(nested, make.index(3)), E.Add(y, make.index(step)))
    assert simplify(simplify(nested)) is simplify(nested)


def test_shared_sums_are_collected_once() -> None:
    total = x
    for _ in range(100):
        total = E.Add(total, total)
    assert simplify(total) is E.Mul(x, make.index(2**100))


def test_a_chain_of_choices_is_deep_too() -> None:
    chain = f
    for step in range(400):
        chain = E.IfElse(E.Lt(x, make.index(step)), E.Mul(f, make.const(step, "float32")), chain)
    assert simplify(simplify(chain)) is simplify(chain)


def test_int32_arithmetic_of_data_keeps_its_wrap() -> None:
    assert repr(simplify((a + 1) - 1)) == "a"
    assert repr(simplify(E.Lt(a, a + 1))) == "a < a + 1"
