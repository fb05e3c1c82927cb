"""Whether LLVM has an intrinsic that the user names, in the types given, for the CPU chosen.

What LLVM cannot select instructions for ends the process that asks; so that a process of its own is asked.
"""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from typing import Final

import llvmlite.binding as llvm

from ..errors import UnsupportedError, UserError
from .llvm_compile import Cpu, triple

_SELECT: Final = """\
import sys
import llvmlite.binding as llvm
llvm.initialize_native_target()
llvm.initialize_native_asmprinter()
target = llvm.Target.from_triple(sys.argv[1])
machine = target.create_target_machine(cpu=sys.argv[2], features=sys.argv[3], opt=0)
machine.emit_object(llvm.parse_assembly(sys.stdin.read()))
"""


def check_intrinsic(symbol: str, source: str, cpu: Cpu) -> None:
    """Raise UserError where LLVM has no intrinsic `symbol` of these types, UnsupportedError where `cpu` has not.

    `source` is a module with a function that calls it and does nothing else.
    """
    asked = f"the intrinsic {symbol!r}"
    try:
        module = llvm.parse_assembly(source)
        module.verify()
    except RuntimeError as error:
        said = str(error).strip().splitlines()[0].removesuffix("!")
        raise UserError(asked, because=f"LLVM says: {said}", legal="the types of its signature", ir=source) from None
    if not any(True for function in module.functions if function.is_declaration for _ in function.attributes):
        raise UserError(asked, because="LLVM knows no intrinsic of that name", legal="the name as LLVM's manual has it")
    if not _selected(source, cpu):
        raise UnsupportedError(
            f"{asked} on {cpu.name}", because="LLVM finds no instruction for it", legal='target="llvm -mattr=+..."'
        )


@cache
def _selected(source: str, cpu: Cpu) -> bool:
    command = [sys.executable, "-c", _SELECT, triple(), cpu.name, cpu.features]
    return subprocess.run(command, input=source, text=True, capture_output=True, check=False).returncode == 0
