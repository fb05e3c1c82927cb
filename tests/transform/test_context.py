"""PassContext: which options do what, which passes may be left out, what is refused."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import tecomp
from tecomp import te
from tecomp.errors import UserError, UserTypeError
from tecomp.ir import interpret
from tecomp.passes import one_lane
from tecomp.target import Target
from tecomp.transform import INSTEAD, OPTIONS, PIPELINE, PassContext
from tecomp.transform.context import OPTIONAL

N = 37


def stencil(target: str = "llvm"):
    """C[i] = B[i] + B[i + 1], B = A * 2 computed in C's blocks: a guard, lanes, an unrolled loop."""
    n = te.var("n")
    A = te.placeholder((n + 1,), name="A")
    B = te.compute((n + 1,), lambda i: A[i] * 2, name="B")
    C = te.compute((n,), lambda i: B[i] + B[i + 1], name="C")
    s = te.create_schedule(C.op)
    outer, inner = s[C].split(C.op.axis[0], 8)
    s[B].compute_at(s[C], outer)
    if target == "llvm":
        s[C].vectorize(inner)
    else:
        s[C].bind(outer, te.thread_axis("blockIdx.x"))
        s[C].bind(inner, te.thread_axis("threadIdx.x"))
        s[B].bind(s[B].split(B.op.axis[0], 8)[1], te.thread_axis("threadIdx.x"))
    return s, [A, C]


def program(target: str = "llvm", **context):
    with PassContext(**context):
        return tecomp.lower(*stencil(target), target=target)


def check(func) -> None:
    a, c = np.arange(N + 1, dtype="float32"), np.zeros(N, "float32")
    interpret(func, a, c)
    np.testing.assert_array_equal(c, 2 * (a[:-1] + a[1:]))


@pytest.mark.parametrize("target", ["llvm", "cuda -arch=sm_80"])
@pytest.mark.parametrize("name", OPTIONAL)
def test_a_pass_may_be_left_out(name: str, target: str) -> None:
    assert name in {row.name for row in PIPELINE}
    check(program(target, disabled_pass=[name]))
    with PassContext(disabled_pass=[name]):
        tecomp.build(*stencil(target), target=target)


def test_passes_by_the_names_of_tvm() -> None:
    names = ["tir.LoopPartition", "tir.UnrollLoop", "tir.HoistIfThenElse", "tir.CommonSubexprElimTIR"]
    assert PassContext(disabled_pass=names).disabled_pass == ("partition", "unroll", "hoist", "share")
    assert "if " not in str(program()).split("for ")[1]
    assert str(program(disabled_pass=["tir.LoopPartition"])).count("for i_outer") == 1


def test_no_vectors() -> None:
    func = program(config={"tir.disable_vectorize": True})
    assert "ramp" not in str(func) and "ramp" in str(program())
    check(func)
    assert str(program(config={"tir.disable_vectorize": False})) == str(program())


def test_unrolling() -> None:
    A = te.placeholder((4,), name="A")
    B = te.compute((4,), lambda i: A[i] + 1, name="B")

    def loops(config, unrolled=False):
        s = te.create_schedule(B.op)
        if unrolled:
            s[B].unroll(B.op.axis[0])
        with PassContext(config=config):
            return str(tecomp.lower(s, [A, B])).count("for ")

    assert loops({}) == loops({"tir.UnrollLoop": {"auto_max_step": 3}}) == 1
    assert loops({"tir.UnrollLoop": {"auto_max_step": 4, "auto_max_depth": 8}}) == 0
    assert loops({}, unrolled=True) == 0
    assert loops({"tir.UnrollLoop": {"explicit_unroll": 0}}, unrolled=True) == 1


def test_what_is_done_anyway_may_be_asked_for() -> None:
    config = {
        "tir.noalias": True,
        "tir.disable_assert": False,
        "tir.LoopPartition": {"partition_const_loop": True},
        "te.keep_schedule_record": True,
        "tir.disable_cse_tir": True,
    }
    assert str(program(opt_level=3, config=config)) == str(program())


