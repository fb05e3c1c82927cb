"""From LLVM IR to object code: the target machine, LLVM's optimiser, the functions a CPU's vectors may call."""

from __future__ import annotations

import ctypes
import platform
import subprocess
import sys
from difflib import get_close_matches
from functools import cache
from typing import Any, Final, NamedTuple

import llvmlite.binding as llvm

from ..errors import InternalError, UserError
from .llvm_features import features_of
from .llvm_library import LIBRARY, VECTOR_ABI
from .llvm_stores import plain_stores

_BASELINE: Final = {"x86_64": ("64bit", "sse2")}
"""What every CPU here has, whatever its name: LLVM names older ones, for which it makes no 64-bit code."""

_LIST_CPUS: Final = """\
import llvmlite.binding as llvm
llvm.initialize_native_target()
llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine(features="+help")
"""

_LARGE: Final = 6000
"""Lines of a function past which LLVM looks for no vectors and unrolls nothing of its own: the time it takes for these
grows with the square of the function, minutes for a thousand loops. What the schedule vectorizes and unrolls stays."""


_MASKED_STORE: Final = "@llvm.masked.store."

LINUX_NAMES: Final = {
    "sse4.1": "sse4_1",
    "sse4.2": "sse4_2",
    "popcnt": "popcnt",
    "lzcnt": "abm",
    "bmi": "bmi1",
    "bmi2": "bmi2",
    "adx": "adx",
    "movbe": "movbe",
    "avx": "avx",
    "avx2": "avx2",
    "f16c": "f16c",
    "fma": "fma",
    "gfni": "gfni",
    "avxvnni": "avx_vnni",
    "avx512f": "avx512f",
    "avx512bw": "avx512bw",
    "avx512dq": "avx512dq",
    "avx512vl": "avx512vl",
    "avx512cd": "avx512cd",
    "avx512ifma": "avx512ifma",
    "avx512vbmi": "avx512vbmi",
    "avx512vbmi2": "avx512_vbmi2",
    "avx512vnni": "avx512_vnni",
    "avx512bf16": "avx512_bf16",
    "avx512fp16": "avx512_fp16",
    "avx512bitalg": "avx512_bitalg",
    "avx512vpopcntdq": "avx512_vpopcntdq",
}
"""Features of x86 that LLVM uses in ordinary code, as LLVM and as /proc/cpuinfo spell them."""

_HALVES: Final = ("znver4",)
"""CPUs that run a 512-bit operation as two halves. LLVM is told to choose 256 bits, as for those that slow their clock:
what was stored is then sooner loaded again. Vectors that the program asks for keep their size."""


class Cpu(NamedTuple):
    """A CPU: its name, and its features as LLVM writes them: +avx2,-avx512f."""

    name: str
    features: str

    def has(self, feature: str) -> bool:
        """Return whether the CPU is known to have a feature."""
        return f"+{feature}" in self.features.split(",") or feature in _BASELINE.get(platform.machine(), ())

    def requires(self) -> tuple[str, ...]:
        """Return the features that code for this CPU may use, as Linux names them."""
        return tuple(LINUX_NAMES[feature] for feature in LINUX_NAMES if self.has(feature))

    @property
    def native_half(self) -> bool:
        """Whether float16 is converted by instructions: F16C on x86, always on 64-bit ARM."""
        return self.has("f16c") or platform.machine() in ("aarch64", "arm64")


@cache
def cpu(name: str = "", mattr: str = "") -> Cpu:
    """Return the CPU of that name, of no name the present one, with what `mattr` (+avx2,-avx512f) adds or takes away.

    UserError where LLVM knows no such CPU or feature.
    """
    if name:
        _check_known("-mcpu", name, known_cpus(), "CPU", "no -mcpu, for the present CPU")
        has = {feature: True for feature in features_of(name)}
    else:
        flags = llvm.get_host_cpu_features()
        name = llvm.get_host_cpu_name()
        has = dict(flags.items()) | ({"prefer-256-bit": True} if name in _HALVES else {})
    for change in filter(None, mattr.split(",")):
        _check_known("-mattr", change[1:], known_features(), "feature", "no -mattr, for the CPU's own")
        has[change[1:]] = change[0] == "+"
    return Cpu(name, ",".join(f"{'+' if present else '-'}{feature}" for feature, present in has.items()))


