"""Local sandboxes: a temporary directory, which is unsafe, and a Podman container."""
