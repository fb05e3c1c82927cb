"""The traversal: every node once, deep expressions and long programs, the same object when nothing changed."""

from __future__ import annotations

from tecomp.dtype import FLOAT32, INDEX
from tecomp.ir import expr as E
from tecomp.ir import make as M
from tecomp.ir.node import Expr
from tecomp.ir.stmt import Alloc, Buffer, Evaluate, For, If, LoopKind, Seq, Stmt, Store
from tecomp.ir.visit import rewrite, rewrite_expr, walk
from tests.ir.programs import PROGRAMS, at, axis, loop, store

x, y = E.Var("x", INDEX), E.Var("y", INDEX)


def chain(terms: int) -> Expr:
    total: Expr = x
    for term in range(terms):
        total = total + (y * (term + 2))
    return total


def test_walk_yields_each_expression_once_before_its_operands() -> None:
    shared = x * y
    root = shared + shared * x
    found = list(walk(root))
    assert found[0] is root
    assert len(found) == len(set(found)) == 5
    assert found.index(shared) < found.index(x)


def test_walk_is_in_program_order() -> None:
    func = PROGRAMS["scan"]()
    kinds = [type(node).__name__ for node in walk(func.body) if isinstance(node, Stmt)]
    assert kinds == ["Launch", "Let", "If", "Alloc", "Seq", "Seq", "Store", "Store", "For", "Seq", "Store", "Store"]
    loads = [node for node in walk(func.body) if isinstance(node, E.Load)]
    assert [load.buffer.name for load in loads] == ["X", "carry", "X"]


def test_deep_chains() -> None:
    root = chain(5000)
    assert sum(1 for _ in walk(root)) == 5000 * 3 + 2
    assert rewrite_expr(root, {}) is root
    swapped = rewrite_expr(root, {E.Var: lambda var: y if var is x else var})
    assert x not in set(walk(swapped))
    assert sum(1 for _ in walk(swapped)) == sum(1 for _ in walk(root)) - 1


def test_rewrite_expr_is_bottom_up() -> None:
    seen: list[Expr] = []

    def see(node: E.Mul) -> Expr:
        seen.append(node)
        return node.a

    assert rewrite_expr((x * 2) * 3, {E.Mul: see}) is x
    assert [repr(node) for node in seen] == ["x * 2", "x * 3"]


def test_a_memo_is_shared() -> None:
    memo: dict[Expr, Expr] = {}
    calls: list[Expr] = []

    def see(node: E.Mul) -> Expr:
        calls.append(node)
        return node

    for _ in range(2):
        rewrite_expr(x * 2 + y, {E.Mul: see}, memo)
    assert len(calls) == 1


def test_rewrite_leaves_what_is_not_touched() -> None:
    func = PROGRAMS["loops"]()
    assert rewrite(func.body, {E.Mul: lambda node: node}, {For: lambda node: node}) is func.body
    first, second = func.body.stmts  # type: ignore[attr-defined]
    changed = rewrite(func.body, {E.Load: lambda node: M.const(0)})
    assert changed is not func.body
    assert changed.stmts[1] is second  # type: ignore[attr-defined]
    assert changed.stmts[0] is not first  # type: ignore[attr-defined]
    assert isinstance(changed.stmts[0], For) and changed.stmts[0].var is first.var  # type: ignore[attr-defined]


def test_rewrite_of_statements_is_bottom_up_and_keeps_lines() -> None:
    B = Buffer("B", (at(4),), FLOAT32)
    i = axis("i", 4)
    body = loop(i, Seq((store(B, (i,), M.const(1.0, FLOAT32), line=5), Evaluate(M.FALSE))))

    def double(node: Store) -> Store:
        return node.copy(value=node.value * 2.0)

    changed = rewrite(body, {}, {Store: double, Evaluate: lambda _: Seq(())})
    assert isinstance(changed, For) and isinstance(changed.body, Seq)
    first, second = changed.body.stmts
    assert isinstance(first, Store) and first.loc is not None and first.loc.line == 5
    assert repr(first.value) == "f32(2.0)"
    assert isinstance(second, Seq)


def test_long_programs_need_no_recursion() -> None:
    B = Buffer("B", (), FLOAT32, "local")
    body: Stmt = store(B, (), M.const(1.0, FLOAT32))
    for _ in range(3000):
        body = Seq((Evaluate(M.FALSE), Alloc(B, If(M.TRUE, body))))
    changed = rewrite(body, {E.Const: lambda node: M.const(2.0, FLOAT32) if node.value == 1.0 else node})
    values = [node.value for node in walk(changed) if isinstance(node, Store)]
    assert [repr(value) for value in values] == ["f32(2.0)"]


def test_a_statement_that_stands_twice_is_rewritten_alike() -> None:
    B = Buffer("B", (), FLOAT32, "local")
    twice = store(B, (), M.const(1.0, FLOAT32))
    changed = rewrite(
        Seq((twice, twice)), {E.Const: lambda node: M.const(2.0, FLOAT32) if node.dtype.is_float else node}
    )
    assert isinstance(changed, Seq)
    assert changed.stmts[0] is changed.stmts[1] is not twice


def test_kinds_of_loops_are_kept() -> None:
    i = axis("i", 4)
    made = loop(i, Evaluate(x), LoopKind.THREAD, "threadIdx.x", (("a", 1),))
    changed = rewrite(made, {E.Var: lambda var: y if var is x else var})
    assert isinstance(changed, For)
    assert (changed.kind, changed.thread, changed.pragmas) == (LoopKind.THREAD, "threadIdx.x", (("a", 1),))
