"""CUDA from DEVICE programs written as text: lowered by the last pass, printed, and compiled without a GPU."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from textwrap import dedent

from tecomp.artifact import Artifact
from tecomp.codegen.cuda import printed
from tecomp.codegen.nvrtc import compile_cuda
from tecomp.ir import parse, verify
from tecomp.ir.func import Func, Level
from tecomp.passes.pipeline import PIPELINE
from tecomp.target import Target

HOPPER = Target.of("cuda -arch=sm_90a")
ARCHS = ("sm_80", "sm_90a")
_ENFORCED = re.compile(r"C75\d\d|warning")


def flat(text: str, target: Target = HOPPER) -> Func:
    """Return the FLAT function of a DEVICE program's text; of a FLAT one's, itself."""
    func = parse(dedent(text).strip() + "\n")
    if func.level is Level.DEVICE:
        func = PIPELINE[-1].run(func, target)
    verify(func)
    return func


def cuda(text: str, target: Target = HOPPER) -> Artifact:
    """Return the CUDA of a program, compiled for every architecture of interest; the log has no complaint."""
    artifact = printed(flat(text, target), target)
    compiles(artifact.source)
    return artifact


def compiles(source: str, archs: Sequence[str] = ARCHS) -> dict[str, str]:
    """Compile for every architecture of interest; return the logs, which must not complain."""
    logs = {arch: compile_cuda(source, arch).log for arch in archs}
    for arch, log in logs.items():
        assert not _ENFORCED.search(log), f"{arch}: {log}\n{source}"
    return logs


def built(text: str, target: Target = HOPPER) -> Artifact:
    """Return the artifact of a program with its machine code."""
    artifact = printed(flat(text, target), target)
    return replace(artifact, binary=compile_cuda(artifact.source, target.arch).cubin)
