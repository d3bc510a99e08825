"""Sandboxes that this machine can make by itself: a temporary directory, which is unsafe, and a Podman container."""
