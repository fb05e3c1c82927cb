"""Rolling buffers: of a window that moves along, each iteration computes only what the one before did not have.

B at C's loop y computes rows y to y + 2            in memory of 3 rows, where row r is row r % 3
    every y:  rows y, y + 1, y + 2            ->    y == 0:  rows 0, 1, 2
                                                    later:   row y + 2

Along each dimension the window moves with some of the loops around the stage: with `y` above, with `y.outer` and
`y.inner` where y was split. Its loops run in order, each step moving it by the same distance. Of the outermost
dimension that overlaps, memory holds the window; of those that move further inside, all that it passes over, for the
next iteration of the outer loop to find.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from ..arith import affine, bounds_of, can_prove, simplify
from ..errors import ScheduleError
from ..ir import expr as E
from ..ir import make
from ..ir.axis import Range
from ..ir.node import Expr
from ..ir.visit import walk
from ..schedule.stage import IN_ORDER
from .program import Program
from .run_over import ONE, ZERO, Bounds, StageBounds
from .window import Move, Rolling


def rolling_of(stage: StageBounds, program: Program, bounds: Bounds) -> Rolling | None:
    """Return how the stage rolls; None in a loop of one iteration; ScheduleError where its window moves otherwise."""
    return _Window(stage, program, bounds).rolling()


class _Window:
    """What a stage computes in one iteration of the loops around it."""

    def __init__(self, stage: StageBounds, program: Program, bounds: Bounds) -> None:
        self.stage, self.program, self.bounds = stage, program, bounds
        around = [(place, bounds[place.op].loops[place.axis]) for place in program.placement.path(stage.op)]
        self.once = bool(around) and around[-1][1] is None
        """Whether the loop at which it is computed has one iteration."""
        self.places = {var: place for place, var in around if var is not None}
        kinds = [bounds[place.op].state.mark(place.axis).kind for place in self.places.values()]
        apart = [number + 1 for number, kind in enumerate(kinds) if kind not in IN_ORDER]
        self.loops = list(self.places)[apart[-1] if apart else 0 :]
        """The loops around the stage whose iterations follow each other, inside of all others; outermost first."""

    def rolling(self) -> Rolling | None:
        """Return how it moves; ScheduleError where it stands still, jumps, or its loops do not run in order."""
        coefficients = [self._coefficients(number) for number in range(len(self.stage.region))]
        moves = [self._move(number, found) for number, found in enumerate(coefficients)]
        starts = {number: self.loops.index(move.loops[0]) for number, move in enumerate(moves) if move is not None}
        if not starts and self.once:
            return None
        if not starts:
            raise self._refused(self._apart())
        dimension = min(starts, key=starts.__getitem__)
        outer = moves[dimension]
        assert outer is not None
        inside = self.loops[starts[dimension] :]
        self._check_nested(outer, inside)
        self._check_complete(inside)
        held = tuple(
            window if number == dimension else self._passed(number, inside)
            for number, window in enumerate(self.stage.region)
        )
        return Rolling(self.places[inside[0]], dimension, held, tuple(moves))

    def _coefficients(self, number: int) -> dict[E.Var, int]:
        """Return how far the window's begin moves along a dimension with each loop around it, outermost first."""
        window = self.stage.region[number]
        form = affine(simplify(window.min))
        hidden = [node for term in form.terms if not isinstance(term, E.Var) for node in walk(term)]
        crooked = next((node for node in (*hidden, *walk(window.extent)) if node in self.places), None)
        if crooked is not None:
            raise self._refused(f"along dimension {number} it begins at {window.min!r}, which moves by no constant")
        return {var: form.terms[var] for var in self.loops if var in form.terms}

    def _move(self, number: int, coefficients: dict[E.Var, int]) -> Move | None:
        """Return with which loops the window moves along a dimension so that it overlaps the one before."""
        loops = list(reversed(coefficients.items()))
        if not loops or not can_prove(make.lt(abs(loops[0][1]), self.stage.region[number].extent)):
            return None
        chain = [loops[0]]
        for var, coefficient in loops[1:]:
            inner, step = chain[-1]
            assert inner.extent is not None
            if not can_prove(make.eq(make.index(coefficient), make.mul(inner.extent, step))):
                break
            chain.append((var, coefficient))
        return Move(tuple(var for var, _ in reversed(chain)), chain[0][1])

    def _apart(self) -> str:
        """Say why no iteration finds what an earlier one computed."""
        if not self.places:
            return "it is computed in no loop, so no iteration comes after another"
        innermost = list(self.places)[-1]
        if not self.loops:
            mark = self.bounds[self.places[innermost].op].state.mark(self.places[innermost].axis)
            kind = mark.kind.value if mark.thread is None else f"bound to {mark.thread.thread_tag}"
            return f"the iterations of '{innermost.name}', which is {kind}, run at once"
        names = ", ".join(f"'{var.name}'" for var in self.loops)
        return f"no two iterations of the loops around it that run in order ({names}) need the same elements"

    def _check_nested(self, move: Move, inside: Sequence[E.Var]) -> None:
        """Raise ScheduleError where a loop that does not move the outermost dimension makes its window move back."""
        between = next((var for var in inside[: inside.index(move.loops[-1])] if var not in move.loops), None)
        if between is not None:
            outer, inner = move.loops[0].name, move.loops[-1].name
            because = f"the loop '{between.name}' stands inside of '{outer}' and around '{inner}', so it moves back"
            raise self._refused(because)

    def _check_complete(self, inside: Sequence[E.Var]) -> None:
        """Raise ScheduleError where a condition may leave out an iteration that a later one counts on."""
        path = self.program.placement.path(self.stage.op)
        for op, here in groupby(path, key=lambda place: place.op):
            reader, at = self.bounds[op], [place.axis for place in here][-1]
            loops = [var for leaf in reader.state.leaves if (var := reader.loops[leaf]) is not None]
            around = {reader.loops[leaf] for leaf in reader.state.leaves[: reader.state.positions()[at]]}
            for guard in reader.guards:
                nodes = set(walk(guard))
                named = [var for var in loops if var in nodes]
                if around.issuperset(named) and not _is_end(guard, [var for var in named if var in inside]):
                    raise self._refused(f"some iterations are left out, where {guard!r} does not hold")

    def _passed(self, number: int, inside: Sequence[E.Var]) -> Range:
        """Return what the window passes over along a dimension while the loops inside run."""
        window = self.stage.region[number]
        running = {var: Range(ZERO, var.extent) for var in inside if var.extent is not None}
        low, high = bounds_of(window.min, running)
        assert low is not None
        assert high is not None
        return Range(low, simplify(make.add(make.sub(high, low), window.extent)))

    def _refused(self, because: str) -> ScheduleError:
        return ScheduleError(
            f"rolling_buffer: '{self.stage.op.name}'",
            because=because,
            legal="compute_at a serial loop of a reader that needs a window of it, which moves by a constant",
            location=self.program.schedule.location_of(self.stage.op, "rolling_buffer"),
        )


def _is_end(guard: Expr, loops: Sequence[E.Var]) -> bool:
    """Return whether a condition that holds in one iteration of `loops` holds in all before it: position < end."""
    if not loops:
        return True
    if not isinstance(guard, E.Lt):
        return False
    form = affine(simplify(make.sub(guard.a, guard.b)))
    reach: Expr = ZERO
    """How far the loops further inside go."""
    for var in reversed(loops):
        if var not in form.terms or var.extent is None or not can_prove(make.le(reach, form.terms[var])):
            return False
        reach = make.add(reach, make.mul(make.sub(var.extent, ONE), form.terms[var]))
    others = (node for term in form.terms if term not in loops for node in walk(term))
    return not any(node in loops for node in others)
