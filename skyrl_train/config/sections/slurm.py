"""[slurm]"""

from pydantic import Field

from skyrl_train.config.sections.base import Section
from skyrl_train.config.walltime import PATTERN


class SlurmSection(Section):
    """The two jobs of a launch: the trainer on GPUs, the runtime on CPUs."""

    gpu_partition: str | None = None
    """Partition of the trainer job; none takes Slurm's default."""
    cpu_partition: str | None = None
    """Partition of the runtime job."""
    account: str | None = None
    """Account of both jobs."""
    qos: str | None = None
    """Quality of service of both jobs."""
    nodes: int = Field(default=1, ge=1)
    """Nodes of the trainer job."""
    gpus_per_node: int = Field(default=1, ge=1)
    """GPUs, or MIG slices, of each of them."""
    gpu_type: str | None = None
    """Type in the --gres request, such as nvidia_a100_3g.20gb."""
    trainer_cpus: int = Field(default=8, ge=1)
    """CPUs of each trainer node."""
    trainer_memory_mib: int = Field(default=65536, ge=1)
    """Memory of each trainer node."""
    trainer_time_limit: str = Field(default="6:00:00", pattern=PATTERN)
    """Time limit of the trainer job, as sbatch --time takes it."""
    runtime_cpus: int = Field(default=32, ge=1)
    """CPUs of the runtime job."""
    runtime_memory_mib: int = Field(default=65536, ge=1)
    """Memory of the runtime job."""
    runtime_time_limit: str = Field(default="6:00:00", pattern=PATTERN)
    """Time limit of the runtime job; it must not end before the trainer."""
    exclude: tuple[str, ...] = ()
    """Nodes that neither job may get."""
    ready_timeout_s: float = Field(default=600, gt=0)
    """How long the trainer job waits for the runtime to be ready."""
    signal_before_end_s: int = Field(default=300, ge=0)
    """SIGUSR1 so long before the time limit: a checkpoint is written then."""
    requeue: bool = False
    """Queue the trainer job again after that signal or a node failure."""
    extra: tuple[str, ...] = ()
    """More options for both sbatch command lines, such as --constraint=a100."""
