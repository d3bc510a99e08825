"""Failures of GPUs as jobs see them."""
