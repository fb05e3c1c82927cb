"""The target: a kind, its options, and the block in which it holds."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, Final, Self

from ..errors import UserError, UserTypeError
from .device import present_arch
from .limits import CUDA_LIMITS, Limits
from .options import INSTEAD, OPTIONS, check_option, split_option

_DEFAULT_ARCH: Final = "sm_80"
_KNOWN: Final = '"llvm", "llvm -mcpu=NAME", "cuda", "cuda -arch=sm_90a", "cuda-sim"'
_GPUS: Final = ("cuda", "cuda-sim")


class Kind(str):
    """llvm, cuda or cuda-sim: a string, whose `name` is the string too, as programs for TVM ask it."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """The kind as a plain string."""
        return str(self)


@dataclass(frozen=True, init=False)
class Target:
    """What to build for. `str(target)` is the text that makes it again; in a `with` block, it is `build`'s default."""

    kind: Kind
    options: tuple[tuple[str, str], ...]
    """Names and values, in the order of the table."""

    def __init__(self, target: Any, host: Any = None, **options: Any) -> None:
        """Make the target that a text names, or a dict with its "kind". UserError says what is known instead.

        Options may stand in the text or be given by name: Target("cuda", arch="sm_90a"). "cuda" alone is the
        architecture of the first visible device (sm_90a for capability 9.0), and sm_80 where there is no device. A
        `host` may be an "llvm" target, and changes nothing: the host part of a CUDA function is Python.
        """
        if host is not None and Target(host).kind != "llvm":
            raise UserError(f"target '{target}' with host '{host}'", "that is no CPU", INSTEAD["host"])
        if isinstance(target, Target):
            object.__setattr__(self, "kind", target.kind)
            object.__setattr__(self, "options", target.options)
            return
        kind, given = _read(target)
        given |= {name: str(value) for name, value in options.items()}
        for name, value in given.items():
            check_option(target, kind, name, value)
        if kind in _GPUS:
            given.setdefault("arch", present_arch() or _DEFAULT_ARCH)
            check_option(target, kind, "arch", given["arch"])
        object.__setattr__(self, "kind", Kind(kind))
        object.__setattr__(self, "options", tuple((name, given[name]) for name in OPTIONS[kind] if name in given))

    @classmethod
    def of(cls, spec: Any) -> Self:
        """Return the target that `spec` names, a Target as it is."""
        return spec if isinstance(spec, cls) else cls(spec)

    @classmethod
    def current(cls, allow_none: bool = True) -> Target | None:
        """Return the target of the innermost `with` block; None outside of all, or UserError if None is not allowed."""
        found = _CURRENT.get()[-1:]
        if not found and not allow_none:
            raise UserError("Target.current", "no target is in force", 'with tecomp.target.Target("cuda"): ...')
        return found[0] if found else None

    def __enter__(self) -> Self:
        """Make this the target of builds in the block."""
        _CURRENT.set((*_CURRENT.get(), self))
        return self

    def __exit__(self, *_: object) -> None:
        _CURRENT.set(_CURRENT.get()[:-1])

    @property
    def arch(self) -> str:
        """The exact GPU architecture, such as sm_90a; empty for llvm."""
        return self._option("arch")

    @property
    def hardware(self) -> Target:
        """The target whose programs this one runs: CUDA's for the simulator, itself for any other."""
        return Target({"kind": "cuda", **dict(self.options)}) if self.kind == "cuda-sim" else self

    @property
    def mcpu(self) -> str:
        """The CPU as LLVM names it; empty for the present one."""
        return self._option("mcpu")

    @property
    def mattr(self) -> str:
        """Features of the CPU, present (+) or absent (-), beside its own; empty for its own."""
        return self._option("mattr")

    @property
    def max_num_threads(self) -> int:
        """The most threads in a block of the GPU; 1 of a CPU."""
        return self.limits.threads_per_block if self.kind in _GPUS else 1

    @property
    def thread_warp_size(self) -> int:
        """The threads that run in step; 1 of a CPU."""
        return self.limits.warp if self.kind in _GPUS else 1

    @property
    def max_shared_memory_per_block(self) -> int:
        """Bytes of shared memory that a block may have when it asks for them; 0 of a CPU."""
        return self.limits.shared_optin if self.kind in _GPUS else 0

    @property
    def limits(self) -> Limits:
        """What the GPU allows, or less where an option says so; UserTypeError for a CPU."""
        if self.kind not in _GPUS:
            raise UserTypeError(f"the target {self} has no launch limits", because="it is no GPU")
        device = CUDA_LIMITS[self.arch]
        threads = int(self._option("max_num_threads") or device.threads_per_block)
        shared = int(self._option("max_shared_memory_per_block") or device.shared_optin)
        return replace(device, threads_per_block=threads, shared_optin=min(shared, device.shared_optin))

    def _option(self, name: str) -> str:
        return dict(self.options).get(name, "")

    def __str__(self) -> str:
        return " ".join([self.kind, *(f"-{name}={value}" for name, value in self.options)])


_CURRENT: Final[ContextVar[tuple[Target, ...]]] = ContextVar("target", default=())


def _read(spec: Any) -> tuple[str, dict[str, str]]:
    """Return the kind and the options of text or of a dict; UserError where there is no such kind."""
    if isinstance(spec, Mapping):
        given = {str(name): str(value) for name, value in spec.items()}
        kind = given.pop("kind", "")
    elif isinstance(spec, str):
        kind, *words = spec.split() or [""]
        given = dict(split_option(spec, kind, word) for word in words) if kind in OPTIONS else {}
    else:
        raise UserTypeError(f"{spec!r} is no target", because=f"its type is {type(spec).__name__}", legal=_KNOWN)
    if kind not in OPTIONS:
        raise UserError(f"unknown target {spec!r}", because=f"there is no target kind {kind!r}", legal=_KNOWN)
    return kind, given


def cuda(model: str = "", arch: str | None = None, options: str = "") -> Target:
    """Return a CUDA target: of that architecture, else of the first visible GPU. A `model` is a name and no more."""
    words = [] if arch is None else [f"-arch={arch}"]
    return Target(" ".join(["cuda", *words, *options.split()]))


def llvm(mcpu: str = "", mattr: str = "", options: str = "") -> Target:
    """Return a CPU target: the CPU of that name, else the present one."""
    words = [f"-{name}={value}" for name, value in (("mcpu", mcpu), ("mattr", mattr)) if value]
    return Target(" ".join(["llvm", *words, *options.split()]))
