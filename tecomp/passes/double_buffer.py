"""Double buffering: memory of which one iteration fills a copy while the one before still reads its own.

    for k in range(n):                                S = alloc(f32[2, 8], 'shared')
        S = alloc(f32[8], 'shared', copies=2)         if 0 < n:
        S[...] = A[k, ...]                                S[0, ...] = A[0, ...]
        C[...] = C[...] + S[...]               ->     for k in range(n):
                                                          if k + 1 < n:
                                                              S[(k + 1) % 2, ...] = A[k + 1, ...]
                                                          C[...] = C[...] + S[k % 2, ...]

What fills the memory goes ahead with all that only it needs. Its loads are on their way while the iteration before
computes, and in shared memory one barrier an iteration is enough, where one copy takes two.
"""

from __future__ import annotations

from ..arith import simplify
from ..dtype import INDEX
from ..errors import ScheduleError
from ..ir import make
from ..ir.expr import Call
from ..ir.foreign import foreign
from ..ir.func import Func
from ..ir.node import Expr
from ..ir.stmt import Alloc, Buffer, For, If, Seq, Stmt, in_order
from ..ir.subst import fresh_loops, substitute_stmt
from ..ir.visit import rewrite, walk
from ..target import Target
from .accesses import allocated, loaded, stored, uses
from .copies import copied, in_copy

TWO = make.const(2, INDEX)


def run(func: Func, target: Target) -> Func:
    """Return `func` with the copies made that its allocations ask for; one that is in no loop any more needs none."""
    body = rewrite(func.body, stmts={For: _loop})
    return func.with_body(rewrite(body, stmts={Alloc: _once}))


def _once(alloc: Alloc) -> Stmt:
    return alloc if alloc.copies == 1 else alloc.copy(copies=1)


def _loop(loop: For) -> Stmt:
    allocs: list[Alloc] = []
    body = loop.body
    while isinstance(body, Alloc):
        allocs.append(body)
        body = body.body
    if all(alloc.copies == 1 for alloc in allocs):
        return loop
    return _Doubled(loop, allocs, in_order(body)).stmt()


class _Doubled:
    """One loop whose body is `steps` in `allocs`, some of which ask for two copies."""

    def __init__(self, loop: For, allocs: list[Alloc], steps: tuple[Stmt, ...]) -> None:
        self.loop, self.allocs, self.steps = loop, allocs, steps
        self.copies = {alloc.buffer: copied(alloc.buffer, TWO) for alloc in allocs if alloc.copies > 1}
        self.filled = set(self.copies)
        """The memory that is filled ahead; what is not in copies serves only to fill the rest of it."""

    def stmt(self) -> Stmt:
        """Return the loop with the steps that fill the copies an iteration ahead, the first time before it."""
        self.fill_too()
        ahead = [step for step in self.steps if stored(step) & self.filled]
        rest = [step for step in self.steps if not stored(step) & self.filled]
        self.check(ahead, rest)
        var, end = self.loop.var, simplify(make.add(self.loop.min, self.loop.extent))
        following = simplify(make.add(var, make.index(1)))
        first = _where(make.lt(self.loop.min, end), self.at(ahead, self.loop.min))
        body: Stmt = Seq((_where(make.lt(following, end), self.at(ahead, following)), *self.at(rest, var)))
        outside = [alloc for alloc in self.allocs if alloc.buffer in self.filled]
        for alloc in reversed([alloc for alloc in self.allocs if alloc.buffer not in self.filled]):
            body = alloc.copy(body=body)
        result: Stmt = Seq((first, self.loop.copy(body=body)))
        for alloc in reversed(outside):
            result = alloc.copy(buffer=self.copies.get(alloc.buffer, alloc.buffer), body=result, copies=1)
        return result

    def at(self, steps: list[Stmt], iteration: Expr) -> tuple[Stmt, ...]:
        """Return `steps` as they are in an iteration, in that iteration's copies."""
        stmt: Stmt = Seq(tuple(steps))
        if iteration is not self.loop.var:
            stmt = fresh_loops(substitute_stmt(stmt, {self.loop.var: iteration}))
        return in_order(in_copy(stmt, self.copies, simplify(make.floormod(make.sub(iteration, self.loop.min), TWO))))

    def fill_too(self) -> None:
        """Add to what is filled ahead the memory of this loop of which that is made, and what is filled with it."""
        written, own = stored(Seq(self.steps)), {alloc.buffer for alloc in self.allocs}
        count = 0
        while count < len(self.filled):
            count = len(self.filled)
            for step in self.steps:
                filled = stored(step) & self.filled
                made_of = (loaded(step) & written) - allocated(step) if filled else set[Buffer]()
                other = _first(made_of - own)
                if other is not None:
                    because = f"it is made of '{other.name}', which that loop writes, too late for the next iteration"
                    raise self.refusal(because, f"no double_buffer, or '{other.name}' computed outside of the loop")
                self.filled |= made_of | ((stored(step) & own) - allocated(step) if filled else set[Buffer]())

    def check(self, ahead: list[Stmt], rest: list[Stmt]) -> None:
        """Raise ScheduleError where what is filled ahead must hold the present iteration's values too, or cannot be
        filled before the rest of an iteration."""
        before, behind = Seq(tuple(ahead)), Seq(tuple(rest))
        once = self.filled | stored(before) - allocated(before)
        shared = _first((once - set(self.copies)) & (loaded(behind) | stored(behind)))
        if shared is not None:
            how = "made of" if shared in loaded(before) else "filled with"
            because = f"it is {how} '{shared.name}', of which that loop needs the present iteration's values too"
            raise self.refusal(because, f"s[{shared.name}].double_buffer() too")
        parts = [part for buffer in self.filled for part in (*buffer.shape, *(buffer.strides or ()))]
        if any(uses(part, {self.loop.var}) for part in parts):
            raise self.refusal("how much of it is computed differs from iteration to iteration", "a constant extent")
        if _calls_anything(ahead) and _calls_anything(rest):
            because = "functions that may do anything are called to fill and to use it, and their order would change"
            raise self.refusal(because, "no double_buffer, or call_pure_extern")

    def refusal(self, because: str, legal: str) -> ScheduleError:
        asked = next(alloc for alloc in self.allocs if alloc.copies > 1)
        what = f"double_buffer of '{asked.buffer.name}' in the loop '{self.loop.var.name}'"
        return ScheduleError(what, because, legal, location=asked.loc)


def _first(buffers: set[Buffer]) -> Buffer | None:
    """Return one of the buffers, the same on every run."""
    return min(buffers, key=lambda buffer: buffer.name, default=None)


def _calls_anything(steps: list[Stmt]) -> bool:
    """Return whether a function of C or Python is called of which only the name is known."""
    calls = (foreign(node.name) for step in steps for node in walk(step) if isinstance(node, Call))
    return any(call is not None and call.kind in ("call_extern", "call_packed") for call in calls)


def _where(condition: Expr, steps: tuple[Stmt, ...]) -> Stmt:
    simple = simplify(condition)
    body = steps[0] if len(steps) == 1 else Seq(steps)
    return body if simple is make.TRUE else If(simple, body, loc=body.loc)
