"""What is refused of a whole graph, when it is scheduled."""

from __future__ import annotations

import pytest

from tecomp import te
from tecomp.te.legality import check_graph
from tests.te.message import message, text

m, n = te.var("m"), te.var("n")
A = te.placeholder((10,), name="A")
M = te.placeholder((10, 8), name="M")


def shifted():
    return te.compute((10,), lambda i: A[i - 1], name="shifted")


def scanned(name="scan", init=None, update=None, state=None):
    state = te.placeholder((m, n), name="s") if state is None else state
    update = update or te.compute((m, n), lambda t, i: state[t - 1, i] + 1, name="new")
    init = init or te.compute((1, n), lambda *i: 0.0, name="first")
    return te.scan(init, update, state, name=name)


def siblings():
    k = te.reduce_axis((0, 8), name="k")
    B = te.compute((10,), lambda i: te.sum(M[i, k], axis=k), name="B")
    C = te.compute((10,), lambda i: te.max(M[i, k], axis=k), name="C")
    te.create_schedule(te.compute((10,), lambda i: B[i] + C[i], name="D").op)


def shared(part):
    def call():
        first = scanned("one").op
        given = {"init": first.init[0], "update": first.update[0], "state": first.state_placeholder[0]}
        if part == "init":
            second = scanned("two", init=given["init"])
        elif part == "update":
            other = te.placeholder((m, n), name="other")
            second = scanned("two", update=given["update"], state=other)
        else:
            second = scanned("two", state=given["state"])
        one, two = first.output(0), second
        te.create_schedule(te.compute((m, n), lambda t, i: one[t, i] + two[t, i]).op)

    return call


def outside(read):
    def call():
        out = scanned()
        inner = read(out.op)
        te.create_schedule(te.compute((m, n), lambda t, i: out[t, i] + inner[t, i], name="after").op)

    return call


def ended():
    out = scanned()
    te.create_schedule([out.op, out.op.update[0].op])


BELOW = text(
    "te.compute 'shifted': A[i - 1] reads outside 'A'",
    "index 0, i - 1, lies in [-1, 8] and is -1 at i = 0; 'A' has extent 10 there",
    "0 to 9, or te.if_then_else(condition, A[i - 1], otherwise)",
)
ONCE = "the scan's output 'scan', a stage of its own outside of the scan"


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: te.create_schedule(shifted().op), BELOW),
        (
            shared("init"),
            text(
                "te.scan 'two': init 'first' belongs to 'one' too",
                "a scan computes its parts in place",
                "another init for 'two'",
            ),
        ),
        (
            shared("update"),
            text(
                "te.scan 'two': update 'new' belongs to 'one' too",
                "a scan computes its parts in place",
                "another update for 'two'",
            ),
        ),
        (
            shared("state"),
            text(
                "te.scan 'two': state 's' belongs to 'one' too",
                "a scan computes its parts in place",
                "another state for 'two'",
            ),
        ),
        (
            outside(lambda op: op.update[0]),
            text("'after' reads 'new'", "'new' exists only within a step of scan 'scan'", ONCE),
        ),
        (
            outside(lambda op: op.state_placeholder[0]),
            text("'after' reads 's'", "'s' exists only within a step of scan 'scan'", ONCE),
        ),
        (ended, text("'new' is an output", "'new' exists only within a step of scan 'scan'", ONCE)),
    ],
)
def test_refused(call, said) -> None:
    assert message(call) == said


def test_a_reduce_axis_of_two_stages() -> None:
    said = message(siblings)
    assert said.startswith("te.compute 'C': reduce axis 'k' is used twice\n  because: 'B' (test_legality.py:")
    assert said.endswith("another te.reduce_axis for 'C'")


def test_the_line_is_that_of_the_compute() -> None:
    B = shifted()
    with pytest.raises(ValueError) as caught:
        te.create_schedule(B.op)
    assert caught.value.location == B.op.loc


def test_a_read_that_a_scan_explains_may_not_serve_others() -> None:
    X = te.placeholder((m, n), name="X")
    back = te.compute((m, n), lambda t, i: X[t - 1, i], name="back")
    state = te.placeholder((m, n), name="s")
    out = te.scan(
        te.compute((1, n), lambda *i: 0.0), te.compute((m, n), lambda t, i: state[t - 1, i] + back[t, i]), state
    )
    check_graph([out])
    after = te.compute((m, n), lambda t, i: out[t, i] + back[t, i])
    with pytest.raises(ValueError, match="back"):
        check_graph([after])


def test_stages_after_a_scan() -> None:
    out = scanned()
    check_graph([te.compute((m, n), lambda t, i: out[t, i] * 2)])
