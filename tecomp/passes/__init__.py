"""The passes between lowering and code generation, one a file; `pipeline` is the table that says in which order."""
