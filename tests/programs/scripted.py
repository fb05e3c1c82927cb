"""te.hybrid.script: Python functions as stages, among computed ones and alone, on a CPU and a GPU."""

# ruff: noqa: F821 (the names of the language)
from __future__ import annotations

import numpy as np

from tecomp import te

from .subject import Subject, ints, normal, on_cpu, on_gpu


@te.hybrid.script
def blurred(a):
    """The mean of 3 x 3 neighbours, from partial sums that a variable holds."""
    b = output_tensor((a.shape[0] - 2, a.shape[1] - 2), a.dtype)
    for i in range(a.shape[0] - 2):
        for j in range(a.shape[1] - 2):
            total = 0.0
            for u in const_range(3):
                for v in const_range(3):
                    total += a[i + u, j + v]
            b[i, j] = total / 9.0
    return b


@on_cpu(1, 4, 5, large=30)
def hybrid_blur(size):
    """A hybrid blur between a computed producer and a computed reader; its loops divided and reordered."""
    X = te.placeholder((size + 2, size + 2), name="X")
    A = te.compute(X.shape, lambda i, j: X[i, j] + 1, name="A")
    B = blurred(A)
    Y = te.compute(B.shape, lambda i, j: B[i, j] * 2, name="Y")
    s = te.create_schedule(Y.op)
    i, j = B.op.axis[:2]
    jo, ji = s[B].split(j, factor=4)
    s[B].reorder(jo, i, ji)
    s[A].vectorize(s[A].split(A.op.axis[1], factor=4)[1])
    x = normal(size + 2, size + 2)
    view = np.lib.stride_tricks.sliding_window_view(x + 1, (3, 3))
    return Subject(s, [X, Y], [x], [view.mean((2, 3)) * 2])


@te.hybrid.script
def kept(boxes, order, threshold):
    """1 for each box, best first, that overlaps no better kept one by more than the threshold; 0 for the others."""
    keep = output_tensor((boxes.shape[0],), "int32")
    for i in range(boxes.shape[0]):
        keep[i] = 1
    for i in range(boxes.shape[0]):
        p = order[i]
        for j in range(i):
            q = order[j]
            if keep[q] == 1 and keep[p] == 1:
                height = min(boxes[p, 2], boxes[q, 2]) - max(boxes[p, 0], boxes[q, 0])
                width = min(boxes[p, 3], boxes[q, 3]) - max(boxes[p, 1], boxes[q, 1])
                common = max(height, 0.0) * max(width, 0.0)
                one = (boxes[p, 2] - boxes[p, 0]) * (boxes[p, 3] - boxes[p, 1])
                other = (boxes[q, 2] - boxes[q, 0]) * (boxes[q, 3] - boxes[q, 1])
                if common > threshold * (one + other - common):
                    keep[p] = 0
    return keep


def numpy_kept(boxes, order, threshold):
    keep = np.ones(len(boxes), "int32")
    for at, p in enumerate(order):
        for q in order[:at]:
            low, high = np.maximum(boxes[p, :2], boxes[q, :2]), np.minimum(boxes[p, 2:], boxes[q, 2:])
            common = np.clip(high - low, 0, None).prod()
            areas = sum((boxes[one, 2:] - boxes[one, :2]).prod() for one in (p, q))
            if keep[q] and common > threshold * (areas - common):
                keep[p] = 0
    return keep


@on_cpu(1, 5, 9, large=60)
def non_maximum_suppression(count):
    """Boxes in the order of their scores, each dropped that a better one covers; scores of those dropped become -1."""
    B, S = te.placeholder((count, 4), name="boxes"), te.placeholder((count,), name="scores")
    O = te.placeholder((count,), "int32", name="order")
    K = kept(B, O, te.const(0.25, "float32"))
    Y = te.compute((count,), lambda i: te.if_then_else(K[i] > 0, S[i], -1.0), name="Y")
    s = te.create_schedule(Y.op)
    corner = ints(0, 20, count, 2)
    boxes = np.concatenate([corner, corner + ints(4, 16, count, 2)], axis=1)
    scores = np.random.default_rng(count).random(count, dtype=np.float32)
    order = np.argsort(-scores).astype("int32")
    want = np.where(numpy_kept(boxes, order, 0.25) > 0, scores, -1).astype("float32")
    return Subject(s, [B, S, O, Y], [boxes, scores, order], [want], near=0)


@te.hybrid.script
def upper_sums(a):
    """Sums from the diagonal on."""
    b = output_tensor((a.shape[0],), a.dtype)
    for i in range(a.shape[0]):
        b[i] = 0.0
        for j in range(i, a.shape[1]):
            b[i] += a[i, j]
    return b


@on_gpu((1, 1), (4, 7), (9, 9), large=(200, 300))
def hybrid_rows_in_threads(rows, columns):
    """The outer loop of a hybrid function on blocks of 4 threads, its input from a kernel before it."""
    X = te.placeholder((rows, columns), name="X")
    A = te.compute((rows, columns), lambda i, j: X[i, j] * 2, name="A")
    B = upper_sums(A)
    s = te.create_schedule(B.op)
    s[A].bind(A.op.axis[0], te.thread_axis("blockIdx.x"))
    outer, inner = s[B].split(B.op.axis[0], factor=4)
    s[B].bind(outer, te.thread_axis("blockIdx.x"))
    s[B].bind(inner, te.thread_axis("threadIdx.x"))
    x = ints(-9, 9, rows, columns)
    return Subject(s, [X, B], [x], [np.triu(x).sum(1) * 2], near=0)


@te.hybrid.script
def reversed_by_blocks(a):
    """Blocks of 8 turned around through shared memory."""
    b = output_tensor(a.shape, a.dtype)
    for block in bind("blockIdx.x", a.shape[0] // 8):
        t = allocate((8,), a.dtype, "shared")
        for i in bind("threadIdx.x", 8):
            t[i] = a[block * 8 + i]
        for i in bind("threadIdx.x", 8):
            b[block * 8 + i] = t[7 - i]
    return b


@on_gpu(8, 24, large=4096)
def hybrid_shared_memory(size):
    """A hybrid function that binds its own loops and waits between them."""
    X = te.placeholder((size,), "int32", name="X")
    Y = reversed_by_blocks(X)
    x = ints(0, 99, size, dtype="int32")
    return Subject(te.create_schedule(Y.op), [X, Y], [x], [x.reshape(-1, 8)[:, ::-1].reshape(-1)], near=0)
