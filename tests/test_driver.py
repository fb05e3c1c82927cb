"""lower() and build(): what they take, what they give, what they refuse; programs that are long or oddly named."""

from __future__ import annotations

import sys
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

import tecomp
from tecomp import te
from tecomp.errors import UserError, UserTypeError
from tecomp.ir import Level, interpret
from tecomp.passes.manager import Trace
from tecomp.passes.pipeline import PIPELINE

CUDA = "cuda -arch=sm_80"


@pytest.fixture
def doubled() -> SimpleNamespace:
    """B = A * 2 of n elements, in vectors of eight; the schedule s of B."""
    n = te.var("n")
    A = te.placeholder((n,), name="A")
    B = te.compute((n,), lambda i: A[i] * 2, name="B")
    s = te.create_schedule(B.op)
    _, inner = s[B].split(B.op.axis[0], factor=8)
    s[B].vectorize(inner)
    return SimpleNamespace(A=A, B=B, s=s)


def test_lower_divides_loops_and_simple_mode_does_not(doubled) -> None:
    whole = str(tecomp.lower(doubled.s, [doubled.A, doubled.B], name="double", simple_mode=True))
    parts = str(tecomp.lower(doubled.s, [doubled.A, doubled.B], name="double"))
    assert whole.startswith("def double(A: f32[n], B: out[f32[n]]):")
    assert (whole.count("for "), parts.count("for ")) == (1, 2)


def test_a_trace_has_the_program_after_each_pass(doubled) -> None:
    trace = tecomp.lower(doubled.s, [doubled.A, doubled.B], target="llvm", trace=True)
    assert isinstance(trace, Trace)
    assert [step.name for step in trace] == ["lower", *(row.name for row in PIPELINE if "llvm" in row.targets)]
    assert trace[-1].func.level is Level.FLAT
    shown = str(trace)
    for before, step in pairwise(trace):
        assert step.changed == (step.func is not before.func)
        assert (f"# after {step.name}, " in shown) == step.changed
        assert step.milliseconds >= 0
    assert "no change" in "\n".join(map(str, trace))


def test_without_a_target_a_trace_ends_with_the_program_that_lower_returns(doubled) -> None:
    last = tecomp.lower(doubled.s, [doubled.A, doubled.B], trace=True)[-1].func
    assert str(last) == str(tecomp.lower(doubled.s, [doubled.A, doubled.B]))


@pytest.mark.parametrize("target", ["llvm", CUDA])
def test_what_build_returns(doubled, target: str) -> None:
    s = doubled.s if target == "llvm" else te.create_schedule(doubled.B.op)
    if target == CUDA:
        s[doubled.B].bind(doubled.B.op.axis[0], te.thread_axis("blockIdx.x"))
    module = tecomp.build(s, [doubled.A, doubled.B], target=target, name="double")
    assert (module.name, module.ir.level) == ("double", Level.FLAT)
    assert [param["name"] for param in module.signature["params"]] == ["A", "B"]
    assert ("define i32" if target == "llvm" else "__global__") in module.source
    assert repr(module) == f"<Module double for {target}>"


def test_one_build_serves_every_size_and_stride(doubled) -> None:
    module = tecomp.build(doubled.s, [doubled.A, doubled.B])
    for n in (0, 1, 7, 8, 9, 1001):
        a, b = np.arange(2 * n, dtype="float32"), np.full(3 * n, -1, "float32")
        module(a[::2], b[::3])
        np.testing.assert_array_equal(b[::3], a[::2] * 2)
        assert (b[1::3] == -1).all()


def test_another_thing_than_a_schedule(doubled, refused) -> None:
    with refused(
        UserTypeError,
        """
        build of a list
          --> test_driver.py:LINE
           |     tecomp.build([doubled.B, 3], [doubled.A, doubled.B])
           |     ^
          because: what is built is a schedule of a computation
          legal: te.create_schedule(...), and its arguments as a list; or tensors
    """,
    ):
        tecomp.build([doubled.B, 3], [doubled.A, doubled.B])


def test_arguments_that_are_no_list(doubled, refused) -> None:
    with refused(
        UserError,
        """
        lower with the arguments A: f32[n]
          --> test_driver.py:LINE
           |     tecomp.lower(doubled.s, doubled.A)
           |     ^
          because: they are a Tensor
          legal: a list, in the order of a call: lower(s, [A, B, ...])
    """,
    ):
        tecomp.lower(doubled.s, doubled.A)


def test_an_unknown_target(doubled, refused) -> None:
    with refused(
        UserError,
        """
        unknown target 'metal'
          --> test_driver.py:LINE
           |     tecomp.build(doubled.s, [doubled.A, doubled.B], target="metal")
           |     ^
          because: there is no target kind 'metal'
          legal: "llvm", "llvm -mcpu=NAME", "cuda", "cuda -arch=sm_90a", "cuda-sim"
    """,
    ):
        tecomp.build(doubled.s, [doubled.A, doubled.B], target="metal")


def test_a_thousand_stages_in_a_chain() -> None:
    A = stage = te.placeholder((64,), name="A")
    for _ in range(1000):
        stage = te.compute((64,), lambda i, *, before=stage: before[i] + 1, name="stage")
    limit = sys.getrecursionlimit()
    module = tecomp.build(te.create_schedule(stage.op), [A, stage])
    assert sys.getrecursionlimit() == limit
    a, b = np.arange(64, dtype="float32"), np.zeros(64, "float32")
    module(a, b)
    np.testing.assert_array_equal(b, a + 1000)


