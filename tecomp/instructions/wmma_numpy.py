"""What the instructions on fragments do in the simulator: the elements of a matrix are shared out among a warp."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ..ir.matrix import Instruction
from ..target.limits import WARP
from .matrix_numpy import gather, scatter, type_of, warps_at
from .matrix_values import multiply_add


def _of_warps(g: Any, value: Any, warps: Any) -> Any:
    """Return what each warp has, as its first lane says."""
    return np.broadcast_to(value, (g.size,))[warps].astype(np.int64)


def _elements(g: Any, of: Any, number: Any, extents: tuple[int, int], warps: Any) -> tuple[Any, Any]:
    """Return the elements of one matrix of a fragment, (warps, rows, columns), and who stands for each."""
    size = extents[0] * extents[1]
    start = _of_warps(g, of.offset, warps) + _of_warps(g, number, warps) * size
    flat = start[:, None] + np.arange(size)
    return flat, warps[:, None] + np.arange(size) % WARP


def _memory(g: Any, place: Any, stride: Any, instruction: Instruction, extents: tuple[int, int], warps: Any) -> Any:
    """Return where the elements of a matrix lie in memory, (warps, rows * columns)."""
    rows, columns = extents
    row, column = (part.ravel() for part in np.indices((rows, columns)))
    step = _of_warps(g, stride, warps)[:, None]
    further = row * step + column if instruction.layout == "row" else column * step + row
    return _of_warps(g, place.offset, warps)[:, None] + further


def _scope(of: Any) -> str:
    return of.memory.buffer.scope


def _fill(instruction: Instruction) -> Callable[..., None]:
    def run(g: Any, site: Any, mask: Any, to: Any, number: Any, value: Any) -> None:
        warps = warps_at(g, site, mask)
        flat, lane = _elements(g, to, number, instruction.shape.of(_scope(to)), warps)
        filled = np.asarray(value).astype(to.memory.data.dtype).ravel()[:1]
        scatter(g, to, flat, lane, np.broadcast_to(filled, flat.shape))

    return run


def _load(instruction: Instruction) -> Callable[..., None]:
    def run(g: Any, site: Any, mask: Any, to: Any, number: Any, source: Any, stride: Any) -> None:
        warps, extents = warps_at(g, site, mask), instruction.shape.of(_scope(to))
        flat, lane = _elements(g, to, number, extents, warps)
        values = gather(g, source, _memory(g, source, stride, instruction, extents, warps), lane)
        scatter(g, to, flat, lane, values)

    return run


def _store(instruction: Instruction) -> Callable[..., None]:
    def run(g: Any, site: Any, mask: Any, of: Any, number: Any, target: Any, stride: Any) -> None:
        warps, extents = warps_at(g, site, mask), instruction.shape.of(_scope(of))
        flat, lane = _elements(g, of, number, extents, warps)
        scatter(g, target, _memory(g, target, stride, instruction, extents, warps), lane, gather(g, of, flat, lane))

    return run


def _multiply(instruction: Instruction) -> Callable[..., None]:
    def run(g: Any, site: Any, mask: Any, *operands: Any) -> None:
        warps = warps_at(g, site, mask)
        values: list[Any] = []
        for of, number in zip(operands[2::2], operands[3::2], strict=True):
            extents = instruction.shape.of(_scope(of))
            flat, lane = _elements(g, of, number, extents, warps)
            values.append(gather(g, of, flat, lane).reshape(-1, *extents))
        d, number = operands[:2]
        flat, lane = _elements(g, d, number, instruction.shape.of(_scope(d)), warps)
        m, n, k = instruction.shape
        g.run.multiplied(len(warps), 2 * m * n * k, type_of(operands[2]))
        a, b, c = values
        scatter(g, d, flat, lane, multiply_add(a, b, c, type_of(d)).reshape(flat.shape))

    return run


MEANINGS: Final[dict[str, Callable[[Instruction], Callable[..., None]]]] = {
    "fill": _fill,
    "load": _load,
    "store": _store,
    "mma": _multiply,
}
"""What makes the meaning of an instruction, by its verb."""
