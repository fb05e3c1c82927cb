"""How axes are made of other axes, and how domains, values and guards pass between them.

A relation has parents (axes that stopped being loops) and children (the axes that took their place):

    Split      i           ->  i.outer, i.inner      i == i.outer * len(i.inner) + i.inner
    Fuse       i, j        ->  i.j.fused             i == i.j.fused // len(j),  j == i.j.fused % len(j)
    Singleton              ->  singleton             a loop of one iteration

Going down the list of relations, `domain_down` finds the children's domains and `index_down` their values; going up it,
`index_up` finds the parents' values. **Every domain here starts at 0**: a root axis whose range starts elsewhere adds
its minimum to the value that `index_up` gave it. Domains and values are of dtype index.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ..arith import can_prove, simplify
from ..dtype import INDEX
from ..ir import make
from ..ir.axis import IterVar, Range
from ..ir.expr import Const
from ..ir.node import Expr

Domains: TypeAlias = dict[IterVar, Range]
Values: TypeAlias = dict[IterVar, Expr]
Exact: TypeAlias = Callable[[Expr], Expr]
"""Turns a factor as the user wrote it (int32, over size variables) into index arithmetic."""

ZERO, ONE = make.const(0, INDEX), make.const(1, INDEX)


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """`parent` in pieces: `inner` of `factor` iterations, or `outer` of `nparts`; exactly one of both is given.

    `whole` declares that they leave no rest: what is lowered from it needs no guard, and must require as much.
    """

    parent: IterVar
    outer: IterVar
    inner: IterVar
    factor: Expr | None
    nparts: Expr | None
    whole: bool = False

    @property
    def parents(self) -> tuple[IterVar, ...]:
        """The axis that was split."""
        return (self.parent,)

    @property
    def children(self) -> tuple[IterVar, ...]:
        """The axes that took its place, outermost first."""
        return (self.outer, self.inner)

    @property
    def measured(self) -> tuple[IterVar, ...]:
        """The axis that is as long as its parent's length makes it."""
        return (self.inner if self.factor is None else self.outer,)

    def domain_down(self, domains: Domains, kept: Container[IterVar] = (), exact: Exact = make.index) -> None:
        """Fill the domains of both children.

        The one of given length is cut to the parent's extent where that is provably shorter, unless it is in `kept`
        (bound to a thread axis, whose extent other stages share; in the place of which an instruction stands, whose
        length is its own), or its length would no longer be constant. The other
        one is as long as it takes. A symbolic length that is 0 for some sizes counts as 1 there.
        """
        given, other = (self.outer, self.inner) if self.factor is None else (self.inner, self.outer)
        wanted = self.nparts if self.factor is None else self.factor
        assert wanted is not None
        extent = domains[self.parent].extent
        length = _positive(exact(wanted))
        count = simplify(make.ceildiv(extent, length))
        constant = isinstance(extent, Const) or not isinstance(length, Const)
        if given not in kept and constant and _holds(ONE, extent) and _holds(extent, length):
            length, count = extent, ONE
        domains[given], domains[other] = Range(ZERO, length), Range(ZERO, count)

    def index_up(self, values: Values, domains: Domains) -> None:
        """Fill the parent's value from its children's."""
        step = domains[self.inner].extent
        values[self.parent] = simplify(make.add(make.mul(values[self.outer], step), values[self.inner]))

    def index_down(self, values: Values, domains: Domains) -> None:
        """Fill the children's values from the parent's."""
        values[self.outer], values[self.inner] = _divided(values[self.parent], domains[self.inner].extent)

    def guards(self, values: Values, domains: Domains) -> list[Expr]:
        """Return `parent < extent` where the children run past the parent's end, nothing where they provably do not."""
        extent = domains[self.parent].extent
        if _holds(make.mul(domains[self.outer].extent, domains[self.inner].extent), extent):
            return []
        inside = make.lt(values[self.parent], extent)
        return [] if can_prove(inside) else [inside]