def test_a_pass_of_ones_own_at_each_phase() -> None:
    seen = []

    def look(func):
        seen.append(str(func).count("ramp"))
        return func

    func = program(config={"tir.add_lower_pass": [(phase, look) for phase in range(4)]})
    assert len(seen) == 4 and seen[1] == 0 < seen[2]
    check(func)


def test_a_pass_of_ones_own_may_change_the_program() -> None:
    def serial(func):
        return one_lane.run(func, Target("llvm"))

    with PassContext(config={"tir.add_lower_pass": [(1, serial)]}):
        steps = tecomp.lower(*stencil(), trace=True)
    assert "serial" in [step.name for step in steps if step.changed]
    assert "vectorized" not in str(steps[-1].func)


def test_contexts_nest_and_end() -> None:
    with PassContext(config={"tir.disable_vectorize": True}) as outer:
        with PassContext() as inner:
            assert PassContext.current() is inner
        assert PassContext.current() is outer
    assert PassContext.current().config == {}
    assert repr(outer) == "PassContext(config={'tir.disable_vectorize': True}, disabled_pass=[])"


def test_what_was_built_in_a_context_pickles() -> None:
    with PassContext(config={"tir.UnrollLoop": {"auto_max_step": 4}, "tir.disable_vectorize": 1}):
        module = pickle.loads(pickle.dumps(tecomp.build(*stencil())))
    a, c = np.arange(N + 1, dtype="float32"), np.zeros(2 * N, "float32")
    module(a, c[::2])
    np.testing.assert_array_equal(c[::2], 2 * (a[:-1] + a[1:]))


def test_no_option_is_both_known_and_refused() -> None:
    assert not set(OPTIONS) & set(INSTEAD)


KNOWN = ", ".join(OPTIONS)


@pytest.mark.parametrize(
    ("given", "kind", "asked", "because", "legal"),
    [
        ({"opt_level": 9}, UserError, "opt_level=9", "there is no such level", "0 to 4"),
        (
            {"required_pass": ["x"]}, UserError, "required_pass=['x']", "every pass runs unless it is disabled",
            "no required_pass",
        ),
        (
            {"instruments": [1]}, UserError, "instruments", "there is nothing that they could hook into",
            "tecomp.lower(..., trace=True), which times each pass",
        ),
        (
            {"disabled_pass": ["launch"]}, UserError, "disabled_pass has 'launch'",
            "programs need it, or there is none of that name", ", ".join(OPTIONAL),
        ),
        (
            {"disabled_pass": ["tir.VectorizeLoop"]}, UserError, "disabled_pass has 'tir.VectorizeLoop'",
            "programs need it, or there is none of that name",
            'config={"tir.disable_vectorize": True}, ' + ", ".join(OPTIONAL),
        ),
        ({"disabled_pass": [3]}, UserTypeError, "disabled_pass has 3", "it is a int", "names"),
        (
            {"config": {"tir.nothing": 1}}, UserError, "tir.nothing=1",
            "there is no such option, or it would change nothing", KNOWN,
        ),
        (
            {"config": {"tir.enable_debug": 1}}, UserError, "tir.enable_debug=1",
            "there is no such option, or it would change nothing", INSTEAD["tir.enable_debug"],
        ),
        (
            {"config": {"tir.lwp_max_depth": 1}}, UserError, "tir.lwp_max_depth=1",
            "there is no such option, or it would change nothing", "module.time_evaluator",
        ),
        (
            {"config": {"tir.disable_vectorize": "no"}}, UserTypeError, "tir.disable_vectorize='no'", "it is a switch",
            "True, False",
        ),
        (
            {"config": {"tir.noalias": False}}, UserError, "tir.noalias=False",
            "what a function writes never overlaps its other arguments: a call checks that", "a copy",
        ),
        (
            {"config": {"tir.UnrollLoop": 4}}, UserTypeError, "tir.UnrollLoop=4", "it is a dict of parts",
            "auto_max_step, explicit_unroll, auto_max_depth, auto_max_extent, unroll_local_access",
        ),
        (
            {"config": {"tir.UnrollLoop": {"steps": 4}}}, UserError, "tir.UnrollLoop={'steps': 4}",
            "it has no part 'steps'",
            "auto_max_step, explicit_unroll, auto_max_depth, auto_max_extent, unroll_local_access",
        ),
        (
            {"config": {"tir.UnrollLoop": {"auto_max_step": -1}}}, UserError, "tir.UnrollLoop={'auto_max_step': -1}",
            "auto_max_step is -1", "how many stores a loop may become: 0 or more",
        ),
        (
            {"config": {"tir.UnrollLoop": {"auto_max_depth": 2}}}, UserError, "tir.UnrollLoop={'auto_max_depth': 2}",
            "auto_max_depth decides nothing here: which loops are unrolled follows from how much they become",
            "auto_max_step, or s[T].unroll",
        ),
        (
            {"config": {"tir.LoopPartition": {"partition_const_loop": False}}}, UserError,
            "tir.LoopPartition={'partition_const_loop': False}",
            "loops of every kind of extent are divided where a guard ends",
            'disabled_pass=["partition"], or lower(..., simple_mode=True)',
        ),
        (
            {"config": {"tir.LoopPartition": {"no_unroll_loop_with_extent_one": 1}}}, UserError,
            "tir.LoopPartition={'no_unroll_loop_with_extent_one': 1}",
            "no_unroll_loop_with_extent_one has no meaning: a loop of one iteration is never written",
            'disabled_pass=["partition"], or lower(..., simple_mode=True)',
        ),
        ({"config": [1]}, UserTypeError, "config=[1]", "it is a list", '{"tir.disable_vectorize": True}'),
        ({"config": {3: 1}}, UserTypeError, "option 3", "it is a int", "names"),
        (
            {"config": {"tir.add_lower_pass": [(7, print)]}}, UserTypeError,
            "tir.add_lower_pass=[(7, <built-in function print>)]",
            "(7, <built-in function print>) is no pass with its phase",
            "pairs (phase, function of a Func), phases 0, 1, 2, 3",
        ),
    ],
)  # fmt: skip
def test_refusals(given, kind, asked: str, because: str, legal: str) -> None:
    with pytest.raises(UserError) as caught:
        PassContext(**given)
    error = caught.value
    assert (type(error), error.asked, error.because, error.legal) == (kind, f"PassContext: {asked}", because, legal)


