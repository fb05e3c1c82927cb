"""What a launch may ask of the target, checked where it is known when the program is built."""

from __future__ import annotations

import math
from typing import Final

from ..arith import modular
from ..errors import UnsupportedError
from ..ir import expr as E
from ..ir.stmt import CLUSTER, Launch
from ..target import Target
from ..te.shape import plain

BLOCK_TAGS: Final = ("threadIdx.x", "threadIdx.y", "threadIdx.z")
GRID_TAGS: Final = ("blockIdx.x", "blockIdx.y", "blockIdx.z")
CLUSTERS_SINCE: Final = 90
MOST_IN_CLUSTER: Final = 8


def check_launch(node: Launch, kernel: str, target: Target) -> int:
    """Return the most threads a block of `kernel` may have; UnsupportedError where `target` allows fewer than it asks.

    Extents that only a call knows are checked by the runtime.
    """
    extents = {tag: var.extent for tag, var in node.threads}
    limits = target.limits
    for tags, most in ((BLOCK_TAGS, limits.block), (GRID_TAGS, limits.grid)):
        for tag, allowed in zip(tags, most, strict=True):
            extent = extents.get(tag)
            if isinstance(extent, E.Const) and extent.value > allowed:
                raise _too_many(node, f"an extent of {extent.value} on {tag} in {kernel}", f"at most {allowed}", target)
    _check_cluster(node, kernel, target)
    block = [extents[tag] for tag in BLOCK_TAGS if tag in extents]
    known = [int(extent.value) for extent in block if isinstance(extent, E.Const)]
    if math.prod(known) > limits.threads_per_block:
        asked = f"{math.prod(known)} threads in a block of {kernel}"
        raise _too_many(node, asked, f"at most {limits.threads_per_block} in a block", target)
    return max(math.prod(known), 1) if len(known) == len(block) else limits.threads_per_block


def _check_cluster(node: Launch, kernel: str, target: Target) -> None:
    """Raise UnsupportedError for clusters that `target` has not, or that do not fill the grid."""
    size, because = cluster_size(node), ""
    grid = next((var.extent for tag, var in node.threads if tag == GRID_TAGS[0]), None)
    if size is None:
        return
    coefficient, remainder = modular(grid) if grid is not None else (0, 1)
    if int("".join(filter(str.isdigit, target.arch))) < CLUSTERS_SINCE:
        because = f"GPUs have clusters from sm_{CLUSTERS_SINCE} on, and the target is {target.arch}"
    elif size > MOST_IN_CLUSTER:
        because = f"a cluster has at most {MOST_IN_CLUSTER}"
    elif coefficient % size or remainder % size:
        because = f"the grid has {'1' if grid is None else plain(grid)} blocks, which need not be a multiple"
    if because:
        legal = f"clusters of a divisor, {MOST_IN_CLUSTER} at most, for sm_{CLUSTERS_SINCE} and later"
        raise UnsupportedError(f"clusters of {size} blocks in {kernel}", because, legal, location=node.loc)


def cluster_size(node: Launch) -> int | None:
    """Return how many blocks of a launch are a cluster; None where they are by themselves."""
    size = next((var.extent for tag, var in node.threads if tag == CLUSTER), None)
    return int(size.value) if isinstance(size, E.Const) else None


def _too_many(node: Launch, asked: str, allowed: str, target: Target) -> UnsupportedError:
    legal = "split the loop further before it is bound"
    return UnsupportedError(asked, because=f"{target.arch} has {allowed}", legal=legal, location=node.loc)


def check_arguments(kernel: str, bytes_of: list[int], target: Target) -> None:
    """Raise UnsupportedError where a kernel has more bytes of arguments than a launch can pass."""
    total = 0
    for size in bytes_of:
        total = -(-total // size) * size + size
    if total > target.limits.parameters:
        raise UnsupportedError(
            f"{len(bytes_of)} arguments of {kernel}",
            because=f"they are {total} bytes, and a launch passes at most {target.limits.parameters}",
            legal="compute_root for some stages, so that each kernel reads fewer tensors",
        )
