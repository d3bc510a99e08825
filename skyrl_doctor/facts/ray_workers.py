"""The environment that the Ray workers of this run will inherit."""

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.core.record import record
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.host import Host
from skyrl_doctor.facts.ray_clusters import RayClusters, RayProcess
from skyrl_doctor.machine.base import Machine, unless_absent
from skyrl_train.node.ray import ADDRESS, starts_own_cluster


@record(kw_only=True)
class RayWorkers:
    """`names` are the inherited variables; None if the run joins another cluster. `of` describes that Ray."""

    names: frozenset[str] | None
    of: str


def variable_names(environ: bytes) -> frozenset[str]:
    """The names of the variables in a /proc/PID/environ."""
    words = environ.decode("utf-8", "surrogateescape").split("\0")
    return frozenset(word.partition("=")[0] for word in words if "=" in word)


@probe(limit_s=4.0)
def ray_workers(machine: Machine, environ: Environ, host: Host, clusters: RayClusters) -> RayWorkers:
    """Finds the Ray that the run will join, and reads its environment."""
    address = environ.get(ADDRESS)
    if starts_own_cluster(environ) or not (address or clusters.file):
        return RayWorkers(names=frozenset(environ), of="the Ray that the trainer starts")
    job_id = environ.get("SLURM_JOB_ID")
    mine = [one for one in clusters.processes or () if one.uid == host.uid and one.name == "raylet" and job_id]
    raylet = next(
        (one for one in mine if job_id in one.jobs or _has_variable(machine, one, f"SLURM_JOB_ID={job_id}")), None
    )
    if raylet is None and clusters.processes is None:
        raise CouldNotLook(f"the owner of the running Ray is unknown: {clusters.hidden}")
    if raylet is None:
        return RayWorkers(
            names=None, of=f"{ADDRESS}={address}" if address else f"{clusters.file and clusters.file.path}"
        )
    environ_bytes = machine.read_bytes(f"/proc/{raylet.pid}/environ")
    return RayWorkers(names=variable_names(environ_bytes), of=f"the raylet of this job (process {raylet.pid})")


def _has_variable(machine: Machine, process: RayProcess, variable: str) -> bool:
    """Whether the process has this variable. Needed if Slurm uses no control groups."""
    if process.jobs:
        return False
    environ_bytes = unless_absent(lambda: machine.read_bytes(f"/proc/{process.pid}/environ"))
    return environ_bytes is not None and variable.encode() in environ_bytes.split(b"\0")
