"""Failures of memory: what a run needs compared with what a device has."""
