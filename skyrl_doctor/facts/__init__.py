"""Facts. Each file has one subject: a frozen record, the parser that makes it, and the probe that reads it from a machine."""
