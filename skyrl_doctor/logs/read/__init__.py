"""Reads logs: which files to read, their bytes, blocks of lines, and the clock and the noise of a line."""
