"""Failures of Podman and its store."""
