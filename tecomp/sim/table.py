"""A profile as text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from .counts import GlobalTraffic, SharedTraffic
from .roofline import duration, quantity

_GLOBAL: Final = ("global_load", "global_store", "global_atomic", "global_copy")
_SHARED: Final = ("shared_load", "shared_store", "shared_atomic", "shared_copy")
_LINE: Final = "  {:<16}{:>12}{:>14}{:>13}{:>13}  {}"
_SHOWN: Final = 0.01
"""Bounds that take less of the longest are left out."""


def rows(profile: Any) -> Iterator[str]:
    """Yield the lines of a profile's table."""
    yield f"{profile.name} on {profile.gpu.name}: at least {duration(profile.seconds)}"
    if profile.sampled:
        yield "only some blocks ran: counts are theirs times what the grid has more"
    for kernel in profile.kernels.values():
        yield ""
        yield from _kernel(kernel)


def _kernel(kernel: Any) -> Iterator[str]:
    counts, held = kernel.counts, kernel.occupancy
    often = "" if counts.launches == 1 else f"{counts.launches} launches, "
    yield f"{kernel.name}: {often}{counts.blocks} blocks of {counts.threads} threads"
    registers = "unknown" if held.registers is None else f"{held.registers} a thread"
    yield (
        f"  an SM holds {held.blocks} blocks, {held.warps} of {held.most_warps} warps, limited by {held.limit}"
        f" (registers: {registers}; shared memory: {counts.shared} bytes a block)"
    )
    yield from _traffic(counts)
    total = sum(counts.instructions.values())
    yield f"  instructions of warps {total}: {_listed(counts.instructions)}"
    if counts.named:
        yield f"  of these {_listed(counts.named)}"
    if counts.flops:
        yield f"  flops {_listed(counts.flops)}"
    if counts.matrix:
        yield f"  matrix instructions {counts.matrix}, flops {_listed(counts.matrix_flops)}"
    yield f"  bound by {kernel.bound.name}, estimated:"
    for bound in kernel.bounds:
        if bound.seconds > _SHOWN * kernel.seconds:
            yield f"    {bound.name:<18}{duration(bound.seconds):>9}  {bound.amount}"


def _traffic(counts: Any) -> Iterator[str]:
    used = [(name, getattr(counts, name)) for name in _GLOBAL if getattr(counts, name).requests]
    if used:
        yield _LINE.format("global memory", "requests", "bytes", "sectors", "a request", "bytes used of those moved")
    yield from (_global(name, one) for name, one in used)
    used = [(name, getattr(counts, name)) for name in _SHARED if getattr(counts, name).requests]
    if used:
        yield _LINE.format("shared memory", "requests", "bytes", "wavefronts", "a request", "conflicts")
    yield from (_shared(name, one) for name, one in used)


def _global(name: str, one: GlobalTraffic) -> str:
    kind, ratio = name.partition("_")[2], f"{one.sectors_per_request:.2f}"
    return _LINE.format(
        f"  {kind}", one.requests, f"{quantity(one.bytes)}B", one.sectors, ratio, f"{one.efficiency:.0%}"
    )


def _shared(name: str, one: SharedTraffic) -> str:
    kind, ratio = name.partition("_")[2], f"{one.wavefronts_per_request:.2f}"
    return _LINE.format(f"  {kind}", one.requests, f"{quantity(one.bytes)}B", one.wavefronts, ratio, one.conflicts)


def _listed(sums: dict[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in sorted(sums.items(), key=lambda item: -item[1]) if count)
