"""Hybrid functions: what they compute, compiled, interpreted and as plain Python."""

# ruff: noqa: F821 (the names of the language)
from __future__ import annotations

import numpy as np
import pytest

import tecomp
from tecomp import te
from tests.te.hybrid_check import check, floats

SIZES = (0, 1, 3, 4, 5, 13)


@te.hybrid.script
def outer(a, b):
    c = output_tensor((a.shape[0], b.shape[0]), a.dtype)
    for i in range(a.shape[0]):
        for j in range(b.shape[0]):
            c[i, j] = a[i] * b[j]
    return c


@pytest.mark.parametrize("n", SIZES)
def test_two_loops(n):
    a, b = floats(n), floats(7)
    (c,) = check(outer, a, b)
    np.testing.assert_allclose(c, np.outer(a, b))


@te.hybrid.script
def prefix_sums(a):
    """Each element is the sum of those up to it."""
    b = output_tensor(a.shape, a.dtype)
    total = 0.0
    for i in range(a.shape[0]):
        total += a[i]
        b[i] = total
    return b


@pytest.mark.parametrize("n", SIZES)
def test_a_variable_keeps_its_value_between_iterations(n):
    a = floats(n)
    (b,) = check(prefix_sums, a, tolerance=1e-5)
    np.testing.assert_allclose(b, np.cumsum(a), rtol=1e-4)


@te.hybrid.script
def from_the_one_before(a):
    b = output_tensor(a.shape, a.dtype)
    for i in range(a.shape[0]):
        b[i] = a[i] + (b[i - 1] if i > 0 else 0.0)
    return b


def test_an_element_may_be_read_that_an_earlier_iteration_wrote():
    check(from_the_one_before, floats(9), tolerance=1e-5)


@te.hybrid.script
def insertion_sort(a):
    b = output_tensor(a.shape, a.dtype)
    for i in range(a.shape[0]):
        b[i] = a[i]
    for i in range(1, len(a)):
        for j in range(i, 0, -1):
            if b[j - 1] > b[j]:
                held = b[j]
                b[j] = b[j - 1]
                b[j - 1] = held
    return b


@pytest.mark.parametrize("n", SIZES)
def test_loops_that_depend_on_others_and_run_down(n):
    a = floats(n)
    (b,) = check(insertion_sort, a)
    np.testing.assert_array_equal(b, np.sort(a))


@te.hybrid.script
def branches(a):
    b = output_tensor(a.shape, "int32")
    for i in range(a.shape[0]):
        b[i] = int32(a[i] * 10.0) % 3
        if b[i] == 0:
            b[i] += 5
        elif b[i] == 1 and not (i < 2 or i == 4):
            pass
        else:
            b[i] = b[i] // 2 if 1 < i <= 3 else -b[i]
    return b


def test_branches():
    check(branches, floats(23))


@te.hybrid.script
def arithmetic(a, b):
    c = output_tensor((10,), "int32")
    d = output_tensor((4,), "bool")
    for i in range(1):
        c[0] = a[i] // b[i]
        c[1] = a[i] % b[i]
        c[2] = a[i] << 2
        c[3] = a[i] >> 1
        c[4] = (a[i] & b[i]) | (a[i] ^ 5)
        c[5] = ~a[i]
        c[6] = popcount(a[i])
        c[7] = min(a[i], b[i], 2) + max(a[i], b[i])
        c[8] = ceil_div(a[i] + 40, 7)
        c[9] = +a[i] - abs(b[i])
        d[0] = a[i] < b[i] < 5
        d[1] = a[i] != b[i]
        d[2] = likely(a[i] >= -7)
        d[3] = bool(a[i])
    return c, d


@pytest.mark.parametrize(("a", "b"), [(-7, 3), (7, -3), (2**31 - 1, 5)])
def test_integers_mean_what_they_mean_in_te(a, b):
    c, _ = check(arithmetic, np.array([a], "int32"), np.array([b], "int32"))
    assert c[0] == a // b and c[1] == a % b


