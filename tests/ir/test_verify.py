"""What the verifier refuses, each rule with its message, and the statement underlined."""

from __future__ import annotations

import time

import pytest

from tecomp.dtype import FLOAT32, INDEX, DType
from tecomp.errors import InternalError
from tecomp.ir import expr as E
from tecomp.ir import make as M
from tecomp.ir.func import Func, Level
from tecomp.ir.join import Join
from tecomp.ir.node import Expr
from tecomp.ir.stmt import Across, Alloc, Buffer, Evaluate, For, If, Launch, Let, LoopKind, Seq, Stmt
from tecomp.ir.verify import verify
from tecomp.ir.visit import walk
from tecomp.ir.wellformed import QUESTIONS
from tests.ir.programs import at, axis, loop, size, store

n = size("n")
X, Y, Z = Buffer("X", (n, n), FLOAT32), Buffer("Y", (n,), FLOAT32), Buffer("Z", (n,), DType("int32"))
i, t, stray = axis("i", n), axis("t", 4), E.Var("i", INDEX)
one, x = M.const(1.0, FLOAT32), M.load(Y, (i,))
p = x < 1.0
y, ramp = E.Address(Y, (), at(0), "w"), E.Ramp(i, at(1), 4)
L, D, F = Level

P, V = Buffer("P", (), FLOAT32, "local"), Buffer("V", (at(4),), FLOAT32, "local")
W = Buffer("W", (), DType("int32"), "local")
lhs, rhs = E.Var("x", FLOAT32), E.Var("y", FLOAT32)
SUM = Join((lhs,), (rhs,), (lhs + rhs,), (M.const(0.0, FLOAT32),))


def setting(value: Expr) -> Stmt:
    return loop(i, store(Y, (i,), value))


def doing(value: Expr) -> Stmt:
    return loop(i, Evaluate(value))


BAD: list[tuple[str, Stmt, Level]] = [
    ("add of float32 and index", setting(E.Add(x, i)), L),
    ("lt of float32 and index", loop(i, If(E.Lt(x, i), Seq(()))), L),
    ("add of bools", doing(E.Add(p, p)), L),
    ("div of index", doing(E.Div(i, i)), L),
    ("floordiv of float32", setting(E.FloorDiv(x, x)), L),
    ("and of index", doing(E.And(i, i)), L),
    ("not of index", doing(E.Not(i)), L),
    ("ifelse by index", setting(E.IfElse(i, x, x)), L),
    ("select between float32 and index", setting(E.Select(p, x, i)), L),
    ("select of 4 lanes by 2", doing(E.Select(E.Broadcast(p, 2), ramp, ramp)), L),
    ("broadcast of indexx4 with 2 lanes", doing(E.Broadcast(ramp, 2)), L),
    ("ramp of index, index with 1 lanes", doing(E.Ramp(i, at(1), 1)), L),
    ("ramp from float32 by float32", doing(E.Ramp(x, x, 4)), L),
    ("cast of indexx4 to int32", doing(E.Cast(DType("int32"), ramp)), L),
    ("'X' of rank 2 with 1 indices, loops wants 2", setting(E.Load(X, (i,), M.TRUE)), L),
    ("'X' of rank 2 with 2 indices, flat wants 1", Evaluate(E.Load(X, (M.const(1), M.const(1)), M.TRUE)), F),
    ("'Y' indexed by float32", setting(E.Load(Y, (x,), M.TRUE)), L),
    ("'X' indexed by 2 and 4 lanes", doing(E.Load(X, (ramp, E.Ramp(i, at(1), 2)), M.TRUE)), L),
    ("'Y' masked by boolx2", doing(E.Load(Y, (ramp,), E.Broadcast(p, 2))), L),
    ("'Y' masked by index", loop(i, store(Y, (i,), x, i)), L),
    ("the address of 'X' of rank 2 with 1 indices", doing(E.Address(X, (i,), at(0), "r")), L),
    ("the address of 'Y' of rank 1 with 1 indices", Evaluate(E.Address(Y, (M.const(1),), M.const(0), "r")), F),
    ("the address of 'Y' at float32", doing(E.Address(Y, (), x, "r")), L),
    ("regroup of float32 to int32x2", doing(E.Call(DType("int32x2"), "regroup", (x,))), L),
    ("wmma_fill_m16n16k16 of 0 fragments", doing(M.call("wmma_fill_m16n16k16", "int32", y, at(0), one)), L),
    ("barrier_warp takes mask", doing(M.call("barrier_warp", "int32")), L),
    ("float32 stored to 'Z', which takes int32", loop(i, store(Z, (i,), x)), L),
    ("float32 stored to 'Y', which takes float32x4", loop(i, store(Y, (ramp,), x)), L),
    ("if of index", loop(i, If(i, Seq(()))), L),
    ("'v' is int32, its value index", loop(i, Let(E.Var("v", DType("int32")), i, Seq(()))), L),
    ("'q' has no range", For(E.Var("q", INDEX), LoopKind.SERIAL, Seq(())), L),
    ("'q' is int32, its range index and index", For(E.Var("q", DType("int32"), at(0), n), LoopKind.SERIAL, Seq(())), L),
    ("'q' is float32, its range float32 and float32", For(E.Var("q", FLOAT32, one, one), LoopKind.SERIAL, Seq(())), L),
    ("the range of 'q' reads memory", loop(E.Var("q", INDEX, at(0), M.index(M.load(Z, (at(1),)))), Seq(())), L),
    ("range loop with thread 'threadIdx.x'", loop(i, Seq(()), LoopKind.SERIAL, "threadIdx.x"), L),
    ("thread loop with thread ''", loop(i, Seq(()), LoopKind.THREAD), L),
    ("thread loop over 't'", loop(t, Seq(()), LoopKind.THREAD, "threadIdx.x"), D),
    ("vthread loop over 't'", loop(t, Seq(()), LoopKind.VIRTUAL), D),
    ("a launch at level loops", Launch((("threadIdx.x", t),), Seq(())), L),
    ("clusters of n blocks", Launch((("cluster.x", E.Var("c", INDEX, at(0), n)),), Seq(())), D),
    ("a launch inside a launch", Launch((("blockIdx.x", i),), Launch((("threadIdx.x", t),), Seq(()))), D),
    ("const of type index", Evaluate(at(1)), F),
    ("parts of int32 joined as float32", Alloc(W, Across((), (W,), SUM, Seq(()))), L),
    ("a part in V: f32[4] in local", Alloc(V, Across((), (V,), SUM, Seq(()))), L),
    ("a join of parts at level flat", Alloc(P, Across((), (P,), SUM, Seq(()))), F),
    ("buffer 'P' is used outside its scope", Across((), (P,), SUM, Seq(())), L),
    ("tensorread in a lowered program", doing(E.TensorRead(Y, (i,))), L),
    ("variable 'i' is used outside its scope", Seq((loop(i, Seq(())), store(Y, (i,), one))), L),
    ("variable 'i' is used outside its scope", store(Y, (stray,), one), L),
    ("variable 'v' is used outside its scope", Let(v := E.Var("v", FLOAT32), v, Seq(())), L),
    ("buffer 'T' is used outside its scope", store(T := Buffer("T", (), FLOAT32), (), one), L),
    ("buffer 'T' is used outside its scope", Seq((Alloc(T, Seq(())), store(T, (), one))), L),
    ("buffer 'T' is used outside its scope", store(Y, (at(0),), M.load(T, ())), L),
    ("buffer 'T' is used outside its scope", Evaluate(E.Address(T, (), at(0), "r")), L),
    ("regroup of int32 to int8x3", Evaluate(E.Call(DType("int8x3"), "regroup", (M.const(1, "int32"),))), L),
    ("'i' is bound inside its own scope", loop(i, loop(i, Seq(()))), L),
    ("'T' is bound inside its own scope", Alloc(T, Alloc(T, Seq(()))), L),
]


