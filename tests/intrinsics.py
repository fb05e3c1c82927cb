"""Tensor intrinsics of loads and stores, which run everywhere, and what a tensorized program is compared with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import tecomp
from tecomp import te, tir
from tecomp.ir import interpret


def declared(tensor: Any, strided: bool, **more: Any) -> Any:
    """Return a buffer for a tensor, of any strides where it is `strided`."""
    strides = [te.var(f"{tensor.name}_s{dim}") for dim in range(tensor.ndim)] if strided else None
    return tir.decl_buffer(tensor.shape, tensor.dtype, tensor.name, strides=strides, **more)


def vadd(n: int = 16, name: str = "vadd", **more: Any) -> Any:
    """z = x + y, by vectors."""
    x, y = te.placeholder((n,), name="x"), te.placeholder((n,), name="y")
    z = te.compute((n,), lambda i: x[i] + y[i], name="z")

    def emit(ins: Any, outs: Any) -> Any:
        a, b = (buffer.vload(0, f"float32x{n}") for buffer in ins)
        return outs[0].vstore(0, a + b)

    return te.decl_tensor_intrin(z.op, emit, name, **more)


def gemv(m: int, l: int, *, strided: bool = True, parts: str = "biu", scope: str = "") -> Any:
    """c[i] = sum over k of a[k] * b[i, k], element by element: body, init and update as far as `parts` names them."""
    a, b = te.placeholder((l,), name="a"), te.placeholder((m, l), name="b")
    k = te.reduce_axis((0, l), name="k")
    c = te.compute((m,), lambda i: te.sum(a[k] * b[i, k], axis=k), name="c")

    def emit(ins: Any, outs: Any) -> Any:
        def start(ib: Any, to: Any, i: Any) -> None:
            to[i] = 0.0

        def add(ib: Any, to: Any, i: Any) -> None:
            left, right = map(ib.buffer_ptr, ins)
            with ib.for_range(0, l, name="k") as k:
                to[i] = to[i] + left[k] * right[i, k]

        def over_rows(*steps: Any) -> Any:
            ib = tir.ir_builder.create()
            to = ib.buffer_ptr(outs[0])
            with ib.for_range(0, m, name="i") as i:
                for step in steps:
                    step(ib, to, i)
            return ib.get()

        made = {"b": over_rows(start, add), "i": over_rows(start), "u": over_rows(add)}
        return tuple(made[part] if part in parts else None for part in "biu")

    binds = {tensor: declared(tensor, strided, scope=scope) for tensor in (a, b, c)}
    return te.decl_tensor_intrin(c.op, emit, "gemv", binds=binds)


def elementwise(formula: Callable[..., Any], *inputs: tuple[tuple[int, ...], str], name: str = "elementwise") -> Any:
    """An intrinsic over all elements of its inputs' shape, whose statements are loops over the very formula."""
    places = [te.placeholder(shape, dtype, name=f"in{n}") for n, (shape, dtype) in enumerate(inputs)]
    out = te.compute(inputs[0][0], lambda *at: formula(*(place[at] for place in places)), name="out")

    def emit(ins: Any, outs: Any) -> Any:
        ib = tir.ir_builder.create()
        pointers, to = [ib.buffer_ptr(buffer) for buffer in ins], ib.buffer_ptr(outs[0])

        def loops(at: tuple[Any, ...]) -> None:
            if len(at) == out.ndim:
                to[at] = formula(*(pointer[at] for pointer in pointers))
                return
            with ib.for_range(0, out.shape[len(at)], name=f"i{len(at)}") as i:
                loops((*at, i))

        loops(())
        return ib.get()

    binds = {tensor: declared(tensor, True) for tensor in (*places, out)}
    return te.decl_tensor_intrin(out.op, emit, name, binds=binds)


def agrees(s: Any, args: Sequence[Any], inputs: Sequence[np.ndarray], expected: np.ndarray) -> None:
    """Check what a schedule computes in the interpreter, whole and with its loops split, and on LLVM."""
    for run in (
        lambda *given: interpret(tecomp.lower(s, args, simple_mode=True), *given),
        lambda *given: interpret(tecomp.lower(s, args), *given),
        tecomp.build(s, args),
    ):
        result = np.full_like(expected, 77)
        run(*inputs, result)
        np.testing.assert_allclose(result, expected, rtol=1e-5)


def numbers(*shapes: tuple[int, ...]) -> list[np.ndarray]:
    """Return arrays of small whole numbers in float32, whose sums are exact in any order."""
    rng = np.random.default_rng(0)
    return [rng.integers(-4, 5, shape).astype("float32") for shape in shapes]
