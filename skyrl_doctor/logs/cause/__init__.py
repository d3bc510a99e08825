"""Finds the root cause: the order of the lines of all logs, and which failure came first."""
