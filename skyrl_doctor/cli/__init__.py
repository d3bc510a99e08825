"""The command line: one module per command, each with `arguments(parser)` and `run(args) -> exit status`."""
