"""Waits until a Ray cluster has all its nodes and GPUs. Run as a program by the training interpreter:

    python ray_ready.py ADDRESS NODES GPUS SECONDS FILE

Exit status 0 once all have joined; otherwise 1, with one sentence in the file and on standard error (GPU004).
"""

import sys
import time
from typing import Any

if sys.path and sys.path[0].endswith("/rl"):
    del sys.path[0]  # the modules in this directory are not top-level modules


def missing(nodes: "list[dict[str, Any]]", *, nodes_expected: int, gpus_expected: float) -> str:
    """A sentence about missing nodes and GPUs, empty if all have joined. `nodes` are the addresses and resources alive."""
    gpus = sum(node["resources"].get("GPU", 0) for node in nodes)
    if len(nodes) >= nodes_expected and gpus >= gpus_expected:
        return ""
    there = ", ".join(sorted(f"{node['address']} with {node['resources'].get('GPU', 0):g}" for node in nodes))
    return f"Ray has {len(nodes)} of {nodes_expected} nodes and {gpus:g} of {gpus_expected:g} GPUs ({there or 'none'})"


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
    fault = "Ray does not answer"
    while True:
        try:
            fault = missing(alive(address), nodes_expected=nodes, gpus_expected=gpus)
        except Exception as error:  # noqa: BLE001 -- Ray raises many kinds of errors, and each may be temporary
            fault = f"Ray at {address} does not answer: {type(error).__name__}: {error}"
        if not fault or time.monotonic() >= end:
            return fault
        time.sleep(1.0)


if __name__ == "__main__":
    text = wait(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4]))
    if text:
        text = f"{text} after {float(sys.argv[4]):g} s"
        with open(sys.argv[5], "w", encoding="utf-8") as file:
            file.write(text)
        sys.exit(text)
