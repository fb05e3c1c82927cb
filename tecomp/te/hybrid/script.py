"""te.hybrid.script: a Python function as an operation, or as it is."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ...errors import UserError, UserTypeError
from ...ir.node import Expr
from ...ir.stmt import Alloc, Buffer, For, Stmt
from ...ir.visit import rewrite, walk
from ...location import caller
from ..tag import tag_of
from ..tensor import Tensor
from .calls import Given, anywhere, arguments_of
from .dependence import Dependences
from .operation import MARKS, HybridOp
from .parser import Parser
from .plain import run_plain
from .scripted import Scripted
from .written import Written


class HybridFunction(Scripted):
    """A function that was given to `script`: of tensors it makes an operation, of arrays it computes in Python."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        functools.update_wrapper(self, function)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return the tensor, or the tuple of tensors, that it computes; of NumPy arrays its result as arrays."""
        values = (*args, *kwargs.values())
        if not anywhere((Tensor, Expr), values):
            arguments_of(self.source.name, self.signature, args, kwargs)
            return run_plain(self, args, kwargs)
        if anywhere(np.ndarray, values):
            raise UserTypeError(
                f"te.hybrid '{self.source.name}' of tensors and of arrays",
                because="tensors are compiled, and of arrays it runs in Python at once",
                legal="tensors and numbers, or arrays and numbers",
            )
        op = operation(self, Given(self.source.name, self.signature, args, kwargs))
        return op.output(0) if op.num_outputs == 1 else op.outputs

    def __repr__(self) -> str:
        return f"<hybrid function {self.source.name}>"


def script(function: Callable[..., Any]) -> HybridFunction:
    """Return a function of tensors that computes what the Python function says, loop by loop.

    The function is a subset of Python: loops over `range`, `unroll`, `vectorize`, `parallel`, `const_range`, `bind`,
    `grid`; if, assignments, assert; arithmetic with the meaning that it has everywhere in te; the functions of te by
    their names alone; `output_tensor(shape, dtype)`, `allocate(shape, dtype, scope)`; calls of other hybrid functions.
    With NumPy arrays it runs as plain Python.

        @te.hybrid.script
        def outer(a, b):
            c = output_tensor((a.shape[0], b.shape[0]), a.dtype)
            for i in range(a.shape[0]):
                for j in range(b.shape[0]):
                    c[i, j] = a[i] * b[j]
            return c

        C = outer(A, B)
    """
    if isinstance(function, Scripted) or not hasattr(function, "__code__"):
        raise UserTypeError(
            f"te.hybrid.script of {function!r}",
            because="it is no Python function" if not isinstance(function, Scripted) else "it is one already",
            legal="@te.hybrid.script above a def",
        )
    return HybridFunction(function)


def operation(function: HybridFunction, given: Given) -> HybridOp:
    """Return the operation that the function is of these arguments."""
    written = Written()
    written.stored.update(given.tensors.values())
    results = Parser(function.source, given.values, function.captured(), written).run()
    buffers = {result.buffer for result in results}
    _check_returned(function, written, buffers)
    body = _without(written.block.stmt(), buffers)
    _check_races(function, body)
    return HybridOp(
        function.source.name,
        tag_of(""),
        caller(),
        tuple(given.tensors),
        tuple(given.tensors.values()),
        [result.buffer for result in results],
        body,
        written.requires,
    )


def _check_returned(function: HybridFunction, written: Written, returned: set[Buffer]) -> None:
    made = [value for value in written.outputs if value not in returned]
    if made:
        raise UserError(
            function.source.asked(f"output_tensor '{made[0].name}' is not returned"),
            because="its values would be lost",
            legal=f"return it, or make '{made[0].name}' by allocate",
            location=made[0].loc,
        )


def _without(body: Stmt, results: set[Buffer]) -> Stmt:
    """Return the body without allocations of results: a called function's result that is returned is the caller's."""
    return rewrite(body, stmts={Alloc: lambda node: node.body if node.buffer in results else node})


def _check_races(function: HybridFunction, body: Stmt) -> None:
    """Refuse a loop whose iterations were asked to run at once, where they need one another."""
    dependences = Dependences(body)
    for loop in walk(body):
        if isinstance(loop, For) and loop.kind in MARKS:
            reason = dependences.between_iterations(loop)
            if reason:
                kind = f"bind {loop.thread}" if loop.thread else loop.kind.value
                raise UserError(
                    function.source.asked(f"the iterations of '{loop.var.name}' at once ({kind})"),
                    because=reason,
                    legal="range; or two loops, where one part needs the whole of the other",
                    location=loop.loc,
                )
