"""The derivatives of a tensor by the tensors that it is computed from."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from ...errors import UserError, UserTypeError
from ...ir import expr as E
from ...ir import make
from ..graph import post_order, scan_body, scan_reads
from ..linear import same_number
from ..shape import plain
from ..tensor import ComputeOp, Operation, ScanOp, Tensor
from .adjoint import Adjoint, Scatter
from .forward import Frame
from .reverse import Reverse, axis_names
from .spread import through
from .stages import Stages
from .through_time import moving, through_time


def gradient(output: Tensor, inputs: Sequence[Tensor] | Tensor, head: Tensor | None = None) -> list[Tensor]:
    """Return for each of `inputs` how `output` changes with it: tensors to schedule and build like any other.

    head   what is wanted, as weights of the output's elements: a tensor of shape (..., *output.shape). The results have
           the shapes (..., *input.shape). Without one every element of the output is wanted: (*output.shape,
           *input.shape), the Jacobian

        Y = te.compute((n, m), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="Y")
        dA, dB = te.gradient(Y, [A, B], head=dY)       dA[i, k] = sum of dY[i, j] * B[k, j] over j

    Inputs of integer types have a gradient of zeros, as have those that `output` does not depend on. Where a function
    has a corner the gradient is a slope of one side: max and min pass everything to one of their operands.
    UserError for an operation whose inside is not known, and for what exists only within a step of a scan.
    """
    wanted = _tensors(output, inputs)
    asked = f"te.gradient of '{output.name}'"
    _check_output(asked, output)
    if head is not None:
        _check_head(asked, output, head)
    order = post_order([output], reads=_reads)
    _check_outside_of_steps(asked, wanted, order)
    stages = Stages([*order, *(tensor.op for tensor in wanted), *([] if head is None else [head.op])])
    leading = output.shape if head is None else head.shape[: head.ndim - output.ndim]
    prefix = tuple(stages.axis(f"d{dim}", extent) for dim, extent in enumerate(leading))
    reverse = Reverse(asked, stages, Frame(), prefix, moving(order, wanted, _reads))
    _begin(reverse, output, head)
    for op in reversed(order):
        if any(tensor in reverse.active for tensor in _reads(op)):
            _spread(reverse, op)
    return _results(reverse, wanted, head)


def _reads(op: Operation) -> tuple[Tensor, ...]:
    """Return what an operation reads; a scan is one operation, whose steps are its own."""
    return scan_reads(op) if isinstance(op, ScanOp) else op.input_tensors


def _begin(reverse: Reverse, output: Tensor, head: Tensor | None) -> None:
    """Give the output its adjoint: the head, or of each row of the identity the one element that is not 0."""
    if head is None:
        reverse.add(output, Scatter(output.name, (), reverse.prefix, make.TRUE, make.const(1, output.dtype)))
        return
    axes = reverse.stages.axes_of(output, axis_names(output, ()))
    reverse.set(output, Adjoint(axes, E.TensorRead(head, (*reverse.prefix, *axes))))


def _spread(reverse: Reverse, op: Operation) -> None:
    if isinstance(op, ComputeOp):
        reverse.spread(op)
    elif isinstance(op, ScanOp):
        through_time(reverse, op)
    elif any(reverse.adjoint(tensor) is not None for tensor in op.outputs):
        raise UserError(
            through(reverse.asked, op),
            because=f"it comes from {type(op).__name__}, whose inside is not known",
            legal="a gradient by its results, a te.compute in its place",
        )


def _results(reverse: Reverse, wanted: Sequence[Tensor], head: Tensor | None) -> list[Tensor]:
    """Return the adjoints as tensors of their own, each once."""
    results: list[Tensor] = []
    for tensor in wanted:
        name, adjoint = f"{tensor.name}.grad", reverse.whole(tensor)
        if adjoint is None:
            axes = reverse.stages.axes_of(tensor, axis_names(tensor, ()))
            adjoint = Adjoint(axes, make.const(0, tensor.dtype))
        everywhere, value = (*reverse.prefix, *adjoint.axes), adjoint.value
        made = value.tensor if isinstance(value, E.TensorRead) and value.indices == everywhere else None
        if made is None or made is head or made in results or made.name != name:
            made = reverse.stages.pointwise(name, everywhere, value)
        results.append(made)
    return results


def _tensors(output: Any, inputs: Any) -> tuple[Tensor, ...]:
    given = (inputs,) if isinstance(inputs, Tensor) else inputs
    listed = tuple(given) if isinstance(given, (tuple, list)) else (given,)
    for role, one in (("output", output), *(("input", one) for one in listed)):
        if not isinstance(one, Tensor):
            raise UserTypeError(
                f"te.gradient: {role} {one!r}", because=f"it is a {type(one).__name__}", legal="a tensor"
            )
    return listed


def _check_output(asked: str, output: Tensor) -> None:
    if not output.dtype.is_float:
        raise UserError(asked, because=f"it is {output.dtype}, which has no slope", legal="a tensor of a float type")


def _check_head(asked: str, output: Tensor, head: Any) -> None:
    if not isinstance(head, Tensor):
        raise UserTypeError(f"{asked}: head {head!r}", because=f"it is a {type(head).__name__}", legal="a tensor")
    legal = f"a tensor of shape (..., {', '.join(map(plain, output.shape))}) and type {output.dtype}"
    if head.dtype is not output.dtype:
        raise UserError(
            f"{asked}: head '{head.name}'", because=f"it is {head.dtype}, the output {output.dtype}", legal=legal
        )
    last = head.shape[head.ndim - output.ndim :] if head.ndim >= output.ndim else ()
    if len(last) != output.ndim or not all(map(same_number, last, output.shape)):
        raise UserError(
            f"{asked}: head '{head.name}'",
            because=f"its shape ({', '.join(map(plain, head.shape))}) does not end in the output's",
            legal=legal,
        )


def _check_outside_of_steps(asked: str, wanted: Sequence[Tensor], order: Collection[Operation]) -> None:
    for scan in (op for op in order if isinstance(op, ScanOp)):
        inside = {*scan_body(scan), *(state.op for state in scan.state_placeholder)}
        for tensor in wanted:
            if tensor.op in inside:
                raise UserError(
                    f"{asked} by '{tensor.name}'",
                    because=f"'{tensor.name}' exists only within a step of scan '{scan.name}'",
                    legal=f"'{scan.output(0).name}', what the scan reads",
                )
