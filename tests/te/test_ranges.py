"""Reads out of range and divisions by zero, found when they are declared; and what is right, let through."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tecomp import te
from tecomp.errors import UserError
from tests.te.message import message, text

n, m = te.var("n"), te.var("m")
A = te.placeholder((10,), name="A")
S = te.placeholder((n,), name="S")
T = te.placeholder((3,), name="inline_tensor")
M = te.placeholder((4, 6), name="M")
E = te.placeholder((0,), name="E")
IDX = te.placeholder((10,), "int32", name="IDX")


def reduce(extent, first=0):
    return te.reduce_axis((first, extent), name="k")


def summed(formula, *domains):
    def body(i):
        axes = [
            te.reduce_axis(domain(i) if callable(domain) else domain, name=f"k{d}") for d, domain in enumerate(domains)
        ]
        return te.sum(formula(i, *axes), axis=axes)

    return body


RIGHT = {
    "the whole": ((10,), lambda i: A[i]),
    "a part": ((4,), lambda i: A[i + 6]),
    "reversed": ((10,), lambda i: A[9 - i]),
    "modulo": ((100,), lambda i: A[i % 10]),
    "quotient": ((100,), lambda i: A[i // 10]),
    "fused": ((24,), lambda i: M[i // 6, i % 6]),
    "clamped": ((100,), lambda i: A[te.max(0, te.min(i - 3, 9))]),
    "padded": ((12,), lambda i: te.if_then_else(te.all(i >= 1, i < 11), A[i - 1], 0.0)),
    "selected": ((12,), lambda i: te.Select(te.all(i >= 1, i < 11), A[i - 1], 0.0)),
    "shielded by any": ((12,), lambda i: te.any(i >= 10, A[te.min(i, 9)] > 0)),
    "shielded twice": ((12,), lambda i: te.if_then_else(i > 0, te.if_then_else(i <= 10, A[i - 1], 0.0), 0.0)),
    "where": ((12,), lambda i: te.sum(A[K12 - 1], axis=K12, where=te.all(K12 > 0, K12 < 11))),
    "by data": ((10,), lambda i: A[IDX[i]]),
    "if the data say so": ((20,), lambda i: te.if_then_else(IDX[i % 10] < 0, A[i], 0.0)),
    "far away": ((10**7,), lambda i: te.if_then_else(i < 10, A[i], 0.0)),
    "triangle": ((10,), summed(lambda i, k: A[i + k], lambda i: (0, 10 - i))),
    "windows": ((5,), summed(lambda i, k: A[i * 2 + k], lambda i: (0, 2))),
    "from i on": ((5,), summed(lambda i, k: A[k], lambda i: (i, i + 6))),
    "nothing": ((0,), lambda i: A[i + 100]),
    "nothing to fold": ((10,), summed(lambda i, k: E[k], (0, 0))),
    "symbolic whole": ((n,), lambda i: S[i]),
    "symbolic part": ((n - 2,), lambda i: S[i + 2]),
    "symbolic reversed": ((n,), lambda i: S[n - 1 - i]),
    "another size": ((m,), lambda i: S[i + 1]),
    "symbolic of constant": ((n,), lambda i: A[i]),
    "constant of symbolic": ((10,), lambda i: S[i]),
    "symbolic padded": ((n + 2,), lambda i: te.if_then_else(te.all(i >= 1, i < n + 1), S[i - 1], 0.0)),
    "by a scalar": ((10,), lambda i: A[i + m]),
    "divided": ((10,), lambda i: A[i // (i + 1)]),
    "divided where it may be": ((10,), lambda i: te.if_then_else(i != 0, A[(i + 5) % i], 0.0)),
    "divided by a size": ((10,), lambda i: A[i // n]),
    "divided by data": ((10,), lambda i: IDX[i] // IDX[i]),
    "divided by less than nothing": ((10,), lambda i: A[te.max(i // (i - 20), 0)]),
}
K12 = reduce(12)


@pytest.mark.parametrize("case", RIGHT)
def test_what_is_right_passes(case) -> None:
    shape, formula = RIGHT[case]
    assert te.compute(shape, formula).op.early is None


def test_a_window_of_several_axes_passes() -> None:
    ry, rx = te.reduce_axis((0, 3), name="ry"), te.reduce_axis((0, 3), name="rx")
    te.compute((2, 4), lambda y, x: te.sum(M[y + ry, x + rx], axis=[ry, rx]))


def outside(read, tensor, why, legal, stage="C"):
    guard = f"{legal}, or te.if_then_else(condition, {read}, otherwise)"
    return text(f"te.compute '{stage}': {read} reads outside '{tensor}'", why, guard)


K64 = reduce(64)
R2 = te.reduce_axis((0, 2), name="r")

WRONG = [
    (
        lambda: te.compute((10,), lambda i: A[i + 100], name="C"),
        outside(
            "A[i + 100]",
            "A",
            "index 0, i + 100, lies in [100, 109] and is 100 at i = 0; 'A' has extent 10 there",
            "0 to 9",
        ),
    ),
    (
        lambda: te.compute((10,), lambda i: A[10], name="C"),
        outside("A[10]", "A", "index 0, 10, is 10; 'A' has extent 10 there", "0 to 9"),
    ),
    (
        lambda: te.compute((10,), lambda i: A[-1], name="C"),
        outside("A[-1]", "A", "index 0, -1, is -1; 'A' has extent 10 there", "0 to 9"),
    ),
    (
        lambda: te.compute((), lambda: te.sum(T[K64], axis=K64), name="C"),
        outside(
            "inline_tensor[k]",
            "inline_tensor",
            "index 0, k, lies in [0, 63] and is 3 at k = 3; 'inline_tensor' has extent 3 there",
            "0 to 2",
        ),
    ),
    (
        lambda: te.compute((4, 6), lambda y, x: M[x, y], name="C"),
        outside("M[x, y]", "M", "index 0, x, lies in [0, 5] and is 4 at x = 4; 'M' has extent 4 there", "0 to 3"),
    ),
    (
        lambda: te.compute((4, 6), lambda y, x: M[y, x + y], name="C"),
        outside(
            "M[y, x + y]",
            "M",
            "index 1, x + y, lies in [0, 8] and is 6 at x = 3, y = 3; 'M' has extent 6 there",
            "0 to 5",
        ),
    ),
    (
        lambda: te.compute((12,), lambda i: te.if_then_else(i >= 1, A[i - 1], 0.0), name="C"),
        outside(
            "A[i - 1]", "A", "index 0, i - 1, lies in [0, 10] and is 10 at i = 11; 'A' has extent 10 there", "0 to 9"
        ),
    ),
    (
        lambda: te.compute((12,), lambda i: te.if_then_else(i >= 1, 0.0, A[-1 - i]), name="C"),
        outside(
            "A[-1 - i]", "A", "index 0, -1 - i, lies in [-1, -1] and is -1 at i = 0; 'A' has extent 10 there", "0 to 9"
        ),
    ),
    (
        lambda: te.compute((), lambda: te.sum(A[K64], axis=K64, where=K64 <= 10), name="C"),
        outside("A[k]", "A", "index 0, k, lies in [0, 10] and is 10 at k = 10; 'A' has extent 10 there", "0 to 9"),
    ),
    (
        lambda: te.compute((10**7,), lambda i: A[i % 11], name="C"),
        outside(
            "A[i % 11]", "A", "index 0, i % 11, lies in [0, 10] and is 10 at i = 10; 'A' has extent 10 there", "0 to 9"
        ),
    ),
    (
        lambda: te.compute((10,), summed(lambda i, k: A[k - 1], (0, 10)), name="C"),
        outside(
            "A[k0 - 1]", "A", "index 0, k0 - 1, lies in [-1, 8] and is -1 at k0 = 0; 'A' has extent 10 there", "0 to 9"
        ),
    ),
    (
        lambda: te.compute((10,), summed(lambda i, k: A[i + k], lambda i: (0, 11 - i)), name="C"),
        outside(
            "A[i + k0]",
            "A",
            "index 0, i + k0, lies in [0, 10] and is 10 at i = 0, k0 = 10; 'A' has extent 10 there",
            "0 to 9",
        ),
    ),
    (
        lambda: (
            te.compute((10,), summed(lambda i, k: A[k], (0, n)), name="C").op
            and te.compute((n,), lambda i: A[i - 20 + 2 * 5 - i], name="C")
        ),
        outside(
            "A[i - 20 + 10 - i]", "A", "index 0, i - 20 + 10 - i, is -10 at i = 0; 'A' has extent 10 there", "0 to 9"
        ),
    ),
    (
        lambda: te.compute((2,), lambda i: E[i], name="C"),
        text(
            "te.compute 'C': E[i] reads outside 'E'",
            "index 0, i, lies in [0, 1] and is 0 at i = 0; 'E' has extent 0 there",
            "no read: it is empty",
        ),
    ),
    (
        lambda: te.compute((n,), lambda i: S[i + 1], name="C"),
        outside("S[i + 1]", "S", "index 0, i + 1, reaches n; 'S' has extent n there", "0 to n - 1"),
    ),
    (
        lambda: te.compute((n,), lambda i: S[n - i], name="C"),
        outside("S[n - i]", "S", "index 0, n - i, reaches n; 'S' has extent n there", "0 to n - 1"),
    ),
    (
        lambda: te.compute((n,), lambda i: S[2 * i + 2], name="C"),
        outside("S[2 * i + 2]", "S", "index 0, 2 * i + 2, reaches 2 * n; 'S' has extent n there", "0 to n - 1"),
    ),
    (
        lambda: te.compute((n, m), lambda i, j: te.placeholder((n + m - 2,), name="D")[i + j], name="C"),
        outside("D[i + j]", "D", "index 0, i + j, reaches n + m - 2; 'D' has extent n + m - 2 there", "0 to n + m - 3"),
    ),
    (
        lambda: te.compute((10,), lambda i: te.max(A[(i + 2) % R2], axis=R2), name="C"),
        text(
            "division by zero in stage 'C': divisor r takes value 0",
            "it divides in (i + 2) % r",
            "a divisor that is never 0, or te.if_then_else(divisor != 0, ..., otherwise)",
        ),
    ),
    (
        lambda: te.compute((10,), lambda i: te.truncdiv(7, i - 4), name="C"),
        text(
            "division by zero in stage 'C': divisor i - 4 takes value 0 at i = 4",
            "it divides in truncdiv(7, i - 4)",
            "a divisor that is never 0, or te.if_then_else(divisor != 0, ..., otherwise)",
        ),
    ),
    (
        lambda: te.compute((n,), lambda i: 7 // i, name="C"),
        text(
            "division by zero in stage 'C': divisor i takes value 0",
            "it divides in 7 // i",
            "a divisor that is never 0, or te.if_then_else(divisor != 0, ..., otherwise)",
        ),
    ),
    (
        lambda: te.compute((10,), lambda i: i // 0, name="C"),
        text("division by zero", "the divisor of // is the constant 0"),
    ),
]


@pytest.mark.parametrize(("call", "said"), WRONG)
def test_what_is_wrong_is_refused(call, said) -> None:
    assert message(call) == said


def test_what_a_scan_may_explain_is_kept_for_later() -> None:
    kept = te.compute((10,), lambda t: A[t - 1], name="C").op.early
    assert kept is not None
    assert kept.because == "index 0, t - 1, lies in [-1, 8] and is -1 at t = 0; 'A' has extent 10 there"
    assert te.compute((n, 4), lambda t, i: te.placeholder((n, 4))[t - 2, i]).op.early is not None
    assert te.compute((4, n), lambda i, t: te.placeholder((n, 4))[t - 2, i]).op.early is not None


AXES = st.tuples(st.integers(1, 6), st.integers(1, 6))
ENDS = st.tuples(st.integers(-6, 12), st.integers(-6, 12))


@given(
    extents=AXES,
    size=st.integers(1, 20),
    coefficients=st.tuples(st.integers(-3, 3), st.integers(-3, 3), st.integers(-5, 10)),
    modulus=st.integers(0, 7),
    limits=ENDS,
    guarded=st.booleans(),
)
def test_exactly_what_reads_outside_is_found(extents, size, coefficients, modulus, limits, guarded) -> None:
    p, q, c = coefficients
    low, high = limits

    def index(a, b):
        value = a * p + b * q + c
        return value % modulus if modulus else value

    def reads(a, b):
        return not guarded or low <= a + b < high

    D = te.placeholder((size,), name="D")
    wrong = [
        (a, b) for a in range(extents[0]) for b in range(extents[1]) if reads(a, b) and not 0 <= index(a, b) < size
    ]

    def formula(a, b):
        if not guarded:
            return D[index(a, b)]
        return te.if_then_else(te.all(a + b >= low, a + b < high), D[index(a, b)], 0.0)

    try:
        found = te.compute(extents, formula).op.early is not None
    except UserError:
        found = True
    assert found == bool(wrong)
