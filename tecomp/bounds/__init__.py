"""Over which ranges each stage runs, and how much of each tensor is needed."""
