"""Places that are not around all readers, refused word for word; the paths of those that are."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tecomp import te
from tecomp.bounds.attach import Placement
from tecomp.errors import ScheduleError
from tests.bounds.describe import described


@pytest.fixture
def diamond() -> SimpleNamespace:
    """A(8, 8) -> B -> C, and D reads B and C; the schedule s of D."""
    A = te.placeholder((8, 8), name="A")
    B = te.compute((8, 8), lambda i, j: A[i, j] + 1, name="B")
    C = te.compute((8, 8), lambda i, j: B[i, j] * 2, name="C")
    D = te.compute((8, 8), lambda i, j: B[i, j] + C[i, j], name="D")
    return SimpleNamespace(A=A, B=B, C=C, D=D, s=te.create_schedule(D.op))


def path(s, tensor) -> list[str]:
    return [f"{place.op.name}.{place.axis.name}" for place in Placement(s).path(tensor.op)]


def test_the_loops_around_a_stage(diamond) -> None:
    s = diamond.s
    s[diamond.C].compute_at(s[diamond.D], diamond.D.op.axis[0])
    s[diamond.B].compute_at(s[diamond.D], diamond.D.op.axis[0])
    assert path(s, diamond.C) == path(s, diamond.B) == ["D.i"]
    outer, inner = s[diamond.D].split(diamond.D.op.axis[0], factor=4)
    assert path(s, diamond.C) == ["D.i.outer", "D.i.inner"]
    s[diamond.D].reorder(inner, outer)
    assert path(s, diamond.C) == ["D.i.inner"]
    assert Placement(s).outermost(diamond.C.op) is diamond.D.op


def test_a_reader_at_the_root(diamond, refused) -> None:
    s = diamond.s
    s[diamond.B].compute_at(s[diamond.D], diamond.D.op.axis[1])
    with refused(
        ScheduleError,
        """
        compute_at: 'B' cannot be placed at loop 'j' of 'D'
          --> test_attach.py:LINE
           |     s[diamond.B].compute_at(s[diamond.D], diamond.D.op.axis[1])
           |     ^
          because: 'C' also reads 'B' and is computed at the root, outside 'j' of 'D'
          legal: root, s.duplicate(B, [C]) and each at its own reader
    """,
    ):
        described(s, [diamond.A, diamond.D])


def test_a_reader_further_out(diamond, refused) -> None:
    s = diamond.s
    s[diamond.C].compute_at(s[diamond.D], diamond.D.op.axis[0])
    s[diamond.B].compute_at(s[diamond.D], diamond.D.op.axis[1])
    with refused(
        ScheduleError,
        """
        compute_at: 'B' cannot be placed at loop 'j' of 'D'
          --> test_attach.py:LINE
           |     s[diamond.B].compute_at(s[diamond.D], diamond.D.op.axis[1])
           |     ^
          because: 'C' also reads 'B' and is computed at 'i' of 'D', outside 'j' of 'D'
          legal: s[D] at i, root, s.duplicate(B, [C]) and each at its own reader
    """,
    ):
        described(s, [diamond.A, diamond.D])


def test_the_innermost_common_loop_is_named_first(diamond, refused) -> None:
    s = diamond.s
    s[diamond.C].compute_at(s[diamond.D], diamond.D.op.axis[1])
    s[diamond.B].compute_at(s[diamond.C], diamond.C.op.axis[0])
    with refused(
        ScheduleError,
        """
        compute_at: 'B' cannot be placed at loop 'i' of 'C'
          --> test_attach.py:LINE
           |     s[diamond.B].compute_at(s[diamond.C], diamond.C.op.axis[0])
           |     ^
          because: 'D' also reads 'B' and is computed at the root, outside 'i' of 'C'
          legal: s[D] at j, s[D] at i, root, s.duplicate(B, [D]) and each at its own reader
    """,
    ):
        described(s, [diamond.A, diamond.D])


def test_a_reader_that_is_inlined_reads_in_its_reader(diamond) -> None:
    s = diamond.s
    s[diamond.C].compute_inline()
    s[diamond.B].compute_at(s[diamond.D], diamond.D.op.axis[0])
    assert "B: [i, +1], [0, +8]" in described(s, [diamond.A, diamond.D])
