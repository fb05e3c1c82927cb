"""Group L: tensors of one name, names that mean something to a language, a tensor that is read twice."""

from __future__ import annotations

import numpy as np
import pytest

import tecomp
from tecomp import te
from tecomp.ir import alpha_equal, parse, text
from tests.cases.tiling import around, bound

DATA = np.random.default_rng(0)


def namesakes(n, names=("A", "A", "A", "A")):
    first, second = te.placeholder((n,), name=names[0]), te.placeholder((n,), name=names[1])
    inner = te.compute((n,), lambda i: first[i] * 2, name=names[2])
    C = te.compute((n,), lambda i: inner[i] - second[i], name=names[3])
    return first, second, inner, C, te.compute((n,), lambda i: first[i] + first[i], name="D")


def check_namesakes(program, first, second, C, D, sizes):
    for n in sizes:
        a, b = DATA.integers(-9, 9, (2, n)).astype("float32")
        program({first: a, second: b}, {C: a * np.float32(2) - b, D: a * np.float32(2)})


RESERVED = [
    ("A", "A", "A", "A"),
    ("A", "B", "A", "B"),
    ("main", "main", "i", "te_main"),
    ("int", "float", "for", "return"),
    ("threadIdx", "threadIdx_x", "blockIdx_x", "half"),
    ("def", "lambda", "None", "True"),
    ("x.shared", "x_shared", "x-shared", "1x"),
    ("i", "n", "t", "i_outer"),
    ("malloc", "memcpy", "exp", "max"),
    ("ü", "变量", "a b", ""),
]


@pytest.mark.parametrize("names", RESERVED)
def test_names(cpu, names):
    """tvm PR 14692, taichi#3104, taco#25: the operands were exchanged, or the code did not compile."""
    first, second, inner, C, D = namesakes(te.var("n"), [name or "_" for name in names])
    s = te.create_schedule([C.op, D.op])
    s[inner].compute_at(s[C], s[C].split(C.op.axis[0], 4)[0])
    args = [first, second, C, D]
    check_namesakes(cpu(s, args), first, second, C, D, around(4))
    func = tecomp.lower(s, args)
    assert alpha_equal(parse(text(func)), func)


@pytest.mark.parametrize("names", RESERVED[:7])
def test_names_in_cuda(cuda, names):
    first, second, inner, C, D = namesakes(te.var("n"), names)
    s = te.create_schedule([C.op, D.op])
    outer, _ = bound(s, C, 4)
    bound(s, D, 4)
    s[inner].compute_at(s[C], outer)
    s[inner].bind(inner.op.axis[0], te.thread_axis("threadIdx.x"))
    check_namesakes(cuda(s, [first, second, C, D]), first, second, C, D, around(4))


@pytest.mark.parametrize("name", ["int", "main", "if", "kernel", "a.b", "A"])
def test_the_name_of_a_function(name):
    A = te.placeholder((4,), name="A")
    B = te.compute((4,), lambda i: A[i] + 1, name="B")
    module = tecomp.build(te.create_schedule(B.op), [A, B], name=name)
    a, b = DATA.random(4, "float32"), np.zeros(4, "f")
    module(a, b)
    assert (b == a + np.float32(1)).all()


def test_sizes_and_axes_of_one_name(cpu):
    """Two variables n, an axis n, a tensor n."""
    n, m = te.var("n"), te.var("n")
    A = te.placeholder((n, m), name="n")
    r = te.reduce_axis((0, m), name="n")
    B = te.compute((n,), lambda n: te.sum(A[n, r], axis=r), name="n")
    program = cpu(te.create_schedule(B.op), [A, B])
    for rows in (0, 1, 3):
        a = DATA.integers(-9, 9, (rows, 5)).astype("float32")
        program({A: a}, {B: a.sum(1)})
