"""Instructions in place of loops: do both compute the same, where do the instruction's buffers lie, what is emitted."""
