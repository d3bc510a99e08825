"""Failures of prime-rl's own configuration."""
