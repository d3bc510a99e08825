"""The options of a watch."""

from skyrl_doctor.core.record import record
from skyrl_doctor.watch.policy import Limits, Policy
from skyrl_doctor.watch.sink.joblog import OWN


@record(kw_only=True)
class Settings:
    """`file`: the one log that is watched instead of the directory's.

    `once`: a single pass, which prints only what is open at its end. `writes` is False for a single log, and for a viewer next to the watch that writes: it acts on nothing and writes
    nothing.
    """

    job_dir: str
    file: str = ""
    logs: tuple[str, ...] = ()
    vllm: tuple[str, ...] = ()
    config: tuple[str, ...] = ()
    checkpoints: str = ""
    job: str = ""
    runtime_job: str = ""
    pids: tuple[int, ...] = ()
    policy: Policy = Policy.REPORT
    limits: Limits = Limits()
    dry_run: bool = False
    webhook: str = ""
    job_log: str = OWN
    tick_s: float = 1.0
    samplers: bool = True
    once: bool = False
    writes: bool = True

    @property
    def place(self) -> str:
        """The directory or the log that the user named."""
        return self.file or self.job_dir
