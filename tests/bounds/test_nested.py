"""Scans in the steps of scans."""

from __future__ import annotations

from tecomp import te
from tecomp.errors import UnsupportedError
from tests.bounds.describe import described


def nested(depends: bool):
    """Each step of S adds a running sum over the columns, which starts from the last step's state where it depends."""
    X, state = te.placeholder((4, 5), name="X"), te.placeholder((4, 5), name="s")
    inner = te.placeholder((5, 4), name="u")
    start = te.compute((1, 4), lambda j, t: X[t, 0] + (state[t - 1, 0] if depends else 0.0), name="start")
    along = te.compute((5, 4), lambda j, t: inner[j - 1, t] + X[t, j], name="along")
    line = te.scan(start, along, inner, inputs=[X], name="line")
    new = te.compute((4, 5), lambda t, j: line[j, t] + state[t - 1, j], name="new")
    return X, te.scan(te.compute((1, 5), lambda t, j: X[0, j], name="first"), new, state, inputs=[X], name="S")


def test_a_scan_that_knows_nothing_of_the_state() -> None:
    X, S = nested(depends=False)
    assert "line: [0, +5]" in described(te.create_schedule(S.op), [X, S])


def test_a_scan_that_depends_on_the_state(refused) -> None:
    X, S = nested(depends=True)
    with refused(
        UnsupportedError,
        """
        the scan 'line' in each step of the scan 'S'
          --> test_nested.py:LINE
           |     line = te.scan(start, along, inner, inputs=[X], name="line")
           |     ^
          because: it depends on the state 's', of which a step knows only the rows before it
          legal: a scan that does not depend on 's'; reductions and other stages may
    """,
    ):
        described(te.create_schedule(S.op), [X, S])
