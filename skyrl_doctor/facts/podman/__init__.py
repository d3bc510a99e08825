"""What Podman is on this machine and what its store is like, read without Podman's help."""
