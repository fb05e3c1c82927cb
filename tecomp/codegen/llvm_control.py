"""Control flow: a condition, a counted loop."""

from __future__ import annotations

from collections.abc import Callable

from ..ir.expr import Var
from .llvm_code import Code
from .llvm_types import Value

Body = Callable[[], None]


def where(code: Code, condition: Value, then: Body, otherwise: Body | None = None) -> None:
    """Emit `then` in a block that is entered where `condition` holds, `otherwise` in another."""
    yes, no, end = code.label("then"), code.label("else") if otherwise else "", code.label("end")
    code.branch(condition, yes, no or end)
    code.start(yes)
    then()
    code.jump(end)
    if otherwise:
        code.start(no)
        otherwise()
        code.jump(end)
    code.start(end)


def count(code: Code, var: Var, low: Value, high: Value, body: Body, hints: str = "") -> None:
    """Emit `body` for var = low, low + 1, ... below high; `hints` is loop metadata."""
    head, inside, step, end = (code.label(f"{var.name}.{part}") for part in ("loop", "body", "step", "end"))
    following = f"%{code.names.fresh(f'{var.name}.next')}"
    before = code.block
    code.jump(head)
    code.start(head)
    text = f"phi {low.type} [ {low.name}, %{before} ], [ {following}, %{step} ]"
    code.values[var] = counter = code.op(low.type, text, var.name)
    code.branch(code.op("i1", f"icmp slt {counter}, {high.name}", f"{var.name}.more"), inside, end)
    code.start(inside)
    body()
    code.jump(step)
    code.start(step)
    code.do(f"{following} = add nsw {counter}, 1")
    code.jump(head, hints)
    code.start(end)
