"""Measuring how long a built function takes: by the clock on a CPU, by events on a GPU's stream."""

from __future__ import annotations

import importlib
import math
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from .array import Device
from .errors import LaunchError

_MOST_CALLS: Final = 1 << 20
"""Calls that one measurement is made of, when it has to become long enough."""


@dataclass(frozen=True)
class BenchmarkResult:
    """Seconds a call took: one average for each repeat."""

    results: tuple[float, ...]

    @property
    def mean(self) -> float:
        """The average of all repeats, in seconds."""
        return statistics.fmean(self.results)

    @property
    def median(self) -> float:
        """The repeat in the middle, in seconds."""
        return statistics.median(self.results)

    @property
    def min(self) -> float:
        """The quickest repeat, in seconds."""
        return min(self.results)

    @property
    def max(self) -> float:
        """The slowest repeat, in seconds."""
        return max(self.results)

    @property
    def std(self) -> float:
        """The standard deviation of the repeats, in seconds."""
        return statistics.pstdev(self.results)

    def __str__(self) -> str:
        parts = {"mean": self.mean, "median": self.median, "max": self.max, "min": self.min, "std": self.std}
        return ", ".join(f"{name} {value * 1e3:.4f} ms" for name, value in parts.items())


class TimeEvaluator:
    """Calls a function on given arguments, and tells how long that takes.

    Each of `repeat` results is the average of `number` calls, or of so many more that together they take
    `min_repeat_ms`. One call before is not measured. After each `repeats_to_cooldown` results, it waits for
    `cooldown_interval_ms`.
    """

    def __init__(
        self,
        function: Callable[..., None],
        device: Device,
        number: int = 10,
        repeat: int = 1,
        min_repeat_ms: float = 0,
        cooldown_interval_ms: float = 0,
        repeats_to_cooldown: int = 1,
    ) -> None:
        if number < 1 or repeat < 1:
            raise LaunchError(
                f"time_evaluator of {number} calls, {repeat} times", "nothing would be measured", "1 or more of each"
            )
        self._function, self._number, self._repeat = function, number, repeat
        self._least = min_repeat_ms / 1e3
        self._pause, self._pause_after = cooldown_interval_ms / 1e3, repeats_to_cooldown
        self._seconds = _CLOCKS[device.kind]

    def __call__(self, *args: Any) -> BenchmarkResult:
        """Return what calls with these arguments take."""
        self._function(*args)
        results: list[float] = []
        for done in range(1, self._repeat + 1):
            results.append(self._average(args))
            if self._pause and done % self._pause_after == 0:
                time.sleep(self._pause)
        return BenchmarkResult(tuple(results))

    def _average(self, args: tuple[Any, ...]) -> float:
        while True:
            took = self._seconds(self._function, args, self._number)
            if took >= self._least or self._number >= _MOST_CALLS:
                return took / self._number
            needed = math.ceil(self._number * self._least / max(took, 1e-9))
            self._number = min(max(needed, self._number * 2), _MOST_CALLS)


def _by_clock(function: Callable[..., None], args: tuple[Any, ...], number: int) -> float:
    start = time.perf_counter()
    for _ in range(number):
        function(*args)
    return time.perf_counter() - start


def _by_events(function: Callable[..., None], args: tuple[Any, ...], number: int) -> float:
    cuda = importlib.import_module("cupy").cuda
    start, end = cuda.Event(), cuda.Event()
    start.record()
    for _ in range(number):
        function(*args)
    end.record()
    end.synchronize()
    return cuda.get_elapsed_time(start, end) / 1e3


_CLOCKS: Final[dict[str, Callable[[Callable[..., None], tuple[Any, ...], int], float]]] = {
    "cpu": _by_clock,
    "cuda": _by_events,
}
"""How many seconds so many calls take, on each kind of device."""
