"""Which steps of its state a scan may read."""

from __future__ import annotations

import pytest

from tecomp import te
from tecomp.te import recurrence
from tests.te.message import message, text

m, n = te.var("m"), te.var("n")
X = te.placeholder((m, n), name="X")


def scan(update, k=1, shape=(m, n), stages=()):
    """Declare a scan; `update` gets the state and the stages, each made from what is before it."""
    state = te.placeholder(shape, name="s")
    made = [state]
    for name, stage in stages:
        made.append(te.compute(shape, stage(*made), name=name))
    new = te.compute(shape, update(*made), name="new")
    return te.scan(te.compute((k, *shape[1:]), lambda *i: 0.0, name="first"), new, state)


STAGES = (("s1", lambda s: lambda t, i: s[t - 1, i] * 2),)

RIGHT = {
    "one step back": (lambda s: lambda t, i: s[t - 1, i] + X[t, i], {}),
    "as far as init goes": (lambda s: lambda t, i: s[t - 1, i] + s[t - 3, i], {"k": 3}),
    "another column": (lambda s: lambda t, i: s[t - 1, n - 1 - i], {}),
    "written otherwise": (lambda s: lambda t, i: s[1 + t - 2, i] + s[(t - 1).astype("int64"), i], {}),
    "no state at all": (lambda s: lambda t, i: X[t, i], {}),
    "through a stage": (lambda s, s1: lambda t, i: s1[t, i] + X[t, i], {"stages": STAGES}),
    "through a stage of the step before": (lambda s, s1: lambda t, i: s1[t - 1, i], {"stages": STAGES, "k": 2}),
    "constant length": (lambda s: lambda t, i: s[t - 1, i], {"shape": (10, 4)}),
    "one step only": (lambda s: lambda t, i: s[t - 1, i], {"shape": (1, 4)}),
    "input of the step before": (lambda s: lambda t, i: s[t - 1, i] + X[t - 1, i], {}),
    "a vector": (lambda s: lambda t: s[t - 1], {"shape": (m,)}),
}


@pytest.mark.parametrize("case", RIGHT)
def test_what_is_right_passes(case) -> None:
    update, options = RIGHT[case]
    te.create_schedule(scan(update, **options).op)


def test_a_reduction_over_the_state() -> None:
    k = te.reduce_axis((0, n), name="k")
    scan(lambda s: lambda t, i: te.sum(s[t - 1, k] * X[t, k], axis=k))


def test_a_stage_whose_time_is_not_its_first_axis() -> None:
    state = te.placeholder((m, n), name="s")
    turned = te.compute((n, m), lambda i, t: state[t - 1, i] * 2, name="turned")
    new = te.compute((m, n), lambda t, i: turned[i, t], name="new")
    out = te.scan(te.compute((1, n), lambda *i: 0.0), new, state)
    assert turned.op in out.op.explained


def test_states_that_read_one_another() -> None:
    a, b = te.placeholder((m, n), name="a"), te.placeholder((m, n), name="b")
    new_a = te.compute((m, n), lambda t, i: a[t - 1, i] + b[t - 1, i], name="new_a")
    new_b = te.compute((m, n), lambda t, i: b[t - 1, i] + new_a[t, i], name="new_b")
    zero = [te.compute((1, n), lambda *i: 0.0) for _ in range(2)]
    te.create_schedule(te.scan(zero, [new_a, new_b], [a, b])[0].op)


def test_a_scan_inside_a_scan() -> None:
    outer = te.placeholder((m, n), name="outer")
    inner = te.placeholder((5, m, n), name="inner")
    new_inner = te.compute((5, m, n), lambda u, t, i: inner[u - 1, t, i] * outer[t - 1, i], name="new_inner")
    deep = te.scan(te.compute((1, m, n), lambda u, t, i: outer[t - 1, i]), new_inner, inner, name="deep")
    new = te.compute((m, n), lambda t, i: deep[4, t, i], name="new")
    out = te.scan(te.compute((1, n), lambda *i: 1.0), new, outer, name="wide")
    assert {new_inner.op, deep.op.init[0].op} <= out.op.explained
    te.create_schedule(out.op)


LATER = "which is not computed before step t"
UNKNOWN = "its first index is not t - 1, t - 2, ... for the step t that is computed"


def legal(k=1, state="s", init="first"):
    reach = f"'{state}' at t - 1" + ("" if k == 1 else f" to t - {k}")
    return f"{reach}, '{init}' for the first rows, an init of more steps"


def refusal(read, because, k=1, stage="new"):
    return text(f"te.scan 'scan': '{stage}' reads {read}", because, legal(k))


def inner_wrong():
    outer = te.placeholder((m, n), name="s")
    inner = te.placeholder((5, m, n), name="inner")
    new_inner = te.compute((5, m, n), lambda u, t, i: inner[u - 1, t, i] * outer[t, i], name="new_inner")
    deep = te.scan(te.compute((1, m, n), lambda u, t, i: 0.0), new_inner, inner, name="deep")
    new = te.compute((m, n), lambda t, i: deep[4, t, i], name="new")
    te.scan(te.compute((1, n), lambda *i: 1.0, name="first"), new, outer)


