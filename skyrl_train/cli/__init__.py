"""The command line of the trainer: one module a command, each with `arguments(parser)` and `run(args) -> exit status`."""
