"""The rules of simplification, one table an operator."""
