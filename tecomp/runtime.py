"""Loading and running what was built, as programs for TVM name it: `tecomp.runtime.load_module(path)`."""

from tecomp_runtime import Device, Module, enabled, load_module

__all__ = ["Device", "Module", "enabled", "load_module"]
