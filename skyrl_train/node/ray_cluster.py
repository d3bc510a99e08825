"""The Ray cluster of a job with several nodes: its address, and the command that starts each node's part of it. Pure.

`ray start --block` on each node, as verl documents it for Slurm, and not `ray symmetric-run`: that one exits with 0 where
Ray did not start, refuses a node where anybody's Ray runs, and ends with `ray stop`, which ends every Ray of this user on
the node, whatever job it belongs to.
"""

from collections.abc import Iterator, Mapping

from skyrl_train.contracts.record import record
from skyrl_train.node.ray import ADDRESS, head_port

LAUNCH_ADDRESS = "SLURM_LAUNCH_NODE_IPADDR"
"""Of the node where srun runs, as the nodes of the step reach it: srun tells each of its tasks."""
PORTS_TRIED = 16
_TOKENS = ("RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH")
_STEP = 2
"""The head takes two ports side by side: its control server's, and that of Ray's client server."""


@record
class Head:
    """Where the head's control server listens."""

    host: str
    port: int

    @property
    def address(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@record(kw_only=True)
class Share:
    """What one node gives to the cluster, as Slurm gave it to the job: Ray itself would count the whole machine."""

    cpus: int
    gpus: int


def ports(job_id: str) -> Iterator[tuple[int, int]]:
    """Pairs of ports for the head, the likeliest to be free first. Jobs of neighbouring ids begin at different ones."""
    first = _STEP * int("".join(filter(str.isdecimal, job_id)) or "0")
    for number in range(PORTS_TRIED):
        port = head_port(str(first + number * _STEP * 101))
        yield port, port + 1


def head_words(python: str, head: Head, client_port: int, share: Share) -> tuple[str, ...]:
    """For the node on which the driver will run."""
    places = (f"--node-ip-address={head.host}", f"--port={head.port}", f"--ray-client-server-port={client_port}")
    return (*_ray(python), "--head", *places, "--include-dashboard=false", *_common(share))


def worker_words(python: str, head: Head, share: Share) -> tuple[str, ...]:
    """For every other node."""
    return (*_ray(python), f"--address={head.address}", *_common(share))


def cluster_environ(environ: Mapping[str, str], token_path: str) -> dict[str, str]:
    """For Ray on every node: only who has the job's token may join, or run code there.

    Without this, Ray 2.60 takes the token of the user's home where one is: on the head, and not on the others.
    """
    kept = {name: value for name, value in environ.items() if name not in (ADDRESS, *_TOKENS)}
    return {"RAY_AUTH_MODE": "token", **kept, "RAY_AUTH_TOKEN_PATH": token_path}


def driver_environ(environ: Mapping[str, str], head: Head) -> dict[str, str]:
    """For the program that calls ray.init(): the cluster of this job, and no other."""
    return {**environ, ADDRESS: head.address}


def _ray(python: str) -> tuple[str, ...]:
    """By the interpreter that trains: Ray refuses a node of another Python or another Ray."""
    return (python, "-m", "ray.scripts.scripts", "start")


def _common(share: Share) -> tuple[str, ...]:
    """Ports of workers by the kernel's choice: those that Ray counts up from 10002 meet those of another job's Ray."""
    own = (f"--num-cpus={share.cpus}", f"--num-gpus={share.gpus}")
    return (*own, "--min-worker-port=0", "--max-worker-port=0", "--disable-usage-stats", "--block")
