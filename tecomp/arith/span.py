"""Arithmetic on pairs (lo, hi) of Python integers, where None stands for no bound on that side."""

from __future__ import annotations

from collections.abc import Callable

Bound = int | None
Span = tuple[Bound, Bound]


def low(a: Bound, b: Bound) -> Bound:
    """Return the lower of two lower bounds."""
    return None if a is None or b is None else min(a, b)


def high(a: Bound, b: Bound) -> Bound:
    """Return the higher of two upper bounds."""
    return None if a is None or b is None else max(a, b)


def _sum(a: Bound, b: Bound) -> Bound:
    return None if a is None or b is None else a + b


def neg(a: Span) -> Span:
    """Return what -x takes."""
    return None if a[1] is None else -a[1], None if a[0] is None else -a[0]


def add(a: Span, b: Span) -> Span:
    """Return what x + y takes."""
    return _sum(a[0], b[0]), _sum(a[1], b[1])


def sub(a: Span, b: Span) -> Span:
    """Return what x - y takes."""
    return add(a, neg(b))


def scale(a: Span, factor: int) -> Span:
    """Return what x * factor takes."""
    lo = None if a[0] is None else a[0] * factor
    hi = None if a[1] is None else a[1] * factor
    return (lo, hi) if factor > 0 else (0, 0) if factor == 0 else (hi, lo)


def mul(a: Span, b: Span) -> Span:
    """Return what x * y takes."""
    for one, other in ((a, b), (b, a)):
        if one[0] is not None and one[0] == one[1]:
            return scale(other, one[0])
    if None not in a and None not in b:
        corners = [x * y for x in a for y in b]  # type: ignore[operator]
        return min(corners), max(corners)
    return _unbounded_product(a, b)


def _unbounded_product(a: Span, b: Span) -> Span:
    """One side is infinite: only the signs tell something."""
    if _negative(a):
        return neg(mul(neg(a), b))
    if _negative(b):
        return neg(mul(a, neg(b)))
    if a[0] is not None and a[0] >= 0 and b[0] is not None and b[0] >= 0:
        return a[0] * b[0], None
    for one, other in ((a, b), (b, a)):
        if one[0] is not None and one[0] >= 0 and one[1] is not None:
            return _sum_scaled(other[0], one, upper=False), _sum_scaled(other[1], one, upper=True)
        if one[0] is not None and one[0] >= 0:
            return (0 if other[0] is not None and other[0] >= 0 else None), None
    return None, None


def _negative(a: Span) -> bool:
    """Whether no value is positive; of a span without values, as facts that contradict each other give, it is False."""
    return a[1] is not None and a[1] <= 0 and (a[0] is None or a[0] < 0)


def _sum_scaled(end: Bound, factor: Span, upper: bool) -> Bound:
    """The outermost product of one end with a bounded factor that is not negative."""
    lo, hi = factor
    assert lo is not None and hi is not None
    if end is None:
        return None
    return end * (hi if (end >= 0) == upper else lo)


def _signed_divisors(b: Span) -> list[tuple[bool, Span]]:
    """Split a divisor's values, zero left out, into (is negative, magnitudes)."""
    pieces: list[tuple[bool, Span]] = []
    if b[1] is None or b[1] >= 1:
        pieces.append((False, (max(1, b[0]) if b[0] is not None else 1, b[1])))
    if b[0] is None or b[0] <= -1:
        lowest, highest = neg(b)
        pieces.append((True, (max(1, lowest) if lowest is not None else 1, highest)))
    return pieces


def _join(spans: list[Span]) -> Span:
    if not spans:
        return None, None
    lo, hi = spans[0]
    for other in spans[1:]:
        lo, hi = low(lo, other[0]), high(hi, other[1])
    return lo, hi


def floordiv(a: Span, b: Span) -> Span:
    """Return what floor(x / y) takes, y not zero."""
    return _join([_floor_positive(neg(a) if negative else a, size) for negative, size in _signed_divisors(b)])


def _floor_positive(a: Span, size: Span) -> Span:
    least, most = size
    assert least is not None
    lo, hi = a
    if lo is not None:
        lo = lo // least if lo < 0 else 0 if most is None else lo // most
    if hi is not None:
        hi = hi // least if hi >= 0 else -1 if most is None else hi // most
    return lo, hi


def truncdiv(a: Span, b: Span) -> Span:
    """Return what x / y rounded toward zero takes, y not zero."""
    return _join([_trunc_positive(neg(a) if negative else a, size) for negative, size in _signed_divisors(b)])


