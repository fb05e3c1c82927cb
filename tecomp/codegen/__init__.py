"""From a flat program to code: LLVM IR for CPUs, CUDA C++ for GPUs."""