@te.hybrid.script
def functions(a):
    b = output_tensor((16, a.shape[0]), a.dtype)
    for i in range(a.shape[0]):
        x = a[i]
        b[0, i] = exp(x)
        b[1, i] = log(abs(x) + 1)
        b[2, i] = sqrt(abs(x))
        b[3, i] = rsqrt(abs(x) + 1)
        b[4, i] = tanh(x)
        b[5, i] = sigmoid(x)
        b[6, i] = power(abs(x), 1.5)
        b[7, i] = round(x * 4)
        b[8, i] = floor(x) + ceil(x) + trunc(x)
        b[9, i] = max(x, 0.0)
        b[10, i] = x**2 / 3
        b[11, i] = clip(x, -0.5, 0.5)
        b[12, i] = erf(x) + sin(x) * cos(x)
        b[13, i] = ninf(a.dtype) if isnan(x) else inf(a.dtype)
        b[14, i] = fma(x, x, 1.0)
        b[15, i] = atan2(x, 2.0)
    return b


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_functions(dtype):
    a = floats(9).astype(dtype)
    a[3] = np.nan
    check(functions, a, tolerance=1e-5)


HALF = np.float16


@te.hybrid.script
def casts(a):
    b = output_tensor(a.shape, "int8")
    c = output_tensor(a.shape, HALF)
    d = output_tensor(a.shape, "float64")
    for i in range(a.shape[0]):
        b[i] = int8(a[i] * 100)
        c[i] = float16(a[i])
        d[i] = float64(a[i]) + i
    return b, c, d


def test_casts():
    check(casts, floats(6) % 1, tolerance=1e-3)


@te.hybrid.script
def weighted(tensors, weights):
    b = output_tensor(tensors[0].shape, "float32")
    for i in range(len(tensors[0])):
        total = 0.0
        for k in const_range(len(tensors)):
            total += tensors[k][i] * weights[k]
        for t in tensors:
            total += t[i]
        b[i] = total
    return b


def test_lists_of_tensors_and_of_constants():
    a = floats(5)
    check(weighted, [a, a + 1, a * 2], (1.0, 2.0, 0.5), tolerance=1e-5)


@te.hybrid.script
def squared(x):
    y = output_tensor(x.shape, x.dtype)
    for i in range(x.shape[0]):
        y[i] = x[i] * x[i]
    return y


@te.hybrid.script
def halves(x):
    low = output_tensor(x.shape, x.dtype)
    high = output_tensor(x.shape, x.dtype)
    for i in range(x.shape[0]):
        low[i] = min(x[i], 0.0)
        high[i] = max(x[i], 0.0)
    return low, high


@te.hybrid.script
def calling(a):
    first = squared(a)
    second = squared(first)
    low, high = halves(a)
    b = output_tensor(a.shape, a.dtype)
    for i in range(a.shape[0]):
        b[i] = first[i] + low[i] * high[a.shape[0] - 1 - i]
    return second, b


def test_calls_are_written_where_they_stand():
    a = floats(7)
    second, _ = check(calling, a)
    np.testing.assert_allclose(second, a**4, rtol=1e-5)


@te.hybrid.script
def csr(row, column, data, x):
    y = output_tensor((row.shape[0] - 1,), data.dtype)
    for r in range(row.shape[0] - 1):
        total = 0.0
        for e in range(row[r], row[r + 1]):
            total += data[e] * x[column[e]]
        y[r] = total
    return y


def test_extents_and_indices_from_data():
    row, column = np.array([0, 2, 2, 5], "int32"), np.array([0, 3, 1, 2, 3], "int32")
    check(csr, row, column, floats(5), floats(4), tolerance=1e-5)


@te.hybrid.script
def histogram(a, bins):
    h = output_tensor((bins,), "int32")
    for i in range(bins):
        h[i] = 0
    for i in range(a.shape[0]):
        k = a[i]
        h[k % bins] += 1
    return h


def test_scatter():
    (h,) = check(histogram, np.array([1, 5, 2, 5, 5, -7], "int32"), 4)
    assert h.tolist() == [0, 5, 1, 0]


@te.hybrid.script
def grids(a):
    b = output_tensor(a.shape, a.dtype)
    for i, j in grid(a.shape[0], a.shape[1]):
        b[i, j] = a[i][j] * 2
    for k in grid(a.shape[1]):
        b[0, k] = 0.0
    return b


def test_a_grid_is_a_nest():
    check(grids, floats(4, 3))


@te.hybrid.script
def marked(a):
    b = output_tensor((a.shape[0], 8), a.dtype)
    for i in parallel(a.shape[0]):
        for j in vectorize(8):
            x = a[i, j]
            if x > 0.0:
                b[i, j] = exp(x)
            else:
                b[i, j] = 0.0
        for j in unroll(1, 8, 2):
            b[i, j] += 1.0
    return b


@pytest.mark.parametrize("n", SIZES)
def test_loops_say_how_they_run(n):
    check(marked, floats(n, 8), tolerance=1e-5)


