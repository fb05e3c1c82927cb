"""One stage of a plan, as primitives and users see it."""

from __future__ import annotations

from collections.abc import Mapping

from ..ir.axis import IterVar
from ..te.tensor import Operation
from .layout import Layout
from .plan import Plan
from .relation import Relation
from .stage import At, Attach, LoopMark, StageState


class StageView:
    """A stage of a plan, to be read. Each property answers for the primitives applied so far."""

    __slots__ = ("_draft", "origin", "plan")

    def __init__(self, plan: Plan, origin: Operation, draft: StageState | None = None) -> None:
        self.plan, self.origin, self._draft = plan, origin, draft

    @property
    def state(self) -> StageState:
        """The stage's record; a later primitive leaves it as it is and makes another."""
        return self._draft or self.plan.states[self.origin]

    @property
    def op(self) -> Operation:
        """What the stage computes now: the operation it was made for, until a primitive moves work to another stage."""
        return self.state.definition

    @property
    def origin_op(self) -> Operation:
        """The operation it was made for, by TVM's name."""
        return self.origin

    @property
    def layout_transforms(self) -> tuple[Layout, ...]:
        """How its result lies in memory, separators included; nothing where that is in the order of its axes."""
        return () if self.state.layout is None else (self.state.layout,)

    @property
    def num_child_stages(self) -> int:
        """How many stages are computed in its loops."""
        return len(self.plan.guests[self.origin])

    def after(self, state: StageState) -> StageView:
        """Return this stage as it will be with `state`: for the second step of a primitive made of several."""
        return StageView(self.plan, self.origin, state)

    @property
    def name(self) -> str:
        """The operation's name."""
        return self.origin.name

    @property
    def all_iter_vars(self) -> tuple[IterVar, ...]:
        """Every axis there is or was."""
        return self.state.axes

    @property
    def leaf_iter_vars(self) -> tuple[IterVar, ...]:
        """The axes that are loops, outermost first."""
        return self.state.leaves

    @property
    def relations(self) -> tuple[Relation, ...]:
        """How the leaves were made, oldest first."""
        return self.state.relations

    @property
    def iter_var_attrs(self) -> Mapping[IterVar, LoopMark]:
        """What is special about some of the loops."""
        return self.state.loops

    @property
    def attach_type(self) -> Attach:
        """Where the stage is computed: ROOT, INLINE, SCAN, or At(op, axis)."""
        return self.state.attach

    @property
    def attach_stage(self) -> Operation | None:
        """The operation in whose loops it is computed, if any."""
        attach = self.state.attach
        return attach.op if isinstance(attach, At) else None

    @property
    def attach_ivar(self) -> IterVar | None:
        """The loop in whose body it is computed, if any."""
        return self.plan.attach_axis(self.origin) if isinstance(self.state.attach, At) else None

    @property
    def scope(self) -> str:
        """Where the result is kept; empty where the threads around the stage decide."""
        return self.state.scope

    @property
    def is_output(self) -> bool:
        """Whether the program's caller gets the result."""
        return self.state.is_output

    def __repr__(self) -> str:
        return f"s[{self.name}]"
