"""What a thread knows of the threads of other blocks."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]


class Told(NamedTuple):
    """What is known of other blocks: of all threads of each up to `floor`, of its thread `leader` up to `led`."""

    floor: Array
    leader: Array
    led: Array

    def joined(self, other: Told) -> Told:
        """Return what both know together."""
        newer = other.led > self.led
        return Told(
            np.maximum(self.floor, other.floor),
            np.where(newer, other.leader, self.leader),
            np.maximum(self.led, other.led),
        )


def nothing(blocks: int) -> Told:
    """Return what is known of blocks at first."""
    return Told(np.zeros(blocks, np.int32), np.full(blocks, -1, np.int32), np.zeros(blocks, np.int32))