def test_a_pass_that_breaks_the_program() -> None:
    def other(func):
        return func.with_body(te.schedule.ScheduleOps(stencil()[0]))

    with PassContext(config={"tir.add_lower_pass": [(0, other)]}), pytest.raises(UserError) as caught:
        tecomp.lower(*stencil())
    assert caught.value.asked == "PassContext: the pass other"
    assert caught.value.because == "it made a program that is not well formed: variable 'n' is used outside its scope"


def test_a_pass_that_gives_no_program() -> None:
    with PassContext(config={"tir.add_lower_pass": [(0, str)]}), pytest.raises(UserTypeError) as caught:
        tecomp.lower(*stencil())
    assert (caught.value.asked, caught.value.because) == ("PassContext: the pass str", "it returned a str")


@pytest.mark.parametrize("name", OPTIONAL)
def test_a_pass_may_be_left_out_of_a_scan_on_a_gpu(name: str) -> None:
    m, n = te.var("m"), te.var("n")
    X, state = te.placeholder((m, n), name="X"), te.placeholder((m, n), name="state")
    init = te.compute((1, n), lambda _, i: X[0, i], name="init")
    update = te.compute((m, n), lambda t, i: state[t - 1, i] + X[t, i], name="update")
    total = te.scan(init, update, state, inputs=[X])
    s = te.create_schedule(total.op)
    for stage in (init, update):
        outer, inner = s[stage].split(stage.op.axis[1], factor=8)
        s[stage].bind(outer, te.thread_axis("blockIdx.x"))
        s[stage].bind(inner, te.thread_axis("threadIdx.x"))
    with PassContext(disabled_pass=[name]):
        module = tecomp.build(s, [X, total], "cuda -arch=sm_80")
    x = np.random.default_rng(0).integers(0, 9, (41, 19)).astype("float32")
    out = np.zeros_like(x)
    interpret(module.ir, x, out)
    np.testing.assert_array_equal(out, x.cumsum(0))
