"""Kernels of matrix instructions as text, at level DEVICE.

A line that begins with a name and a bar, `read| barrier_block()`, is what a kernel is not right without; `kernel` can
leave it out.
"""

from __future__ import annotations

import re
from textwrap import dedent

_NAMED = re.compile(r"(?m)^( *)(\w+)\| (.*\n)")

GEMM = """
    def gemm(A: f16[M, K], B: f16[K, N], C: out[f32[M, N]]) -> device:
        with launch(blockIdx_y=M // 64, blockIdx_x=N // 64, threadIdx_x=128) as (by, bx, t):
            S = alloc(f16[2, 64, 40], 'shared')
            T = alloc(f16[2, 32, 72], 'shared')
            d = alloc(f32[2, 4, 4], 'local')
            a = alloc(f16[2, 8], 'local')
            b = alloc(f16[4], 'local')
            m = by * 64
            n = bx * 64
            lane = t % 32
            wm = t // 64 * 32
            wn = t // 32 % 2 * 32
            for i in unrolled(2):
                for j in unrolled(4):
                    for e in unrolled(4):
                        d[i, j, e] = 0.0
            for s in range(K // 32 + 1):
                if s < K // 32:
                    for h in unrolled(2):
                        r = h * 32 + t // 4
                        x = t % 4 * 8
                        cp_async(address(S[s % 2, r, x], 'w'), address(A[m + r, s * 32 + x], 'r'), 16)
                        q = h * 16 + t // 8
                        y = t % 8 * 8
                        cp_async(address(T[s % 2, q, y], 'w'), address(B[s * 32 + q, n + y], 'r'), 16)
                cp_async_commit()
                if 0 < s:
                    copied| cp_async_wait(1)
                    copied_by_all| barrier_block()
                    for k in unrolled(2):
                        o = k * 16 + lane // 16 * 8
                        for i in unrolled(2):
                            v = wm + i * 16 + lane % 16
                            ldmatrix_x4(address(a[i, 0], 'w'), address(S[(s - 1) % 2, v, o], 'r'))
                        for j in unrolled(4):
                            w = k * 16 + lane % 16
                            ldmatrix_x2_trans(address(b, 'w'), address(T[(s - 1) % 2, w, wn + j * 8], 'r'))
                            for i in unrolled(2):
                                mma_m16n8k16(address(d[i, j, 0], 'w'), address(a[i, 0], 'r'), address(b, 'r'), \
address(d[i, j, 0], 'r'))
                    read_by_all| barrier_block()
            for i in unrolled(2):
                for j in unrolled(4):
                    for e in unrolled(4):
                        C[m + wm + i * 16 + e // 2 * 8 + lane // 4, n + wn + j * 8 + lane % 4 * 2 + e % 2] = d[i, j, e]
"""
"""Tiles of 64 x 64 x 32: four warps have 32 x 32 sums each; while they multiply, the next tiles are copied."""

_FACTORS = """
            S = alloc(f16[64, 64], 'shared')
            T = alloc(f16[64, 64], 'shared')
            bar = alloc(u64[1], 'shared')
            d = alloc(f32[32], 'local')
            if t == 0:
                mbarrier_init(address(bar[0], 'w'), 1)
                fence_mbarrier_init()
            barrier_block()
            for s in range(K // 64):
                x = s * 64
                if t == 0:
                    mbarrier_arrive_expect_tx(address(bar[0], 'rw'), 16384)
                    tensor_load_2d(address(S, 'w'), address(A, 'r'), address(bar[0], 'rw'), 128, 64, 64, x, by * 64)
                    tensor_load_2d(address(T, 'w'), address(B, 'r'), address(bar[0], 'rw'), 128, 64, 64, x, bx * 64)
                mbarrier_wait(address(bar[0], 'rw'), s % 2)
                fenced| wgmma_fence()
                for k in unrolled(4):
                    wgmma_m64n64k16(address(d, 'rw'), address(S[0, k * 16], 'r'), address(T[0, k * 16], 'r'), \
128, 16, 1024, 0, 128, 16, 1024, 0, i32(0 < s + k))
                wgmma_commit()
                multiplied| wgmma_wait(0)
                barrier_block()
"""

WGMMA = (
    """
    def f(A: f16[M, K], B: f16[N, K], C: out[f32[M, N]]) -> device:
        with launch(blockIdx_y=M // 64, blockIdx_x=N // 64, threadIdx_x=128) as (by, bx, t):
            u = by * 64 + t // 32 * 16 + t % 32 // 4
            v = bx * 64 + t % 4 * 2
"""
    + _FACTORS.lstrip("\n")
    + """\
            for e in unrolled(32):
                C[u + e // 2 % 2 * 8, v + e // 4 * 8 + e % 2] = d[e]
"""
)
"""C = A @ B.T: one warpgroup has 64 x 64 sums, of factors that are copied and lie in lines of 128 bytes, swizzled."""

STORED = (
    """
    def f(A: f16[M, K], B: f16[N, K], C: out[f16[M, N]]) -> device:
        with launch(blockIdx_y=M // 64, blockIdx_x=N // 64, threadIdx_x=128) as (by, bx, t):
            O = alloc(f16[64, 64], 'shared')
            h = alloc(f16[8], 'local')
"""
    + _FACTORS.lstrip("\n")
    + """\
            for j in unrolled(4):
                for e in unrolled(8):
                    h[e] = f16(d[j * 8 + e])
                r = t // 32 * 16 + t % 16
                stmatrix_x4(address(O[r, (j * 2 + t % 32 // 16 ^ r % 8) * 8], 'w'), address(h, 'r'))
            seen| fence_proxy_async()
            barrier_block()
            if t == 0:
                tensor_store_2d(address(C, 'w'), address(O, 'r'), 128, 64, 64, bx * 64, by * 64)
                bulk_commit()
                bulk_wait(0)
"""
)
"""As WGMMA, in float16: the sums go through shared memory, swizzled, and one thread copies them."""


def kernel(text: str, m: int, n: int, k: int, without: str = "") -> str:
    """Return the text of a kernel for matrices of that size, without the lines of that name."""

    def line(match: re.Match[str]) -> str:
        return "" if match[2] == without else match[1] + match[3]

    assert not without or f" {without}| " in text
    sized = re.sub(r"\b[MNK]\b", lambda found: str({"M": m, "N": n, "K": k}[found[0]]), text)
    return dedent(_NAMED.sub(line, sized)).strip() + "\n"
