"""Loading object code by LLVM's own loader, on machines whose relocations `elf` does not know: ARM, for one.

There llvmlite must be installed; on x86-64 nothing but Python is needed.
"""

from __future__ import annotations

import importlib
import platform
from collections.abc import Mapping
from typing import Any

from .errors import LaunchError
from .libraries import NOTHING, address
from .object_file import ObjectFile


class Jitted:
    """Object code in memory; it stays there as long as this object does. `functions` are addresses by symbol."""

    def __init__(self, binary: bytes, given: Mapping[str, int] = NOTHING) -> None:
        """Load `binary`; `given` are addresses of functions that no library has."""
        file = ObjectFile(binary)
        llvm = _llvm()
        for symbol in file.symbols:
            if symbol.section == 0 and symbol.name:
                llvm.add_symbol(symbol.name, given.get(symbol.name) or address(symbol.name))
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        machine = llvm.Target.from_default_triple().create_target_machine()
        self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(binary))
        self._engine.finalize_object()
        names = [symbol.name for symbol in file.symbols if symbol.section and symbol.name.startswith("te.")]
        self.functions = {name: self._engine.get_function_address(name) for name in names}


def _llvm() -> Any:
    try:
        return importlib.import_module("llvmlite.binding")
    except ImportError as error:
        because = f"on {platform.machine()} LLVM's loader is needed: {error}"
        raise LaunchError("the object code cannot be loaded", because, "pip install llvmlite") from error
