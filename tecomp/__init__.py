"""tecomp: a tensor expression compiler. `te` says what to compute; `lower` and `build` make programs of it."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from . import te as te
from .absent import absent

if TYPE_CHECKING:
    from . import nd as nd
    from . import runtime as runtime
    from . import target as target
    from . import testing as testing
    from . import tir as tir
    from . import transform as transform
    from .driver import build as build
    from .driver import lower as lower
    from .functions import register_func as register_func
    from .nd import cpu as cpu
    from .nd import cuda as cuda
    from .nd import device as device
    from .nd import gpu as gpu

__version__ = "0.1.0"

_ON_FIRST_USE = {
    "build": (".driver", "build"),
    "lower": (".driver", "lower"),
    "nd": (".nd", ""),
    "testing": (".testing", ""),
    "tir": (".tir", ""),
    "target": (".target", ""),
    "transform": (".transform", ""),
    "runtime": (".runtime", ""),
    "register_func": (".functions", "register_func"),
    "cpu": (".nd", "cpu"),
    "cuda": (".nd", "cuda"),
    "device": (".nd", "device"),
    "gpu": (".nd", "gpu"),
}
"""Where the other names are: declaring and scheduling need none of the compiler, so it is loaded when asked for."""


def __getattr__(name: str) -> Any:
    if name not in _ON_FIRST_USE:
        raise absent(__name__, name)
    place, attribute = _ON_FIRST_USE[name]
    module = importlib.import_module(place, __name__)
    globals()[name] = value = getattr(module, attribute) if attribute else module
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_ON_FIRST_USE})
