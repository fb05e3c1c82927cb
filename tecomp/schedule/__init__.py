"""How to compute it: schedules, their stages, and the primitives that change them."""

from .extent import declared_domains
from .mark import MAX_LANES, PRAGMAS, UNROLL_LIMIT, check_extent
from .plan import Applied, ScanGroup, StageView
from .primitive import PRIMITIVES
from .relation import Fuse, Relation, Singleton, Split
from .schedule import Schedule, Stage, create_schedule
from .stage import INLINE, ROOT, SCAN, At, Attach, LoopMark, StageState
