"""How many processes and threads a Ray node starts, and how many CPUs Ray may be told of."""

from collections.abc import Mapping

RAY_OWN_THREADS = 150
"""Of the driver, the control server, the raylet and its agents before any worker; measured with Ray 2.60."""
IDLE_WORKER_THREADS = 22
"""Of a worker that does nothing yet, measured with Ray 2.60 on two CPUs; more CPUs make it more, not less."""
BUSY_WORKER_THREADS = 64
"""Of a worker with torch, gRPC and a tokenizer at work on a large node; an estimate."""
SPARE_THREADS = 1000
"""For data loaders, model servers and whatever else the user runs on the node."""
FEW_OPEN_FILES = 4096
"""Ray itself warns of a limit below this."""
RAISE_PROCESSES = "ulimit -S -u $(ulimit -H -u)"
"""For a job script: what a job may do for itself without the site."""

_CPU_VARIABLES = ("SLURM_CPUS_PER_TASK", "SLURM_CPUS_ON_NODE")


def threads_at_start(workers: int) -> int:
    """What Ray needs before any work: it starts all workers at once. Fewer, and the start fails for certain."""
    return RAY_OWN_THREADS + IDLE_WORKER_THREADS * workers


def threads_at_work(workers: int) -> int:
    """What a run may come to need."""
    return RAY_OWN_THREADS + BUSY_WORKER_THREADS * workers + SPARE_THREADS


def job_cpus(environ: Mapping[str, str], *, usable: int) -> int:
    """The CPUs that this job has: those that the process may run on, or fewer where Slurm gave fewer."""
    given = (int(text) for name in _CPU_VARIABLES if (text := environ.get(name, "").strip()).isdecimal())
    return min(usable, *(count for count in given if count > 0), usable)


def ray_num_cpus(environ: Mapping[str, str], *, usable: int) -> int:
    """What to give ray.init(num_cpus=…): left alone, Ray takes every CPU of the node and starts a worker for each."""
    return job_cpus(environ, usable=usable)  # FIX(ENV008)