@pytest.mark.parametrize(("because", "body", "level"), BAD, ids=[because for because, *_ in BAD])
def test_refused(because: str, body: Stmt, level: Level) -> None:
    with pytest.raises(InternalError) as caught:
        verify(Func("f", (X, Y, Z), (Y,), body, level))
    assert caught.value.asked == "verify: f is not well formed"
    assert caught.value.because == because


def test_every_question_refuses_something() -> None:
    asked = set()
    for because, body, level in BAD:
        for question in QUESTIONS:
            for node in _nodes(body):
                if level in question.levels and type(node) in question.nodes and question.ask(node, level) == because:
                    asked.add(question.ask)
    assert asked == {question.ask for question in QUESTIONS}


def _nodes(body: Stmt) -> list[Expr | Stmt]:
    return [body] if isinstance(body, For) and body.var.min is None else list(walk(body))


def test_the_message_underlines_the_statement() -> None:
    body = loop(i, Seq((store(Y, (i,), one), store(Z, (i,), one, line=8))))
    with pytest.raises(InternalError) as caught:
        verify(Func("f", (X, Y, Z), (Y,), body, L))
    assert str(caught.value) == (
        "verify: f is not well formed\n"
        "  --> program.py:8\n"
        "  because: float32 stored to 'Z', which takes int32\n"
        "  in:\n"
        "    def f(X: f32[n, n], Y: out[f32[n]], Z: i32[n]):\n"
        "        for i in range(n):\n"
        "            Y[i] = 1.0\n"
        "            Z[i] = f32(1.0)  # program.py:8\n"
        "            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
        "  this is a fault of tecomp, not of your program: please report it with this message"
    )


def test_outputs_are_parameters() -> None:
    with pytest.raises(InternalError, match="output 'Z' of f is no parameter"):
        verify(Func("f", (X, Y), (Z,), Seq(()), L))


def test_names_may_be_used_again_in_another_scope() -> None:
    again = Seq((loop(i, store(Y, (i,), one)), loop(i, store(Y, (i,), one))))
    verify(Func("f", (Y,), (Y,), again, L))
    local = Buffer("T", (), FLOAT32, "local")
    first = Alloc(local, store(local, (), one))
    verify(Func("f", (Y,), (Y,), Seq((first, first)), L))


def test_long_programs_verify_quickly() -> None:
    total: Expr = one
    for _ in range(5000):
        total = total + one * x
    start = time.process_time()
    verify(Func("f", (Y,), (Y,), Seq(tuple(setting(total) for _ in range(5))), L))
    assert time.process_time() - start < 3.0
    chain: Stmt = Seq(())
    for depth in range(3000):
        chain = Seq((Evaluate(M.FALSE), Alloc(Buffer(f"T{depth}", (), FLOAT32), chain)))
    verify(Func("f", (Y,), (Y,), chain, L))
