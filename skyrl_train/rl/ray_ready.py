"""Waits until a Ray cluster has all its nodes and GPUs. A program of its own for the interpreter that trains:

    python ray_ready.py ADDRESS NODES GPUS SECONDS FILE

Exit status 0 once all are there; otherwise 1, and one sentence in the file and on standard error (GPU004).
"""

import sys
import time
from typing import Any

if sys.path and sys.path[0].endswith("/rl"):
    del sys.path[0]  # the modules beside this file are no top-level modules


def missing(nodes: "list[dict[str, Any]]", *, nodes_wanted: int, gpus_wanted: float) -> str:
    """What is not there yet; nothing once all is. `nodes` are those alive: their address and resources."""
    gpus = sum(node["resources"].get("GPU", 0) for node in nodes)
    if len(nodes) >= nodes_wanted and gpus >= gpus_wanted:
        return ""
    there = ", ".join(sorted(f"{node['address']} with {node['resources'].get('GPU', 0):g}" for node in nodes))
    return f"Ray has {len(nodes)} of {nodes_wanted} nodes and {gpus:g} of {gpus_wanted:g} GPUs ({there or 'none'})"


def alive(address: str) -> "list[dict[str, Any]]":
    from ray._raylet import GcsClient

    found = GcsClient(address=address).get_all_node_info(timeout=10).values()
    return [
        {"address": node.node_manager_address, "resources": dict(node.resources_total)}
        for node in found
        if node.state == 0  # ALIVE
    ]


def wait(address: str, nodes: int, gpus: float, limit_s: float) -> str:
    end = time.monotonic() + limit_s  # FIX(GPU004)
    lacking = "Ray does not answer"
    while True:
        try:
            lacking = missing(alive(address), nodes_wanted=nodes, gpus_wanted=gpus)
        except Exception as error:  # noqa: BLE001 -- Ray raises many kinds, and each may pass
            lacking = f"Ray at {address} does not answer: {type(error).__name__}: {error}"
        if not lacking or time.monotonic() >= end:
            return lacking
        time.sleep(1.0)


if __name__ == "__main__":
    said = wait(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4]))
    if said:
        said = f"{said} after {float(sys.argv[4]):g} s"
        with open(sys.argv[5], "w", encoding="utf-8") as file:
            file.write(said)
        sys.exit(said)
