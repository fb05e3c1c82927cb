"""scan: what it makes of its parts, and which parts it refuses."""

from __future__ import annotations

import pytest

from tecomp import te
from tecomp.ir.axis import AxisKind
from tests.te.message import message, text

m, n, l = te.var("m"), te.var("n"), te.var("l")
X = te.placeholder((m, n), name="X")


def parts(k=1, shape=(m, n), dtype="float32", name="s"):
    """Return an init of k steps, an update and a state of one running sum."""
    state = te.placeholder(shape, dtype, name=name)
    zero = te.const(0, dtype)
    init = te.compute((k, *shape[1:]), lambda *i: zero, name=f"{name}_init")
    update = te.compute(shape, lambda t, *i: state(t - 1, *i) + 1, name=f"{name}_update")
    return init, update, state


def test_a_scan() -> None:
    init, update, state = parts()
    out = te.scan(init, update, state, inputs=[X], name="cumsum", tag="t", attrs={"a": 1})
    op = out.op
    assert isinstance(op, te.ScanOp) and isinstance(out, te.Tensor)
    assert (op.name, out.name, op.tag, op.attrs) == ("cumsum", "cumsum", "t", {"a": 1})
    assert (op.init, op.update, op.state_placeholder, op.inputs) == ((init,), (update,), (state,), (X,))
    assert op.input_tensors == (init, update)
    assert (out.shape, out.dtype) == (state.shape, "float32")


def test_axes_of_a_scan() -> None:
    op = te.scan(*parts()).op
    axis = op.scan_axis
    assert (axis.name, axis.kind) == ("scan.idx", AxisKind.ORDERED)
    assert axis.dom == (te.const(1), m - 1)
    assert op.depth == 1
    (space,) = op.spatial_axis_
    assert (space.name, space.kind, space.dom.extent) == ("scan.out0.i1", AxisKind.OPAQUE, n)


def test_a_scan_of_constant_length() -> None:
    op = te.scan(*parts(k=2, shape=(10, 3))).op
    assert op.scan_axis.dom == (te.const(2), te.const(8))
    assert op.depth == 2
    assert te.scan(*parts(k=3, shape=(3,))).op.scan_axis.dom.extent is te.const(0)
    assert te.scan(*parts(shape=(1,))).op.scan_axis.dom.extent is te.const(0)


def test_a_scan_of_64_bit_extents() -> None:
    wide = te.var("wide", "int64")
    op = te.scan(*parts(shape=(wide, n))).op
    assert op.scan_axis.dom.min.dtype == op.scan_axis.dtype == "int64"


def test_several_states() -> None:
    first, second = parts(shape=(m, n), name="a"), parts(shape=(m, l), name="b")
    outs = te.scan(*([x, y] for x, y in zip(first, second, strict=True)))
    assert isinstance(outs, list)
    assert [out.name for out in outs] == ["scan.v0", "scan.v1"]
    assert outs[0].op is outs[1].op
    assert outs[0].op.num_outputs == 2
    assert [axis.name for axis in outs[0].op.spatial_axis_] == ["scan.out0.i1", "scan.out1.i1"]
    assert outs[0].op.input_tensors == (first[0], second[0], first[1], second[1])


def test_a_list_of_one_state_gives_a_tensor() -> None:
    assert isinstance(te.scan(*([part] for part in parts())), te.Tensor)


def test_init_and_update_of_one_compute() -> None:
    a, b = te.placeholder((m, n), name="a"), te.placeholder((m, n), name="b")
    inits = te.compute((1, n), lambda _, i: (X[0, i], 0.0), name="init")
    updates = te.compute((m, n), lambda t, i: (a[t - 1, i] + b[t - 1, i], a[t - 1, i]), name="update")
    outs = te.scan(inits, updates, (a, b))
    assert [out.dtype for out in outs] == ["float32", "float32"]


def test_extents_are_compared_as_sums() -> None:
    init, _, state = parts(shape=(m + 1, 2 * n))
    update = te.compute((1 + m, n + n), lambda t, i: state[t - 1, i], name="u")
    te.scan(init, update, state)


INIT, UPDATE, STATE = parts()
PLACED = te.placeholder((1, n), name="P")


def replaced(**changes):
    """Return a scan of good parts, some of them replaced."""
    given = {"init": INIT, "update": UPDATE, "state_placeholder": STATE} | changes
    return lambda: te.scan(**given)


def compute(shape, dtype="float32", name="C"):
    return te.compute(shape, lambda *i: te.const(0, dtype), name=name)


def depth_0():
    s = te.placeholder((m, n), name="s")
    return te.scan(compute((0, n)), te.compute((m, n), lambda t, i: 0.0), s)


