"""Failures of the model that was chosen."""
