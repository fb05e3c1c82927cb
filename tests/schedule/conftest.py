"""The shared programs as fixtures."""

from __future__ import annotations

import pytest

from . import programs

chain = pytest.fixture(programs.chain)
grid = pytest.fixture(programs.grid)
cumsum = pytest.fixture(programs.cumsum)
