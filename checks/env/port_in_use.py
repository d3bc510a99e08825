"""Another process already listens on a port that the run needs.

## What it does
Finds the errors of Python, uvicorn, vLLM, torchrun, gRPC, Go and Node.js about an address that is in use.

## Why it breaks training
Only one process of a node listens on a port. The other one is mostly an earlier run that still lives, or a second job on
the same node with the same `MASTER_PORT` or `--port`. A run waits for a server that does not start, or sends its
requests to the server of the other run.

## How to fix
`ss -ltnp | grep :PORT` on that node names the process. End it if it is an earlier run of yours (`kill PID`), or choose
another port.

## Example
    OSError: [Errno 98] error while attempting to bind on address ('0.0.0.0', 8000): address already in use
"""

from skyrl_doctor.core.signature import Signature

CAUSE = "another process on this node already listens on port {port}"
SOME = "another process on this node already listens on the port that this program needs"
WHO = "`ss -ltnp | grep :{port}` on that node names the process: mostly an earlier run that still lives (`kill PID`), or another job on the node."
WHO_SOME = "`ss -ltnp` on that node lists the ports in use and their processes: mostly an earlier run that still lives (`kill PID`), or another job on the node."
OTHER_PORT = "Or choose another port for this program."
SERVER = f"{WHO} Or start this server with another `--port`, and give its clients that port."
OTHER_MASTER = "Or set another `MASTER_PORT` (torchrun: `--master-port`, or `--rdzv-backend=c10d --rdzv-endpoint=localhost:0` on one node; accelerate: `--main_process_port`; deepspeed: `--master_port`)."
MASTER = f"{WHO} {OTHER_MASTER}"
TRIED = r"(?i:\btrying\b|\bretry|\busing port\b|\bnext port\b|\binstead\b)|tcp:// *ipc|ipc://"
"""The program takes another port, or the address is not a port."""

