"""The options of a PassContext: what each does to the pipeline. One that could do nothing is refused.

An option that TVM has and that asks for what is always done here is let pass; one that asks for something else names
what to write instead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, NamedTuple

from ..errors import InternalError, UserError, UserTypeError
from ..ir.func import Func, Level
from ..ir.verify import verify
from ..passes import one_lane, unroll
from ..passes.check_accesses import run as check_accesses
from ..passes.manager import Pass
from ..target import Target

Rows = tuple[Pass, ...]


class Option(NamedTuple):
    """A row of the table: what a value may be, and what it makes of the pipeline. It raises where it can do nothing."""

    meaning: str
    apply: Callable[[Rows, Any], Rows]


def refuse(name: str, value: Any, because: str, legal: str = "") -> UserError:
    """Return the refusal of one option."""
    return UserError(f"PassContext: {name}={value!r}", because, legal)


def _flag(name: str, value: Any) -> bool:
    if isinstance(value, (bool, int)) and value in (0, 1):
        return bool(value)
    raise UserTypeError(f"PassContext: {name}={value!r}", "it is a switch", "True, False")


def replaced(rows: Rows, name: str, run: Callable[[Func, Target], Func]) -> Rows:
    """Return the pipeline with another function in the place of a pass."""
    return tuple(row._replace(run=run) if row.name == name else row for row in rows)


def without(rows: Rows, name: str) -> Rows:
    """Return the pipeline without a pass."""
    return tuple(row for row in rows if row.name != name)


def _switch(name: str, on: Callable[[Rows], Rows]) -> Option:
    return Option("True, False", lambda rows, value: on(rows) if _flag(name, value) else rows)


def _checked(rows: Rows) -> Rows:
    """Put the pass that checks every access in front; a lane whose access is wrong is found when it runs alone."""
    row = Pass("check_accesses", check_accesses, ("llvm", "cuda"), Level.LOOPS, "every later pass may move an access")
    return (row, *replaced(rows, "vectorize", one_lane.run))


def _always(name: str, done: bool, because: str, legal: str = "") -> Option:
    """Return the row of a switch that can only stand as it does."""

    def apply(rows: Rows, value: Any) -> Rows:
        if _flag(name, value) is not done:
            raise refuse(name, value, because, legal)
        return rows

    return Option(str(done), apply)


def _parts(name: str, value: Any, known: Mapping[str, Any]) -> dict[str, Any]:
    """Return an option that is a dict of parts, those left out at their default; UserError for an unknown part."""
    if not isinstance(value, Mapping):
        raise UserTypeError(f"PassContext: {name}={value!r}", "it is a dict of parts", list(known))
    for part in value:
        if part not in known:
            raise UserError(f"PassContext: {name}={dict(value)!r}", f"it has no part {part!r}", list(known))
    return {**known, **value}


_UNROLL: Final = {
    "auto_max_step": 0,
    "explicit_unroll": True,
    "auto_max_depth": 8,
    "auto_max_extent": 0,
    "unroll_local_access": False,
}


def _unrolled(rows: Rows, value: Any) -> Rows:
    name = "tir.UnrollLoop"
    parts = _parts(name, value, _UNROLL)
    for part in ("auto_max_depth", "auto_max_extent", "unroll_local_access"):
        if parts[part] != _UNROLL[part]:
            because = f"{part} decides nothing here: which loops are unrolled follows from how much they become"
            raise refuse(name, dict(value), because, "auto_max_step, or s[T].unroll")
    steps = parts["auto_max_step"]
    if not isinstance(steps, int) or steps < 0:
        raise refuse(name, dict(value), f"auto_max_step is {steps!r}", "how many stores a loop may become: 0 or more")
    hints = unroll.Hints(int(steps), _flag(f"{name}: explicit_unroll", parts["explicit_unroll"]))
    return replaced(rows, "unroll", partial(unroll.run, hints=hints))


_PARTITION: Final = {
    "partition_const_loop": True,
    "no_unroll_loop_with_extent_one": False,
    "unroll_loop_with_partition_hint_no_interval": False,
}


def _partitioned(rows: Rows, value: Any) -> Rows:
    name = "tir.LoopPartition"
    for part, given in _parts(name, value, _PARTITION).items():
        if bool(given) is not _PARTITION[part]:
            because = "loops of every kind of extent are divided where a guard ends"
            if part != "partition_const_loop":
                because = f"{part} has no meaning: a loop of one iteration is never written"
            raise refuse(name, dict(value), because, 'disabled_pass=["partition"], or lower(..., simple_mode=True)')
    return rows


PHASES: Final = {0: "simplify", 1: "partition", 2: "tidy", 3: "launch"}
"""Before which pass a pass of the user's own stands, by TVM's number of its phase."""


@dataclass(frozen=True)
class OwnPass:
    """A function of the user's, from a program to a program, as a pass."""

    function: Callable[[Func], Func]

    def __call__(self, func: Func, target: Target) -> Func:
        """Return what the function makes of `func`; UserError where that is no program, or no well-formed one."""
        made, asked = self.function(func), f"PassContext: the pass {self.name}"
        if not isinstance(made, Func):
            raise UserTypeError(asked, f"it returned a {type(made).__name__}", "a Func: func.with_body(...)")
        try:
            verify(made)
        except InternalError as error:
            raise UserError(asked, f"it made a program that is not well formed: {error.because}", ir=error.ir) from None
        return made

    @property
    def name(self) -> str:
        """The function's name."""
        return getattr(self.function, "__name__", type(self.function).__name__)


