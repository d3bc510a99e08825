"""Failures of the environment that a job inherits."""
