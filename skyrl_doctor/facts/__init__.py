"""Facts, a subject a file: the frozen record, the pure parser that makes it, and the probe that reads a machine."""
