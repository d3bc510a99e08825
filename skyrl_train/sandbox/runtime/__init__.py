"""The runtime server: sessions that clients ask for over HTTP, each a container of the job's own Podman store.

`serve` opens Podman's engine; `lifecycle` wires the parts; `app` answers requests. What the parts share:
`store` (the sessions' records), `admission` (slots and queue), `sandboxes` (containers and ports), `telemetry`.
"""
