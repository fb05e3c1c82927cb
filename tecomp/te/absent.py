"""Names of TVM's te that have no place here: calling one says what to write instead."""

from __future__ import annotations

from typing import Any, NoReturn

from ..errors import UserError


def trace(args: Any, trace_action: str = "tvm.default_trace_action") -> NoReturn:
    """Refuse: compiled code calls no function for each element."""
    raise UserError(
        "te.trace",
        "values are looked at where a program is run step by step",
        "tecomp.ir.interpret(tecomp.lower(s, args), *arrays), an intermediate tensor among the arguments, te.extern",
    )


def SpecializedCondition(conditions: Any) -> NoReturn:  # noqa: N802
    """Refuse: nothing is made of such conditions."""
    raise UserError(
        "te.SpecializedCondition",
        "what usually holds is found out: loops are divided where a guard ends",
        "constant sizes in place of te.var, or te.size_var",
    )
