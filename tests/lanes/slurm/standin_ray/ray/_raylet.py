"""What Ray's own client of the control server tells of the nodes."""

import json
import os
import socket
from types import SimpleNamespace


class GcsClient:
    def __init__(self, address: str) -> None:
        host, _, port = address.rpartition(":")
        self._place = (host, int(port))

    def get_all_node_info(self, timeout: float) -> dict[int, SimpleNamespace]:
        with open(os.environ["RAY_AUTH_TOKEN_PATH"]) as file:
            token = file.read()
        with socket.create_connection(self._place, timeout) as connection, connection.makefile("rw") as stream:
            stream.write(json.dumps({"token": token, "node": None}) + "\n")
            stream.flush()
            nodes = json.loads(stream.readline())
        return {
            number: SimpleNamespace(
                state=0, node_manager_address=node["address"], resources_total={"CPU": 1.0, "GPU": node["gpus"]}
            )
            for number, node in enumerate(nodes)
        }
