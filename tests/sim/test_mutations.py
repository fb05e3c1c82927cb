"""Of kernels less one barrier, wait, fence or guard the simulator finds nearly all, and it is said why not the rest."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from .mutations import Deletion, deletions, kernels

DOCS = Path(__file__).parents[2] / "docs" / "simulator.md"
HARMLESS = {
    ("gemm_of_any_size", "if i < M:"): "a thread that stores nothing sets its accumulator to zero for nothing",
    ("gemm_of_any_size", "if j < N:"): "the same",
    ("maxima_of_odd_blocks", "if threadIdx_x < 5:"): "the maximum of a number and itself is that number",
    ("maxima_of_odd_blocks", "if threadIdx_x < 9:"): "the same",
    ("maxima_of_odd_blocks", "if threadIdx_x < 11:"): "the same",
    ("maxima_of_odd_blocks", "if threadIdx_x < 12:"): "the same",
    ("async_tail", "barrier_block()"): "each thread reads only what it copied itself and waited for",
    ("full_and_empty", "if 2 <= k:"): "a wait for the phase before the first one returns at once",
    ("producer and consumer", "if k < 5:"): "an arrival behind the last wait, which nobody waits for",
    ("of each block its own", "fence_block()"): "the arrival behind it orders the same",
}
"""Deletions that change nothing, with the reason."""
KINDS = {
    *(
        "guard",
        "barrier_block",
        "barrier_warp",
        "barrier_named",
        "barrier_named_arrive",
        "barrier_cluster",
        "barrier_grid",
    ),
    *("fence_block", "fence_mbarrier_init", "fence_proxy_async", "mbarrier_init", "mbarrier_arrive", "mbarrier_wait"),
    *("cp_async_wait", "bulk_wait", "wgmma_fence", "wgmma_wait"),
}
"""What is deleted at least once."""
SHARE = 0.95


def test_the_simulator_finds_what_is_missing() -> None:
    found: list[Deletion] = []
    names: set[str] = set()
    for kernel in kernels():
        more = list(deletions(kernel))
        names |= {kernel.name} if more else set()
        found += more
    missed = {(one.kernel, one.text) for one in found if not one.found}
    caught = len(found) - sum(not one.found for one in found)
    assert len(names) >= 20
    assert {one.kind for one in found} >= KINDS
    assert missed == set(HARMLESS)
    assert caught >= SHARE * len(found), Counter((one.kind, one.found) for one in found)
    reported = sum(one.found not in ("", "wrong") for one in found)
    said = re.search(r"Of (\d+) deletions, (\d+) are found .*: (\d+) are reported", DOCS.read_text())
    assert said is not None
    assert tuple(map(int, said.groups())) == (len(found), caught, reported)
