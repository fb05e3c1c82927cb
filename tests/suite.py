"""Whether the whole suite ran, and what the workers of pytest-xdist tell the process that started them.

A check such as "no golden file is unused" means something only after every test ran. Each worker sends what it
saw; the controller (or the one process, without xdist) joins it.
"""

from __future__ import annotations

from typing import Any

import pytest

WHOLE = ("", "not gpu")
"""The marker expressions that still run every test which can run anywhere."""


def whole(session: pytest.Session) -> bool:
    """Return whether every test ran to its end: none chosen by path, keyword or earlier failure, none failed."""
    config = session.config
    option = config.option
    chosen = option.keyword or option.markexpr not in WHOLE or getattr(option, "lf", False) or option.deselect
    return (
        config.args_source is pytest.Config.ArgsSource.TESTPATHS
        and not chosen
        and not session.testsfailed
        and not session.shouldstop
        and not option.collectonly
    )


def is_worker(config: pytest.Config) -> bool:
    """Return whether this process runs tests for a controller."""
    return hasattr(config, "workerinput")


def send(config: pytest.Config, name: str, seen: set[str]) -> None:
    """Give the controller what this worker saw."""
    output: dict[str, Any] = config.workeroutput  # type: ignore[attr-defined]
    output[name] = sorted(seen)


def received(node: Any, name: str) -> set[str]:
    """Return what a worker sent; nothing when it died."""
    return set(getattr(node, "workeroutput", {}).get(name, ()))
