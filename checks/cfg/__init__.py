"""Failures that a configuration alone shows."""
