"""The tutorials run, and print what they printed before.

What a tutorial writes to stdout is the same on every machine and is compared; what depends on the machine (is there a
GPU?) goes to stderr.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.goldens import Golden

ROOT = Path(__file__).parent.parent
TUTORIALS = sorted((ROOT / "tutorials").glob("*.py"))


def run(tutorial: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a tutorial as a user does, from the top of the repository."""
    return subprocess.run(
        [sys.executable, "-W", "error", str(tutorial)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'runtime'}", **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.parametrize("tutorial", TUTORIALS, ids=lambda path: path.stem)
def test_prints(tutorial: Path, golden: Golden) -> None:
    """Without a GPU in sight, also where there is one: a call on it says so, on stderr."""
    done = run(tutorial, CUDA_VISIBLE_DEVICES="")
    assert done.returncode == 0, done.stderr
    assert "LaunchError: " in done.stderr
    golden(done.stdout)


@pytest.mark.gpu
@pytest.mark.parametrize("tutorial", TUTORIALS, ids=lambda path: path.stem)
def test_runs_on_the_gpu(tutorial: Path) -> None:
    done = run(tutorial)
    assert done.returncode == 0, done.stderr
    assert "equal to NumPy's" in done.stderr
    assert "LaunchError" not in done.stderr


def test_there_are_tutorials() -> None:
    assert TUTORIALS
