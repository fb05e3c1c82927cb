"""Where an access or an instruction finds what it is about."""

from __future__ import annotations

from typing import Any, NamedTuple

from .site import Site


class Place(NamedTuple):
    """An address: elements of a memory or of registers, `offset` from the first, in each thread."""

    memory: Any
    offset: Any
    site: Site
