"""Tensor intrinsics for the hardware there is, declared as any user would: `x86` and `cuda`.

from tecomp.tir.tensor_intrin import cuda
s[AF].tensorize(i, cuda.wmma_load("wmma.matrix_a"))
"""
