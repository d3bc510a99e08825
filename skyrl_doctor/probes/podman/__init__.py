"""Reads Podman's store as it lies: no lock is taken, nothing is changed, no podman command looks at it."""
