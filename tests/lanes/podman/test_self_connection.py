"""Callers of a sandbox's port that is not open yet, in a network whose every free port is that one."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator

import pytest

from skyrl_train.contracts.sandbox.wire import AGENT_PORT
from skyrl_train.sandbox.runtime.podman.namespace_client import NamespaceClient

pytestmark = pytest.mark.podman
CALLS = 10
NETWORK = f"""
import fcntl, socket, struct, sys
up = struct.pack("16sH14x", b"lo", 0x41)
fcntl.ioctl(socket.socket(socket.AF_INET, socket.SOCK_DGRAM), 0x8914, up)
open("/proc/sys/net/ipv4/ip_local_port_range", "w").write("{AGENT_PORT} {AGENT_PORT + 1}")
print("ready", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def pid() -> Iterator[int]:
    words = ["unshare", "--user", "--map-root-user", "--net", sys.executable, "-c", NETWORK]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield process.pid
        process.kill()


def test_a_call_before_the_sandbox_listens_does_not_take_its_port(pid: int) -> None:
    async def call() -> None:
        namespaces = NamespaceClient()
        try:
            for _ in range(CALLS):
                with pytest.raises(ConnectionRefusedError):
                    await namespaces.connect(pid, AGENT_PORT)
        finally:
            await namespaces.close()

    asyncio.run(call())
