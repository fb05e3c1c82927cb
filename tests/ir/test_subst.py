"""Substitution: ranges, shapes and strides follow; untouched parts stay the same objects."""

from __future__ import annotations

from tecomp.dtype import FLOAT32, INDEX
from tecomp.ir import expr as E
from tecomp.ir import make as M
from tecomp.ir.func import Func, Level
from tecomp.ir.stmt import Alloc, Buffer, For, Launch, Let, Seq
from tecomp.ir.subst import fresh_loops, substitute, substitute_stmt
from tecomp.ir.verify import verify
from tests.ir.programs import PROGRAMS, at, axis, loop, size, store

n, m = size("n"), size("m")
Y, Z = Buffer("Y", (n,), FLOAT32), Buffer("Z", (n,), FLOAT32)


def test_substitute() -> None:
    assert substitute(n * 2 + m, {n: m}) is m * 2 + m
    root = n * 2
    assert substitute(root, {m: n}) is substitute(root, {}) is root


def test_a_loop_whose_range_changes_gets_a_variable_that_uses_follow() -> None:
    i, j = axis("i", n), axis("j", 4)
    body = loop(i, loop(j, store(Y, (i + j,), M.load(Y, (i,)))))
    changed = substitute_stmt(body, {n: at(8)})
    assert repr(changed) == "for i in range(8):\n    for j in range(4):\n        Y[i + j] = Y[i]"
    assert isinstance(changed, For) and isinstance(changed.body, For)
    assert changed.var is not i
    assert changed.body.var is j
    assert substitute_stmt(body, {m: n}) is body


def test_a_range_that_depends_on_a_loop() -> None:
    i = axis("i", n)
    j = axis("j", n - i, i)
    changed = substitute_stmt(loop(i, loop(j, store(Y, (j,), M.load(Y, (i,))))), {n: m})
    verify(Func("f", (Y, m), (Y,), changed, Level.LOOPS))
    assert repr(changed).startswith("for i in range(m):\n    for j in range(i, m):")


def test_memory_whose_extent_or_strides_change() -> None:
    T = Buffer("T", (n,), FLOAT32, "shared", strides=(m,), align=16)
    body = Alloc(T, Seq((store(T, (at(0),), M.load(Y, (at(0),))), store(Y, (at(0),), M.load(T, (at(0),))))))
    changed = substitute_stmt(body, {m: at(3)})
    assert isinstance(changed, Alloc)
    assert repr(changed) == "T = alloc(f32[n], 'shared', strides=[3], align=16)\nT[0] = Y[0]\nY[0] = T[0]"
    verify(Func("f", (Y,), (Y,), changed, Level.LOOPS))


def test_buffers_are_replaced_where_they_are_read_and_written() -> None:
    i = axis("i", n)
    body = loop(i, store(Y, (i,), M.load(Y, (i,)) * 2.0))
    assert repr(substitute_stmt(body, {}, {Y: Z})) == "for i in range(n):\n    Z[i] = Z[i] * 2.0"


def test_threads_and_names() -> None:
    i, x = axis("blockIdx.x", n), E.Var("x", INDEX)
    body = Launch((("blockIdx.x", i),), Let(x, i + n, store(Y, (x,), M.load(Y, (i,)))))
    changed = substitute_stmt(body, {n: m})
    assert repr(changed) == "with launch(blockIdx_x=m):\n    x = blockIdx_x + m\n    Y[x] = Y[blockIdx_x]"
    assert substitute_stmt(body, {m: n}) is body


def test_a_fresh_copy_may_stand_beside_and_inside_the_old_one() -> None:
    for name in ("loops", "names", "scan", "vectors"):
        func = PROGRAMS[name]()
        copy = fresh_loops(func.body)
        verify(func.with_body(Seq((func.body, copy))))
        assert repr(func.with_body(copy)) == repr(func)
    i = axis("i", n)
    inner = loop(i, store(Y, (i,), M.load(Y, (i,))))
    verify(Func("f", (Y,), (Y,), loop(i, fresh_loops(inner)), Level.LOOPS))
