"""Expressions as Python functions over all threads at once.

    C_part + A[i*m + k] * B[k]    ->    def value(g, m0):
                                            t0 = g.v[3] * g.v[0] + ...
                                            t1 = g.load(site4, t0, m0)
                                            ...
                                            return t5

`g` is the gang of threads that runs, `m0` its mask. What is evaluated only under a condition (a branch of IfElse, what
follows `and`) is so when it reads memory or may have no value.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ..codegen.cuda_intrinsics import spread
from ..errors import UnsupportedError
from ..instructions.maths import MATHS
from ..ir import expr as E
from ..ir import make
from ..ir.foreign import foreign
from ..ir.instruction import INSTRUCTIONS
from ..ir.node import Expr
from ..ir.stmt import Stmt
from ..ir.visit import walk
from . import values
from .site import Sites
from .vectorized import vectorized
from .work import work

_INFIX: Final[dict[type[Expr], str]] = {
    E.Add: "+", E.Sub: "-", E.Mul: "*", E.Div: "/", E.FloorDiv: "//", E.FloorMod: "%",
    E.Eq: "==", E.Ne: "!=", E.Lt: "<", E.Le: "<=",
}  # fmt: skip
_FUNCTIONS: Final[dict[type[Expr], str]] = {
    E.Min: "minimum", E.Max: "maximum", E.TruncDiv: "truncdiv", E.TruncMod: "fmod",
}  # fmt: skip
_DIVISIONS: Final = (E.FloorDiv, E.FloorMod, E.TruncDiv, E.TruncMod)
_C_FUNCTIONS: Final = {f"{name}{end}": name for name in MATHS for end in ("", "f")}
"""What a call of a device function means, where it is one of C's maths library."""
_GLOBALS: Final[dict[str, Any]] = {
    "minimum": np.minimum, "maximum": np.maximum, "fmod": np.fmod, "truncdiv": values.truncdiv, "pick": values.pick,
    "both": values.both, "ramp": values.ramp, "broadcast": values.broadcast, "invert": np.logical_not,
}  # fmt: skip

_DEEPEST: Final = 60
"""How deep conditions lie in each other in one function: Python takes a hundred levels."""
_TEMPORARY: Final = re.compile(r"\bt\d+\b")

Compiled = Callable[[Any, Any], Any]


class Slots:
    """Where a gang keeps the value of each variable, and each memory."""

    def __init__(self) -> None:
        self._numbers: dict[Any, int] = {}

    def __getitem__(self, thing: Any) -> int:
        """Return the number of a variable or buffer."""
        return self._numbers.setdefault(thing, len(self._numbers))

    def __len__(self) -> int:
        return len(self._numbers)


