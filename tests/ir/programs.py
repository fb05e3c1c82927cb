"""Programs built by hand that hold every node, at every level."""

from __future__ import annotations

from collections.abc import Callable

from tecomp.dtype import BOOL, INDEX, DType
from tecomp.ir import expr as E
from tecomp.ir.func import Func, Level
from tecomp.ir.join import Join
from tecomp.ir.make import (
    TRUE,
    broadcast,
    call,
    cast,
    const,
    if_then_else,
    load,
    logical_and,
    logical_or,
    maximum,
    minimum,
    select,
    truncdiv,
    truncmod,
)
from tecomp.ir.node import Expr
from tecomp.ir.stmt import Across, Alloc, Buffer, Evaluate, For, If, Launch, Let, LoopKind, Seq, Stmt, Store
from tecomp.location import Location

F32, F16, BF16, F64, I8, I32, I64, U8, U32 = map(
    DType, ("float32", "float16", "bfloat16", "float64", "int8", "int32", "int64", "uint8", "uint32")
)


def at(value: int) -> Expr:
    return const(value, INDEX)


def size(name: str, dtype: DType = INDEX) -> E.Var:
    return E.Var(name, dtype, const(0, dtype))


def axis(name: str, extent: Expr | int, low: Expr | int = 0, dtype: DType = INDEX) -> E.Var:
    whole = const(extent, dtype) if isinstance(extent, int) else extent
    return E.Var(name, dtype, const(low, dtype) if isinstance(low, int) else low, whole)


def loop(var: E.Var, body: Stmt, kind: LoopKind = LoopKind.SERIAL, thread: str = "", pragmas: tuple = ()) -> For:
    return For(var, kind, body, thread, pragmas)


def store(buffer: Buffer, indices: tuple[Expr, ...], value: Expr, mask: Expr = TRUE, line: int = 0) -> Store:
    return Store(buffer, indices, value, mask, Location("program.py", line) if line else None)


def barrier(line: int = 0) -> Evaluate:
    return Evaluate(call("barrier_block", "int32"), Location("program.py", line) if line else None)


def scale() -> Func:
    """A scalar argument, a parallel loop."""
    n, alpha = size("n"), E.Var("alpha", F32)
    X, Y = Buffer("X", (n,), F32), Buffer("Y", (n,), F32)
    i = axis("i", n)
    body = loop(i, store(Y, (i,), load(X, (i,)) * alpha + 0.1, line=7), LoopKind.PARALLEL)
    return Func("scale", (X, Y, alpha), (Y,), body, Level.LOOPS)


def loops() -> Func:
    """Every kind of loop, ranges that do not begin at 0, pragmas, if, elif and else, an empty body."""
    n, m = size("n"), size("m")
    X, Y = Buffer("X", (n, m), I32), Buffer("Y", (n, m), I32)
    i, j, k, t, v = axis("i", n), axis("j", m - 1, 1), axis("k", 3, 2), axis("t", 4), axis("v", 4)
    value = load(X, (i, j)) + cast("int32", k * 10 + t * 100 + v)
    choice = If(
        k < 3, store(Y, (i, j), value), If(t.astype("int32") <= 1, store(Y, (at(0), j), value), Seq((Seq(()),)))
    )
    inner = loop(v, choice, LoopKind.UNROLLED)
    body = loop(
        i, loop(j, loop(k, loop(t, inner, LoopKind.THREAD, "threadIdx.x"), pragmas=(("unroll", 16), ("x y", "z"))))
    )
    empty = loop(axis("i", n), If(n < 3, Seq(())), LoopKind.PARALLEL)
    return Func("loops", (X, Y), (Y,), Seq((body, Seq((empty,)))), Level.LOOPS)


def scalars() -> Func:
    """Every scalar operator, in types that wrap, round and truncate."""
    n, c = size("n"), E.Var("c", I32, const(0, I32))
    A, B = Buffer("A", (n,), I32), Buffer("B", (n,), F32)
    outs = [Buffer(f"O{place}", (n,), kind) for place, kind in enumerate((I32, F32, I8, U32, F16, BF16, F64, BOOL))]
    i = axis("i", n)
    a, b = load(A, (i,)), load(B, (i,))
    nonzero = maximum(a, 1)
    values: list[Expr] = [
        (a + c) * (a - 7) - (c - (a - 1)) + a // nonzero * (a % nonzero) + truncdiv(a, -3) - truncmod(a, nonzero),
        if_then_else(logical_or(i < 2, b < 0.5), minimum(b, 2.0) / (b + 3.0), select(b == b, -b, b - (b - 1.5))),
        cast("int8", a * 100) + cast("int8", b * 10.0),
        (cast("uint32", a) >> 3) ^ (cast("uint32", c) & 255 | 1) << 2,
        cast("float16", b) * cast("float16", 0.1) + call("exp", "float16", cast("float16", b)),
        cast("bfloat16", cast("float64", b) * 1.001) - cast("bfloat16", 3.0),
        cast("float64", a) * 1e-3 + call("pow", "float64", cast("float64", b), 2.0) + float("inf"),
        logical_and(b != 0.0, E.Not(b < 1.0), cast("bool", a), call("isfinite", "bool", b)),
    ]
    body = Seq(tuple(store(out, (i,), value) for out, value in zip(outs, values, strict=True)))
    return Func("scalars", (A, c, B, *outs), tuple(outs), loop(i, body), Level.LOOPS)


