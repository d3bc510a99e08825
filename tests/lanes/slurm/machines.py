"""Nodes of a cluster that share no network, name, /tmp or shared memory, on one machine; root only.

Each is a set of Linux namespaces, joined by a bridge. Processes are not separated: tests find them by their environment.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

NETWORK = "198.18.{number}"
"""Of the range that is reserved for tests between networks (RFC 2544)."""
_LIMIT_S = 60.0
# $1 this node's directory, $2 its name; then directories of /tmp that all nodes share, "--", and the command.
_ENTER = """
set -e
here=$1 name=$2; shift 2
hostname "$name"
mount --bind "$here/hosts" /etc/hosts
mount -t tmpfs -o mode=1777 none /dev/shm
while [ "$1" != -- ]; do
  mkdir -p "$here$1"
  mount --bind "$1" "$here$1"
  shift
done
shift
chmod 1777 "$here/tmp"
mount --rbind "$here/tmp" /tmp
exec "$@"
"""
_NAMED = 'mount --bind "$1/hosts" /etc/hosts; shift; exec "$@"'


@dataclass(frozen=True)
class Machines:
    """`addresses` are those of the nodes, with that of this machine as `host`."""

    base: Path
    host: str
    addresses: Mapping[str, str]
    shared: Sequence[Path]
    """Directories that the nodes have in common, and that lie in /tmp."""

    def words(self, node: str) -> tuple[str, ...]:
        """What a command on this node begins with. A node with the address of this machine has only its list of names."""
        if self.addresses[node] == self.host:
            return ("unshare", "--mount", "bash", "-c", _NAMED, node, str(self.base))
        enter = ("unshare", "--uts", "--ipc", "--mount", "bash", "-c", _ENTER, "bash", str(self._of(node)), node)
        return ("nsenter", f"--net=/run/netns/{self._space(node)}", *enter, *map(str, self.shared), "--")

    def tmp(self, node: str) -> Path:
        """Where this machine sees the node's own /tmp."""
        return Path("/tmp") if self.addresses[node] == self.host else self._of(node) / "tmp"

    def _of(self, node: str) -> Path:
        return self.base / node

    def _space(self, node: str) -> str:
        return f"{self._link}{node}"

    @property
    def _link(self) -> str:
        return f"lane{self.host.split('.')[2]}"

    @contextmanager
    def made(self) -> Iterator["Machines"]:
        names = "".join(f"{address} {node}\n" for node, address in self.addresses.items())
        self.base.mkdir()
        (self.base / "hosts").write_text(f"127.0.0.1 localhost\n{names}")
        with ExitStack() as stack:
            _ip("link", "add", self._link, "type", "bridge")
            stack.callback(_ip, "link", "del", self._link)
            _ip("addr", "add", f"{self.host}/24", "dev", self._link)
            _ip("link", "set", self._link, "up")
            for number, node in enumerate(node for node, address in self.addresses.items() if address != self.host):
                self._make(node, f"{self._link}v{number}", stack)
            yield self

    def _make(self, node: str, cable: str, stack: ExitStack) -> None:
        (self._of(node) / "tmp").mkdir(parents=True)
        shutil.copy(self.base / "hosts", self._of(node) / "hosts")
        _ip("netns", "add", self._space(node))
        stack.callback(_ip, "netns", "del", self._space(node))
        _ip(
            "link",
            "add",
            cable,
            "master",
            self._link,
            "up",
            "type",
            "veth",
            "peer",
            "name",
            "eth0",
            "netns",
            self._space(node),
        )
        inside = ("-n", self._space(node))
        _ip(*inside, "link", "set", "lo", "up")
        _ip(*inside, "addr", "add", f"{self.addresses[node]}/24", "dev", "eth0")
        _ip(*inside, "link", "set", "eth0", "up")


@contextmanager
def machines(base: Path, nodes: Sequence[str], shared: Sequence[Path]) -> Iterator[Machines]:
    """The first node is this machine itself, under a name and an address of its own; each other one is separate."""
    network = NETWORK.format(number=os.getpid() % 256)
    host = f"{network}.1"
    addresses = {node: host if number == 0 else f"{network}.{10 + number}" for number, node in enumerate(nodes)}
    inside = tuple(path for path in shared if path.is_relative_to("/tmp"))
    with Machines(base, host, addresses, inside).made() as found:
        yield found


def _ip(*words: str) -> None:
    done = subprocess.run(("ip", *words), capture_output=True, text=True, timeout=_LIMIT_S, check=False)
    assert done.returncode == 0, f"ip {' '.join(words)}: {done.stderr}"