class ExprSource:
    """The source of one function, under construction, for an expression of `stmt`."""

    def __init__(self, slots: Slots, sites: Sites, stmt: Stmt) -> None:
        self.slots, self.sites, self.stmt = slots, sites, stmt
        self.scope: dict[str, Any] = dict(_GLOBALS)
        self.lines: list[str] = []
        self.functions: list[str] = []
        """The lines of functions that this one calls."""
        self.depth, self.serial, self.mask = 1, 0, "m0"
        self.written: dict[str, list[Expr]] = {}
        """What is evaluated under each mask."""

    def line(self, text: str) -> None:
        """Add a line to the present block."""
        self.lines.append("    " * self.depth + text)

    def fresh(self) -> str:
        """Return a name that nothing has."""
        self.serial += 1
        return f"t{self.serial}"

    def constant(self, value: Any) -> str:
        """Return a name for a value that the source cannot spell."""
        name = f"c{len(self.scope)}"
        self.scope[name] = value
        return name

    def value(self, root: Expr, known: dict[Expr, str] | None = None) -> str:
        """Write what computes `root`; return the name of it. `known` are the names of what is computed already."""
        done: dict[Expr, str] = dict(known or {})
        stack = [root]
        while stack:
            node = stack[-1]
            waiting = [] if node in done else [part for part in _eager(node) if part not in done]
            if waiting:
                stack += reversed(waiting)
                continue
            stack.pop()
            if node not in done:
                done[node] = _WRITE[type(node)](self, node, done)
                self.written.setdefault(self.mask, []).append(node)
        return done[root]

    def named(self, text: str) -> str:
        """Write `t = text`."""
        name = self.fresh()
        self.line(f"{name} = {text}")
        return name

    def count(self) -> None:
        """Write what counts the operations under the present mask."""
        done = work(self.written.pop(self.mask, []), self.stmt)
        if any(done):
            self.line(f"if g.run.counters is not None: g.run.counters.work(g, {self.constant(done)}, {self.mask})")

    def site(self, node: Any) -> str:
        """Return the name of the place in the program that an access is."""
        return self.constant(self.sites.of(self.stmt, node))

    def var(self, node: E.Var, done: dict[Expr, str]) -> str:
        return self.named(f"g.v[{self.slots[node]}]")

    def const(self, node: E.Const, done: dict[Expr, str]) -> str:
        return self.constant(np.array(node.value).astype(node.dtype.numpy)[()])

    def infix(self, node: E.Binary, done: dict[Expr, str]) -> str:
        self.check_divisor(node, done)
        return self.named(f"{done[node.a]} {_INFIX[type(node)]} {done[node.b]}")

    def function(self, node: E.Binary, done: dict[Expr, str]) -> str:
        self.check_divisor(node, done)
        return self.named(f"{_FUNCTIONS[type(node)]}({done[node.a]}, {done[node.b]})")

    def check_divisor(self, node: E.Binary, done: dict[Expr, str]) -> None:
        if isinstance(node, _DIVISIONS) and not isinstance(spread(node.b), E.Const):
            self.line(f"g.require({self.constant(self.stmt)}, {done[node.b]} != 0, {self.mask}, 'division by zero')")

    def logic(self, node: E.And | E.Or, done: dict[Expr, str]) -> str:
        a, conjunction = done[node.a], isinstance(node, E.And)
        if node.b in done or _is_safe(node.b):
            return self.named(f"{a} {'&' if conjunction else '|'} {self.value(node.b, done)}")
        name = self.fresh()
        self.under(a if conjunction else f"invert({a})", name, node.b, done)
        other = "False" if conjunction else "True"
        yes, no = (name, f"np_{other}") if conjunction else (f"np_{other}", name)
        self.scope[f"np_{other}"] = np.bool_(not conjunction)
        return self.named(f"pick({a}, {yes}, {no})")

    def under(self, condition: str, name: str, node: Expr, done: dict[Expr, str]) -> None:
        """Write `name = node`, evaluated where the condition holds; zero elsewhere."""
        zero = np.zeros((1, node.dtype.lanes) if node.dtype.lanes > 1 else (), node.dtype.numpy)[()]
        outside, mask = self.mask, self.fresh()
        self.line(f"{mask} = both({self.mask}, {condition})")
        self.line(f"{name} = {self.constant(zero)}")
        self.line(f"if {mask} is not False:")
        self.depth, self.mask = self.depth + 1, mask
        if self.depth == _DEEPEST:
            self.line(f"{name} = {self.apart(node, done)}")
        else:
            self.line(f"{name} = {self.value(node, done)}")
            self.count()
        self.depth, self.mask = self.depth - 1, outside

    def apart(self, node: Expr, done: dict[Expr, str]) -> str:
        """Write what computes `node` as a function of its own; return the call of it."""
        outer, self.lines, self.depth = (self.lines, self.depth), [], 1
        result = self.value(node, done)
        self.count()
        lines = [*self.lines, f"    return {result}"]
        self.lines, self.depth = outer
        made = {line.split(" = ")[0].strip() for line in lines}
        given = ", ".join(["g", "m0", *sorted(set(_TEMPORARY.findall("\n".join(lines))) - made)])
        name = f"apart{len(self.functions)}"
        self.functions += [f"def {name}({given}):", *lines]
        return f"{name}({given})"

    def negation(self, node: E.Not, done: dict[Expr, str]) -> str:
        return self.named(f"~{done[node.a]}")

    def cast(self, node: E.Cast, done: dict[Expr, str]) -> str:
        convert = values.cast(node.value.dtype, node.dtype)
        return self.named(f"{self.constant(convert)}({done[node.value]})")

    def select(self, node: E.Select, done: dict[Expr, str]) -> str:
        return self.named(f"pick({done[node.condition]}, {done[node.yes]}, {done[node.no]})")

    def branches(self, node: E.IfElse, done: dict[Expr, str]) -> str:
        condition = done[node.condition]
        sides: list[str] = []
        for side, where in ((node.yes, condition), (node.no, f"invert({condition})")):
            if side in done or _is_safe(side):
                sides.append(self.value(side, done))
                continue
            name = self.fresh()
            self.under(where, name, side, done)
            sides.append(name)
        return self.named(f"pick({condition}, {sides[0]}, {sides[1]})")

    def ramp(self, node: E.Ramp, done: dict[Expr, str]) -> str:
        return self.named(f"ramp({done[node.base]}, {done[node.stride]}, {node.lanes})")

    def broadcast(self, node: E.Broadcast, done: dict[Expr, str]) -> str:
        return self.named(f"broadcast({done[node.value]}, {node.lanes})")

    def load(self, node: E.Load, done: dict[Expr, str]) -> str:
        index = done[node.indices[0]] if node.indices else "0"
        if node.mask is make.TRUE:
            return self.named(f"g.load({self.site(node)}, {index}, {self.mask})")
        mask = self.named(f"both({self.mask}, {done[node.mask]})")
        zero = self.constant(np.zeros((1, node.dtype.lanes) if node.dtype.lanes > 1 else (), node.dtype.numpy)[()])
        return self.named(f"{zero} if {mask} is False else g.load({self.site(node)}, {index}, {mask})")

    def address(self, node: E.Address, done: dict[Expr, str]) -> str:
        return self.named(f"g.place({self.site(node)}, {done[node.offset]})")

    def call(self, node: E.Call, done: dict[Expr, str]) -> str:
        args = [done[arg] for arg in node.args]
        if node.name in INSTRUCTIONS or node.name == "fetch_add":
            return self.named(f"g.instruction({self.site(node)}, {self.mask}, {', '.join(args)})")
        if node.name == "regroup":
            kind = self.constant(node.dtype.numpy)
            return self.named(f"g.regroup({args[0]}, {kind}, {node.dtype.lanes})")
        called = foreign(node.name)
        name = node.name if called is None else _C_FUNCTIONS.get(called.symbol, "")
        if name not in MATHS:
            raise UnsupportedError(
                f"{node.name.partition(':')[2] or node.name} on cuda-sim",
                because="the simulator does not know what this function computes",
                legal='target="cuda", or a function of C\'s maths library',
                ir=repr(node),
                location=self.stmt.loc,
            )
        if name in ("shift_left", "shift_right"):
            bits = node.dtype.bits
            test = f"({args[1]} >= 0) & ({args[1]} < {bits})"
            self.line(f"g.require({self.constant(self.stmt)}, {test}, {self.mask}, 'a shift by the width or more')")
        return self.named(f"{self.constant(vectorized(name, node))}({', '.join(args)})")

    def function_of(self, roots: list[Expr]) -> Compiled:
        """Return the function that gives the values of `roots`: one alone, or a tuple of several."""
        names = [self.value(root) for root in roots]
        self.count()
        result = names[0] if len(names) == 1 else f"({', '.join(names)},)"
        source = "\n".join([*self.functions, "def value(g, m0):", *self.lines, f"    return {result}"])
        exec(compile(source, "<simulated expression>", "exec"), self.scope)
        return self.scope["value"]


