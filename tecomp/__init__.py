"""tecomp: a tensor expression compiler. `te` says what to compute; `lower` and `build` make programs of it."""

from . import te as te