SIGNATURES = (
    Signature(
        pattern=r"error while attempting to bind on address \('[^'\n]{0,80}', (?P<port>\d{1,5})[^)\n]{0,20}\): (?:\[[Ee]rrno \d{2}\] )?[Aa]ddress already in use",
        sample="ERROR:    [Errno 98] error while attempting to bind on address ('0.0.0.0', 8000): address already in use",
        explain=CAUSE,
        remedy=SERVER,
        unless=TRIED,
        versions="uvicorn, asyncio",
    ),
    Signature(
        pattern=r"\bserver socket has failed to (?:bind to|listen on) [^\n]{1,300}?:(?P<port>\d{1,5}) \(errno: (?:98|48) - Address already in use\)",
        sample="torch.distributed.DistNetworkError: The server socket has failed to listen on any local network address. The server socket has failed to bind to [::]:29500 (errno: 98 - Address already in use). The server socket has failed to bind to 0.0.0.0:29500 (errno: 98 - Address already in use).",
        explain=CAUSE,
        remedy=MASTER,
        unless=r"\[W\d{0,12}[: ]|\[W socket",
        versions="torch",
    ),
    Signature(
        pattern=r"\bserver socket has failed to listen on any local network address\.?\s*$",
        sample="RuntimeError: The server socket has failed to listen on any local network address.",
        explain=SOME,
        remedy=f"{WHO_SOME} {OTHER_MASTER}",
        versions="torch < 2.4",
    ),
    Signature(
        pattern=r"\bserver socket has failed to listen on any local network address\. port: (?P<port>\d{1,5}), useIpv6: \w{1,5}, code: -?(?:98|48), name: EADDRINUSE",
        sample="torch.distributed.DistNetworkError: The server socket has failed to listen on any local network address. port: 29500, useIpv6: false, code: -98, name: EADDRINUSE, message: address already in use",
        explain=CAUSE,
        remedy=MASTER,
        versions="torch >= 2.4",
    ),
    Signature(
        pattern=r"\blisten (?:tcp|udp)\d? [^\s]{0,80}:(?P<port>\d{1,5}): bind: address already in use",
        sample="Error: rootlessport listen tcp 0.0.0.0:60001: bind: address already in use",
        explain=CAUSE,
        remedy=f"{WHO} {OTHER_PORT}",
        unless=TRIED,
        versions="go, podman, docker",
    ),
    Signature(
        pattern=r"\bEADDRINUSE: address already in use [^\s]{0,80}:(?P<port>\d{1,5})",
        sample="Error: listen EADDRINUSE: address already in use :::3000",
        explain=CAUSE,
        remedy=f"{WHO} {OTHER_PORT}",
        unless=TRIED,
        versions="node.js",
    ),
    Signature(
        pattern=r"\b(?:Failed to add port to server|No address added out of total \d|[Ff]ailed to bind to address|Unable to bind)\b[^\n]{0,160}?:(?P<port>\d{1,5})\b",
        sample="RuntimeError: Failed to bind to address 0.0.0.0:50051; set GRPC_VERBOSITY=debug environment variable to see detailed error message.",
        explain=CAUSE,
        remedy=f"{WHO} {OTHER_PORT}",
        unless=TRIED,
        versions="grpc",
        last_resort=True,
    ),
    Signature(
        pattern=r"\bOSError: \[Errno (?:98|48)\] Address already in use",
        near=r"\b(?:uvicorn|hypercorn|gunicorn|vllm|sglang|asyncio|socketserver|fastapi|flask|aiohttp|rendezvous|TCPStore)\b|/http/server\.py|torch/distributed",
        within=40,
        sample="OSError: [Errno 98] Address already in use",
        explain=SOME,
        remedy=f"{WHO_SOME} {OTHER_PORT} torchrun: set another `MASTER_PORT`. A model server: another `--port`.",
        unless=TRIED,
        unless_above=r"prometheus_client|/ray/(?:dashboard|_private|autoscaler)/",  # Ray runs without these
        versions="python",
        last_resort=True,
    ),
    Signature(
        pattern=r"\bZMQError: Address already in use \(addr='tcp:|\b(?:RuntimeError|ValueError|ConnectionError|AssertionError|OSError|SystemExit|Exception): [^\n]{0,160}\b[Pp]ort \d{2,5} is (?:already |currently )?(?:in use|occupied|taken|used)\b|\bZMQError: Address already in use$|^RuntimeError: Address already in use$|\bkind: AddrInUse\b|\b(?:Runtime|Value|Connection)Error: [^\n]{1,80}\[Errno (?:98|48)\] [Aa]ddress already in use|\bjava\.net\.BindException: Address already in use|\btransport/tcp/device\.cc:\d{1,5}\][^\n]{0,80}\bAddress already in use",
        sample="zmq.error.ZMQError: Address already in use (addr='tcp://*:5555')",
        explain=SOME,
        remedy=f"{WHO_SOME} {OTHER_PORT}",
        unless=r"(?i:\btrying\b|\bretry|\bnext port\b|\binstead\b)",
        versions="python, zmq",
        last_resort=True,
    ),
    Signature(
        pattern=r"\b(?:[Pp]ort|[Aa]ddress) [^\n]{0,60}\b(?:already|still) in use\b[^\n]{0,120}\b(?:exiting|aborting|cannot start|failed)\b|\bERROR: [^\n]{0,80}\b[Pp]ort (?P<port>\d{2,5}) is (?:already )?in use\b",
        sample="ERROR: port 8000 is already in use",
        explain=SOME,
        remedy=f"{WHO_SOME} {OTHER_PORT}",
        unless=TRIED,
        versions="any",
        last_resort=True,
        passing=True,
    ),
    Signature(
        pattern=r"\bTried to launch distributed communication on port `(?P<port>\d{1,5})`, but another process is utilizing it",
        sample="ConnectionError: Tried to launch distributed communication on port `29500`, but another process is utilizing it. Please specify a different port (such as using the `--main_process_port` flag).",
        explain=CAUSE,
        remedy=MASTER,
        versions="accelerate",
    ),
    Signature(
        pattern=r"\bCannot find empty port in range: (?P<port>\d{1,5})(?:-\d{1,5})?",
        sample="OSError: Cannot find empty port in range: 7860-7860. You can specify a different port by setting the GRADIO_SERVER_PORT environment variable or passing the `server_port` parameter to `launch()`.",
        explain=CAUSE,
        remedy=f"{WHO} Or set another one: `GRADIO_SERVER_PORT`, or `server_port` of `launch()`; without it gradio looks for a free one itself.",
        versions="gradio",
        last_resort=True,
    ),
    Signature(
        pattern=r"\bBind for \S{1,80}:(?P<port>\d{1,5}) failed: port is already allocated|\bfailed to bind host port for \S{1,80}?:(?P<host>\d{1,5})\b[^\n]{0,80}address already in use",
        sample="docker: Error response from daemon: driver failed programming external connectivity on endpoint web: Bind for 0.0.0.0:8080 failed: port is already allocated.",
        explain="another container or process on this host already has the port that this container publishes",
        remedy="`docker ps` (or `podman ps`) lists the containers and their ports, `ss -ltnp` the processes: end the older one, or publish another port (`-p NEW:PORT`; `-p PORT` alone takes a free one).",
        versions="docker",
    ),
    Signature(
        pattern=r"\b(?:Could not create server TCP listening socket|bind\(\) to) \S{0,80}:(?P<port>\d{1,5})\b[^\n]{0,60}Address already in use|\bPort (?P<web>\d{2,5}) is in use by another program\b|\bTensorBoard could not bind to port (?P<board>\d{2,5})\b|\bcouldn't bind HTTP server socket, hostname: \S{1,80}, port: (?P<llama>\d{2,5})|\[ERROR\] Connection in use: \('[^'\n]{0,80}', (?P<socket>\d{1,5})\)",
        sample="[2026-03-02 09:14:36 +0000] [812] [ERROR] Connection in use: ('0.0.0.0', 8000)",
        explain=SOME,
        remedy=f"{WHO_SOME} {OTHER_PORT}",
        unless=TRIED,
        versions="redis, nginx, flask, tensorboard, gunicorn",
        last_resort=True,
        passing=True,
    ),
    Signature(
        pattern=r"\bOSError: \[Errno (?:98|48)\] Address already in use: \('[^'\n]{0,80}', (?P<port>\d{1,5})\)",
        sample="OSError: [Errno 98] Address already in use: ('0.0.0.0', 8000)",
        explain=CAUSE,
        remedy=f"{WHO} {OTHER_PORT}",
        unless=TRIED,
        unless_above=r"prometheus_client|/ray/(?:dashboard|_private|autoscaler)/",
        versions="python",
        last_resort=True,
    ),
)
