"""Group B, as written: constants fold as they run, literals fit their type, printed expressions keep their meaning."""

from __future__ import annotations

import numpy as np
import pytest

import tecomp
from tecomp import te
from tecomp.ir import alpha_equal, parse, text
from tests.cases.tiling import bound

DATA = np.random.default_rng(0)


NESTED = {
    "5 * (i % 2)": lambda a, b, c: 5 * (a % 2) + b * 0 + c * 0,
    "a - (b - c)": lambda a, b, c: a - (b - c),
    "a - (b + c)": lambda a, b, c: a - (b + c),
    "a // (b * c)": lambda a, b, c: a // (b * c),
    "a % (b * c)": lambda a, b, c: a % (b * c),
    "a // (b // c)": lambda a, b, c: a * 100 // (b * 10 // c + 1),
    "a % (b % c)": lambda a, b, c: a % (b % c + 1),
    "(a - b) * c": lambda a, b, c: (a - b) * c,
    "a * (b % c)": lambda a, b, c: a * (b % c),
    "-(a - b) - -c": lambda a, b, c: -(a - b) - -c,
}


def nested(name, as_index):
    """Return T of three int inputs, or of three axes, put together as `name` says."""
    inputs = [te.placeholder((4, 4, 4), "int32", name=x) for x in "ABC"]
    build = NESTED[name]

    def element(*i):
        return build(*((x + 1 for x in i) if as_index else (X[i] for X in inputs)))

    return inputs, te.compute((4, 4, 4), element, name="T")


@pytest.mark.parametrize("as_index", [False, True], ids=["data", "index"])
@pytest.mark.parametrize("name", NESTED)
def test_parentheses(cpu, name, as_index):
    """exo#845: 5 * (i % 2) was printed without them. The printed program reads back as the same one."""
    inputs, T = nested(name, as_index)
    axes = np.meshgrid(*[np.arange(1, 5, dtype="int32")] * 3, indexing="ij")
    values = [axis.copy() for axis in axes] if as_index else list(DATA.integers(1, 99, (3, 4, 4, 4)).astype("int32"))
    s = te.create_schedule(T.op)
    cpu(s, [*inputs, T])(dict(zip(inputs, values, strict=True)), {T: NESTED[name](*values)})
    func = tecomp.lower(s, [*inputs, T])
    assert alpha_equal(parse(text(func)), func)


def test_parentheses_in_cuda(cuda):
    inputs = [te.placeholder((4, 4, 4), "int32", name=x) for x in "ABC"]
    values = list(DATA.integers(1, 99, (3, 4, 4, 4)).astype("int32"))
    outputs = {
        te.compute((4, 4, 4), lambda *i, build=build: build(*(X[i] for X in inputs)), name="T"): build(*values)
        for build in NESTED.values()
    }
    s = te.create_schedule([tensor.op for tensor in outputs])
    for tensor in outputs:
        bound(s, tensor, 4)
    program = cuda(s, [*inputs, *outputs])
    program(dict(zip(inputs, values, strict=True)), outputs)


FOLDED = [
    ("int32", lambda x, y: x + y, (2**31 - 1, 1), -(2**31)),
    ("int32", lambda x, y: x * y, (65536, 65536), 0),
    ("int32", lambda x, y: x - y, (-(2**31), 1), 2**31 - 1),
    ("int32", lambda x, y: (x + y) // 2, (2**31 - 1, 5), -(2**30) + 2),
    ("int32", lambda x, y: te.Select(x + y > x, 1, 0), (2**31 - 1, 1), 0),
    ("int32", lambda x, y: (x * y).astype("int64") + x, (65537, 65537), 131073 + 65537),
    ("int32", lambda x, y: te.abs(x) + y * 0, (-(2**31), 1), -(2**31)),
    ("float32", lambda x, y: x + y, (16777216.0, 1.0), 16777216.0),
    ("float32", lambda x, y: x / y, (1.0, 3.0), np.float32(1) / np.float32(3)),
    ("float32", lambda x, y: (x + y) - x, (1e8, 3.0), 0.0),
    ("float32", lambda x, y: x * y, (1e30, 1e30), np.inf),
    ("float32", lambda x, y: (x * y).astype("float64"), (0.1, 0.1), np.float64(np.float32(0.1) * np.float32(0.1))),
    ("float16", lambda x, y: x + y, (2048.0, 1.0), 2048.0),
    ("float16", lambda x, y: x * y, (300.0, 300.0), np.inf),
    ("uint8", lambda x, y: x - y, (3, 5), 254),
    ("uint8", lambda x, y: x * y // 3, (100, 100), 10000 % 256 // 3),
]
"""dtype, expression, operands, and its value in that type."""


@pytest.mark.parametrize("row", FOLDED, ids=range(len(FOLDED)))
def test_constants_fold_as_they_run(cpu, row):
    """tvm#12377, #12378: the same expression of constants and of 0-D inputs."""
    inputs, outputs = folded(*row)
    s = te.create_schedule([tensor.op for tensor in outputs])
    cpu(s, [*inputs, *outputs])(inputs, outputs)


def test_constants_fold_as_they_run_on_cuda(cuda):
    inputs, outputs = {}, {}
    for row in FOLDED:
        for all_of_them, these in zip((inputs, outputs), folded(*row), strict=True):
            all_of_them.update(these)
    s = te.create_schedule([tensor.op for tensor in outputs])
    for tensor in outputs:
        s[tensor].bind(s[tensor].fuse(), te.thread_axis("threadIdx.x"))
    cuda(s, [*inputs, *outputs])(inputs, outputs)


def folded(dtype, build, operands, value):
    """Return two 0-D inputs and two outputs, of inputs and of constants, with their values."""
    X, Y = te.placeholder((), dtype, name="X"), te.placeholder((), dtype, name="Y")
    ran = te.compute((), lambda: build(X(), Y()), name="ran")
    constant = te.compute((), lambda: build(*(te.const(operand, dtype) for operand in operands)), name="constant")
    want = np.array(value, str(ran.dtype))
    return dict(zip((X, Y), np.array(operands, dtype), strict=True)), {ran: want, constant: want}


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint32", "int64", "uint64"])
def test_a_literal_that_does_not_fit(refused, dtype):
    """tvm#12378: it was cut to fit."""
    least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
    for value in (least - 1, most + 1):
        with refused(f"""
            {value} does not fit in {dtype}
              because: {dtype} holds {least} to {most}
              legal: a wider type, or a cast
            """):
            te.const(value, dtype)
    assert (te.const(least, dtype).value, te.const(most, dtype).value) == (least, most)


def test_a_literal_that_does_not_fit_the_other_operand(refused):
    A = te.placeholder((8,), "int8", name="A")
    with refused("""
        128 does not fit in int8
          because: int8 holds -128 to 127
          legal: a wider type, or a cast
        """):
        te.compute((8,), lambda i: A[i] + 128, name="B")
