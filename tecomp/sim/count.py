"""Counters of what a kernel asks of the machine."""

from __future__ import annotations

from typing import Any


class Counters:
    """Instructions and requests."""

    def instruction(self, name: str, times: int) -> None:
        """Count instructions of warps."""

    def access(self, g: Any, site: Any, memory: Any, found: Any, vector: bool, verb: str) -> None:
        """Count the requests of an access."""

    def launch(self, program: Any, shape: Any, shared: int) -> None:
        """A kernel begins."""
