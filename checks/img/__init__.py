"""Failures of sandbox images."""
