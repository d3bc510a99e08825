"""`python -m ray.scripts.scripts start …`: the head keeps a list of its nodes, a worker ends when the head does."""

import json
import os
import socket
import sys
import threading
import time
from pathlib import Path

WORDS = dict(word.removeprefix("--").partition("=")[::2] for word in sys.argv[2:])
TOKEN = Path(os.environ["RAY_AUTH_TOKEN_PATH"]).read_text()
ME = {"address": os.environ["SLURMD_NODENAME"], "gpus": float(WORDS["num-gpus"]), "pid": os.getpid()}


def serve(connection: socket.socket, nodes: list[dict[str, object]]) -> None:
    with connection, connection.makefile("rw") as stream:
        said = json.loads(stream.readline())
        if said["token"] != TOKEN:
            return
        if said["node"] is None:
            stream.write(json.dumps(nodes) + "\n")
            return
        nodes.append(said["node"])
        stream.readline()
        nodes.remove(said["node"])


def head() -> None:
    nodes: list[dict[str, object]] = [ME]
    with (
        socket.create_server(("", int(WORDS["port"]))) as server,
        socket.create_server(("", int(WORDS["ray-client-server-port"]))),
    ):
        while True:
            connection, _ = server.accept()
            threading.Thread(target=serve, args=(connection, nodes), daemon=True).start()


def worker() -> None:
    host, _, port = WORDS["address"].rpartition(":")
    while True:
        try:
            with socket.create_connection((host, int(port))) as connection:
                connection.sendall((json.dumps({"token": TOKEN, "node": ME}) + "\n").encode())
                connection.recv(1)
            sys.exit("Some Ray subprocesses exited unexpectedly: raylet [exit code=1]")
        except ConnectionRefusedError:
            time.sleep(0.1)


if __name__ == "__main__":
    head() if "head" in WORDS else worker()