def test_a_sum_of_five_thousand_terms() -> None:
    A = te.placeholder((64,), name="A")

    def terms(i):
        total = A[i]
        for at in range(5000):
            total = total + A[(i + at) % 64]
        return total

    B = te.compute((64,), terms, name="B")
    module = tecomp.build(te.create_schedule(B.op), [A, B])
    a, b = np.arange(64, dtype="float32"), np.zeros(64, "float32")
    module(a, b)
    np.testing.assert_array_equal(b, [a[i] + sum(a[(i + at) % 64] for at in range(5000)) for i in range(64)])


@pytest.mark.parametrize("names", [("A", "A", "A"), ("int", "for", "lambda"), ("threadIdx", "__global__", "min")])
def test_names_that_others_have(names: tuple[str, str, str]) -> None:
    """One name for all tensors, keywords of C and Python, what CUDA and a signature use."""
    n = te.var(names[0])
    X, Y = (te.placeholder((n,), name=name) for name in names[:2])
    Z = te.compute((n,), lambda i: X[i] - Y[i], name=names[2])
    s = te.create_schedule(Z.op)
    module = tecomp.build(s, [X, Y, Z], name="double")
    x, y, z = (np.random.default_rng(k).random(9, dtype="float32") for k in range(3))
    module(x, y, z)
    np.testing.assert_array_equal(z, x - y)
    s[Z].bind(Z.op.axis[0], te.thread_axis("blockIdx.x"))
    assert "__global__" in tecomp.build(s, [X, Y, Z], target=CUDA, name="double").source


@pytest.mark.parametrize("target", ["llvm", CUDA])
@pytest.mark.parametrize("lowered_for", [None, "the target"])
def test_a_program_in_place_of_the_schedule(doubled, target: str, lowered_for: str | None) -> None:
    s = doubled.s
    if target == CUDA:
        s = te.create_schedule(doubled.B.op)
        outer, inner = s[doubled.B].split(doubled.B.op.axis[0], 32)
        s[doubled.B].bind(outer, te.thread_axis("blockIdx.x"))
        s[doubled.B].bind(inner, te.thread_axis("threadIdx.x"))
    func = tecomp.lower(s, [doubled.A, doubled.B], "double", target=target if lowered_for else None)
    module = tecomp.build(func, target=target)
    whole = tecomp.build(s, [doubled.A, doubled.B], target, name="double")
    assert (module.name, module.ir.level, module.signature) == ("double", Level.FLAT, whole.signature)
    if lowered_for:
        assert str(module.ir) == str(whole.ir)
    a, b = np.arange(19, dtype="float32"), np.zeros(19, "float32")
    interpret(module.ir, a, b)
    np.testing.assert_array_equal(b, a * 2)
    assert str(tecomp.lower(func, target=target)) == str(
        tecomp.lower(s, [doubled.A, doubled.B], "double", target=target)
    )


def test_a_program_takes_another_name(doubled) -> None:
    func = tecomp.lower(doubled.s, [doubled.A, doubled.B], name="double")
    assert (tecomp.build(func).name, tecomp.build(func, name="twice").name) == ("double", "twice")
    assert (tecomp.lower(func, name="twice").name, func.name) == ("twice", "double")


def test_a_name_is_a_text(doubled, refused) -> None:
    with refused(
        UserTypeError,
        """
        build: name 3
          --> test_driver.py:LINE
           |     tecomp.build(doubled.s, [doubled.A, doubled.B], name=3)
           |     ^
          because: a name is a text of at least one character
          legal: name="A"
        """,
    ):
        tecomp.build(doubled.s, [doubled.A, doubled.B], name=3)


def test_a_program_has_its_arguments(doubled, refused) -> None:
    func = tecomp.lower(doubled.s, [doubled.A, doubled.B])
    with refused(
        UserError,
        """
        build of a Func with arguments
          --> test_driver.py:LINE
           |     tecomp.build(func, [doubled.A, doubled.B])
           |     ^
          because: the arguments of 'main' were given when it was lowered
          legal: build(func, target=...)
    """,
    ):
        tecomp.build(func, [doubled.A, doubled.B])


def test_arguments_in_the_order_of_tvm(doubled) -> None:
    module = tecomp.build(doubled.s, [doubled.A, doubled.B], "llvm", "llvm", None, "double", None)
    assert module.name == "double"
    with pytest.raises(UserError) as caught:
        tecomp.build(doubled.s, [doubled.A, doubled.B], "llvm", "cuda")
    assert caught.value.asked == "target 'llvm' with host 'cuda'"


def test_there_is_one_runtime(doubled, refused) -> None:
    with refused(
        UserError,
        """
        build with runtime='crt'
          --> test_driver.py:LINE
           |     tecomp.build(doubled.s, [doubled.A, doubled.B], runtime="crt")
           |     ^
          because: there is one runtime, tecomp_runtime
          legal: no runtime
    """,
    ):
        tecomp.build(doubled.s, [doubled.A, doubled.B], runtime="crt")
