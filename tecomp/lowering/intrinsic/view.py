"""Where the elements of an intrinsic's buffer lie in a tensor of the program.

the intrinsic reads  x[i, k]   i, k in [0, 16)
the stage reads      A[ko*16 + k, io*32 + 2*i]    ->    base (ko*16, io*32), steps (0, 2), (1, 0):
                                                        x[i, k] is A[ko*16 + k, io*32 + 2*i]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ...arith import can_prove, simplify
from ...arith.affine import affine, factors, monomial
from ...bounds.run_over import ZERO
from ...dtype import INDEX
from ...ir import expr as E
from ...ir import make
from ...ir.node import Expr
from ...ir.visit import walk
from ...te.tensor import Tensor
from .apart import apart

Indices = Sequence[Expr]


class View(NamedTuple):
    """Element (k0, k1, ...) of the buffer is element base + k0 * steps[0] + k1 * steps[1] + ... of the tensor."""

    tensor: Tensor
    base: tuple[Expr, ...]
    steps: tuple[tuple[Expr, ...], ...]
    """For each dimension of the buffer, how far one goes along each dimension of the tensor."""

    def at(self, indices: Indices) -> tuple[Expr, ...]:
        """Return the element of the tensor that an element of the buffer is."""
        found = list(self.base)
        for index, step in zip(indices, self.steps, strict=True):
            for dim, far in enumerate(step):
                found[dim] = found[dim] if far is ZERO else make.add(found[dim], make.mul(index, far))
        return tuple(map(simplify, found))

    def same(self, other: View) -> bool:
        """Return whether both name the same elements."""
        if self.tensor is not other.tensor:
            return False
        mine, others = ([*view.base, *(far for step in view.steps for far in step)] for view in (self, other))
        return all(can_prove(make.eq(x, y)) for x, y in zip(mine, others, strict=True))


class Linear(NamedTuple):
    """coefficients * terms + rest. A term is a variable, or what is not linear in variables, such as k // 4; a
    coefficient and the rest name none of the variables."""

    coefficients: Mapping[Expr, Expr]
    rest: Expr


def linear(expr: Expr, variables: frozenset[E.Var]) -> Linear:
    """Return `expr` as a linear form in some of its variables."""
    form = affine(apart(simplify(expr)))
    coefficients: dict[Expr, Expr] = {}
    rest: Expr = make.const(form.constant, INDEX)
    for term, number in form.terms.items():
        named, scale = _separated(term, variables)
        value = make.mul(scale, make.const(number, INDEX))
        if named is None:
            rest = make.add(rest, value)
        else:
            coefficients[named] = make.add(coefficients.get(named, ZERO), value)
    return Linear(coefficients, simplify(rest))


def _separated(term: Expr, variables: frozenset[E.Var]) -> tuple[Expr | None, Expr]:
    """Return a term as (what names the variables, a factor that does not); None where it names none."""
    moving = [factor for factor in factors(term) if any(node in variables for node in walk(factor))]
    if not moving:
        return None, term
    still = [factor for factor in factors(term) if factor not in moving]
    return monomial(moving), monomial(still) if still else make.const(1, INDEX)


def view_of(tensor: Tensor, stage: Indices, declared: Indices, variables: frozenset[E.Var]) -> View | None:
    """Return the view through which the intrinsic's element `declared` is the tensor's element `stage`, for all values
    of the variables; None where there is none."""
    return _solved(tensor, [linear(index, variables) for index in stage], [linear(i, variables) for i in declared])


def _solved(tensor: Tensor, stage: Sequence[Linear], declared: Sequence[Linear]) -> View | None:
    steps: list[tuple[Expr, ...]] = []
    for number, form in enumerate(declared):
        if not form.coefficients:
            steps.append((ZERO,) * len(stage))
            continue
        elsewhere = {term for other, more in enumerate(declared) if other != number for term in more.coefficients}
        pivot = next((term for term in form.coefficients if term not in elsewhere), None)
        step = None if pivot is None else _steps(pivot, form.coefficients[pivot], stage)
        if step is None:
            return None
        steps.append(step)
    base = list(form.rest for form in stage)
    for form, step in zip(declared, steps, strict=True):
        base = [make.sub(at, make.mul(form.rest, far)) for at, far in zip(base, step, strict=True)]
    view = View(tensor, tuple(map(simplify, base)), tuple(steps))
    return view if all(_follows(dim, form, declared, steps) for dim, form in enumerate(stage)) else None


def _steps(pivot: Expr, scale: Expr, stage: Sequence[Linear]) -> tuple[Expr, ...] | None:
    """Return how far each dimension goes while the declared index goes by one; None where that is no whole number."""
    found: list[Expr] = []
    for form in stage:
        far = form.coefficients.get(pivot, ZERO)
        whole = simplify(make.floordiv(far, scale))
        if not can_prove(make.eq(make.mul(whole, scale), far)):
            return None
        found.append(whole)
    return tuple(found)


def _follows(dim: int, form: Linear, declared: Sequence[Linear], steps: Sequence[Sequence[Expr]]) -> bool:
    """Return whether along one dimension of the tensor each term moves the element as the view says."""
    for term in {*form.coefficients, *(term for other in declared for term in other.coefficients)}:
        total: Expr = ZERO
        for other, step in zip(declared, steps, strict=True):
            total = make.add(total, make.mul(other.coefficients.get(term, ZERO), step[dim]))
        if not can_prove(make.eq(total, form.coefficients.get(term, ZERO))):
            return False
    return True
