"""Arrays on named devices, as programs written for TVM's front end make them: `nd.array(x, cuda(0))`."""

from tecomp_runtime.array import Array as NDArray
from tecomp_runtime.array import Device, array, cpu, cuda, device, empty, from_dlpack

gpu = cuda

__all__ = ["Device", "NDArray", "array", "cpu", "cuda", "device", "empty", "from_dlpack", "gpu"]
