"""From a configuration and the words of a command line to what a server is to be. Words win over the configuration."""

import contextlib
import ipaddress
import os
import socket
from collections.abc import Mapping
from dataclasses import replace

from skyrl_train.config.sections.sandbox import SandboxSection
from skyrl_train.config.sections.slurm import SlurmSection
from skyrl_train.contracts.errors import UsageError
from skyrl_train.sandbox.runtime.settings import RuntimeSettings, slots_for

AUTO = "auto"
_LOOPBACK = "127.0.0.1"
_ELSEWHERE = ("192.0.2.1", 9)
"""An address that is nobody's (RFC 5737)."""
_MIB = 1 << 20


def settings_of(
    sandbox: SandboxSection, slurm: SlurmSection, environ: Mapping[str, str], *, slots: int | None, host: str
) -> RuntimeSettings:
    """Raises UsageError where the node has no room for a single sandbox (RUN005)."""
    cpus, memory_mib = node_cpus(environ), node_memory_mib(environ)
    inside = bool(environ.get("SLURM_JOB_ID"))
    reserved = sandbox.reserved_cpus if inside else 0  # on a desk every CPU counts, and nothing else is built beside
    found = slots or slots_for(
        cpus=min(cpus, slurm.runtime_cpus) if inside else cpus,
        reserved_cpus=reserved,
        memory_mib=memory_mib,
        cpus_each=sandbox.cpus,
        memory_each_mib=sandbox.memory_mib,
    )
    if found < 1:
        raise UsageError(
            f"no worker slot: {cpus} CPUs less {reserved} reserved and {memory_mib} MiB hold no sandbox of {sandbox.cpus} CPUs "
            f"and {sandbox.memory_mib} MiB; lower sandbox.cpus or sandbox.memory_mib, or say --slots"
        )
    made = RuntimeSettings(
        slots=found,
        host=address_of(host, environ),
        cpus=sandbox.cpus,
        memory_mib=sandbox.memory_mib,
        pids=sandbox.pids,
        disk_mib=sandbox.disk_mib,
        network=sandbox.network,
        start_limit_s=sandbox.ready_timeout_s,
    )
    return replace(made, starts_at_once=max(2, min(made.starts_at_once, 2 * cpus)))


def address_of(host: str, environ: Mapping[str, str]) -> str:
    """Loopback, or the one address that the other job reaches this node by. Never every address."""
    if host == AUTO:
        return _of_this_node(environ) if environ.get("SLURM_JOB_ID") else _LOOPBACK
    try:
        address = _resolved(host)
    except OSError as error:
        raise UsageError(f"--host {host} is no address of this node: {error.strerror}; name one") from error
    if _ip(address).is_unspecified:
        raise UsageError(f"--host {host} would listen on every network of this node; name the job's own address")
    return address


def _of_this_node(environ: Mapping[str, str]) -> str:
    """Slurm's name of a node need not be one of its network's, and a host may know itself by loopback only."""
    found = _LOOPBACK
    for name in (environ.get("SLURMD_NODENAME"), socket.gethostname()):
        with contextlib.suppress(OSError):
            found = _resolved(name) if name else found
        if not _ip(found).is_loopback:
            return found
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(_ELSEWHERE)  # nothing is sent: the kernel says which of its addresses it would send from
        found = str(probe.getsockname()[0])
    return found


def _resolved(name: str) -> str:
    return str(socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)[0][4][0])


def _ip(address: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    return ipaddress.ip_address(address.partition("%")[0])


def node_cpus(environ: Mapping[str, str]) -> int:
    """What the job may use, which is not what the node has."""
    said = environ.get("SLURM_CPUS_ON_NODE", "")
    usable = len(os.sched_getaffinity(0))
    return min(int(said), usable) if said.isdecimal() and int(said) else usable


def node_memory_mib(environ: Mapping[str, str]) -> int:
    """The job's own limit where Slurm says one, else the node's memory."""
    said = environ.get("SLURM_MEM_PER_NODE", "")
    have = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // _MIB
    return min(int(said), have) if said.isdecimal() and int(said) else have
