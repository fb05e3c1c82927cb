"""Programs as users of TE write them, one module a family, each with its meaning in NumPy."""