def _added(rows: Rows, value: Any) -> Rows:
    name = "tir.add_lower_pass"
    entries: list[Any] = list(value) if isinstance(value, (list, tuple)) else [value]
    for entry in entries:
        if not isinstance(entry, (list, tuple)) or len(entry) != 2 or entry[0] not in PHASES or not callable(entry[1]):
            legal = f"pairs (phase, function of a Func), phases {', '.join(map(str, PHASES))}"
            raise UserTypeError(f"PassContext: {name}={value!r}", f"{entry!r} is no pass with its phase", legal)
        phase, function = entry
        own, before = OwnPass(function), PHASES[phase]
        row = Pass(own.name, own, ("llvm", "cuda"), Level.LOOPS, "the user put it here")
        at = next((at for at, other in enumerate(rows) if other.name == before), len(rows))
        rows = (*rows[:at], row, *rows[at:])
    return rows


OPTIONS: Final[dict[str, Option]] = {
    "tir.disable_vectorize": _switch("tir.disable_vectorize", lambda rows: replaced(rows, "vectorize", one_lane.run)),
    "tir.UnrollLoop": Option("a dict: " + ", ".join(_UNROLL), _unrolled),
    "tir.LoopPartition": Option("a dict: partition_const_loop=True", _partitioned),
    "tir.instrument_bound_checkers": _switch("tir.instrument_bound_checkers", _checked),
    "tir.disable_cse_tir": _switch("tir.disable_cse_tir", lambda rows: without(rows, "share")),
    "tir.add_lower_pass": Option("pairs (phase, function of a Func)", _added),
    "tir.noalias": _always(
        "tir.noalias", True, "what a function writes never overlaps its other arguments: a call checks that", "a copy"
    ),
    "tir.disable_assert": _always(
        "tir.disable_assert", False, "an argument that does not fit is never passed on to machine code"
    ),
    "tir.detect_global_barrier": _always(
        "tir.detect_global_barrier", True, "where blocks wait for each other is always found out"
    ),
    "te.keep_schedule_record": _always(
        "te.keep_schedule_record", True, "what was applied is always kept", "s.history, s.text()"
    ),
}
"""Every option that is known, the ones that change something first."""

_ALWAYS_SIMPLIFIED: Final = "nothing: simplification always proves what it can"
_NOT_ASKED: Final = "nothing: the passes that gain by it do it"
INSTEAD: Final = {
    "tir.enable_buffer_level_predication": "nothing: guards of vectors are masks of their loads and stores",
    "tir.enable_equiv_terms_in_cse_tir": 'nothing, or disabled_pass=["share"]',
    "tir.enable_debug": "tecomp.lower(..., trace=True), the program after every pass",
    "tir.disable_storage_rewrite": "nothing: temporaries share memory only where they do not live at once",
    "tir.is_entry_func": "the name of the function: build(..., name=)",
    "tir.debug_keep_trivial_loop": "tecomp.lower(..., trace=True), the program after every pass",
    "tir.use_async_copy": "s[T].double_buffer()",
    "tir.merge_static_smem": "nothing: the shared memory of a kernel is one piece where it needs to be",
    "tir.instrument_lwp": "module.time_evaluator",
    "tir.vtcm_capacity": "a target that has such memory: there is none here",
    "tir.ptx_ldg32": "nothing: NVRTC chooses the loads",
    "tir.experimental_dma_bypass_cache": "a target that has such memory: there is none here",
    "tir.InjectDoubleBuffer": "s[T].double_buffer(), whose loop is divided where that pays",
    "tir.HoistIfThenElse": 'nothing: guards leave loops; disabled_pass=["hoist"] keeps them',
    "tir.HoistExpression": _NOT_ASKED,
    "tir.Simplify": _ALWAYS_SIMPLIFIED,
    "tir.RemoveNoOp": _ALWAYS_SIMPLIFIED,
    "tir.ReduceBranchingThroughOvercompute": "s[T].pad(axis, multiple)",
    "cuda.kernels_output_dir": "module.imported_modules[0].get_source(), the CUDA of a build",
}
"""Options of TVM that have no meaning here, and what serves in their place."""


def instead_of(name: str) -> str:
    """Return what to write instead of an option that is none; the known ones where there is nothing particular."""
    if name.startswith("tir.lwp_"):
        return INSTEAD["tir.instrument_lwp"]
    return INSTEAD.get(name, ", ".join(OPTIONS))
