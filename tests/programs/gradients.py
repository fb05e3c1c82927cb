"""te.gradient: reverse mode through products, windows and normalisation, against derivatives written by hand."""

from __future__ import annotations

import numpy as np

from tecomp import te

from .subject import Subject, ints, normal, on_cpu


@on_cpu(1, 3, 5, large=16)
def gradient_of_a_layer(size):
    """d relu(X W) / d X and / d W for a given gradient of the result."""
    X, W = te.placeholder((size, size), name="X"), te.placeholder((size, size), name="W")
    G = te.placeholder((size, size), name="G")
    k = te.reduce_axis((0, size), name="k")
    P = te.compute((size, size), lambda i, j: te.sum(X[i, k] * W[k, j], axis=k), name="P")
    R = te.compute((size, size), lambda i, j: te.max(P[i, j], 0.0), name="R")
    dX, dW = te.gradient(R, [X, W], head=G)
    s = te.create_schedule([dX.op, dW.op])
    x, w, g = ints(-4, 5, 3, size, size)
    through = np.where(x @ w > 0, g, 0).astype("float32")
    x, w, g = (np.ascontiguousarray(one) for one in (x, w, g))
    return Subject(s, [X, W, G, dX, dW], [x, w, g], [through @ w.T, x.T @ through], near=0)


@on_cpu((1, 3), (2, 4), large=(4, 9))
def gradient_of_a_convolution(filters, size):
    """d conv / d W and / d X: sums over places, and a convolution with turned filters."""
    X, W = te.placeholder((size, size), name="X"), te.placeholder((filters, 3, 3), name="W")
    out = size - 2
    G = te.placeholder((filters, out, out), name="G")
    u, v = te.reduce_axis((0, 3), name="u"), te.reduce_axis((0, 3), name="v")
    Y = te.compute((filters, out, out), lambda f, i, j: te.sum(X[i + u, j + v] * W[f, u, v], axis=[u, v]), name="Y")
    dX, dW = te.gradient(Y, [X, W], head=G)
    s = te.create_schedule([dX.op, dW.op])
    x, w, g = ints(-4, 5, size, size), ints(-3, 4, filters, 3, 3), ints(-2, 3, filters, out, out)
    view = np.lib.stride_tricks.sliding_window_view(x, (3, 3))
    wide = np.lib.stride_tricks.sliding_window_view(np.pad(g, ((0, 0), (2, 2), (2, 2))), (3, 3), axis=(1, 2))
    want = np.einsum("fijuv,fuv->ij", wide, w[:, ::-1, ::-1])
    return Subject(s, [X, W, G, dX, dW], [x, w, g], [want, np.einsum("ijuv,fij->fuv", view, g)], near=0)


@on_cpu((1, 2), (3, 4), large=(10, 12))
def gradient_of_softmax_loss(rows, columns):
    """The cross entropy of softmax: its gradient is the softmax less the target."""
    X, T = te.placeholder((rows, columns), name="X"), te.placeholder((rows, columns), name="T")
    k, l, i, j = (
        te.reduce_axis((0, extent), name=name)
        for name, extent in zip("klij", (columns, columns, rows, columns), strict=True)
    )
    top = te.compute((rows,), lambda r: te.max(X[r, k], axis=k), name="top")
    total = te.compute((rows,), lambda r: te.sum(te.exp(X[r, l] - top[r]), axis=l), name="total")
    L = te.compute((), lambda: te.sum(T[i, j] * (te.log(total[i]) + top[i] - X[i, j]), axis=[i, j]), name="L")
    (dX,) = te.gradient(L, [X])
    s = te.create_schedule([L.op, dX.op])
    x = normal(rows, columns)
    t = np.abs(normal(rows + 1, columns)[1:])
    t /= t.sum(1, keepdims=True)
    powers = np.exp(x - x.max(1, keepdims=True))
    share = powers / powers.sum(1, keepdims=True)
    return Subject(s, [X, T, L, dX], [x, t], [-(t * np.log(share)).sum(), share - t], near=1e-4)
