"""Failures of the update."""
