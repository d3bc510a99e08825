"""Podman as the engine: its own service on a private socket, a store for the job, connections into sandboxes."""
