"""Reduce axes and thread axes."""

from __future__ import annotations

import pytest

from tecomp import te
from tecomp.ir.axis import AxisKind
from tests.te.message import message, text

n = te.var("n")


def test_reduce_axis() -> None:
    k = te.reduce_axis((0, n), name="k")
    assert (k.name, k.kind, k.dtype) == ("k", AxisKind.REDUCE, "int32")
    assert k.dom.min is te.const(0) and k.dom.extent is n
    assert k.var.min is k.dom.min and k.var.extent is k.dom.extent
    assert (k + 1) is (k.var + 1)
    assert te.reduce_axis((0, 3)).name == "rv"


def test_reduce_axis_from_a_first_value() -> None:
    k = te.reduce_axis((2, 10))
    assert (k.dom.min, k.dom.extent) == (te.const(2), te.const(8))
    wide = te.reduce_axis((0, te.var("m", "int64")))
    assert wide.dtype == wide.dom.min.dtype == "int64"
    assert te.reduce_axis((0, 2**40)).dtype == "int64"
    assert te.reduce_axis((3, 3)).dom.extent is te.const(0)


def test_reduce_axis_over_another_ones_range() -> None:
    k = te.reduce_axis((0, n))
    assert te.reduce_axis(k.dom).dom == k.dom


def test_thread_axis() -> None:
    tx = te.thread_axis("threadIdx.x")
    assert (tx.name, tx.thread_tag, tx.kind, tx.dom) == ("threadIdx.x", "threadIdx.x", AxisKind.THREAD, None)
    bx = te.thread_axis((0, 64), "blockIdx.x", name="bx")
    assert (bx.name, bx.thread_tag) == ("bx", "blockIdx.x")
    assert bx.dom.extent is te.const(64)
    assert te.thread_axis(tag="vthread").thread_tag == "vthread"
    assert te.thread_axis(n, "threadIdx.y").dom.extent is n


TAGS = (
    "blockIdx.x, blockIdx.y, blockIdx.z, threadIdx.x, threadIdx.y, threadIdx.z, "
    "vthread, vthread.x, vthread.y, vthread.z, cthread"
)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda: te.reduce_axis((0, 4), "k", thread_tag="threadIdx.x"),
            text(
                "te.reduce_axis 'k': thread_tag='threadIdx.x'",
                "a thread is bound by the schedule",
                "s[T].bind(axis, thread)",
            ),
        ),
        (
            lambda: te.reduce_axis(4, "k"),
            text("te.reduce_axis 'k': domain 4", "a domain is a pair", "(first, end), where end is left out"),
        ),
        (
            lambda: te.reduce_axis((4, 1), "k"),
            text("te.reduce_axis 'k': domain (4, 1)", "it ends 3 before it begins", "first <= end"),
        ),
        (
            lambda: te.reduce_axis((0, 1.5), "k"),
            text("te.reduce_axis 'k': 1.5 as an end", "it is float32", "an integer"),
        ),
        (te.thread_axis, text("te.thread_axis: tag ''", "no thread axis is called so", TAGS)),
        (
            lambda: te.thread_axis((0, 4), "threadIdx.w"),
            text("te.thread_axis: tag 'threadIdx.w'", "no thread axis is called so", TAGS),
        ),
        (
            lambda: te.reduce_axis((0, 4), name=""),
            text("te.reduce_axis: name ''", "a name is a text of at least one character", 'name="A"'),
        ),
    ],
)
def test_refused(call, said) -> None:
    assert message(call) == said
