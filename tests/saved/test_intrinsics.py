"""Schedules by tensor intrinsics as whole texts: the intrinsics are written too, and do the same when read back."""

from __future__ import annotations

import gc
import re
from collections.abc import Callable, Sequence
from typing import Any

import pytest

import tecomp
from tecomp import te
from tecomp.errors import UserError
from tecomp.ir import make
from tecomp.ir.expr import Var
from tecomp.ir.visit import walk
from tecomp.tir.tensor_intrin import x86
from tests.codegen.test_tensor_cores import KINDS, small
from tests.goldens import Golden
from tests.intrinsics import gemv, vadd
from tests.tir.test_x86 import BYTES, product

Program = Callable[[], tuple[Any, Sequence[Any]]]


def vectors() -> tuple[Any, Sequence[Any]]:
    A, B = te.placeholder((37,), name="A"), te.placeholder((37,), name="B")
    C = te.compute((37,), lambda i: A[i] + B[i], name="C")
    s = te.create_schedule(C.op)
    _, inner = s[C].split(C.op.axis[0], factor=16)
    s[C].tensorize(inner, vadd(name="add of vectors"))
    return s, [A, B, C]


def sums() -> tuple[Any, Sequence[Any]]:
    """Strides of any value, and statements to start and to go on."""
    A, B = te.placeholder((24,), name="A"), te.placeholder((12, 24), name="B")
    k = te.reduce_axis((0, 24), name="k")
    C = te.compute((12,), lambda i: te.sum(A[k] * B[i, k], axis=k), name="C")
    s = te.create_schedule(C.op)
    io, ii = s[C].split(C.op.axis[0], factor=4)
    ko, ki = s[C].split(k, factor=8)
    s[C].reorder(io, ko, ii, ki)
    s[C].tensorize(ii, gemv(4, 8))
    return s, [A, B, C]


def calls() -> tuple[Any, Sequence[Any]]:
    """Computes that are calls: over sizes, folded over more axes, with a number."""
    n, v, alpha = te.var("n"), te.var("v", "float32"), te.var("alpha", "float32")
    A, W = te.placeholder((n, 3, 12), name="A"), te.placeholder((3, 16, 12), name="W")
    r = te.reduce_axis((0, 3), name="r")
    C = te.compute((n, 16), lambda i: gemv(16, 12)(A[i, r, 0:12], W[r], reduce_axis=r), name="C")
    x = te.placeholder((4,), name="x")
    scaled = te.compute((4,), lambda i: x[i] * v, name="scaled")

    def emit(ins: Any, outs: Any, numbers: Any) -> Any:
        return outs[0].vstore(0, ins[0].vload(0, "float32x4") * make.broadcast(numbers[0], 4))

    scale = te.decl_tensor_intrin(scaled.op, emit, "scale", scalar_params=[v])
    D = te.compute((n, 4), lambda i: scale(C[i, 4:8], alpha), name="D")
    return te.create_schedule(D.op), [A, W, alpha, D]


def tensor_cores() -> tuple[Any, Sequence[Any]]:
    return small(KINDS[0])


def dot_products() -> tuple[Any, Sequence[Any]]:
    s, args, inner = product(BYTES, 5, 32, 24)
    s[args[2]].tensorize(inner, x86.dot_u8s8())
    return s, args


def lowered(s: Any, args: Sequence[Any]) -> str:
    """Return the loops without the lines of the user's program, which a text does not keep."""
    return re.sub(r"  # \S+:\d+$", "", repr(tecomp.lower(s, args)), flags=re.MULTILINE)


PROGRAMS = (vectors, sums, calls, tensor_cores, dot_products)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_round_trip(program: Program, golden: Golden) -> None:
    s, args = program()
    text = te.save(s)
    golden(text)
    loops = lowered(s, args)
    again = te.load(text)
    assert (te.save(again), again.text(), repr(again)) == (text, s.text(), repr(s))
    tensors = {op.name: op.output(0) for op in again.declared}
    formulas = [part for op in again.declared if isinstance(op, te.ComputeOp) for part in op.body]
    scalars = {node.name: node for part in formulas for node in walk(part) if isinstance(node, Var)}
    assert lowered(again, [tensors.get(arg.name, scalars.get(arg.name)) for arg in args]) == loops


def test_reading_takes_no_name_away() -> None:
    mine = vadd(name="taken")
    read = te.load(te.save(vectors()[0]).replace("'add of vectors'", "'taken'"))
    assert te.TensorIntrin.get("taken") is mine
    del mine
    gc.collect()
    assert "by taken" in repr(read)


def test_two_of_one_name() -> None:
    A = te.placeholder((64,), name="A")
    B = te.compute((64,), lambda i: A[i] + A[i], name="B")
    C = te.compute((64,), lambda i: B[i] + A[i], name="C")
    s = te.create_schedule(C.op)
    for tensor, length in ((B, 16), (C, 8)):
        s[tensor].tensorize(s[tensor].split(tensor.op.axis[0], factor=length)[1], vadd(length, "twice"))
    with pytest.raises(UserError) as caught:
        s.text()
    assert caught.value.because == "both are 'twice', by which the text would find one"
    text = te.save(s)
    assert te.save(te.load(text)) == text
