"""No instruction is left out: each is in a kernel that is right, and in one that is reported for its line."""

from __future__ import annotations

import importlib
import inspect
import re

import numpy as np
import pytest

from tecomp.instructions import ROWS
from tecomp.target import Target

from . import test_barriers, test_copies, test_exchange, test_mbarriers, test_tensors
from .kernels import built

TABLES = (test_barriers, test_copies, test_exchange, test_mbarriers)
HARMLESS = {
    "prefetch": "it touches no value, and is allowed anywhere",
    "registers_increase": "of a warpgroup: tests of the pool of registers",
    "registers_decrease": "of a warpgroup: tests of the pool of registers",
}
"""Those whose absence no program shows."""
ELSEWHERE = {name for name in ROWS if name.startswith("wgmma_")}
"""Matrix instructions: `test_matrix`."""


def named(text: str) -> set[str]:
    """Return the instructions that a text calls."""
    return ROWS.keys() & set(re.findall(r"\w+", text))


def of_tensors() -> set[str]:
    """Return those that `test_tensors` makes texts of."""
    source = inspect.getsource(test_tensors)
    return {
        f"{start}_{rank}d"
        for start in ("tensor_load", "tensor_store")
        for rank in test_tensors.SHAPES
        if start in source
    }


def test_each_is_in_a_kernel_that_is_right() -> None:
    texts = [row.text for table in TABLES for row in table.ROWS.values()]
    texts += [
        *test_exchange.SHUFFLES,
        *test_exchange.VOTES,
        inspect.getsource(test_barriers.test_registers_are_what_they_were),
    ]
    assert set(ROWS) - ELSEWHERE - of_tensors() - set().union(*map(named, texts)) == set()


def changed(text: str, old: str) -> str:
    """Return the lines of a text that hold something that is changed."""
    first = text.index(old)
    start, end = text.rfind("\n", 0, first), text.find("\n", first + len(old.rstrip()))
    return text[start:end]


def test_each_is_in_a_kernel_that_is_reported() -> None:
    texts = [changed(table.ROWS[wrong.name].text, wrong.old) for table in TABLES for wrong in table.WRONG]
    texts += test_exchange.CALLS
    assert set(ROWS) - ELSEWHERE - of_tensors() - HARMLESS.keys() - set().union(*map(named, texts)) == set()


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.__name__.rpartition(".")[2])
def test_every_kernel_has_one_that_is_wrong(table: object) -> None:
    changed = {wrong.name for wrong in table.WRONG}
    assert changed | {"prefetched"} >= table.ROWS.keys()


ALL = {f"{table.__name__.rpartition('_')[2]}: {name}": row for table in TABLES for name, row in table.ROWS.items()}


@pytest.mark.parametrize("name", ALL)
def test_each_kernel_compiles(name: str) -> None:
    log = built(ALL[name].text, "cuda -arch=sm_90a").artifact.log
    assert "warning" not in log, log


@pytest.mark.gpu
@pytest.mark.parametrize("name", ALL)
def test_each_kernel_is_right_on_a_gpu(name: str) -> None:
    """What the simulator takes for right is so."""
    if Target.of("cuda").arch != "sm_90a":
        pytest.skip("only sm_90a has all instructions")
    cupy = importlib.import_module("cupy")
    given = ALL[name].arrays()
    want = ALL[name].expected(*given)
    arrays = [cupy.asarray(one) if isinstance(one, np.ndarray) else one for one in given]
    built(ALL[name].text, "cuda")(*arrays)
    np.testing.assert_array_equal(arrays[-1].get(), want)