@te.hybrid.script
def local_memory(a):
    b = output_tensor(a.shape, a.dtype)
    ring = allocate((4,), "float32", scope="local")
    for k in range(4):
        ring[k] = 0.0
    for i in range(a.shape[0]):
        ring[i % 4] = a[i]
        b[i] = ring[0] + ring[1] + ring[2] + ring[3]
    return b


def test_allocated_memory():
    check(local_memory, floats(9), tolerance=1e-5)


@te.hybrid.script
def no_dimensions(a):
    b = output_tensor((), a.dtype)
    b[()] = 0.0
    for i in range(2):
        b[()] += a * (i + 1)
    return b


def test_tensors_without_dimensions():
    a = te.placeholder((), name="a")
    b = no_dimensions(a)
    s = te.create_schedule(b.op)
    found = np.zeros((), "float32")
    tecomp.build(s, [a, b])(np.array(3, "float32"), found)
    assert found == 9


FACTOR, TABLE = 3, [1.0, 2.0, 4.0]


@te.hybrid.script
def constants(a, taps=(1, 2), bias=None):
    b = output_tensor(a.shape, a.dtype)
    n = 2 * FACTOR - 4
    for i in range(a.shape[0]):
        x = a[i] * TABLE[n]
        if bias is not None:
            x = x + bias
        if len(taps) == 2 and 1 in taps:
            x = x + taps[-1]
        b[i] = x
    return b


def test_what_python_knows_leaves_no_trace():
    a = floats(4)
    (b,) = check(constants, a)
    np.testing.assert_allclose(b, a * 4 + 2, rtol=1e-5)
    check(constants, a, (1,), 0.5)


def test_captured_sizes_and_scalar_arguments():
    n = te.var("n")

    @te.hybrid.script
    def powers(x, count):
        assert count >= 1, "some power"
        b = output_tensor((n,), "float32")
        for i in range(n):
            b[i] = x if i < count else 0.0
        return b

    x, count = te.var("x", "float32"), te.var("count")
    b = powers(x, count)
    run = tecomp.build(te.create_schedule(b.op), [x, count, b])
    found = np.zeros(5, "float32")
    run(2.5, 3, found)
    assert found.tolist() == [2.5, 2.5, 2.5, 0, 0]
    with pytest.raises(ValueError, match="'powers' asserts count >= 1: some power"):
        run(2.5, 0, found)


def test_strided_arrays():
    a, b = te.placeholder((5,), name="a"), te.placeholder((3,), name="b")
    c = outer(a, b)
    x, y, z = floats(10)[::2], floats(3)[::-1], np.zeros((3, 5), "float32").T
    tecomp.build(te.create_schedule(c.op), [a, b, c])(x, y, z)
    np.testing.assert_allclose(z, np.outer(x, y))


def test_memory_that_was_not_written_shows_in_plain_python():
    @te.hybrid.script
    def half(n):
        b = output_tensor((n,), "float32")
        k = output_tensor((n,), "int8")
        for i in range(n // 2):
            b[i] = 1.0
            k[i] = 1
        return b, k

    b, k = half(4)
    assert np.isnan(b).tolist() == [False, False, True, True] and k.tolist() == [1, 1, -128, -128]


def test_a_hybrid_function_shows_its_name_and_its_docs():
    assert repr(prefix_sums) == "<hybrid function prefix_sums>"
    assert prefix_sums.__doc__ == "Each element is the sum of those up to it."
    assert te.hybrid.HybridOp is te.HybridOp


def test_a_loop_that_never_runs_reads_nothing():
    @te.hybrid.script
    def none(a):
        b = output_tensor(a.shape, a.dtype)
        b[0] = 1.0
        for _ in range(5, 2):
            b[0] = a[900]
        for i in range(0, -3, 1):
            b[i] = a[i]
        return b

    (b,) = check(none, floats(3)[:1])
    assert b[0] == 1


def test_tags_and_several_operations_of_one_function():
    a = te.placeholder((4,), name="a")
    with te.tag_scope("mine"):
        first = squared(a)
    second = squared(first)
    assert (first.op.tag, second.op.tag) == ("mine", "")
    assert second.op.input_tensors == (first,)


@te.hybrid.script
def wide(a, n):
    b = output_tensor(a.shape, "int64")
    for i in range(int64(n)):
        for j in const_range(2):
            if j == 1:
                b[i] = a[i] * 3000000000 + i
    return b


def test_wide_loops_and_literals():
    check(wide, np.arange(5, dtype="int64"), 5)
