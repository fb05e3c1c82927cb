"""How to compute it: schedules, their stages, and the primitives that change them."""

from .extent import declared_domains
from .mark import MAX_LANES, PRAGMAS, check_extent
from .plan import Applied
from .primitive import PRIMITIVES
from .relation import Fuse, Relation, Singleton, Split
from .scans import ScanGroup
from .schedule import Schedule, Stage, create_schedule
from .stage import INLINE, ROOT, SCAN, At, Attach, LoopMark, StageState
from .view import StageView

__all__ = [
    "INLINE",
    "MAX_LANES",
    "PRAGMAS",
    "PRIMITIVES",
    "ROOT",
    "SCAN",
    "Applied",
    "At",
    "Attach",
    "Fuse",
    "LoopMark",
    "Relation",
    "ScanGroup",
    "Schedule",
    "Singleton",
    "Split",
    "Stage",
    "StageState",
    "StageView",
    "check_extent",
    "create_schedule",
    "declared_domains",
]
