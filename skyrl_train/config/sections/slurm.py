"""[slurm]"""

from pydantic import Field

from skyrl_train.config.sections.base import Section
from skyrl_train.config.walltime import PATTERN


class SlurmSection(Section):
    """The two jobs of a launch: the trainer on GPUs, the runtime on CPUs."""

    gpu_partition: str | None = None
    """Partition of the trainer job (default: Slurm's default)."""
    cpu_partition: str | None = None
    """Partition of the runtime job (default: Slurm's default)."""
    account: str | None = None
    """Account of both jobs."""
    qos: str | None = None
    """Quality of service of both jobs."""
    nodes: int = Field(default=1, ge=1)
    """Nodes of the trainer job."""
    gpus_per_node: int = Field(default=1, ge=1)
    """GPUs or MIG slices of each trainer node."""
    gpu_type: str | None = None
    """GPU type in the --gres request, such as nvidia_a100_3g.20gb."""
    gpu_memory_gib: float | None = Field(default=None, gt=0)
    """Memory of a GPU in GiB, where its type does not tell: an a100 has 40 or 80."""
    trainer_cpus: int = Field(default=8, ge=1)
    """CPUs of each trainer node. Ray may count more, since verl requests 3 of Ray's with each GPU and 9 for its queue."""
    trainer_memory_mib: int = Field(default=65536, ge=1)
    """Memory of each trainer node in MiB."""
    trainer_time_limit: str = Field(default="6:00:00", pattern=PATTERN)
    """Time limit of the trainer job, in the format of sbatch --time."""
    runtime_cpus: int = Field(default=32, ge=1)
    """CPUs of the runtime job."""
    runtime_memory_mib: int = Field(default=65536, ge=1)
    """Memory of the runtime job in MiB."""
    runtime_time_limit: str = Field(default="6:00:00", pattern=PATTERN)
    """Time limit of the runtime job; at least the trainer's, in the format of sbatch --time."""
    exclude: tuple[str, ...] = ()
    """Nodes that neither job may use."""
    ready_timeout_s: float = Field(default=600, gt=0)
    """Time limit of the trainer's wait for the runtime."""
    signal_before_end_s: int = Field(default=300, ge=0)
    """Slurm sends SIGUSR1 this many seconds before the time limit. The trainer then finishes the running step and saves a
    checkpoint, unless trainer.save_every_steps is -1. 0 sends no signal."""
    requeue: bool = False
    """Requeue the trainer job after that signal or a node failure."""
    requeue_limit: int = Field(default=10, ge=0)
    """Most restarts of the trainer job. A trainer that ignores the signal and saves no checkpoint is not requeued at all."""
    extra: tuple[str, ...] = ()
    """More sbatch options for both jobs, such as --constraint=a100."""
