"""Gradients compared with differences of the function itself, in float64."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

import tecomp
from tecomp import te
from tecomp.ir.interpret import interpret
from tecomp.te.graph import post_order
from tecomp.te.tensor import PlaceholderOp, ScanOp, Tensor

STEP = 1e-6
SEED = 11

Values = Mapping[Tensor, Any]


def check(output: Tensor, values: Values, *by: Tensor, target: str = "llvm", tolerance: float = 1e-6) -> list[Tensor]:
    """Assert that the gradients of `output`, under a random head, are those that differences give.

    By the tensors `by`, or by all of float64 for which there are values.
    """
    wanted = list(by) or [tensor for tensor in values if tensor.dtype == "float64"]
    sizes = sizes_of(values)
    shape = tuple(number(extent, sizes) for extent in output.shape)
    head = te.placeholder(output.shape, "float64", name="head")
    weights = np.random.default_rng(SEED).normal(size=shape)
    made = te.gradient(output, wanted, head=head)
    found = run(made, {**values, head: weights}, [values[tensor].shape for tensor in wanted], target)
    forward = placeholders(output)
    kernel = tecomp.build(te.create_schedule(output.op), [*forward, output])

    def loss(changed: Tensor, array: Any) -> float:
        result = np.empty(shape)
        kernel(*({**values, changed: array}[arg] for arg in forward), result)
        return float((result * weights).sum())

    for tensor, gradient in zip(wanted, found, strict=True):
        expected = np.zeros_like(values[tensor])
        for at, up, down in both_sides(values[tensor]):
            expected[at] = (loss(tensor, up) - loss(tensor, down)) / (2 * STEP)
        np.testing.assert_allclose(gradient, expected, rtol=tolerance, atol=tolerance * 10, err_msg=repr(tensor))
    return made


def both_sides(array: Any) -> Iterator[tuple[tuple[int, ...], Any, Any]]:
    """Yield each index with the arrays that differ there by a step up and a step down."""
    for at in np.ndindex(array.shape):
        up, down = array.copy(), array.copy()
        up[at] += STEP
        down[at] -= STEP
        yield at, up, down


def run(outputs: Sequence[Tensor], values: Values, shapes: Sequence[Any], target: str = "llvm") -> list[Any]:
    """Return what the outputs are for these values of the placeholders."""
    args = list(dict.fromkeys(given for output in outputs for given in placeholders(output)))
    results = [np.full(shape, -99, output.dtype) for output, shape in zip(outputs, shapes, strict=True)]
    schedule = te.create_schedule([output.op for output in outputs])
    arrays = [*(values[arg] for arg in args), *results]
    if target == "interpreter":
        interpret(tecomp.lower(schedule, [*args, *outputs]), *arrays)
    else:
        tecomp.build(schedule, [*args, *outputs], target=target)(*arrays)
    return results


def placeholders(output: Tensor) -> list[Tensor]:
    """Return the tensors that the caller gives, in the order in which they are read."""
    order = post_order([output])
    states = {state for op in order if isinstance(op, ScanOp) for state in op.state_placeholder}
    return [op.output(0) for op in order if isinstance(op, PlaceholderOp) and op.output(0) not in states]


def sizes_of(values: Values) -> dict[Any, int]:
    """Return what the sizes are, by the arrays."""
    pairs = ((tensor.shape, array.shape) for tensor, array in values.items())
    return {extent: size for shape, sizes in pairs for extent, size in zip(shape, sizes, strict=True)}


def number(extent: Any, sizes: Mapping[Any, int]) -> int:
    """Return an extent as a number."""
    return sizes[extent] if extent in sizes else int(extent)


def drawn(*shape: int, low: float = 0.2, high: float = 0.9) -> Any:
    """Return random numbers, the same ones at every call with this shape."""
    return np.random.default_rng(SEED + sum(shape)).uniform(low, high, size=shape)


def body(tensor: Tensor) -> str:
    """Return the text of a tensor's formula."""
    return repr(tensor.op.body[tensor.value_index])
