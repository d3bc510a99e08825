"""The Ray cluster of a job with several nodes: its address, and the command that starts Ray on each node. Pure.

It uses `ray start --block` on each node, as verl documents for Slurm. `ray symmetric-run` is not used: it exits with 0 if
Ray did not start, refuses a node on which another Ray runs, and runs `ray stop` at its end, which ends every Ray of this
user on the node, also those of other jobs.
"""

from collections.abc import Iterator, Mapping

from skyrl_train.contracts.record import record
from skyrl_train.node.ray import ADDRESS, head_port

LAUNCH_ADDRESS = "SLURM_LAUNCH_NODE_IPADDR"
"""The address of the node where srun runs. srun sets it for each task."""
PORTS_TRIED = 16
CPUS_PER_GPU, QUEUE_CPUS, SPARE_CPUS = 3, 9, 1
"""What verl 0.9.1 requests of Ray: so many with each GPU; one for each of eight stores of its queue and one for their
controller, wherever they run; and one that is free while an actor starts."""
_TOKENS = ("RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH")
_STEP = 2
"""The head uses two adjacent ports: one for its control server, one for Ray's client server."""


@record
class Head:
    """The address of the head's control server."""

    host: str
    port: int

    @property
    def address(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@record(kw_only=True)
class Share:
    """The CPUs and GPUs that Ray counts on one node. Without them it would count the whole machine."""

    cpus: int
    gpus: int


def share_of(*, cpus: int, gpus: int) -> Share:
    """The share of a job with so many CPUs and GPUs on a node.

    Ray only counts CPUs and reserves none. Where it has too few, verl waits for more without an end, and names none.
    """
    return Share(cpus=max(cpus, CPUS_PER_GPU * gpus + QUEUE_CPUS + SPARE_CPUS), gpus=gpus)  # FIX(GPU004)


def ports(job_id: str) -> Iterator[tuple[int, int]]:
    """Pairs of ports for the head, to be tried in order. Jobs with neighbouring ids begin with different pairs."""
    first = _STEP * int("".join(filter(str.isdecimal, job_id)) or "0")
    for number in range(PORTS_TRIED):
        port = head_port(str(first + number * _STEP * 101))
        yield port, port + 1


def head_words(python: str, head: Head, client_port: int, share: Share) -> tuple[str, ...]:
    """The command for the node on which the driver will run."""
    addresses = (f"--node-ip-address={head.host}", f"--port={head.port}", f"--ray-client-server-port={client_port}")
    return (*_ray(python), "--head", *addresses, "--include-dashboard=false", *_common(share))


def worker_words(python: str, head: Head, share: Share) -> tuple[str, ...]:
    """The command for every other node."""
    return (*_ray(python), f"--address={head.address}", *_common(share))


def cluster_environ(environ: Mapping[str, str], token_path: str) -> dict[str, str]:
    """The environment of Ray on every node: only processes with the job's token may join or run code.

    Without it, Ray 2.60 uses a token in the user's home directory on the head but not on the other nodes.
    """
    kept = {name: value for name, value in environ.items() if name not in (ADDRESS, *_TOKENS)}
    return {"RAY_AUTH_MODE": "token", **kept, "RAY_AUTH_TOKEN_PATH": token_path}


def driver_environ(environ: Mapping[str, str], head: Head) -> dict[str, str]:
    """The environment of the program that calls ray.init(), with the address of this job's cluster."""
    return {**environ, ADDRESS: head.address}


def _ray(python: str) -> tuple[str, ...]:
    """`ray start` under the training interpreter: Ray refuses a node with another version of Python or Ray."""
    return (python, "-m", "ray.scripts.scripts", "start")


def _common(share: Share) -> tuple[str, ...]:
    """Common options. The kernel chooses the workers' ports: Ray's own, from 10002, collide with another job's Ray."""
    own = (f"--num-cpus={share.cpus}", f"--num-gpus={share.gpus}")
    return (*own, "--min-worker-port=0", "--max-worker-port=0", "--disable-usage-stats", "--block")
