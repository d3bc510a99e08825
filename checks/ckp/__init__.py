"""Failures of checkpoints."""