def _eager(node: Expr) -> list[Expr]:
    """Return the operands that are evaluated whenever `node` is."""
    if isinstance(node, E.IfElse):
        return [node.condition]
    if isinstance(node, (E.And, E.Or)):
        return [node.a]
    if isinstance(node, E.Load) and node.mask is make.TRUE:
        return list(node.indices)
    return node.operands()


def _is_safe(root: Expr) -> bool:
    """Return whether evaluating `root` where nobody asks for it does nothing."""
    return not any(
        isinstance(node, (E.Load, E.Call, E.Address))
        or (isinstance(node, _DIVISIONS) and not isinstance(spread(node.b), E.Const))
        for node in walk(root)
    )


_WRITE: Final[dict[type[Expr], Callable[[ExprSource, Any, dict[Expr, str]], str]]] = {
    E.Var: ExprSource.var,
    E.Const: ExprSource.const,
    **dict.fromkeys(_INFIX, ExprSource.infix),
    **dict.fromkeys(_FUNCTIONS, ExprSource.function),
    E.And: ExprSource.logic,
    E.Or: ExprSource.logic,
    E.Not: ExprSource.negation,
    E.Cast: ExprSource.cast,
    E.Select: ExprSource.select,
    E.IfElse: ExprSource.branches,
    E.Ramp: ExprSource.ramp,
    E.Broadcast: ExprSource.broadcast,
    E.Load: ExprSource.load,
    E.Address: ExprSource.address,
    E.Call: ExprSource.call,
}
