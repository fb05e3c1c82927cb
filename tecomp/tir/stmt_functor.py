"""Looking at every node of a program, as `tir.stmt_functor` of TVM does."""

from .nodes import post_order_visit

__all__ = ["post_order_visit"]