def update_of(offset):
    def call():
        a, b = te.placeholder((m, n), name="a"), te.placeholder((m, n), name="s")
        new_b = te.compute((m, n), lambda t, i: b[t - 1, i] + 1, name="new_b")
        new_a = te.compute((m, n), lambda t, i: a[t - 1, i] + offset(new_b, t, i), name="new_a")
        firsts = [te.compute((1, n), lambda *i: 0.0, name=name) for name in ("zero", "first")]
        te.scan(firsts, [new_a, new_b], [a, b])

    return call


WRONG = [
    (
        lambda: scan(lambda s: lambda t, i: s[t, i] + X[t, i]),
        refusal("s[t, i]", f"that is step t, {LATER}"),
    ),
    (
        lambda: scan(lambda s: lambda t, i: te.if_then_else(t < m - 1, s[t + 1, i], 0.0)),
        refusal("s[t + 1, i]", f"that is step t + 1, {LATER}"),
    ),
    (
        lambda: scan(lambda s: lambda t, i: s[t - 3, i], k=2),
        refusal("s[t - 3, i]", "that is step t - 3, and 'first' gives the first 2 only", k=2),
    ),
    (
        lambda: scan(lambda s: lambda t, i: s[t - 1, i] + s[0, 0]),
        refusal("s[0, 0]", UNKNOWN),
    ),
    (
        lambda: scan(lambda s: lambda t, i: s[te.max(t - 1, 0), i]),
        refusal("s[max(t - 1, 0), i]", UNKNOWN),
    ),
    (
        lambda: scan(lambda s: lambda t, i: s[m - 1 - t, i]),
        refusal("s[m - 1 - t, i]", UNKNOWN),
    ),
    (
        lambda: scan(lambda s: lambda t, i: s[i, t], shape=(8, 8)),
        refusal("s[i, t]", UNKNOWN),
    ),
    (
        lambda: scan(lambda s, s1: lambda t, i: s1[t, i], stages=(("s1", lambda s: lambda t, i: s[t, i]),)),
        refusal("s[t, i]", f"that is step t, {LATER}", stage="s1"),
    ),
    (
        lambda: scan(lambda s, s1: lambda t, i: s1[t - 1, i], stages=STAGES),
        refusal("s[t - 1, i]", "that is step t - 2, and 'first' gives the first 1 only", stage="s1"),
    ),
    (
        lambda: scan(lambda s, s1: lambda t, i: s1[0, i] + s1[t, i], stages=STAGES),
        refusal("s[t - 1, i]", UNKNOWN, stage="s1"),
    ),
    (inner_wrong, refusal("s[t, i]", f"that is step t, {LATER}", stage="new_inner")),
    (
        update_of(lambda new, t, i: new[t - 1, i]),
        refusal("new_b[t - 1, i]", "that is step t - 1, and an update exists at step t only", stage="new_a"),
    ),
    (
        update_of(lambda new, t, i: te.if_then_else(t < m - 1, new[t + 1, i], 0.0)),
        refusal("new_b[t + 1, i]", "that is step t + 1, and an update exists at step t only", stage="new_a"),
    ),
    (
        update_of(lambda new, t, i: new[m - 1, i]),
        refusal("new_b[m - 1, i]", "that is a step that is not t, and an update exists at step t only", stage="new_a"),
    ),
]


@pytest.mark.parametrize(("call", "said"), WRONG)
def test_what_is_wrong_is_refused(call, said) -> None:
    assert message(call) == said


def test_the_refusal_points_at_the_stage() -> None:
    state = te.placeholder((m, n), name="s")
    update = te.compute((m, n), lambda t, i: state[t, i])
    init = te.compute((1, n), lambda *i: 0.0)
    with pytest.raises(ValueError) as caught:
        te.scan(init, update, state)
    assert caught.value.location == update.op.loc


def test_rows_below_0_that_no_step_explains() -> None:
    Y = te.placeholder((m, n), name="Y")
    assert message(lambda: scan(lambda s: lambda t, i: s[t - 1, i] + Y[t - 2, i])) == text(
        "te.compute 'new': Y[t - 2, i] reads outside 'Y'",
        "index 0, t - 2, is -1 at t = 1; 'Y' has extent m there",
        "0 to m - 1, or te.if_then_else(condition, Y[t - 2, i], otherwise)",
    )
    scan(lambda s: lambda t, i: s[t - 1, i] + Y[t - 2, i], k=2)


def test_a_scan_looks_at_no_scan_that_is_done(monkeypatch):
    """A scan of a scan of a scan ...: each asks of its own update only, which reads a row before the first."""
    looked = []
    explain = recurrence._explain
    monkeypatch.setattr(recurrence, "_explain", lambda scan, op, *rest: (looked.append(op), explain(scan, op, *rest)))
    updates, before = [], X
    for _ in range(20):
        state = te.placeholder((m, n))
        first = te.compute((1, n), lambda _, i, before=before: before[0, i])
        updates.append(te.compute((m, n), lambda t, i, before=before, state=state: state[t - 1, i] + before[t, i]))
        before = te.scan(first, updates[-1], state)
    assert looked == [tensor.op for tensor in updates]
