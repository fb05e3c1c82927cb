"""Programs, schedules and what is built of them go through pickle whole."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import tecomp
from tecomp import te
from tecomp.ir.alpha import difference
from tecomp.ir.interpret import interpret
from tecomp.target import Target
from tests.saved.test_saved import PROGRAMS


def copied(*things):
    return pickle.loads(pickle.dumps(things))


def small():
    n = te.var("n")
    A = te.placeholder((n, 8), name="A")
    B = te.compute((n, 8), lambda i, j: A[i, j] * 2, name="B")
    k = te.reduce_axis((0, 8), name="k")
    C = te.compute((n,), lambda i: te.sum(B[i, k], axis=k), name="C")
    s = te.create_schedule(C.op)
    outer, inner = s[C].split(C.op.axis[0], factor=4)
    s[C].unroll(inner)
    s[B].compute_at(s[C], outer)
    s[C].set_store_predicate(C.op.axis[0] < n)
    return s, A, C, outer, k


@pytest.mark.parametrize("make", PROGRAMS, ids=lambda make: make.__name__)
def test_a_schedule(make) -> None:
    s = make()
    (made,) = copied(s)
    assert (made.text(), repr(made), te.save(made)) == (s.text(), repr(s), te.save(s))
    assert [applied.location for applied in made.history] == [applied.location for applied in s.history]


def test_what_is_pickled_together_stays_together() -> None:
    s, A, C, outer, k = small()
    t, A2, C2, outer2, k2 = copied(s, A, C, outer, k)
    assert t[C2].leaf_iter_vars[0] is outer2 and C2.op.reduce_axis[0] is k2
    assert k2.user is C2.op and t[C2].state.store_predicate is not None
    assert difference(tecomp.lower(t, [A2, C2]), tecomp.lower(s, [A, C])) == ""
    t[C2].pragma(t[C2].leaf_iter_vars[2], "auto_unroll_max_step", 8)
    assert "pragma" in t.text() and "pragma" not in s.text()


def test_the_reducers_of_te_are_themselves() -> None:
    assert copied(te.sum, te.argmax) == (te.sum, te.argmax)


def test_expressions_are_interned_again() -> None:
    x = te.var("x")
    y, one, two = copied(x, x + 1 < te.max(x, 3), x + 1)
    assert one is (y + 1 < te.max(y, 3)) and two is y + 1 and y is not x


def test_an_expression_of_five_thousand_levels() -> None:
    x = total = te.var("x")
    for at in range(5000):
        total = total + x * at
    (made,) = copied(total)
    assert made.dtype == "int32"


def test_programs_and_modules() -> None:
    s, A, C, *_ = small()
    func = tecomp.lower(s, [A, C])
    (made,) = copied(func)
    assert difference(func, made) == "" and made.body.loc == func.body.loc
    module = tecomp.build(s, [A, C], name="f")
    (loaded,) = copied(module)
    assert (loaded.artifact, loaded.target, repr(loaded)) == (module.artifact, module.target, repr(module))
    a = np.random.default_rng(0).random((11, 8), "float32")
    for step in (1, 2):
        c = np.zeros(11 * step, "float32")
        loaded(a, c[::step])
        np.testing.assert_allclose(c[::step], (a * 2).sum(1), rtol=1e-6)


def test_a_module_for_cuda() -> None:
    s, A, C, outer, _ = small()
    s[C].bind(outer, te.thread_axis("blockIdx.x"))
    module = tecomp.build(s, [A, C], Target("cuda -arch=sm_90a"))
    (loaded,) = copied(module)
    assert loaded.artifact == module.artifact and str(loaded.ir) == str(module.ir)


def test_long_chains_of_stages() -> None:
    A = stage = te.placeholder((64,), name="A")
    chain = [A]
    for _ in range(1000):
        stage = te.compute((64,), lambda i, *, before=stage: before[i] + 1, name="stage")
        chain.append(stage)
    (made,) = copied(te.create_schedule(stage.op))
    assert len(made.stages) == 1001
    (func,) = copied(tecomp.lower(te.create_schedule(chain[200].op), [A, chain[200]], simple_mode=True))
    a, b = np.zeros(64, "float32"), np.zeros(64, "float32")
    interpret(func, a, b)
    assert (b == 200).all()


def test_a_copy_goes_its_own_way() -> None:
    s, A, C, *_ = small()
    other = s.copy()
    before = s.text()
    D = other.cache_read(A, "local", [s.stages[1].op])
    other[D].compute_at(other[C], other[C].leaf_iter_vars[0])
    assert s.text() == before
    assert len(s.stages) == 3 and len(other.stages) == 4
    assert s.normalize() is s and s.stage_map[C.op] is s[C]
    assert (s[C].num_child_stages, other[C].num_child_stages, s[C].origin_op) == (1, 2, C.op)
