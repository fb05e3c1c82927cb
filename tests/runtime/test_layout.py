"""Where elements lie, against NumPy's own answers and against enumeration."""

import itertools

import numpy as np
import pytest

from tecomp_runtime import layout

BASE = np.zeros((6, 4, 5), "float32")
VIEWS = [
    BASE, BASE[::2], BASE[:, ::2], BASE[:, :, ::2], BASE[::-1], BASE[:, ::-1, ::-2], BASE.T, BASE[:1], BASE[:, :1],
    BASE[:0], BASE.transpose(1, 0, 2), BASE[2], BASE[2, 3, 4], np.broadcast_to(BASE[:1], (6, 4, 5)),
    np.broadcast_to(BASE[:, :, :1], (6, 4, 5)),
]  # fmt: skip


def offsets(view):
    """Return the byte offset of every element."""
    ranges = [range(extent) for extent in view.shape]
    return [sum(i * s for i, s in zip(index, view.strides, strict=True)) for index in itertools.product(*ranges)]


@pytest.mark.parametrize("view", VIEWS)
def test_views(view):
    found = offsets(view)
    low, high = layout.span(view.shape, view.strides, 4)
    assert (low, high) == ((min(found), max(found) + 4) if found else (0, 0))
    assert layout.is_compact(view.shape, view.strides, 4) == view.flags.c_contiguous
    assert layout.overlaps_itself(view.shape, view.strides, 4) == (len(set(found)) < len(found))


def test_overlap_is_assumed_where_steps_are_not_nested():
    """Offsets 0 2 4 3 5 7 are all different, but no dimension steps over the other: refused, not searched."""
    strides, shape = (12, 8), (2, 3)
    assert layout.overlaps_itself(shape, strides, 4)


def test_sharing():
    memory = np.zeros(100, "float32")
    assert layout.shares(memory[:10], memory[5:])
    assert not layout.shares(memory[::2], memory[1::2])
    assert layout.shares(object(), memory)
    hard = np.lib.stride_tricks.as_strided(memory, (3,) * 10, (1, 3, 5, 7, 11, 13, 17, 19, 23, 29))
    other = np.lib.stride_tricks.as_strided(memory[1:], (3,) * 10, (2, 3, 5, 7, 11, 13, 17, 19, 23, 31))
    assert layout.shares(hard, other)


def test_strides_of_rows():
    assert layout.compact_strides((2, 3, 4), 8) == (96, 32, 8)
    assert layout.compact_strides((), 8) == ()
