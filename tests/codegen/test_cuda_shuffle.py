"""Exchanges between lanes as CUDA: one instruction a 32-bit word, whatever the type, and nothing in local memory."""

from __future__ import annotations

import pytest

import tecomp
from tecomp import te

TYPES = ["bool", "int8", "uint16", "float16", "bfloat16", "int32", "float32", "int64", "uint64", "float64"]


def row_extreme(dtype):
    """Return a module that finds the greatest of 64 values a row."""
    n = te.var("n")
    A = te.placeholder((n, 64), dtype, name="A")
    k = te.reduce_axis((0, 64), name="k")
    reducer = te.comm_reducer(te.any, lambda kind: te.const(False, kind), name="some") if dtype == "bool" else te.max
    B = te.compute((n,), lambda i: reducer(A[i, k], axis=k), name="B")
    s = te.create_schedule(B.op)
    s[B].bind(B.op.axis[0], te.thread_axis("blockIdx.x"))
    s[B].bind(k, te.thread_axis("threadIdx.x"))
    return tecomp.build(s, [A, B], target="cuda -arch=sm_90a")


@pytest.mark.parametrize("dtype", TYPES)
def test_every_type(dtype):
    artifact = row_extreme(dtype).artifact
    assert artifact.source.count("shuffle_xor(B_part, ") == 5
    assert "0 bytes stack frame" in artifact.log
    assert "warning" not in artifact.log, artifact.log


def test_text(golden):
    golden(row_extreme("float32").source)


def test_a_name_of_the_prelude_is_free():
    """A tensor called like the function that the kernel calls gets another name there."""
    A = te.placeholder((32, 32), name="shuffle_xor")
    k = te.reduce_axis((0, 32), name="k")
    B = te.compute((32,), lambda i: te.sum(A[i, k], axis=k), name="B")
    s = te.create_schedule(B.op)
    s[B].bind(B.op.axis[0], te.thread_axis("blockIdx.x"))
    s[B].bind(k, te.thread_axis("threadIdx.x"))
    assert tecomp.build(s, [A, B], target="cuda -arch=sm_90a").artifact.binary
