"""Podman as the engine: a service of our own on a private socket, a store of the job's own, connections into sandboxes."""
