"""What a CPU that is only named has: LLVM does not tell, but shows it in the code that it makes for that CPU.

Each row is a function whose best code needs one feature, and how that code is recognised:

    popcnt    i32 ctpop(i32 a)    ->    popcntl %edi, %eax
"""

from __future__ import annotations

import platform
import re
from functools import cache
from typing import Final, NamedTuple

import llvmlite.binding as llvm


class Probe(NamedTuple):
    """A function of `arguments`, whose `body` becomes what `code` matches where the CPU has the feature."""

    result: str
    arguments: str
    body: str
    code: str


def _binary(type: str, operation: str, code: str) -> Probe:
    return Probe(type, f"{type} %a, {type} %b", f"%r = {operation} {type} %a, %b", code)


def _call(type: str, operands: str, name: str, code: str) -> Probe:
    """Return a probe that calls an intrinsic of operands %a, %b, ... of that type; `!` is false."""
    given = ", ".join("i1 false" if operand == "!" else f"{type} %{operand}" for operand in operands)
    arguments = ", ".join(f"{type} %{operand}" for operand in dict.fromkeys(operands) if operand != "!")
    return Probe(type, arguments, f"%r = call {type} @llvm.{name}({given})", code)


_NEGATE: Final = "%n = sub i32 0, %a\n%r = and i32 %a, %n"
_SWAP: Final = "%v = load i32, ptr %p\n%r = call i32 @llvm.bswap.i32(i32 %v)"
_DOT: Final = """\
%p = call <4 x i32> @llvm.x86.sse2.pmadd.wd(<8 x i16> %a, <8 x i16> %b)
%r = add <4 x i32> %p, %c"""
_DOT_ARGUMENTS: Final = "<8 x i16> %a, <8 x i16> %b, <4 x i32> %c"

PROBES: Final = {
    "sse4.1": _binary("<4 x i32>", "mul", "pmulld"),
    "sse4.2": Probe("<2 x i1>", "<2 x i64> %a, <2 x i64> %b", "%r = icmp sgt <2 x i64> %a, %b", "pcmpgtq"),
    "popcnt": _call("i32", "a", "ctpop.i32", "popcntl"),
    "lzcnt": _call("i32", "a!", "ctlz.i32", "lzcntl"),
    "bmi": Probe("i32", "i32 %a", _NEGATE, "blsil"),
    "bmi2": _binary("i32", "shl", "shlxl"),
    "movbe": Probe("i32", "ptr %p", _SWAP, "movbel"),
    "avx": _binary("<8 x float>", "fadd", "vaddps.*%ymm"),
    "avx2": _binary("<8 x i32>", "add", "vpaddd.*%ymm"),
    "f16c": Probe("float", "half %a", "%r = fpext half %a to float", "vcvtph2ps|vcvtsh2ss"),
    "fma": _call("float", "abc", "fma.f32", "vfmadd"),
    "gfni": _call("<16 x i8>", "a", "bitreverse.v16i8", "gf2p8"),
    "avxvnni": Probe("<4 x i32>", _DOT_ARGUMENTS, _DOT, r"\{vex\}\s+vpdpwssd"),
    "avx512f": _binary("<16 x float>", "fadd", "vaddps.*%zmm"),
    "avx512bw": _binary("<64 x i8>", "add", "vpaddb.*%zmm"),
    "avx512dq": _binary("<8 x i64>", "mul", "vpmullq.*%zmm"),
    "avx512vl": _call("<4 x i32>", "aab", "fshl.v4i32", r"vprolvd\s+%xmm"),
    "avx512cd": _call("<16 x i32>", "a!", "ctlz.v16i32", "vplzcntd"),
    "avx512vpopcntdq": _call("<16 x i32>", "a", "ctpop.v16i32", r"\svpopcntd\s"),
    "avx512bitalg": _call("<64 x i8>", "a", "ctpop.v64i8", r"\svpopcntb\s"),
    "avx512vbmi2": _call("<32 x i16>", "abc", "fshl.v32i16", "vpshldvw"),
    "avx512vnni": Probe("<4 x i32>", _DOT_ARGUMENTS, _DOT, r"\n\s+vpdpwssd"),
    "avx512bf16": Probe(
        "<16 x bfloat>", "<16 x float> %a", "%r = fptrunc <16 x float> %a to <16 x bfloat>", "vcvtneps2bf16"
    ),
    "avx512fp16": _binary("half", "fadd", "vaddsh"),
}
"""Features of x86-64 as LLVM spells them."""

_BASELINE: Final = "+64bit,+sse2"
"""Given besides: LLVM names older CPUs too, for which it makes no 64-bit code."""
_WIDE: Final = '"prefer-vector-width"="512" "min-legal-vector-width"="512"'
_CALLED: Final = re.compile(r"call (.+?) (@llvm\.[\w.]+)\((.*)\)")


@cache
def features_of(name: str) -> tuple[str, ...]:
    """Return the features of the x86 CPU of that name which ordinary code uses; none on another machine."""
    if platform.machine() != "x86_64":
        return ()
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    module = llvm.parse_assembly(_program())
    module.triple = triple = llvm.get_process_triple()
    machine = llvm.Target.from_triple(triple).create_target_machine(cpu=name, features=_BASELINE, opt=1)
    code = _by_function(machine.emit_assembly(module))
    return tuple(feature for feature, probe in PROBES.items() if re.search(probe.code, code[feature]))


def _program() -> str:
    functions = [
        f'define {probe.result} @"{feature}"({probe.arguments}) {_WIDE} {{\n{probe.body}\nret {probe.result} %r\n}}'
        for feature, probe in PROBES.items()
    ]
    declared = {
        f"declare {call[1]} {call[2]}({re.sub(r' (%[a-z]|false)', '', call[3])})"
        for probe in PROBES.values()
        for call in _CALLED.finditer(probe.body)
    }
    return "\n".join([*functions, *sorted(declared)])


def _by_function(assembly: str) -> dict[str, str]:
    """Return the text of each function, by its label."""
    parts = re.split(r'^"?([\w.]+)"?:', assembly, flags=re.MULTILINE)
    found: dict[str, str] = {}
    function = ""
    for label, text in zip(parts[1::2], parts[2::2], strict=True):
        function = label if label in PROBES else function
        found[function] = found.get(function, "") + text
    return found
