"""What each program of the table may use: a small computation and its schedule, and ways to run one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import tecomp
from tecomp import te, tir
from tecomp.ir import interpret
from tecomp.ir.expr import Const, Var
from tecomp.te.tensor import PlaceholderOp

N = 19
"""What the size n is when a program runs."""
GPU = "cuda -arch=sm_80"
_FOLDER = TemporaryDirectory()


def filled(tensor: Any, seed: int) -> np.ndarray:
    """Return an array for a tensor, of small numbers that differ."""
    shape = tuple(int(extent) if isinstance(extent, Const) else N for extent in tensor.shape)
    values = np.random.default_rng(seed).integers(1, 6, shape)
    return (values > 3 if tensor.dtype == "bool" else values).astype(tensor.dtype.numpy)


def arrays(args: Sequence[Any]) -> list[Any]:
    """Return arguments for a call: inputs filled, outputs of zeros, 3 for a scalar."""
    given = [3 if isinstance(arg, Var) else filled(arg, at) for at, arg in enumerate(args)]
    return [
        value if isinstance(arg, Var) or is_input(arg) else np.zeros_like(value)
        for value, arg in zip(given, args, strict=True)
    ]


def agree(got: Sequence[Any], wants: Any) -> None:
    for one, want in zip(got, wants if isinstance(wants, tuple) else (wants,), strict=True):
        np.testing.assert_allclose(np.asarray(one, "float64"), np.broadcast_to(want, one.shape), rtol=2e-3, atol=1e-3)


def check(s: Any, args: Sequence[Any], want: Callable[..., Any], target: str = "llvm") -> None:
    """Run the schedule and compare what it gives with `want(*inputs)`; for CUDA its program is interpreted."""
    given = arrays(args)
    inputs = [value for value, arg in zip(given, args, strict=True) if isinstance(arg, Var) or is_input(arg)]
    outputs = [value for value, arg in zip(given, args, strict=True) if not isinstance(arg, Var) and not is_input(arg)]
    expected = want(*(np.array(value, "float64") for value in inputs))
    if target == "llvm":
        tecomp.build(s, args, target)(*given)
    else:
        interpret(tecomp.lower(s, args, target=GPU), *given)
    agree(outputs, expected)


def is_input(arg: Any) -> bool:
    return isinstance(arg.op, PlaceholderOp)


def gives(formula: Callable[..., Any], want: Callable[..., Any], *dtypes: str) -> None:
    """Compare an elementwise formula of inputs of those types with NumPy's."""
    inputs = [te.placeholder((N,), dtype, name=f"x{at}") for at, dtype in enumerate(dtypes or ("float32",))]
    out = te.compute((N,), lambda i: formula(*(x[i] for x in inputs)), name="out")
    check(te.create_schedule(out.op), [*inputs, out], want)


def launched(s: Any, tensor: Any) -> None:
    """Bind the first two loops of a stage to a block and a thread."""
    block, thread = s[tensor].op.axis[:2]
    s[tensor].bind(block, te.thread_axis("blockIdx.x"))
    s[tensor].bind(thread, te.thread_axis("threadIdx.x"))


def doubling() -> Any:
    """Return an intrinsic that gives a * 2 + 1 of four elements."""
    a = te.placeholder((4,), name="a")
    b = te.compute((4,), lambda i: a[i] * 2 + 1, name="b")

    def emit(ins: Any, outs: Any) -> Any:
        ib = tir.ir_builder.create()
        with ib.for_range(0, 4, "lane") as i:
            ib.emit(outs[0].vstore([i], ins[0].vload([i]) * 2 + 1))
        return ib.get()

    binds = {
        tensor: tir.decl_buffer((4,), "float32", name=tensor.name, offset_factor=1, strides=[1]) for tensor in (a, b)
    }
    return te.decl_tensor_intrin(b.op, emit, name="doubling", binds=binds)


@te.hybrid.script
def plus_one(a):
    b = output_tensor(a.shape, a.dtype)  # noqa: F821
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            b[i, j] = a[i, j] + 1.0
    return b


def kit() -> dict[str, Any]:
    """Return the names of one program, made anew: C[i] is the sum over k of B[i, k], and B is A * 2 + 1."""
    n = te.var("n")
    A = te.placeholder((16, 12), name="A")
    B = te.compute((16, 12), lambda i, j: A[i, j] * 2 + 1, name="B")
    k = te.reduce_axis((0, 12), name="k")
    C = te.compute((16,), lambda i: te.sum(B[i, k], axis=k), name="C")
    D = te.compute((16, 12), lambda i, j: B[i, j] - 3, name="D")
    X = te.placeholder((n, 12), name="X")
    Y = te.compute((n, 12), lambda i, j: X[i, j] * 2 + 1, name="Y")
    made = {
        "s": te.create_schedule(C.op), "t": te.create_schedule(D.op), "u": te.create_schedule(Y.op),
        "sums": lambda a: (a * 2 + 1).sum(1), "doubled": lambda a: a * 2 + 1, "less": lambda a: a * 2 - 2,
        "n": n, "A": A, "B": B, "C": C, "D": D, "k": k, "X": X, "Y": Y,
    }  # fmt: skip
    own = {
        "file": lambda: Path(_FOLDER.name) / "f.o",
        "check": check,
        "gives": gives,
        "launched": launched,
        "te": te,
        "tir": tir,
        "tvm": tecomp,
        "np": np,
    }
    return made | own | {"Const": Const, "GPU": GPU, "doubling": doubling, "plus_one": plus_one}
