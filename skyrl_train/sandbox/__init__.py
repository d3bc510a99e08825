"""The sandbox runtime: containers over Podman, the server that hands them out, and the server inside of each."""
