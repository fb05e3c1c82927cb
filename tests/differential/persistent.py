"""Random schedules in which all steps of a scan are one kernel: env_threads, whose threads share out each stage."""

from __future__ import annotations

from typing import Any

from tecomp import te

from .draw import Case, Draw

TAGS = (["threadIdx.x"], ["blockIdx.x"], ["blockIdx.x", "threadIdx.x"])


def let_threads_live(schedule: Any, scan: Any, case: Case, draw: Draw) -> dict[Any, None]:
    """Let threads live over the steps of a scan and share out its stages; return the tensors of these."""
    threads = [te.thread_axis((0, draw.rng.choice([1, 2, 3, 4])), tag) for tag in draw.rng.choice(TAGS)]
    schedule[scan].env_threads(threads)
    states = {tensor: schedule[tensor].state for tensor in case.stages}
    own = dict.fromkeys(tensor for tensor, state in states.items() if scan in (state.feeds, state.group))
    for tensor in own:
        stage = schedule[tensor]
        axes = stage.op.axis[1:]
        rest = axes[0] if len(axes) == 1 else stage.fuse(*axes)
        for thread in threads:
            outer, rest = stage.split(rest, nparts=thread.dom.extent)
            stage.bind(outer, thread)
    return own