def early_init():
    _, _, state = parts()
    read = te.compute((m, n), lambda t, i: state[t, i] + 1.0, name="read")
    early = te.compute((1, n), lambda _, i: read[0, i], name="early")
    return te.scan(early, te.compute((m, n), lambda t, i: state[t - 1, i]), state)


def two_states(**second):
    def call():
        a, b = parts(name="a"), parts(name="b", **second)
        return te.scan(*([x, y] for x, y in zip(a, b, strict=True)))

    return call


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            replaced(init=[INIT], update=[UPDATE, UPDATE], state_placeholder=[STATE]),
            text(
                "te.scan 'scan': 1 init, 2 update, 1 state placeholder",
                "each state has one of each",
                "three tensors, or three lists of one length",
            ),
        ),
        (
            lambda: te.scan([], [], []),
            text(
                "te.scan 'scan': 0 init, 0 update, 0 state placeholder",
                "each state has one of each",
                "three tensors, or three lists of one length",
            ),
        ),
        (
            replaced(init=3),
            text("te.scan 'scan': init is 3", "it is a int", "a tensor, a list of tensors"),
        ),
        (
            replaced(inputs=["X"]),
            text("te.scan 'scan': inputs is ['X']", "it is a list", "a tensor, a list of tensors"),
        ),
        (
            replaced(init=[INIT, INIT], update=[UPDATE, UPDATE], state_placeholder=[STATE, STATE]),
            text("te.scan 'scan': init 's_init' is given twice", "each state has its own", "different tensors"),
        ),
        (
            replaced(state_placeholder=UPDATE),
            text(
                "te.scan 'scan': 's_update' as state placeholder",
                "it comes from a ComputeOp",
                "te.placeholder(update.shape, update.dtype)",
            ),
        ),
        (
            replaced(init=PLACED),
            text(
                "te.scan 'scan': 'P' as init",
                "it comes from a PlaceholderOp, and the init is computed in place",
                "te.compute(P.shape, lambda *i: P(*i))",
            ),
        ),
        (
            replaced(init=compute((1, n), "float64")),
            text(
                "te.scan 'scan': init 'C' for state 's'",
                "one is float64, the other float32",
                "te.placeholder(..., dtype='float64'), .astype",
            ),
        ),
        (
            replaced(update=compute((m, n), "int32")),
            text(
                "te.scan 'scan': update 'C' for state 's'",
                "one is int32, the other float32",
                "te.placeholder(..., dtype='int32'), .astype",
            ),
        ),
        (
            replaced(init=compute((1,))),
            text(
                "te.scan 'scan': init 'C' for state 's'",
                "one has 1 dimensions, the other 2",
                "the same number, time the first of them",
            ),
        ),
        (
            lambda: te.scan(compute(()), compute(()), te.placeholder((), name="s")),
            text(
                "te.scan 'scan': init 'C' for state 's'",
                "one has 0 dimensions, the other 0",
                "the same number, time the first of them",
            ),
        ),
        (
            replaced(init=compute((1, l))),
            text(
                "te.scan 'scan': init 'C' for state 's'",
                "the extent of dimension 1 is l in one, n in the other",
                "equal extents",
            ),
        ),
        (
            replaced(update=compute((m - 1, n))),
            text(
                "te.scan 'scan': update 'C' for state 's'",
                "the extent of time is m - 1 in one, m in the other",
                "equal extents",
            ),
        ),
        (
            replaced(update=compute((m, n * l))),
            text(
                "te.scan 'scan': update 'C' for state 's'",
                "the extent of dimension 1 is n * l in one, n in the other",
                "equal extents",
            ),
        ),
        (
            replaced(init=compute((l, n))),
            text(
                "te.scan 'scan': init of l steps",
                "how far back the update may read must be known",
                "a constant, 1 or more",
            ),
        ),
        (depth_0, text("te.scan 'scan': init of 0 steps", "the first update needs a row to read", "1 or more")),
        (
            lambda: te.scan(*parts(k=4, shape=(3,))),
            text("te.scan 'scan': init of 4 steps for a state of 3", "it does not fit", "1 to 3 steps"),
        ),
        (
            two_states(k=2),
            text(
                "te.scan 'scan': inits 'a_init' and 'b_init'", "they give 1 and 2 steps", "as many steps for each state"
            ),
        ),
        (
            two_states(shape=(l, n)),
            text("te.scan 'scan': states 'a' and 'b'", "they have m and l steps", "as many steps for each state"),
        ),
        (
            early_init,
            text("te.scan 'scan': init 'early' reads 's'", "the init comes before every step", "inputs of the scan"),
        ),
        (replaced(name=""), text("te.scan: name ''", "a name is a text of at least one character", 'name="A"')),
    ],
)
def test_refused(call, said) -> None:
    assert message(call) == said
