"""The passes of the pipeline, and the context that changes what they do.

with tecomp.transform.PassContext(config={"tir.UnrollLoop": {"auto_max_step": 16}}, disabled_pass=["share"]):
    tecomp.build(s, args)
"""

from __future__ import annotations

from ..passes.pipeline import PIPELINE
from .context import PassContext
from .options import INSTEAD, OPTIONS

__all__ = ["INSTEAD", "OPTIONS", "PIPELINE", "PassContext"]
