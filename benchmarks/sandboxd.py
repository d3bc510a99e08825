"""sandboxd's start-up, memory and round trips, and the same command run as a local process beside it.

    python -m benchmarks.sandboxd [--short] [--python PATH …]

Each figure is the best and the median of its rounds; the two kinds of round trip take turns, so that the machine's load
falls on both alike. The large file and the flood of output show that memory stays as it was.
"""

import argparse
import contextlib
import http.client
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from skyrl_train.contracts.sandboxd_api import ALLOCATOR
from skyrl_train.sandbox.sandboxd.bundle import write_zipapp

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
KEY = "benchmark"
COMMAND = "true"
MIB = 1024 * 1024


@dataclass
class Running:
    """One sandboxd, with a connection that stays."""

    process: "subprocess.Popen[bytes]"
    port: int
    connection: http.client.HTTPConnection

    def execute(self, command: str) -> dict[str, object]:
        body = json.dumps({"command": command})
        self.connection.request("POST", "/api/bash/execute_bash_command", body, {"X-Session-API-Key": KEY})
        told: dict[str, object] = json.loads(self.connection.getresponse().read())
        return told

    def memory_mib(self, name: str) -> float:
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith(name)) / 1024


@contextlib.contextmanager
def running(python: str, archive: Path) -> Iterator[tuple[Running, float]]:
    """And the milliseconds from the start of its process to its first answer."""
    from lanes.ports import held_ports

    with held_ports(1) as (port,), answering(python, archive, port) as found:
        yield found


@contextlib.contextmanager
def answering(python: str, archive: Path, port: int) -> Iterator[tuple[Running, float]]:
    argv = [python, "-I", "-S", "-B", str(archive), "--host", "127.0.0.1", "--port", str(port)]
    began = time.perf_counter()
    env = {"OH_SESSION_API_KEYS_0": KEY, "PATH": os.environ["PATH"], **ALLOCATOR}
    process = subprocess.Popen(argv, env=env, stderr=subprocess.DEVNULL)
    try:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        while not alive(connection):
            time.sleep(0.0005)
        yield Running(process, port, connection), (time.perf_counter() - began) * 1000
    finally:
        process.kill()
        process.wait()


def alive(connection: http.client.HTTPConnection) -> bool:
    try:
        connection.request("GET", "/alive")
        return connection.getresponse().read() == b'{"status":"ok"}'
    except ConnectionRefusedError:
        connection.close()
        return False


def locally() -> None:
    subprocess.run(["/bin/bash", "-c", COMMAND], capture_output=True, stdin=subprocess.DEVNULL, check=True)


def milliseconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


def shown(values: list[float]) -> str:
    return f"best {min(values):7.2f}  median {statistics.median(values):7.2f}"


def round_trips(server: Running, rounds: int) -> None:
    local, remote = [], []
    for _ in range(rounds):
        local.append(milliseconds(locally))
        remote.append(milliseconds(lambda: server.execute(COMMAND)))
    more = statistics.median(remote) - statistics.median(local)
    ratio = statistics.median(remote) / statistics.median(local)
    print(f"  local subprocess      ms   {shown(local)}")
    print(f"  through sandboxd      ms   {shown(remote)}")
    print(f"  difference of medians ms   {more:.2f}  (ratio {ratio:.2f}; wanted: at most 5 ms more)")


def transfers(server: Running, directory: Path, size_mib: int) -> None:
    before = server.memory_mib("VmHWM")
    piece, boundary = os.urandom(MIB), b"boundary"
    head = b'--boundary\r\ncontent-disposition: form-data; name="file"; filename="x"\r\n\r\n'
    tail = b"\r\n--" + boundary + b"--\r\n"
    headers = {
        "X-Session-API-Key": KEY,
        "content-type": "multipart/form-data; boundary=boundary",
        "content-length": str(len(head) + size_mib * MIB + len(tail)),
    }

    def body() -> Iterator[bytes]:
        yield head
        yield from (piece for _ in range(size_mib))
        yield tail

    def up() -> None:
        server.connection.request("POST", f"/api/file/upload?path={directory}/large", body(), headers)
        answer = json.loads(server.connection.getresponse().read())
        assert answer == {"success": True, "file_size": size_mib * MIB}, answer

    def down() -> None:
        server.connection.request("GET", f"/api/file/download?path={directory}/large", headers=headers)
        answer = server.connection.getresponse()
        assert sum(len(data) for data in iter(lambda: answer.read(MIB), b"")) == size_mib * MIB

    rates = {name: size_mib / (milliseconds(work) / 1000) for name, work in (("up", up), ("down", down))}
    print(f"  {size_mib} MiB up, down      MiB/s  {rates['up']:.0f}, {rates['down']:.0f}")
    print(f"  peak memory, more    MiB   {server.memory_mib('VmHWM') - before:.1f}")


def flood(server: Running, size_mib: int) -> None:
    server.execute("head -c 16M /dev/zero | tr '\\0' x")
    before = server.memory_mib("VmHWM")
    told = server.execute(f"head -c {size_mib}M /dev/zero | tr '\\0' x")
    kept = len(str(told["stdout"]))
    assert "bytes left out here" in str(told["stdout"])
    more = server.memory_mib("VmHWM") - before
    print(
        f"  {size_mib} MiB of output       MiB  {kept / MIB:.1f} kept with a notice, peak memory {more:.1f} more than of 16"
    )


def measure(python: str, *, short: bool) -> None:
    with tempfile.TemporaryDirectory() as name:
        archive = write_zipapp(Path(name))
        starts = []
        for _ in range(5 if short else 20):
            with running(python, archive) as (_, took):
                starts.append(took)
        with running(python, archive) as (server, _):
            version = subprocess.run([python, "--version"], capture_output=True, text=True, check=True).stdout.strip()
            print(f"{version}, load {os.getloadavg()[0]:.1f}")
            print(f"  start to first answer ms   {shown(starts)}")
            server.execute(COMMAND)
            print(f"  resident memory      MiB   {server.memory_mib('VmRSS'):.1f}")
            round_trips(server, 40 if short else 400)
            transfers(server, Path(name), 64 if short else 1024)
            flood(server, 64 if short else 512)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--short", action="store_true", help="fewer rounds and smaller files")
    parser.add_argument("--python", nargs="*", default=[sys.executable], help="interpreters to run sandboxd with")
    arguments = parser.parse_args()
    for python in arguments.python:
        measure(python, short=arguments.short)


if __name__ == "__main__":
    main()
