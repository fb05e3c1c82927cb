"""Small programs that the tests of schedules share."""

from __future__ import annotations

from types import SimpleNamespace

from tecomp import te
from tecomp.schedule import create_schedule


def chain() -> SimpleNamespace:
    """A(64, 48) -> B = A + 1 -> C = sum_k B -> D = C * 2 over i, and a schedule s of D."""
    A = te.placeholder((64, 48), name="A")
    B = te.compute((64, 48), lambda i, j: A[i, j] + 1, name="B")
    k = te.reduce_axis((0, 48), name="k")
    C = te.compute((64,), lambda i: te.sum(B[i, k], axis=k), name="C")
    D = te.compute((64,), lambda i: C[i] * 2, name="D")
    return SimpleNamespace(A=A, B=B, k=k, C=C, D=D, i=D.op.axis[0], s=create_schedule(D.op))


def grid() -> SimpleNamespace:
    """A(n, m) -> C(n, m, 8), the output of a schedule s."""
    n, m = te.var("n"), te.var("m")
    A = te.placeholder((n, m), name="A")
    C = te.compute((n, m, 8), lambda i, j, l: A[i, j] * l, name="C")
    i, j, l = C.op.axis
    return SimpleNamespace(A=A, C=C, n=n, m=m, s=create_schedule(C.op), axes=C.op.axis, i=i, j=j, l=l)


def cumsum() -> SimpleNamespace:
    """The scan S(m, n) of X by columns, its step in two stages s1 and s2; R reads S, X2 is read in the step."""
    m, n = te.var("m"), te.var("n")
    X = te.placeholder((m, n), name="X")
    X2 = te.compute((m, n), lambda t, i: X[t, i] * 3, name="X2")
    state = te.placeholder((m, n), name="state")
    init = te.compute((1, n), lambda _, i: X[0, i], name="init")
    s1 = te.compute((m, n), lambda t, i: state[t - 1, i] * 2, name="s1")
    s2 = te.compute((m, n), lambda t, i: s1[t, i] + X2[t, i], name="s2")
    S = te.scan(init, s2, state, name="S")
    R = te.compute((m, n), lambda i, j: S[i, j] + 1, name="R")
    return SimpleNamespace(
        X=X, X2=X2, state=state, init=init, s1=s1, s2=s2, S=S, R=R, time=S.op.scan_axis, s=create_schedule(R.op)
    )
