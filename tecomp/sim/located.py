"""Where an access or an instruction finds what it is about."""

from __future__ import annotations

from typing import Any, NamedTuple

from .site import Site
from .values import Array


class Place(NamedTuple):
    """An address: elements of a memory or of registers, `offset` from the first, in each thread."""

    memory: Any
    offset: Any
    site: Site


class Located(NamedTuple):
    """The elements of an access one after the other: where, of which thread of the gang, in which position of it."""

    x: Array
    lane: Array
    at: Array | None
    """Positions in the whole access; None where all of it is there."""
