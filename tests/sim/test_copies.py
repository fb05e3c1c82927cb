"""Asynchronous copies in the simulator: each kernel is right, and without one of its waits or fences is reported."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tecomp.instructions.pending import Groups

from .kernels import Row, Wrong, check_right, checks, f32, zeros

ROWS: dict[str, Row] = {
    "two groups in flight": Row(
        """
        def f(A: f32[4, 64], B: out[f32[64]]) -> device:
            with launch(threadIdx_x=64) as t:
                S = alloc(f32[2, 64], 'shared')
                total: f32
                total = 0.0
                cp_async(address(S[0, t], 'w'), address(A[0, t], 'r'), 4)
                cp_async_commit()
                for k in range(4):
                    if k < 3:
                        cp_async(address(S[(k + 1) % 2, t], 'w'), address(A[k + 1, t], 'r'), 4)
                    cp_async_commit()
                    cp_async_wait(1)
                    barrier_block()
                    total = total + S[k % 2, 63 - t]
                    barrier_block()
                B[t] = total
        """,
        lambda: [f32(4, 64), zeros(64)],
        lambda a, _: a.sum(0)[::-1],
    ),
    "each thread its groups": Row(
        """
        def f(A: f32[2, 128], B: out[f32[2, 128]]) -> device:
            with launch(threadIdx_x=128) as t:
                S = alloc(f32[2, 128], 'shared')
                cp_async(address(S[0, t], 'w'), address(A[0, t], 'r'), 4)
                if t < 64:
                    cp_async_commit()
                cp_async(address(S[1, t], 'w'), address(A[1, t], 'r'), 4)
                cp_async_commit()
                cp_async_wait(1)
                if t < 64:
                    B[0, t] = S[0, t]
                cp_async_wait(0)
                if 64 <= t:
                    B[0, t] = S[0, t]
                B[1, t] = S[1, t]
        """,
        lambda: [f32(2, 128), zeros(2, 128)],
        lambda a, _: a,
    ),
    "committed in two branches": Row(
        """
        def f(A: f32[128], B: out[f32[128]]) -> device:
            with launch(threadIdx_x=128) as t:
                S = alloc(f32[128], 'shared')
                cp_async(address(S[t], 'w'), address(A[t], 'r'), 4)
                if t < 64:
                    cp_async_commit()
                else:
                    if t < 96:
                        cp_async_commit()
                    else:
                        cp_async_commit()
                cp_async_wait(0)
                B[t] = S[t]
        """,
        lambda: [f32(128), zeros(128)],
        lambda a, _: a,
    ),
    "8 halves each": Row(
        """
        def f(A: f16[520], B: out[f16[512]]) -> device:
            with launch(threadIdx_x=64) as t:
                S = alloc(f16[520], 'shared', align=16)
                cp_async(address(S[t * 8], 'w'), address(A[t * 8], 'r'), 16)
                cp_async_commit()
                cp_async_wait(0)
                for k in range(8):
                    B[t * 8 + k] = S[t * 8 + k]
        """,
        lambda: [np.arange(520, dtype="f2"), zeros(512, dtype="f2")],
        lambda a, _: a[:512],
    ),
    "zeros past the end": Row(
        """
        def f(A: f32[200], B: out[f32[256]]) -> device:
            with launch(blockIdx_x=2, threadIdx_x=64) as (b, t):
                S = alloc(f32[128], 'shared', align=16)
                at = b * 128 + t * 2
                cp_async_zfill(address(S[t * 2], 'w'), address(A[at], 'r'), 8, 8 if at < 200 else 0)
                cp_async_commit()
                cp_async_wait(0)
                barrier_block()
                B[b * 128 + t] = S[t]
                B[b * 128 + t + 64] = S[t + 64]
        """,
        lambda: [f32(200) + 1, zeros(256)],
        lambda a, _: np.pad(a, (0, 56)),
    ),
    "zeros of an array of which nothing is read": Row(
        """
        def f(A: f32[4], B: out[f32[64]]) -> device:
            with launch(threadIdx_x=64) as t:
                S = alloc(f32[64], 'shared')
                cp_async_zfill(address(S[t], 'w'), address(A[t], 'r'), 4, 0)
                cp_async_commit()
                cp_async_wait(0)
                B[t] = S[t]
        """,
        lambda: [f32(4), zeros(64) + 1],
        lambda a, _: zeros(64),
    ),
    "a barrier in memory counts threads whose copies have landed": Row(
        """
        def f(A: f32[2, 64], B: out[f32[64]]) -> device:
            with launch(threadIdx_x=64) as t:
                S = alloc(f32[2, 64], 'shared')
                bar = alloc(u64[1], 'shared')
                if t == 0:
                    mbarrier_init(address(bar[0], 'w'), 64)
                barrier_block()
                for k in range(2):
                    cp_async(address(S[k, t], 'w'), address(A[k, t], 'r'), 4)
                cp_async_mbarrier_arrive(address(bar[0], 'rw'))
                mbarrier_wait(address(bar[0], 'rw'), 0)
                B[t] = S[0, 63 - t] + S[1, t]
        """,
        lambda: [f32(2, 64), zeros(64)],
        lambda a, _: a[0, ::-1] + a[1],
    ),
    "bulk there": Row(
        """
        def f(A: f32[3, 64], B: out[f32[3, 64]]) -> device:
            with launch(blockIdx_x=3, threadIdx_x=64) as (b, t):
                S = alloc(f32[64], 'shared', align=128)
                bar = alloc(u64[1], 'shared')
                if t == 0:
                    mbarrier_init(address(bar[0], 'w'), 1)
                    fence_mbarrier_init()
                    mbarrier_arrive_expect_tx(address(bar[0], 'rw'), 256)
                    for part in range(2):
                        bulk_load(address(S[part * 32], 'w'), address(A[b, part * 32], 'r'), 128, address(bar[0], 'rw'))
                barrier_block()
                mbarrier_wait(address(bar[0], 'rw'), 0)
                B[b, t] = S[63 - t]
        """,
        lambda: [f32(3, 64), zeros(3, 64)],
        lambda a, _: a[:, ::-1],
    ),
    "bulk over what threads wrote": Row(
        """
        def f(A: f32[64], B: out[f32[2, 64]]) -> device:
            with launch(threadIdx_x=64) as t:
                S = alloc(f32[64], 'shared', align=128)
                bar = alloc(u64[1], 'shared')
                S[t] = f32(t) * 2.0
                if t == 0:
                    mbarrier_init(address(bar[0], 'w'), 1)
                    fence_mbarrier_init()
                fence_proxy_async()
                barrier_block()
                B[0, t] = S[63 - t]
                barrier_block()
                if t == 0:
                    mbarrier_arrive_expect_tx(address(bar[0], 'rw'), 256)
                    bulk_load(address(S[0], 'w'), address(A[0], 'r'), 256, address(bar[0], 'rw'))
                mbarrier_wait(address(bar[0], 'rw'), 0)
                B[1, t] = S[63 - t]
        """,
        lambda: [f32(64) + 7, zeros(2, 64)],
        lambda a, _: np.stack([f32(64)[::-1] * 2, a[::-1]]),
    ),
    "bulk back": Row(
        """
        def f(A: f32[3, 64], B: out[f32[3, 68]]) -> device:
            with launch(threadIdx_x=64) as t:
                S = alloc(f32[64], 'shared', align=128)
                for k in range(3):
                    S[t] = A[k, t]
                    fence_proxy_async()
                    barrier_block()
                    if t == 0:
                        bulk_store(address(B[k, 4], 'w'), address(S[0], 'r'), 256)
                        bulk_commit()
                        bulk_wait_read(0)
                    barrier_block()
                if t == 0:
                    bulk_wait(0)
        """,
        lambda: [f32(3, 64), zeros(3, 68)],
        lambda a, _: np.pad(a, ((0, 0), (4, 0))),
    ),
    "two of them in flight": Row(
        """
        def f(A: f32[4, 64], B: out[f32[4, 64]]) -> device:
            with launch(threadIdx_x=64) as t:
                S = alloc(f32[2, 64], 'shared', align=128)
                for k in range(4):
                    if t == 0:
                        bulk_wait_read(1)
                    barrier_block()
                    S[k % 2, t] = A[k, t]
                    fence_proxy_async()
                    barrier_block()
                    if t == 0:
                        bulk_store(address(B[k, 0], 'w'), address(S[k % 2, 0], 'r'), 256)
                        bulk_commit()
                if t == 0:
                    bulk_wait_read(0)
        """,
        lambda: [f32(4, 64), zeros(4, 64)],
        lambda a, _: a,
    ),
    "read where it was stored": Row(
        """
        def f(A: f32[64], T: out[f32[64]], B: out[f32[64]]) -> device:
            with launch(threadIdx_x=64) as t:
                S = alloc(f32[64], 'shared', align=128)
                S[t] = A[t]
                fence_proxy_async()
                barrier_block()
                if t == 32:
                    bulk_store(address(T[0], 'w'), address(S[0], 'r'), 256)
                    bulk_commit()
                    bulk_wait(0)
                barrier_block()
                B[t] = T[63 - t]
        """,
        lambda: [f32(64), zeros(64), zeros(64)],
        lambda a, *_: a[::-1],
    ),
    "prefetched": Row(
        """
        def f(A: f32[64], B: out[f32[64]]) -> device:
            with launch(threadIdx_x=64) as t:
                if t < 32:
                    prefetch(A[t + 32])
                B[t] = A[t]
        """,
        lambda: [f32(64), zeros(64)],
        lambda a, _: a,
    ),
}
_ARRIVES = "a barrier in memory counts threads whose copies have landed"
WRONG: list[Wrong] = [
    Wrong("two groups in flight", "cp_async_wait(1)", "cp_async_wait(2)", "async"),
    Wrong("two groups in flight", "cp_async_wait(1)", "pass", "async"),
    Wrong("two groups in flight", "cp_async_commit()\n                for", "for", "async"),
    Wrong("two groups in flight", "cp_async_commit()\n                    cp", "cp", "async"),
    Wrong("two groups in flight", "barrier_block()\n                    total", "total", "race"),
    Wrong("two groups in flight", "barrier_block()\n                B", "B", "race"),
    Wrong("two groups in flight", "A[k + 1, t]", "A[k + 2, t]", "bounds"),
    Wrong("two groups in flight", "S[(k + 1) % 2, t], 'w'", "S[k % 2, t], 'w'", "async"),
    Wrong("each thread its groups", "if t < 64:\n                    B", "if t < 65:\n                    B", "async"),
    Wrong("each thread its groups", "cp_async_wait(0)", "pass", "async"),
    Wrong("committed in two branches", "cp_async_wait(0)", "if t < 96:\n                    cp_async_wait(0)", "async"),
    Wrong("committed in two branches", "else:\n                        cp_async_commit()", "else:\n"
          "                        pass", "async"),
    Wrong("8 halves each", "S[t * 8], 'w'", "S[t * 8 + 4], 'w'", "misaligned"),
    Wrong("8 halves each", "A[t * 8], 'r'", "A[t * 8 + 1], 'r'", "misaligned"),
    Wrong("8 halves each", "A[t * 8], 'r'", "A[t * 8 + 64], 'r'", "bounds"),
    Wrong("zeros past the end", "8 if at < 200 else 0", "8", "bounds"),
    Wrong("zeros past the end", "at < 200", "at < 202", "bounds"),
    Wrong("zeros past the end", "cp_async_wait(0)", "pass", "async"),
    Wrong("zeros of an array of which nothing is read", "4, 0)", "4, 4)", "bounds"),
    Wrong(_ARRIVES, "cp_async_mbarrier_arrive(address(bar[0], 'rw'))", "pass", "deadlock"),
    Wrong(_ARRIVES, "cp_async_mbarrier_arrive", "mbarrier_arrive", "async"),
    Wrong(_ARRIVES, "mbarrier_wait(address(bar[0], 'rw'), 0)", "barrier_block()", "async"),
    Wrong(_ARRIVES, "'w'), 64)", "'w'), 65)", "deadlock"),
    Wrong(_ARRIVES, "'w'), 64)", "'w'), 32)", "async"),
    Wrong("bulk there", "mbarrier_wait(address(bar[0], 'rw'), 0)", "pass", "async"),
    Wrong("bulk there", "fence_mbarrier_init()", "pass", "async"),
    Wrong("bulk there", "'rw'), 256)", "'rw'), 384)", "deadlock"),
    Wrong("bulk there", "'rw'), 256)", "'rw'), 128)", "async"),
    Wrong("bulk there", "range(2)", "range(1)", "deadlock"),
    Wrong("bulk there", "S[part * 32], 'w'", "S[part * 32 + 2], 'w'", "misaligned"),
    Wrong("bulk there", "A[b, part * 32], 'r'", "A[b + 1, part * 32], 'r'", "bounds"),
    Wrong("bulk over what threads wrote", "fence_proxy_async()", "pass", "async"),
    Wrong("bulk over what threads wrote", "barrier_block()\n                if", "if", "race"),
    Wrong("bulk over what threads wrote", "mbarrier_wait(address(bar[0], 'rw'), 0)", "barrier_block()", "async"),
    Wrong("bulk back", "fence_proxy_async()", "pass", "async"),
    Wrong("bulk back", "bulk_commit()", "pass", "async"),
    Wrong("bulk back", "bulk_wait_read(0)", "pass", "async"),
    Wrong("bulk back", "bulk_wait_read(0)", "bulk_wait_read(1)", "async"),
    Wrong("bulk back", "B[k, 4], 'w'", "B[k, 3], 'w'", "misaligned"),
    Wrong("bulk back", "B[k, 4], 'w'", "B[k, 8], 'w'", "bounds"),
    Wrong("bulk back", "barrier_block()\n                    if", "if", "race"),
    Wrong("two of them in flight", "bulk_wait_read(1)", "bulk_wait_read(2)", "async"),
    Wrong("two of them in flight", "bulk_wait_read(0)", "pass", "async"),
    Wrong("two of them in flight", "bulk_wait_read(0)", "bulk_wait_read(1)", "async"),
    Wrong("read where it was stored", "bulk_wait(0)", "pass", "async"),
    Wrong("read where it was stored", "bulk_wait(0)", "bulk_wait_read(0)", "async"),
    Wrong("read where it was stored", "bulk_commit()\n", "pass\n", "async"),
    Wrong("read where it was stored", "barrier_block()\n                B", "B", "race"),
]  # fmt: skip


test_it_is_right, test_it_is_reported = checks(ROWS, WRONG)


class Ended(NamedTuple):
    lane: int
    done: bool


def test_what_has_ended_is_forgotten() -> None:
    """The time of a wait does not grow with what has been waited for before."""
    groups = Groups()
    for done in (True, True, False, True):
        groups.open.append(Ended(3, done))
        groups.commit(np.arange(32))
    assert [[one.done for one in group.operations] for group in groups.groups] == [[False], [True]]
    groups.open.append(Ended(3, True))
    assert list(groups.unended()) == [Ended(3, False), Ended(3, True)] and not groups.open


def test_a_long_pipeline() -> None:
    row = ROWS["two groups in flight"]
    text = row.text.replace("[4, 64]", "[99, 64]").replace("range(4)", "range(99)").replace("k < 3", "k < 98")
    check_right(row._replace(text=text, arrays=lambda: [f32(99, 64), zeros(64)]))
