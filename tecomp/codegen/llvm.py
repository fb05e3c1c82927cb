"""The CPU back end: a FLAT function becomes LLVM IR, and object code.

The entry point is ``i32 te.<name>(parameters in order..., sizes in order as i64)``: a buffer is the address of its
element 0, a scalar its value (bool as i8, float16 and bfloat16 as float). It returns 0, or 1 when memory could not be
had or a Python function raised. Outputs do not overlap other arguments: the runtime has checked that, and LLVM is told.
"""

from __future__ import annotations

from ..artifact import Artifact
from ..errors import InternalError
from ..ir.expr import Var
from ..ir.func import Func, Level
from ..ir.stmt import Buffer
from ..target import Target
from .llvm_call import define_call
from .llvm_code import Code, Module
from .llvm_compile import Cpu, compiled, cpu
from .llvm_compile import vector_functions as known_functions
from .llvm_convert import nonzero
from .llvm_probe import check_intrinsic
from .llvm_stmt import statement
from .llvm_tiles import required_flags
from .llvm_types import Value, value_type
from .names import Names
from .signature import signature


def generate(func: Func, target: Target) -> Artifact:
    """Return the artifact of `func` for a CPU: readable IR before optimisation, and optimised object code.

    Its symbols are the entry point and, where Python can call it directly, the way in (see `llvm_call`). The source
    shows the program without that.
    """
    chosen = cpu(target.mcpu, target.mattr)
    module = generated(func, chosen)
    for name, probe in module.intrinsics.items():
        check_intrinsic(name, probe, chosen)
    tiles = required_flags(module.tiles, chosen)
    source, symbol = module.text(), entry(func)
    alone = not module.packed and not module.declares("GOMP_parallel")
    way_in = define_call(module, func, symbol) if alone else None
    kernels = (symbol,) if way_in is None else (symbol, way_in)
    binary = compiled(module.text(), chosen)
    return Artifact(
        "llvm",
        func.name,
        source,
        binary,
        signature(func),
        kernels=kernels,
        target=str(target),
        requires=(*chosen.requires(), *tiles),
        packed=tuple(module.packed),
    )


def entry(func: Func) -> str:
    """Return the symbol of the entry point. The prefix keeps it apart from C's functions: a user may call one `exp`."""
    return Names(dots=True).fresh(f"te.{func.name}")


def module_text(func: Func, cpu: Cpu) -> str:
    """Return the LLVM IR of `func`."""
    return generated(func, cpu).text()


def generated(func: Func, cpu: Cpu) -> Module:
    """Return the LLVM module of `func`, from which text is made."""
    if func.level is not Level.FLAT:
        raise InternalError(
            f"{func.name!r} is at level {func.level.value}", because="code is generated from level flat"
        )
    module = Module(known_functions(cpu), cpu.native_half)
    code = Code(module, module.symbols.fresh(entry(func)))
    parameters = [_parameter(code, param, param in func.outputs) for param in (*func.params, *func.sizes())]
    statement(code, func.body)
    code.do("ret i32 0")
    code.define(f"i32 @{code.symbol}({', '.join(parameters)}) nounwind")
    return module


def _parameter(code: Code, param: Buffer | Var, output: bool) -> str:
    """Return the text of one parameter, and tell `code` its value."""
    if isinstance(param, Buffer):
        code.pointers[param] = value = Value("ptr", f"%{code.names.fresh(param.name)}")
        access = "" if output else " readonly"
        return f"ptr noalias{access} align {param.align} {value.name}"
    value = Value(value_type(param.dtype), f"%{code.names.fresh(param.name)}")
    code.values[param] = value
    if not param.dtype.is_bool:
        return str(value)
    byte = Value("i8", value.name)
    code.values[param] = nonzero(code, byte)
    return str(byte)
