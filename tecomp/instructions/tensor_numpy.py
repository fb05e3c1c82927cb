"""What copies of boxes of tensors do in the simulator: elements outside of the tensor are zero, and are not written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from ..ir.instruction import RANKS
from .bulk_numpy import begin_store, fly
from .meeting import mbarrier_at
from .touching import Located, seen_by_async
from .wgmma_layout import swizzled


class Box(NamedTuple):
    """A box of a tensor and where it lies in shared memory: elements of each, and which of them the tensor has."""

    tensor: Any
    shared: Any
    inside: Any


class Tensor(NamedTuple):
    """The extents of a tensor, and how many elements lie between neighbours, innermost first."""

    extents: Sequence[int]
    steps: Sequence[int]


def _box(shared: Any, start: int, tensor: Tensor, swizzle: int, box: Sequence[int], at: Sequence[int]) -> Box:
    """Return the elements of a box: its extents `box` and its corner `at`, innermost first."""
    axes = np.meshgrid(*(np.arange(count) for count in reversed(box)), indexing="ij")
    inside, element = np.bool_(True), np.int64(0)
    for extent, step, corner, along in zip(*tensor, at, reversed(axes), strict=True):
        place = corner + along
        inside = inside & (place >= 0) & (place < extent)
        element = element + place * step
    item = shared.memory.data.itemsize
    begin = shared.memory.address + start * item
    bytes_ = swizzled(begin + np.arange(int(np.prod(box))) * item, swizzle)
    return Box(np.ravel(element), (bytes_ - shared.memory.address) // item, np.ravel(inside))


def tensor_load(rank: int) -> Callable[..., None]:
    """Return the meaning of a copy to shared memory, which a barrier in memory counts when it lands."""

    def run(g: Any, site: Any, mask: Any, dst: Any, tensor: Any, at: Any, swizzle: Any, *rest: Any) -> None:
        sizes, corners, shape = rest[:rank], rest[rank : 2 * rank], rest[2 * rank :]
        for lane, key in mbarrier_at(g, site, mask, at):
            g.run.meetings.mbarrier(key).check_seen(g, site, lane)
            box = _of(g, dst, lane, shape, swizzle, sizes, corners)
            g.run.tally("tensor copy", 1)
            lanes = np.full(len(box.shared), lane)
            to = g.elements(dst.site, dst.memory, box.shared, lanes, "writes")
            kept = np.arange(len(lanes)) if to.at is None else to.at
            inside, source = box.inside[kept], np.where(box.inside[kept], box.tensor[kept], 0)
            g.checked_read(tensor.site, tensor.memory, Located(source[inside], to.lane[inside], None), verb="copy load")
            seen_by_async(g, site, dst, to.x, to.lane, "written")
            g.checked_write(dst.site, dst.memory, to, verb="copy store")
            size = len(box.shared) * dst.memory.data.itemsize
            fly(g, site, dst, to.x, tensor.memory, source, to.lane, size, key, ~inside)

    return run


def tensor_store(rank: int) -> Callable[..., None]:
    """Return the meaning of a copy from shared memory."""

    def run(g: Any, site: Any, mask: Any, tensor: Any, src: Any, swizzle: Any, *rest: Any) -> None:
        sizes, corners, shape = rest[:rank], rest[rank : 2 * rank], rest[2 * rank :]
        for lane in g.lanes_of(mask).tolist():
            box = _of(g, src, lane, shape, swizzle, sizes, corners)
            g.run.tally("tensor copy", 1)
            lanes = np.full(int(box.inside.sum()), lane)
            of = g.elements(src.site, src.memory, box.shared[box.inside], lanes, "reads")
            kept = np.arange(len(lanes)) if of.at is None else of.at
            begin_store(g, site, tensor, box.tensor[box.inside][kept], src, of.x, of.lane)

    return run


def _of(g: Any, shared: Any, lane: int, shape: Any, swizzle: Any, sizes: Any, corners: Any) -> Box:
    start = int(np.broadcast_to(shared.offset, (g.size,))[lane])
    at = [int(np.broadcast_to(corner, (g.size,))[lane]) for corner in corners]
    box, whole = [int(size) for size in sizes], [int(number) for number in shape]
    rank = len(box)
    return _box(shared, start, Tensor(whole[rank - 1 :: -1], whole[: rank - 1 : -1]), int(swizzle), box, at)


TENSOR_NUMPY: Final[dict[str, Callable[..., Any]]] = {
    **{f"tensor_load_{rank}d": tensor_load(rank) for rank in RANKS},
    **{f"tensor_store_{rank}d": tensor_store(rank) for rank in RANKS},
}
"""What each does; behind the operands of the call they get the extents of the tensor and its strides in elements,
outermost first."""
