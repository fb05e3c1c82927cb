"""How far down guards of threads go: to each thread's own work, above nothing that the block shares."""

from __future__ import annotations

from tecomp.ir.parse import parse
from tecomp.ir.text import text
from tecomp.passes.sink import sink_guards

STEPS = """
def f(H: out[f32[n, k]]):
    for t in range(n - 1):
        for tx in thread('threadIdx.x', 4):
            if tx < k:
                R = alloc(f32[1], 'local')
                with scope():
                    S = alloc(f32[4], 'shared')
                    for j in range(4):
                        if j < k:
                            S[j] = H[t, j]
                    R[0] = S[tx] + 1.0
                H[t + 1, tx] = R[0]
"""


def test_what_only_global_memory_needs_stays_under_its_guard() -> None:
    """The next step copies what this one left, which is no reason for all threads to compute it."""
    lines = [line.strip() for line in text(sink_guards(parse(STEPS).body)).splitlines()]
    assert [lines[lines.index(stored) - 1] for stored in ("R[0] = S[tx] + 1.0", "H[t + 1, tx] = R[0]")] == [
        "if tx < k:",
        "if tx < k:",
    ]
