"""Quotients and remainders of a fused loop, told apart by which loop each part of the numerator comes from.

(o*8 + i) // 16, where i runs over [0, 8)    ->    o // 2
(o*8 + i) % 16                               ->    o % 2 * 8 + i
"""

from __future__ import annotations

from math import gcd

from ...arith import affine, can_prove, simplify
from ...dtype import INDEX
from ...ir import expr as E
from ...ir import make
from ...ir.node import Expr
from ...ir.visit import rewrite_expr


def apart(expr: Expr) -> Expr:
    """Return an index with its quotients and remainders by numbers over as few terms as can be."""
    return simplify(rewrite_expr(expr, {E.FloorDiv: _division, E.FloorMod: _division}))


def _division(node: E.FloorDiv | E.FloorMod) -> Expr:
    if not isinstance(node.b, E.Const) or node.b.value <= 0 or node.dtype is not INDEX:
        return node
    form, divisor = affine(node.a), int(node.b.value)
    for step in sorted({gcd(divisor, number) for number in form.terms.values()} - {1, divisor}, reverse=True):
        fine = _sum({term: number % step for term, number in form.terms.items()}, form.constant % step)
        if not can_prove(make.le(make.const(0, INDEX), fine)) or not can_prove(make.lt(fine, make.const(step, INDEX))):
            continue
        coarse = _sum({term: number // step for term, number in form.terms.items()}, form.constant // step)
        fewer = make.const(divisor // step, INDEX)
        if isinstance(node, E.FloorDiv):
            return make.floordiv(coarse, fewer)
        return make.add(make.mul(make.floormod(coarse, fewer), make.const(step, INDEX)), fine)
    return node


def _sum(terms: dict[Expr, int], constant: int) -> Expr:
    total: Expr = make.const(constant, INDEX)
    for term, number in terms.items():
        if number:
            total = make.add(total, make.mul(term, make.const(number, INDEX)))
    return simplify(total)
