"""The tutorials run, and print what they printed before.

What a tutorial writes to stdout is the same on every machine and is compared; what depends on the machine (is there a
GPU?) goes to stderr.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.goldens import Golden

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
TUTORIALS = sorted((ROOT / "tutorials").glob("*.py"))
FOR_GPUS = [tutorial for tutorial in TUTORIALS if 'target="cuda"' in tutorial.read_text()]
"""Those that run something on a GPU, where there is one."""
NO_GPU = ("LaunchError: ", "no GPU: ")


def run(tutorial: Path, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a tutorial as a user does, from the top of the repository."""
    return subprocess.run(
        [sys.executable, "-W", "error", str(tutorial), *options],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'runtime'}", **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.parametrize("tutorial", TUTORIALS, ids=lambda path: path.stem)
def test_prints(tutorial: Path, golden: Golden) -> None:
    """Without a GPU in sight, also where there is one; that there is none is all that goes to stderr."""
    done = run(tutorial, CUDA_VISIBLE_DEVICES="")
    assert done.returncode == 0, done.stderr
    assert any(words in done.stderr for words in NO_GPU) if tutorial in FOR_GPUS else done.stderr == ""
    golden(done.stdout)


@pytest.mark.gpu
@pytest.mark.parametrize("tutorial", FOR_GPUS, ids=lambda path: path.stem)
def test_runs_on_the_gpu(tutorial: Path) -> None:
    done = run(tutorial)
    assert done.returncode == 0, done.stderr
    assert "equal to NumPy's" in done.stderr
    assert not any(words in done.stderr for words in NO_GPU)


def test_measures_on_request() -> None:
    """The times of the matrix product, which depend on the machine, are printed for who asks for them."""
    (tutorial,) = (path for path in TUTORIALS if path.stem.endswith("gemm_on_the_cpu"))
    done = run(tutorial, "--time", "64")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("== ") == done.stdout.count(" GFLOP/s") > 5


def test_numbered_and_listed() -> None:
    """Their numbers have no gaps, and the README has a line for each."""
    assert [tutorial.name[:2] for tutorial in TUTORIALS] == [f"{at:02}" for at in range(1, len(TUTORIALS) + 1)]
    assert re.findall(r"^\| `(\d\d_\w+\.py)` \|", README.read_text(), re.MULTILINE) == [path.name for path in TUTORIALS]
