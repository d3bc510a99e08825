"""Podman and its store, read from files: no lock is taken, nothing is changed, and no podman command reads the store."""
