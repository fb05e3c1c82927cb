"""The derivatives of tensors by tensors, in reverse: what `te.gradient` makes."""
