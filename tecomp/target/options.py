"""The options of each kind of target: what they mean, and what their values may be. The first is the usual one."""

from __future__ import annotations

import platform
import re
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from ..errors import UserError
from .limits import CUDA_LIMITS

_MACHINE: Final = {"amd64": "x86_64", "arm64": "aarch64"}
_FEATURES: Final = re.compile(r"[+-][\w.-]+(,[+-][\w.-]+)*")


class Fault(NamedTuple):
    """Why a value cannot be, and what could."""

    because: str
    legal: str | Sequence[str] = ""


class Option(NamedTuple):
    """A row of the table: how it is written, and the question that its value must pass."""

    form: str
    fault: Callable[[str], Fault | None]


def _any(_value: str) -> None:
    return None


def _features(value: str) -> Fault | None:
    if _FEATURES.fullmatch(value):
        return None
    return Fault(f"{value!r} is no list of features", "-mattr=+avx2,-avx512f")


def _triple(value: str) -> Fault | None:
    here = _MACHINE.get(platform.machine().lower(), platform.machine().lower())
    asked = value.partition("-")[0].lower()
    if _MACHINE.get(asked, asked) == here and "linux" in value:
        return None
    return Fault(f"code is made for the machine it is made on, {here} under Linux", "no -mtriple")


def _arch(value: str) -> Fault | None:
    return None if value in CUDA_LIMITS else Fault(f"there is no architecture {value!r}", list(CUDA_LIMITS))


def _at_most(what: str, most: int) -> Callable[[str], Fault | None]:
    """Return the question whether a limit of one's own is a number up to what GPUs have."""

    def fault(value: str) -> Fault | None:
        if value.isdigit() and 1 <= int(value) <= most:
            return None
        return Fault(f"{value!r} is no number of {what} from 1 to {most}")

    return fault


def _warp(value: str) -> Fault | None:
    return None if value == "32" else Fault("the warp of every GPU here has 32 threads", "no -thread_warp_size")


OPTIONS: Final[dict[str, dict[str, Option]]] = {
    "llvm": {
        "mcpu": Option("-mcpu=NAME", _any),
        "mattr": Option("-mattr=+FEATURE,-FEATURE", _features),
        "mtriple": Option("-mtriple=TRIPLE", _triple),
    },
    "cuda": {
        "arch": Option("-arch=NAME", _arch),
        "max_num_threads": Option("-max_num_threads=THREADS", _at_most("threads", 1024)),
        "max_shared_memory_per_block": Option(
            "-max_shared_memory_per_block=BYTES",
            _at_most("bytes", max(limits.shared_optin for limits in CUDA_LIMITS.values())),
        ),
        "thread_warp_size": Option("-thread_warp_size=32", _warp),
    },
}
OPTIONS["cuda-sim"] = OPTIONS["cuda"]
INSTEAD: Final = {
    "libs": "te.extern, which calls the functions of a library",
    "host": "no host: the host part of a CUDA function is Python, and runs where it is called",
    "unroll_local_access": "s[T].unroll, or the pragma unroll_explicit",
    "device": "the name of the CPU or GPU: -mcpu=NAME, -arch=NAME",
    "model": "the name of the CPU or GPU: -mcpu=NAME, -arch=NAME",
    "keys": "the kind alone",
}
"""Options that programs for TVM give, and what serves here."""


def check_option(spec: object, kind: str, name: str, value: str) -> None:
    """Raise UserError where a target of that kind has no such option, or not with that value."""
    option = OPTIONS[kind].get(name)
    asked = f"unknown target {spec!r}"
    if option is None:
        forms = ", ".join(known.form for known in OPTIONS[kind].values())
        raise UserError(asked, f"{kind} has no option '-{name}={value}'", INSTEAD.get(name, forms))
    fault = option.fault(value)
    if fault is not None:
        raise UserError(asked, fault.because, fault.legal)


def split_option(spec: str, kind: str, word: str) -> tuple[str, str]:
    """Return "-arch=sm_90a" as its name and value; UserError for what is no option."""
    name, equals, value = word.lstrip("-").partition("=")
    if word.startswith("-") and equals and value:
        return name, value
    forms = ", ".join(known.form for known in OPTIONS[kind].values())
    raise UserError(f"unknown target {spec!r}", f"{kind} has no option {word!r}", forms)