def _check_known(option: str, name: str, known: frozenset[str], word: str, legal: str) -> None:
    if known and name not in known:
        raise UserError(
            f"unknown target 'llvm {option}={'+' if option == '-mattr' else ''}{name}'",
            because=f"LLVM knows no {word} {name!r}",
            legal=[*get_close_matches(name, sorted(known)), legal],
        )


@cache
def _listed() -> tuple[tuple[str, str], ...]:
    """Return the CPUs and features that LLVM knows, with what it says of each: it only prints them, so that a process
    of its own is asked."""
    asked = subprocess.run([sys.executable, "-c", _LIST_CPUS], capture_output=True, text=True, check=False)
    lines = (line.strip().partition(" - ") for line in asked.stderr.splitlines())
    return tuple((name.strip(), said.strip()) for name, dash, said in lines if dash)


@cache
def known_cpus() -> frozenset[str]:
    """Return the CPUs that LLVM knows."""
    return frozenset(name for name, said in _listed() if said.startswith("Select the"))


@cache
def known_features() -> frozenset[str]:
    """Return the features that LLVM knows."""
    return frozenset(name for name, said in _listed() if not said.startswith("Select the"))


@cache
def machine(cpu: Cpu) -> Any:
    """Return LLVM's target machine for position-independent ELF code, at its highest optimisation level."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_triple(triple())
    features = ",".join(filter(None, (*(f"+{name}" for name in _BASELINE.get(platform.machine(), ())), cpu.features)))
    return target.create_target_machine(cpu=cpu.name, features=features, opt=3, reloc="pic", codemodel="small")


def triple() -> str:
    """Return this platform in LLVM's words; the object format is ELF everywhere, which the runtime reads."""
    native = llvm.get_process_triple()
    return native if "linux" in native else f"{native}-elf"


@cache
def vector_functions(cpu: Cpu) -> frozenset[str]:
    """Return the functions of glibc's vector library that the CPU can run; none where there is no such library."""
    try:
        library = ctypes.CDLL("libmvec.so.1")
    except OSError:
        return frozenset()
    found: set[str] = set()
    for feature, (letter, width) in VECTOR_ABI.items():
        if not cpu.has(feature):
            continue
        for name in LIBRARY:
            symbols = [
                f"_ZGV{letter}N{width // size}{args}_{name}{tail}"
                for size, tail in ((4, "f"), (8, ""))
                for args in ("v", "vv")
            ]
            found.update(symbol for symbol in symbols if hasattr(library, symbol))
    return frozenset(found)


def compiled(source: str, cpu: Cpu) -> bytes:
    """Return the object code (ELF) of a module, optimised; InternalError where LLVM does not accept it."""
    target = machine(cpu)
    try:
        module = llvm.parse_assembly(source)
        module.verify()
    except RuntimeError as error:
        raise InternalError("LLVM refused the generated code", because=str(error), ir=source) from error
    return target.emit_object(_optimised(module, target, source))


def assembly(source: str, cpu: Cpu) -> str:
    """Return the machine code of a module as assembly text."""
    target = machine(cpu)
    return target.emit_assembly(_optimised(llvm.parse_assembly(source), target, source))


def _optimised(module: Any, target: Any, source: str) -> Any:
    """Return the module parsed from `source` as the target machine's code is made of it."""
    module.triple, module.data_layout = triple(), str(target.target_data)
    large = max(function.count("\n") for function in source.split("\ndefine ")) > _LARGE
    options = llvm.create_pipeline_tuning_options(speed_level=1 if large else 3)
    options.loop_vectorization = options.slp_vectorization = options.loop_unrolling = not large
    passes = llvm.create_pass_builder(target, options)
    passes.getModulePassManager().run(module, passes)
    return llvm.parse_assembly(plain_stores(str(module))) if _MASKED_STORE in source else module
