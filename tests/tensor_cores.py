"""Programs for tensor cores, made by tensorize, that several tests run: matrix products and a convolution."""

from __future__ import annotations

from typing import Any

from tecomp import te
from tecomp.ir.matrix import Shape
from tecomp.tir.tensor_intrin import cuda

Program = tuple[Any, list[Any]]


def matmul(
    M: Any, N: Any, K: Any, *, factor: str = "float16", result: str = "float32", shape: Shape = cuda.SQUARE,
    b_layout: str = "row_major", block: tuple[int, int, int] = (32, 32, 16), warp: tuple[int, int] = (16, 16),
    vector: int = 1, pad: int = 0,
) -> Program:  # fmt: skip
    """C = A @ B (B transposed where it is col_major): blocks of `block`, warps of `warp`, both factors staged in shared
    memory, whose rows `pad` more elements part."""
    by_row = b_layout == "row_major"
    A = te.placeholder((M, K), factor, name="A")
    B = te.placeholder((K, N) if by_row else (N, K), factor, name="B")
    k = te.reduce_axis((0, K), name="k")
    C = te.compute(
        (M, N),
        lambda i, j: te.sum(A[i, k].astype(result) * (B[k, j] if by_row else B[j, k]).astype(result), axis=k),
        name="C",
    )
    s = te.create_schedule(C.op)
    AS, BS = (s.cache_read(X, "shared", [C]) for X in (A, B))
    AF, BF = s.cache_read(AS, "wmma.matrix_a", [C]), s.cache_read(BS, "wmma.matrix_b", [C])
    CF = s.cache_write(C, "wmma.accumulator")

    by, bx, ty, tx = (te.thread_axis(f"{tag}") for tag in ("blockIdx.y", "blockIdx.x", "threadIdx.y", "threadIdx.x"))
    io, jo, ii, ji = s[C].tile(*s[C].op.axis, *block[:2])
    iw, jw, ii, ji = s[C].tile(ii, ji, *warp)
    warps = s[C].fuse(iw, jw)
    s[C].bind(io, by)
    s[C].bind(jo, bx)
    s[C].bind(warps, ty)
    _, _, inner, _ = s[C].tile(ii, ji, shape.m, shape.n)
    s[C].tensorize(inner, cuda.wmma_store(result, shape))

    s[CF].compute_at(s[C], warps)
    _, _, ii, ji = s[CF].tile(*s[CF].op.axis, shape.m, shape.n)
    outer, k2 = s[CF].split(s[CF].op.reduce_axis[0], factor=shape.k)
    ko, ki = s[CF].split(outer, factor=block[2] // shape.k)
    i1, j1 = s[CF].leaf_iter_vars[:2]
    s[CF].reorder(ko, ki, i1, j1, ii, ji, k2)
    s[CF].tensorize(ii, cuda.wmma_mma(factor, result, shape, b_layout=b_layout))

    for X, scope, layout in ((AF, "wmma.matrix_a", "row_major"), (BF, "wmma.matrix_b", b_layout)):
        s[X].compute_at(s[CF], ki)
        matrix = shape.of(scope)
        _, _, inner, _ = s[X].tile(*s[X].op.axis, *(matrix if layout == "row_major" else matrix[::-1]))
        s[X].tensorize(inner, cuda.wmma_load(scope, factor, shape, layout))
    for X in (AS, BS):
        s[X].compute_at(s[CF], ko)
        if pad:
            s[X].storage_align(s[X].op.axis[0], 64, pad)
        _cooperative(s, X, (block[0] // warp[0]) * (block[1] // warp[1]), ty, tx, vector)
    return s, [A, B, C]


def _cooperative(s: Any, X: Any, warps: int, ty: Any, tx: Any, vector: int) -> None:
    """Let all threads of a block copy `X`, `vector` elements each at a time."""
    rest, lanes = s[X].split(s[X].fuse(*s[X].op.axis), factor=vector)
    rest, lane = s[X].split(rest, factor=32)
    _, warp = s[X].split(rest, factor=warps)
    s[X].bind(lane, tx)
    s[X].bind(warp, ty)
    if vector > 1:
        s[X].vectorize(lanes)


def convolution(batch: int, size: int, channels: int, filters: int, *, kernel: int = 3, pad: int = 1) -> Program:
    """A 2-D convolution whose images and channels are cut into blocks of 16, so that each pixel is a matrix product."""
    n, c, f = batch // 16, channels // 16, filters // 16
    A = te.placeholder((n, size, size, c, 16, 16), "float16", name="A")
    W = te.placeholder((kernel, kernel, c, f, 16, 16), "float16", name="W")
    rc, kh, kw, rci = (
        te.reduce_axis((0, extent), name=name)
        for extent, name in ((c, "rc"), (kernel, "kh"), (kernel, "kw"), (16, "rci"))
    )
    wide = size + 2 * pad
    padded = te.compute(
        (n, wide, wide, c, 16, 16),
        lambda b, y, x, i, bi, ii: te.if_then_else(
            te.all(y >= pad, y - pad < size, x >= pad, x - pad < size),
            A[b, y - pad, x - pad, i, bi, ii],
            te.const(0.0, "float16"),
        ),
        name="padded",
    )
    out = wide - kernel + 1
    C = te.compute(
        (n, out, out, f, 16, 16),
        lambda b, y, x, o, bi, oi: te.sum(
            padded[b, y + kh, x + kw, rc, bi, rci].astype("float32") * W[kh, kw, rc, o, rci, oi].astype("float32"),
            axis=[rc, kh, kw, rci],
        ),
        name="C",
    )
    s = te.create_schedule(C.op)
    AS, WS = s.cache_read(padded, "shared", [C]), s.cache_read(W, "shared", [C])
    s[padded].compute_inline()
    AF, WF = s.cache_read(AS, "wmma.matrix_a", [C]), s.cache_read(WS, "wmma.matrix_b", [C])
    CF = s.cache_write(C, "wmma.accumulator")
    bz, bx, ty, tx = (te.thread_axis(tag) for tag in ("blockIdx.z", "blockIdx.x", "threadIdx.y", "threadIdx.x"))
    b, y, x, o, bi, oi = s[C].op.axis
    s[C].bind(s[C].fuse(y, x), bz)
    s[C].bind(b, bx)
    s[C].bind(o, ty)
    s[C].tensorize(bi, cuda.wmma_store())
    s[CF].compute_at(s[C], o)
    _, _, _, _, bi, oi = s[CF].op.axis
    rc, kh, kw, rci = s[CF].op.reduce_axis
    s[CF].reorder(rc, kh, kw, bi, oi, rci)
    s[CF].tensorize(bi, cuda.wmma_mma())
    for X, scope in ((AF, "wmma.matrix_a"), (WF, "wmma.matrix_b")):
        s[X].compute_at(s[CF], kw)
        s[X].tensorize(s[X].op.axis[-2], cuda.wmma_load(scope))
    for X in (AS, WS):
        s[X].compute_at(s[CF], kw)
        _cooperative(s, X, f, ty, tx, 1)
    return s, [A, W, C]
