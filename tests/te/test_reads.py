"""Which reads and divisions a body has, under which conditions."""

from __future__ import annotations

from tecomp import te
from tecomp.ir import expr as E
from tecomp.te.reads import MOST_CONTEXTS, MOST_GUARDS, accesses, operands_first

i, n = te.var("i"), te.var("n")
A = te.placeholder((n,), name="A")


def found(root) -> list[tuple[str, list[str]]]:
    return sorted((repr(a.node), [repr(g) for g in a.guards]) for a in accesses(root))


def test_operands_come_first() -> None:
    root = (i + 1) * (i + 1) + A[i]
    order = operands_first(root)
    assert order[-1] is root
    assert len(order) == len(set(order))
    place = {node: at for at, node in enumerate(order)}
    assert all(place[below] < place[node] for node in order for below in node.operands())


def test_a_plain_read() -> None:
    assert found(A[i] + A[i + 1]) == [("A[i + 1]", []), ("A[i]", [])]


def test_a_choice_guards_its_sides() -> None:
    for choose in (te.if_then_else, te.Select):
        root = choose(i > 0, A[i - 1], A[i])
        assert found(root) == [("A[i - 1]", ["0 < i"]), ("A[i]", ["i <= 0"])]


def test_nested_guards_add_up() -> None:
    root = te.if_then_else(i > 0, te.if_then_else(i < n, A[i], 0.0), 1.0)
    assert found(root) == [("A[i]", ["0 < i", "i < n"])]


def test_the_condition_itself_is_not_guarded() -> None:
    assert found(te.if_then_else(A[i] > 0, 1.0, 2.0)) == [("A[i]", [])]


def test_all_and_any_are_evaluated_from_the_left() -> None:
    assert found(te.all(i > 0, A[i - 1] > 0)) == [("A[i - 1]", ["0 < i"])]
    assert found(te.any(i <= 0, A[i - 1] > 0)) == [("A[i - 1]", ["0 < i"])]


def test_where_guards_what_is_folded_and_not_the_init() -> None:
    k = te.reduce_axis((0, n), name="k")
    root = te.sum(A[k], axis=k, where=k > i, init=A[i])
    assert found(root) == [("A[i]", []), ("A[k]", ["i < k"])]
    assert found(te.sum(A[k], axis=k)) == [("A[k]", [])]


def test_a_read_outside_of_its_guard_needs_none() -> None:
    assert found(te.if_then_else(i > 0, A[i], 0.0) + A[i]) == [("A[i]", [])]
    assert found(A[i] + te.if_then_else(i > 0, A[i], 0.0)) == [("A[i]", [])]


def test_divisions() -> None:
    assert found(A[i // n] + i % n) == [("A[i // n]", []), ("i % n", []), ("i // n", [])]


def test_shared_choices_do_not_multiply() -> None:
    root = A[i]
    for step in range(200):
        root = te.if_then_else(A[i + step] > 0, root + 1, root * 2)
    assert len(list(accesses(root))) <= 200 * MOST_CONTEXTS


def test_deep_guards_are_left_out() -> None:
    root = A[i]
    for step in range(MOST_GUARDS):
        root = te.if_then_else(i > step, root, 0.0)
    assert len(found(root)) == 1
    assert found(te.if_then_else(i > n, root, 0.0)) == []


def test_deep_sums() -> None:
    root = A[i]
    for _ in range(20000):
        root = root + A[i]
    assert len(operands_first(root)) == 20002
    assert isinstance(next(accesses(root)).node, E.TensorRead)