@dataclass(frozen=True, slots=True, eq=False)
class Fuse:
    """`outer` and `inner` as one loop over all pairs, `inner` running faster."""

    outer: IterVar
    inner: IterVar
    fused: IterVar

    @property
    def parents(self) -> tuple[IterVar, ...]:
        """The axes that were fused, outermost first."""
        return (self.outer, self.inner)

    @property
    def children(self) -> tuple[IterVar, ...]:
        """The axis that took their place."""
        return (self.fused,)

    @property
    def measured(self) -> tuple[IterVar, ...]:
        """The axis that is as long as its parents' lengths make it."""
        return (self.fused,)

    def domain_down(self, domains: Domains, kept: Container[IterVar] = (), exact: Exact = make.index) -> None:
        """Fill the domain of the fused axis: the product."""
        product = make.mul(domains[self.outer].extent, domains[self.inner].extent)
        domains[self.fused] = Range(ZERO, simplify(product))

    def index_up(self, values: Values, domains: Domains) -> None:
        """Fill both parents' values from the fused one's."""
        values[self.outer], values[self.inner] = _divided(values[self.fused], domains[self.inner].extent)

    def index_down(self, values: Values, domains: Domains) -> None:
        """Fill the fused axis's value from its parents'."""
        step = domains[self.inner].extent
        values[self.fused] = simplify(make.add(make.mul(values[self.outer], step), values[self.inner]))

    def guards(self, values: Values, domains: Domains) -> list[Expr]:
        """Return nothing: every value of the fused axis is a pair."""
        return []


@dataclass(frozen=True, slots=True, eq=False)
class Singleton:
    """A loop of one iteration that stands for no axis of the computation, so that a 0-D stage has a loop."""

    axis: IterVar

    @property
    def parents(self) -> tuple[IterVar, ...]:
        """None: it was made of nothing."""
        return ()

    @property
    def children(self) -> tuple[IterVar, ...]:
        """The loop."""
        return (self.axis,)

    @property
    def measured(self) -> tuple[IterVar, ...]:
        """None: its length is 1."""
        return ()

    def domain_down(self, domains: Domains, kept: Container[IterVar] = (), exact: Exact = make.index) -> None:
        """Fill the loop's domain: one iteration."""
        domains[self.axis] = Range(ZERO, ONE)

    def index_up(self, values: Values, domains: Domains) -> None:
        """Fill nothing: it has no parent."""

    def index_down(self, values: Values, domains: Domains) -> None:
        """Fill the loop's one value."""
        values[self.axis] = ZERO

    def guards(self, values: Values, domains: Domains) -> list[Expr]:
        """Return nothing; a thread axis it is bound to has one iteration too."""
        return []


Relation: TypeAlias = Split | Fuse | Singleton


def is_whole(relation: Relation) -> bool:
    """Return whether a relation is a split that is declared to leave no rest."""
    return isinstance(relation, Split) and relation.whole


def carrying(axes: Iterable[IterVar], relations: Sequence[Relation]) -> set[IterVar]:
    """Return the axes made of any of `axes`, themselves among them."""
    found = set(axes)
    for relation in relations:
        if found.intersection(relation.parents):
            found.update(relation.children)
    return found


def _holds(low: Expr, high: Expr) -> bool:
    """Return whether low <= high is provable."""
    return can_prove(make.le(low, high))


def _positive(length: Expr) -> Expr:
    """Return a symbolic length as it is used: at least 1, whatever the sizes are."""
    return length if _holds(ONE, length) else make.maximum(length, ONE)


def _divided(value: Expr, step: Expr) -> tuple[Expr, Expr]:
    """Return value // step and value % step; the loops of an empty step never run, so any step serves there."""
    if isinstance(step, Const) and step.value == 0:
        step = ONE
    return simplify(make.floordiv(value, step)), simplify(make.floormod(value, step))
