"""The sandbox runtime: containers with Podman, the server that starts them for clients, and the server inside each one."""
