"""The environment that Ray's workers of this run will have, as far as it is settled already."""

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
    """`names`: the variables that they inherit; None where that is another's cluster. `of` says whose Ray it is."""

    names: frozenset[str] | None
    of: str


def names_of(environ: bytes) -> frozenset[str]:
    """The names in a /proc/PID/environ."""
    words = environ.decode("utf-8", "surrogateescape").split("\0")
    return frozenset(word.partition("=")[0] for word in words if "=" in word)


@probe(limit_s=4.0)
def ray_workers(machine: Machine, environ: Environ, host: Host, clusters: RayClusters) -> RayWorkers:
    """Finds out which Ray the run will join, and reads what that was started with."""
    address = environ.get(ADDRESS)
    if starts_own_cluster(environ) or not (address or clusters.file):
        return RayWorkers(names=frozenset(environ), of="the Ray that the trainer starts")
    job_id = environ.get("SLURM_JOB_ID")
    mine = [one for one in clusters.processes or () if one.uid == host.uid and one.name == "raylet" and job_id]
    raylet = next((one for one in mine if job_id in one.jobs or _says(machine, one, f"SLURM_JOB_ID={job_id}")), None)
    if raylet is None and clusters.processes is None:
        raise CouldNotLook(f"whose Ray the run would join could not be seen: {clusters.hidden}")
    if raylet is None:
        return RayWorkers(
            names=None, of=f"{ADDRESS}={address}" if address else f"{clusters.file and clusters.file.path}"
        )
    told = machine.read_bytes(f"/proc/{raylet.pid}/environ")
    return RayWorkers(names=names_of(told), of=f"the raylet of this job (process {raylet.pid})")


def _says(machine: Machine, process: RayProcess, variable: str) -> bool:
    """Where Slurm has no control groups, the process itself tells of which job it is."""
    if process.jobs:
        return False
    told = unless_absent(lambda: machine.read_bytes(f"/proc/{process.pid}/environ"))
    return told is not None and variable.encode() in told.split(b"\0")