def _trunc_positive(a: Span, size: Span) -> Span:
    least, most = size
    assert least is not None

    def toward_zero(end: Bound, outward: bool) -> Bound:
        if end is None:
            return None
        divisor = least if outward else most
        return 0 if divisor is None else abs(end) // divisor * (1 if end >= 0 else -1)

    lo, hi = a
    return toward_zero(lo, lo is not None and lo < 0), toward_zero(hi, hi is not None and hi >= 0)


def floormod(a: Span, b: Span) -> Span:
    """Return what x mod y, of y's sign, takes."""
    pieces: list[Span] = []
    for negative, size in _signed_divisors(b):
        piece = _mod_positive(neg(a) if negative else a, size)
        pieces.append(neg(piece) if negative else piece)
    return _join(pieces)


def _mod_positive(a: Span, size: Span) -> Span:
    least, most = size
    lo, hi = a
    if lo is not None and hi is not None and least is not None and least == most and lo // least == hi // least:
        return lo % least, hi % least
    greatest = None if most is None else most - 1
    if lo is None or lo < 0:
        return 0, greatest
    if hi is not None and least is not None and hi < least:
        return a
    return 0, greatest if hi is None else hi if greatest is None else min(hi, greatest)


def truncmod(a: Span, b: Span) -> Span:
    """Return what C's x % y, of x's sign, takes."""
    sizes = [size[1] for _, size in _signed_divisors(b)]
    most = None if None in sizes or not sizes else max(size for size in sizes if size is not None) - 1
    lo, hi = a
    least = 0 if lo is not None and lo >= 0 else None if most is None else -most
    if lo is not None and lo < 0:
        least = lo if least is None else max(lo, least)
    greatest = 0 if hi is not None and hi <= 0 else most
    if hi is not None and hi > 0:
        greatest = hi if greatest is None else min(hi, greatest)
    return least, greatest


def minimum(a: Span, b: Span) -> Span:
    """Return what min(x, y) takes."""
    highs = [x for x in (a[1], b[1]) if x is not None]
    return low(a[0], b[0]), min(highs, default=None)


def maximum(a: Span, b: Span) -> Span:
    """Return what max(x, y) takes."""
    lows = [x for x in (a[0], b[0]) if x is not None]
    return max(lows, default=None), high(a[1], b[1])


def less(a: Span, b: Span) -> bool | None:
    """Return whether x < y, None when it depends."""
    if a[1] is not None and b[0] is not None and a[1] < b[0]:
        return True
    return False if a[0] is not None and b[1] is not None and a[0] >= b[1] else None


def at_most(a: Span, b: Span) -> bool | None:
    """Return whether x <= y, None when it depends."""
    answer = less(b, a)
    return None if answer is None else not answer


def equal(a: Span, b: Span) -> bool | None:
    """Return whether x == y, None when it depends."""
    if less(a, b) or less(b, a):
        return False
    return True if a[0] is not None and a[0] == a[1] == b[0] == b[1] else None


def differ(a: Span, b: Span) -> bool | None:
    """Return whether x != y, None when it depends."""
    answer = equal(a, b)
    return None if answer is None else not answer


def _absolute(_bits: int, a: Span) -> Span:
    if a[0] is not None and a[0] >= 0:
        return a
    flipped = neg(a)
    return flipped if _negative(a) else (0, high(a[1], flipped[1]))


def _and(_bits: int, a: Span, b: Span) -> Span:
    tops = [x[1] for x in (a, b) if x[0] is not None and x[0] >= 0]
    if not tops:
        return None, None
    return 0, min((top for top in tops if top is not None), default=None)


def _or(_bits: int, a: Span, b: Span) -> Span:
    if a[0] is None or b[0] is None or a[0] < 0 or b[0] < 0:
        return None, None
    return 0, None if a[1] is None or b[1] is None else (1 << max(a[1], b[1]).bit_length()) - 1


def _powers(count: Span) -> Span:
    lo = 1 if count[0] is None or count[0] < 0 else 1 << min(count[0], 64)
    return lo, None if count[1] is None or count[1] > 64 else 1 << max(count[1], 0)


def _bit_count(_bits: int, _a: Span) -> Span:
    return 0, 64


CALLS: dict[str, Callable[..., Span]] = {
    "abs": _absolute,
    "bitwise_and": _and,
    "bitwise_or": _or,
    "bitwise_xor": _or,
    "shift_left": lambda _bits, a, count: mul(a, _powers(count)),
    "shift_right": lambda _bits, a, count: floordiv(a, _powers(count)),
    "popcount": _bit_count,
    "clz": _bit_count,
}
"""What a call of that name takes, from its width in bits and its arguments' spans."""
