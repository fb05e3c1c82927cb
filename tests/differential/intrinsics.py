"""A tensor intrinsic made for a stage: it computes the stage's own formula on a few neighbours along the last axis."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from tecomp import te, tir
from tecomp.errors import ScheduleError
from tecomp.ir import expr as E
from tecomp.ir.visit import rewrite_expr, walk
from tecomp.te.tensor import ComputeOp

from .draw import Draw

_serial = itertools.count()


def tensorize(stage: Any, draw: Draw) -> None:
    """Put an intrinsic in place of the inner part of a stage's last loop, where its formula reads tensors only."""
    op = stage.op
    loops = list(stage.leaf_iter_vars)
    if type(op) is not ComputeOp or op.reduce_axis or len(op.body) > 1 or not loops or loops[-1] is not op.axis[-1]:
        return
    (body,) = op.body
    reads = dict.fromkeys(node for node in walk(body) if isinstance(node, E.TensorRead))
    if any(isinstance(node, E.TensorRead) for read in reads for index in read.indices for node in walk(index)):
        return
    length = draw.rng.choice([2, 4, 8])
    places = {read: te.placeholder((length,), str(read.dtype), name=f"in{at}") for at, read in enumerate(reads)}

    def formula(element: Callable[[Any], Any]) -> Any:
        return rewrite_expr(body, {E.TensorRead: lambda read: element(places[read])})

    zero = formula(lambda place: place[0])
    if not reads or any(isinstance(node, E.Var) for node in walk(zero)):
        return
    out = te.compute((length,), lambda i: formula(lambda place: place[i]), name="out")

    def emit(ins: Any, outs: Any) -> Any:
        ib = tir.ir_builder.create()
        pointers = dict(zip(out.op.input_tensors, map(ib.buffer_ptr, ins), strict=True))
        to = ib.buffer_ptr(outs[0])
        with ib.for_range(0, length, name="i") as i:
            to[i] = formula(lambda place: pointers[place][i])
        return ib.get()

    tensors = (*out.op.input_tensors, out)
    binds = {
        tensor: tir.decl_buffer(tensor.shape, tensor.dtype, tensor.name, strides=[te.var(f"{tensor.name}_step")])
        for tensor in tensors
    }
    intrin = te.decl_tensor_intrin(out.op, emit, f"part{next(_serial)}", binds=binds)
    inner = stage.split(loops[-1], factor=length)[1]
    before = stage.state
    try:
        stage.tensorize(inner, intrin)
    except ScheduleError:
        assert stage.state is before, "a refusal must leave the stage as it was"
