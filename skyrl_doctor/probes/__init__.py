"""Probes: each reads one kind of fact off a machine, and has no opinion of it."""
