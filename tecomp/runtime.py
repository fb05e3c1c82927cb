"""Loading and running what was built, as programs for TVM name it: `tecomp.runtime.load_module(path)`."""

from tecomp_runtime import BuiltFunction as Module
from tecomp_runtime import Device, enabled, load_module

__all__ = ["Device", "Module", "enabled", "load_module"]
