"""How many processes and threads a Ray node starts, and how many CPUs Ray should use."""

from collections.abc import Mapping

RAY_OWN_THREADS = 150
"""Threads of the driver, the control server, the raylet and its agents before any worker; measured with Ray 2.60."""
IDLE_WORKER_THREADS = 22
"""Threads of an idle worker, measured with Ray 2.60 on two CPUs. More CPUs mean more threads."""
BUSY_WORKER_THREADS = 64
"""Threads of a busy worker with torch, gRPC and a tokenizer on a large node; an estimate."""
SPARE_THREADS = 1000
"""Threads for data loaders, model servers and other programs of the user on the node."""
FEW_OPEN_FILES = 4096
"""Ray warns if the limit is lower."""
RAISE_PROCESSES = "ulimit -S -u $(ulimit -H -u)"
"""A line for a job script that needs no permission of the site."""

_CPU_VARIABLES = ("SLURM_CPUS_PER_TASK", "SLURM_CPUS_ON_NODE")


def threads_at_start(workers: int) -> int:
    """The threads of Ray at its start, when it starts all workers at once. With a lower limit the start fails."""
    return RAY_OWN_THREADS + IDLE_WORKER_THREADS * workers


def threads_at_work(workers: int) -> int:
    """The threads that a run may need later."""
    return RAY_OWN_THREADS + BUSY_WORKER_THREADS * workers + SPARE_THREADS


def job_cpus(environ: Mapping[str, str], *, usable: int) -> int:
    """The CPUs of this job: those that the process may use, or fewer if Slurm allocated fewer."""
    given = (int(text) for name in _CPU_VARIABLES if (text := environ.get(name, "").strip()).isdecimal())
    return min(usable, *(count for count in given if count > 0), usable)


def ray_num_cpus(environ: Mapping[str, str], *, usable: int) -> int:
    """The value for ray.init(num_cpus=…). By default Ray uses every CPU of the node and starts a worker for each."""
    return job_cpus(environ, usable=usable)  # FIX(ENV008)
