"""tecomp: a tensor expression compiler. `te` says what to compute; `lower` and `build` make programs of it."""

from . import te as te
from .driver import build as build
from .driver import lower as lower

__version__ = "0.1.0"
