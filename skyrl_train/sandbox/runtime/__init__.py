"""The runtime server: sessions that clients ask for over HTTP, each a container of the job's own Podman store.

app -> sessions -> (starter, remover, watcher, leases) -> engine; book keeps every step, slots hands out the node.
"""
