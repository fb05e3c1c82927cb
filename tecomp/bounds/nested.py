"""A scan in each step of another one: where it reads that one's state, only a part of it may exist in a step."""

from __future__ import annotations

from ..errors import UnsupportedError
from .program import Program


def check_nested(program: Program) -> None:
    """Raise UnsupportedError for a scan that depends on the state of a scan it is computed in.

    All of its result is computed, and all of that state is not there before the last step.
    """
    for scan in program.scans:
        outer = program.placement.states[scan].group
        if outer is None:
            continue
        needed = program.schedule.needs(scan)
        state = next((state for state in outer.state_placeholder if state.op in needed), None)
        if state is not None:
            raise UnsupportedError(
                f"the scan '{scan.name}' in each step of the scan '{outer.name}'",
                because=f"it depends on the state '{state.name}', of which a step knows only the rows before it",
                legal=f"a scan that does not depend on '{state.name}'; reductions and other stages may",
                location=scan.loc,
            )
