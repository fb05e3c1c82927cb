"""What four warps do together: waiting for their matrix instructions, and registers that some give to others."""

from __future__ import annotations

from typing import Final

from .row import Instruction, by_name, ptx


def _plain(name: str, text: str) -> Instruction:
    return Instruction(name, f"{name}()", ptx(name, text), 90, "a", "matrix")


def _counted(name: str, text: str, kind: str) -> Instruction:
    prelude = ptx(name, f"{text} %0;", "", '"n"(count)', "int count")
    return Instruction(name, f"{name}<{{0}}>()", prelude, 90, "a", kind)


WARPGROUP: Final = by_name(
    [
        _plain("wgmma_fence", "wgmma.fence.sync.aligned;"),
        _plain("wgmma_commit", "wgmma.commit_group.sync.aligned;"),
        _counted("wgmma_wait", "wgmma.wait_group.sync.aligned", "matrix"),
        _counted("registers_increase", "setmaxnreg.inc.sync.aligned.u32", "registers"),
        _counted("registers_decrease", "setmaxnreg.dec.sync.aligned.u32", "registers"),
    ]
)
