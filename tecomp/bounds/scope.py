"""Which memory a stage's result lives in, and which threads share it."""

from __future__ import annotations

from collections.abc import Iterable

from ..ir.matrix import FRAGMENT_SCOPES

_SCOPE_RANK = {"global": 0, "shared": 1, "shared.dyn": 1, "warp": 2, "local": 3, **dict.fromkeys(FRAGMENT_SCOPES, 3)}
_THREAD_RANK = {"blockIdx": 0, "threadIdx": 1, "vthread": 1, "cthread": 1}


def default_scope(thread_tags: Iterable[str]) -> str:
    """Return the scope of a stage under loops bound to these: threadIdx local, blockIdx shared, none global."""
    rank = max((_THREAD_RANK[tag.split(".")[0]] for tag in thread_tags), default=-1)
    return ("global", "shared", "local")[rank + 1]


def relaxes(scope: str, thread_tag: str) -> bool:
    """Return whether a stage in `scope`, computed inside a loop bound to `thread_tag`, serves all its iterations.

    Memory that a group of threads shares is filled by the group: shared memory for all threadIdx, global for all, warp
    memory for those along threadIdx.x.
    """
    if not thread_tag:
        return False
    if scope == "warp":
        return thread_tag == "threadIdx.x"
    return _SCOPE_RANK[scope] <= _THREAD_RANK[thread_tag.split(".", maxsplit=1)[0]]