def names() -> Func:
    """Names that clash, are reserved, or are no identifiers; a name that is free again; scopes that end early."""
    n = size("n")
    X, Y = Buffer("class", (n,), F32), Buffer("X.local", (n,), F32)
    first, second = axis("i", n), axis("i", 2)
    third = axis("1 i", n)
    T, U = Buffer("T", (at(2),), F32, "local"), Buffer("T", (), F32, "local")
    x = E.Var("X.local", INDEX)
    inner = Seq((store(T, (second,), load(X, (first,))), store(Y, (first,), load(T, (second,)))))
    early = Alloc(T, loop(second, inner))
    late = Alloc(
        U, Seq((store(U, (), const(1.5, F32)), Let(x, third + 1 - 1, store(Y, (x,), load(U, ()) + load(Y, (x,))))))
    )
    body = Seq((loop(first, Seq((early, store(Y, (first,), load(Y, (first,)) * 2.0)))), loop(third, late)))
    return Func("lambda", (X, Y), (Y,), body, Level.LOOPS)


def strided() -> Func:
    """Strides, alignment, scopes; a size that is an argument; a requirement."""
    n, m, s0, s1 = E.Var("n", INDEX, at(0)), size("m"), size("s0"), size("s1")
    X = Buffer("X", (n, m), F32, strides=(s0, s1), align=64)
    Y = Buffer("Y", (n + 1, m), F32)
    T = Buffer("T", (m,), F32, "shared", strides=(at(2),), align=16)
    i, j = axis("i", n), axis("j", m)
    body = loop(i, Alloc(T, loop(j, Seq((store(T, (j,), load(X, (i, j))), store(Y, (i + 1, j), load(T, (j,))))))))
    return Func("strided", (X, Y, n), (Y,), body, Level.DEVICE, ((m < 100, "the rows are short"),))


