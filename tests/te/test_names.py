"""Every name that a TE program looks for in `te`."""

from __future__ import annotations

import pytest

from tecomp import te

NAMES = """
placeholder compute scan gradient extern extern_primfunc var size_var const reduce_axis thread_axis create_schedule
comm_reducer sum max min prod any all argmax argmin min_value max_value infinity nan
if_then_else Select likely
div truncdiv truncmod floordiv floormod indexdiv indexmod fmod add subtract multiply power
abs acos acosh asin asinh atan atanh ceil cos cosh erf exp floor isfinite isinf isnan log log2 log10 nearbyint popcount
round rsqrt sigmoid sin sinh sqrt tan tanh trunc
exp2 exp10 expm1 log1p atan2 nextafter hypot copysign ldexp clz pow fma clip cast astype
shift_left shift_right bitwise_and bitwise_or bitwise_xor bitwise_not
tag_scope Tensor TensorSlice PlaceholderOp ComputeOp ScanOp ExternOp HybridOp Operation Schedule Stage hybrid
reinterpret dp4a q_multiply_shift q_multiply_shift_per_axis trace SpecializedCondition
AXIS_SEPARATOR TensorComputeOp TensorIntrin decl_tensor_intrin default_schedule
""".split()


@pytest.mark.parametrize("name", NAMES)
def test_name_is_there(name) -> None:
    assert hasattr(te, name)
    assert name in te.__all__
    assert getattr(te, name).__doc__


def test_nothing_else_is() -> None:
    assert sorted(te.__all__) == sorted(NAMES)
