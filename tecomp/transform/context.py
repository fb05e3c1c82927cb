"""PassContext: the block in which `lower` and `build` use another pipeline than the usual one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from typing import Any, Final, Self

from ..errors import UserError, UserTypeError
from ..passes.pipeline import PIPELINE
from .options import OPTIONS, Rows, instead_of, without

OPTIONAL: Final = ("partition", "one_launch", "unroll", "hoist", "unswitch", "carry", "prefetch", "share")
"""The passes that may be left out: programs stay right, and become slower."""
_TVM_NAMES: Final = {
    "tir.LoopPartition": "partition",
    "tir.UnrollLoop": "unroll",
    "tir.HoistIfThenElse": "hoist",
    "tir.CommonSubexprElimTIR": "share",
}
"""What TVM calls some of them."""
_LEVELS: Final = (0, 1, 2, 3, 4)


class PassContext:
    """A `with` block. `config` are options by name, `disabled_pass` passes that are left out.

    `opt_level` is taken for TVM's sake: the passes of TE run at every level. UserError for an option or a pass that is
    unknown or would do nothing, with what to write instead.
    """

    def __init__(
        self,
        opt_level: int = 2,
        required_pass: Sequence[str] | None = None,
        disabled_pass: Sequence[str] | None = None,
        instruments: Any = None,
        config: Mapping[str, Any] | None = None,
    ) -> None:
        if opt_level not in _LEVELS:
            raise UserError(f"PassContext: opt_level={opt_level!r}", "there is no such level", "0 to 4")
        if required_pass:
            because = "every pass runs unless it is disabled"
            raise UserError(f"PassContext: required_pass={required_pass!r}", because, "no required_pass")
        if instruments:
            because = "there is nothing that they could hook into"
            raise UserError("PassContext: instruments", because, "tecomp.lower(..., trace=True), which times each pass")
        if config is not None and not isinstance(config, Mapping):
            because = f"it is a {type(config).__name__}"
            raise UserTypeError(f"PassContext: config={config!r}", because, '{"tir.disable_vectorize": True}')
        self.opt_level, self.config = opt_level, dict(config or {})
        self.disabled_pass = tuple(map(_pass_name, disabled_pass or ()))
        for name in self.config:
            if not isinstance(name, str):
                raise UserTypeError(f"PassContext: option {name!r}", f"it is a {type(name).__name__}", "names")
            if name not in OPTIONS:
                because = "there is no such option, or it would change nothing"
                raise UserError(f"PassContext: {name}={self.config[name]!r}", because, instead_of(name))
        self.rows(PIPELINE)

    @classmethod
    def current(cls) -> PassContext:
        """Return the context of the innermost block; the usual one outside of all."""
        return (_CURRENT.get() or (_USUAL,))[-1]

    def rows(self, rows: Rows) -> Rows:
        """Return a pipeline as this context wants it."""
        for name, value in self.config.items():
            rows = OPTIONS[name].apply(rows, value)
        for name in self.disabled_pass:
            rows = without(rows, name)
        return rows

    def __enter__(self) -> Self:
        """Open the block."""
        _CURRENT.set((*_CURRENT.get(), self))
        return self

    def __exit__(self, *_: object) -> None:
        _CURRENT.set(_CURRENT.get()[:-1])

    def __repr__(self) -> str:
        return f"PassContext(config={self.config!r}, disabled_pass={list(self.disabled_pass)!r})"


_CURRENT: Final[ContextVar[tuple[PassContext, ...]]] = ContextVar("pass context", default=())


def _pass_name(name: Any) -> str:
    if not isinstance(name, str):
        raise UserTypeError(f"PassContext: disabled_pass has {name!r}", f"it is a {type(name).__name__}", "names")
    found = _TVM_NAMES.get(name, name)
    if found not in OPTIONAL:
        because = "programs need it, or there is none of that name"
        instead = 'config={"tir.disable_vectorize": True}, ' if name in ("vectorize", "tir.VectorizeLoop") else ""
        raise UserError(f"PassContext: disabled_pass has {name!r}", because, instead + ", ".join(OPTIONAL))
    return found


_USUAL: Final = PassContext()