def vectors() -> Func:
    """Ramps, broadcasts, masks, lanes of a choice that are not taken, a vector that has a name."""
    n = size("n")
    X, J, Y = Buffer("X", (n,), F32), Buffer("J", (n,), I32), Buffer("Y", (n,), F32)
    i = axis("i", (n + 3) // 4)
    lanes = E.Ramp(i * 4, at(1), 4)
    mask = E.Lt(lanes, broadcast(n, 4))
    x = E.Var("x", F32.with_lanes(4))
    index = E.Load(J, (lanes,), mask)
    positive = logical_and(mask, E.Lt(broadcast(const(0, I32), 4), index))
    picked = if_then_else(positive, E.Load(X, (cast(INDEX, index) - 1,), TRUE), broadcast(const(-1.0, F32), 4))
    value = select(x < 0.5, x * 2.0, x) + picked
    body = loop(i, Let(x, E.Load(X, (lanes,), mask), store(Y, (lanes,), value, mask)))
    return Func("vectors", (X, J, Y), (Y,), body, Level.DEVICE)


def scan() -> Func:
    """One launch whose threads each carry a column's sum."""
    m, n = size("m"), size("n")
    X, S = Buffer("X", (m, n), F32), Buffer("scan", (m, n), F32)
    block, thread = axis("blockIdx.x", (n + 255) // 256), axis("threadIdx.x", 256)
    carry = Buffer("carry", (), F32, "local")
    i, t = E.Var("i", INDEX), axis("t", m - 1, 1)
    step = Seq((store(carry, (), load(carry, ()) + load(X, (t, i))), store(S, (t, i), load(carry, ()), line=12)))
    first = Seq((store(carry, (), load(X, (at(0), i))), store(S, (at(0), i), load(carry, ()), line=11)))
    body = Let(i, block * 256 + thread, If(i < n, Alloc(carry, Seq((first, loop(t, step))))))
    return Func("scan", (X, S), (S,), Launch((("blockIdx.x", block), ("threadIdx.x", thread)), body), Level.DEVICE)


def reverse(level: Level = Level.DEVICE) -> Func:
    """Each block of 8 turned round through shared memory, with a barrier between."""
    kind = INDEX if level is Level.DEVICE else I32
    n = size("n", kind)
    X, Y = Buffer("X", (n,), F32), Buffer("Y", (n,), F32)
    bx, tx = axis("bx", n // 8, dtype=kind), axis("threadIdx.x", 8, dtype=kind)
    T = Buffer("T", (const(8, kind),), F32, "shared")
    fill = store(T, (tx,), load(X, (bx * 8 + tx,)), line=3)
    drain = store(Y, (bx * 8 + tx,), load(T, (const(7, kind) - tx,)), line=5)
    body = Alloc(T, Seq((fill, barrier(4), drain)))
    return Func("reverse", (X, Y), (Y,), Launch((("blockIdx.x", bx), ("threadIdx.x", tx)), body), level)


def flat() -> Func:
    """One offset an access, machine integers of two widths."""
    m, n = size("m", I64), size("n", I32)
    X, Y = Buffer("X", (m, cast("int64", n)), F32), Buffer("Y", (m, cast("int64", n)), F32)
    total = Buffer("total", (), F32, "local")
    i, j = axis("i", m, dtype=I64), axis("j", n, dtype=I32)
    k = axis("k", 2, dtype=I64)
    offset = i * cast("int64", n) + cast("int64", j)
    inner = Seq((store(total, (), load(total, ()) + load(X, (offset,))), store(Y, (offset,), load(total, ()))))
    outer = Alloc(total, Seq((store(total, (), const(0.0, F32)), loop(j, inner))))
    return Func("flat", (X, Y, n), (Y,), loop(k, loop(i, outer)), Level.FLAT)


def calls() -> Func:
    """Calls with and without a type of their own, of names that are no identifiers, and of the notation's own words."""
    n = size("n")
    X = Buffer("X", (n,), F32)
    i = axis("i", n)
    x = load(X, (i,))
    values = [call("atan2", "float32", x, 1.0), call("T.x", "float32", x), call("select", "float32", x, 2)]
    values += [
        call("tid", "float32"),
        call("ldexp", "float32", x, const(3, I32)),
        call("exp", "float32", const(2.0, F32)),
    ]
    body = Seq((*(store(X, (i,), value) for value in values), Evaluate(call("prefetch", "int32", x))))
    return Func("calls", (X,), (X,), loop(i, body), Level.LOOPS)


def parts() -> Func:
    """Pairs that threads fold apart, of which the greatest wins, then in the lanes of a kernel."""
    n = size("n")
    X, Y = Buffer("X", (n, at(8)), F32), Buffer("Y", (n,), I32)
    index, value = Buffer("index", (), I32, "local"), Buffer("value", (), F32, "local")
    a, b, p, q = E.Var("x0", I32), E.Var("y0", I32), E.Var("x1", F32), E.Var("y1", F32)
    wins = p >= q
    join = Join((a, p), (b, q), (select(wins, a, b), maximum(p, q)), (const(-1, I32), const(float("-inf"), F32)))
    i, t = axis("i", n), axis("t", at(8))
    new = select(load(X, (i, t)) > load(value, ()), cast("int32", t), load(index, ()))
    fold = Seq((store(index, (), new), store(value, (), maximum(load(value, ()), load(X, (i, t))))))
    thread = For(t, LoopKind.THREAD, fold, "threadIdx.x")
    body = Seq((Across(("threadIdx.x",), (index, value), join, thread), store(Y, (i,), load(index, ()))))
    block = For(i, LoopKind.THREAD, Alloc(index, Alloc(value, body)), "blockIdx.x")
    return Func("parts", (X, Y), (Y,), block, Level.LOOPS)


def lanes() -> Func:
    """What lanes of a warp exchange."""
    X = Buffer("X", (at(32),), F32)
    t, held = axis("threadIdx.x", 32), Buffer("held", (), F32, "local")
    mine, mask = load(held, ()), call("shift_right", "uint32", const(-1 % (1 << 32), U32), const(0, U32))
    other = call("shuffle", "float32", mine, (t + 1) % 32, mask)
    body = Seq(
        (
            store(held, (), load(X, (t,))),
            store(held, (), mine + call("shuffle_xor", "float32", mine, at(16), at(-1))),
            store(X, (t,), other),
        )
    )
    return Func("lanes", (X,), (X,), Launch((("threadIdx.x", t),), Alloc(held, body)), Level.DEVICE)


HAND_MADE = (scale, loops, scalars, names, strided, vectors, scan, reverse, flat, calls, parts, lanes)
PROGRAMS: dict[str, Callable[[], Func]] = {made.__name__: made for made in HAND_MADE} | {
    "reverse_flat": lambda: reverse(Level.FLAT)
}
