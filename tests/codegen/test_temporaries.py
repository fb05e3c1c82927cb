"""Long sums, shared parts, conditions: text that stays short, and never evaluates what it must not."""

from __future__ import annotations

import functools

import pytest

from tecomp.codegen.cuda import printed
from tecomp.codegen.temporaries import always, temporaries
from tecomp.dtype import DType
from tecomp.ir import expr as E
from tecomp.ir import make
from tecomp.ir.func import Func, Level
from tecomp.ir.node import Expr
from tecomp.ir.stmt import Buffer, If, Launch, Seq, Store
from tests.codegen.cuda_programs import HOPPER, compiles
from tests.goldens import Golden

N = make.const(8, "int64")
A, OUT = Buffer("A", (N,), DType("float32")), Buffer("B", (N,), DType("float32"))
I = E.Var("i", DType("int32"), make.const(0), make.const(8))
X = make.load(A, [I])


def source_of(value: Expr) -> str:
    """Return the kernel that stores `value`."""
    body = Launch((("threadIdx.x", I),), Store(OUT, (I,), value, make.TRUE))
    return printed(Func("f", (A, OUT), (OUT,), body, Level.FLAT), HOPPER).source


def nested(step: int, start: Expr = X) -> Expr:
    """Return start, doubled and squared `step` times over itself: 2 ** step uses of it."""
    value = start
    for _ in range(step):
        value = value * value + value
    return value


def test_a_sum_of_5000_terms_compiles() -> None:
    source = source_of(functools.reduce(make.add, [make.load(A, [make.const(k % 8)]) for k in range(5000)]))
    assert max(map(len, source.splitlines())) < 2000
    compiles(source)


def test_1000_operations_within_one_another_compile() -> None:
    value: Expr = X
    for k in range(1000):
        value = make.const(float(k), "float32") - value
    compiles(source_of(value))


def test_what_is_used_twice_is_named_once(golden: Golden) -> None:
    source = source_of(nested(6))
    assert source.count("A[i]") == 9  # two levels of 3 in the first piece: 2 ** 6 + 2 ** 5 + ... without names
    golden(source)


def test_text_stays_linear_in_the_graph() -> None:
    source = source_of(nested(200))
    assert len(source) < 200 * 200
    compiles(source)


@pytest.mark.parametrize("kind", ["if_then_else", "and", "or", "load"])
def test_a_large_branch_stays_behind_its_condition(kind: str, golden: Golden) -> None:
    condition = make.lt(I, 3)
    beyond = nested(12, make.load(A, [I + 4]))
    value = {
        "if_then_else": make.if_then_else(condition, beyond, X),
        "and": make.select(make.logical_and(condition, beyond < 1.0), X, -X),
        "or": make.select(make.logical_or(condition, beyond < 1.0), X, -X),
        "load": E.Load(A, (make.cast("int32", beyond),), condition),
    }[kind]
    source = source_of(value)
    golden(source)
    compiles(source)


def test_what_stands_behind_a_condition_is_not_always_evaluated() -> None:
    yes, no, condition = make.load(A, [I + 1]), make.load(A, [I + 2]), X < 0.0
    lazy, both = make.if_then_else(condition, yes, no), make.select(condition, yes, no)
    assert {yes, no} & always([lazy]).keys() == set()
    assert {yes, no, X} <= always([both]).keys()
    masked = E.Load(A, (I + 1,), condition)
    assert I + 1 not in always([masked])


def test_names_last_for_one_statement() -> None:
    """What reads memory is another value after a store, and so is a condition on it."""
    value = nested(4, make.load(OUT, [I]))
    store = Store(OUT, (I,), value, make.TRUE)
    condition = make.load(OUT, [I]) < 0.0
    masked = Store(OUT, (I,), E.Load(A, (I,), condition), make.TRUE)
    body = Launch((("threadIdx.x", I),), Seq((store, store, If(condition, Seq((store, masked))))))
    source = printed(Func("f", (A, OUT), (OUT,), body, Level.FLAT), HOPPER).source
    assert source.count(" = (B[i] * B[i] + B[i])") == 3
    assert "B[i] = B[i] < 0.0f ? A[i] : 0.0f;" in source


def test_small_expressions_have_no_temporaries() -> None:
    assert temporaries([make.select(X < 0.0, X, X + 1.0)]) == []
    shared = make.call("exp", "float32", nested(1) * nested(2))
    named = [part.node for part in temporaries([shared + shared * 2.0])]
    assert named == [shared]
