"""What runs the passes: for which target, what it keeps of each, whom it blames for a broken program."""

from __future__ import annotations

import pytest

from tecomp.errors import InternalError
from tecomp.ir.expr import Var
from tecomp.ir.func import Func, Level
from tecomp.ir.parse import parse
from tecomp.ir.stmt import Store
from tecomp.ir.visit import rewrite
from tecomp.passes.manager import Pass, Trace, run_pipeline
from tecomp.passes.pipeline import LOOP_PASSES, PIPELINE
from tecomp.target import Target
from tests.passes.programs import CPU, GPU

SOURCE = """
def f(A: f32[n], B: out[f32[n]]):
    for i in range(n):
        B[i] = A[i]
"""


def same(func: Func, target: Target) -> Func:
    return func


def copied(func: Func, target: Target) -> Func:
    return func.with_body(func.body.copy())


def broken(func: Func, target: Target) -> Func:
    """Index every store by a variable that no loop binds."""
    lost = Var("lost", func.params[0].shape[0].dtype)
    return func.with_body(rewrite(func.body, stmts={Store: lambda store: store.copy(indices=(lost,))}))


def row(run, *targets: str, level: Level = Level.LOOPS) -> Pass:
    return Pass(run.__name__, run, targets or ("llvm", "cuda"), level, "")


def test_a_pass_runs_for_its_targets_only() -> None:
    pipeline = [row(same), row(copied, "cuda")]
    for target, names in ((CPU, ["same"]), (GPU, ["same", "copied"])):
        trace = Trace()
        run_pipeline(parse(SOURCE), target, pipeline, trace)
        assert [step.name for step in trace] == names


def test_what_did_not_change_is_not_printed() -> None:
    trace = Trace()
    result = run_pipeline(parse(SOURCE), CPU, [row(same), row(copied)], trace)
    assert [step.changed for step in trace] == [False, True]
    assert trace[-1].func is result
    assert str(trace).startswith("# after copied, ")
    assert "same" not in str(trace)
    assert str(trace[0]).endswith("ms: no change")


def test_a_pass_leads_to_its_level() -> None:
    result = run_pipeline(parse(SOURCE), CPU, [row(same, level=Level.DEVICE)])
    assert result.level is Level.DEVICE


def test_a_broken_program_is_found_after_the_pass_that_broke_it() -> None:
    with pytest.raises(InternalError) as caught:
        run_pipeline(parse(SOURCE), CPU, [row(broken), row(copied)])
    assert caught.value.because == "variable 'lost' is used outside its scope"


def test_a_program_that_is_broken_from_the_start_is_found_too() -> None:
    with pytest.raises(InternalError):
        run_pipeline(broken(parse(SOURCE), CPU), CPU, [])


def test_the_table() -> None:
    """Names are told apart, levels only go on, each row says why it stands there, and `lower` knows its passes."""
    names = [pass_.name for pass_ in PIPELINE]
    levels = [list(Level).index(pass_.level) for pass_ in PIPELINE]
    assert len(set(names)) == len(names)
    assert levels == sorted(levels)
    assert all(pass_.why_here and pass_.targets for pass_ in PIPELINE)
    assert set(LOOP_PASSES) <= set(names)
