"""Failures of the sandbox runtime."""
