"""What the watch sees of a run: plain facts with the time at which they were seen (seconds since the epoch)."""

from collections.abc import Mapping
from dataclasses import field

from skyrl_doctor.core.record import record


@record(kw_only=True)
class Step:
    """A training step has ended; `metrics` as the trainer printed them, by verl's names."""

    at: float
    step: int
    metrics: Mapping[str, float] = field(default_factory=dict)


@record(kw_only=True)
class Bar:
    """A progress bar, as it stands: 0/8 after so many seconds of its own count."""

    at: float
    label: str
    done: int
    total: int
    elapsed_s: float = 0.0


@record(kw_only=True)
class Hit:
    """A line that a signature knows. `root`: it ends runs, by itself; a consequence and a mere hint do not."""

    at: float
    id: str | None
    slug: str
    root: bool
    cascade: bool
    file: str
    line: int
    text: str
    explain: str


@record(kw_only=True)
class Phase:
    """The trainer said that it begins something that may take for ever."""

    at: float
    name: str
    file: str
    line: int
    text: str


@record(kw_only=True)
class Served:
    """What an inference server has done since its start, and does now. Counters are None where it counts none."""

    at: float
    url: str
    generated_tokens: float | None = None
    finished: float | None = None
    refused: float | None = None
    failed: float | None = None
    running: float | None = None
    waiting: float | None = None
    cache_usage: float | None = None


@record(kw_only=True)
class Sandboxes:
    """What the sandbox runtime says. Counters since its start; None where it tells nothing."""

    at: float
    url: str
    status: int | None = None
    why: str = ""
    slots: float | None = None
    free: float | None = None
    pending: float | None = None
    building: float | None = None
    starts: float | None = None
    start_p95_s: float | None = None
    responses: float | None = None
    errors_5xx: float | None = None


@record(kw_only=True)
class Fill:
    """How full something is that ends the run when it is full: a GPU, the job's memory, a disk."""

    at: float
    kind: str
    name: str
    used: float
    limit: float
    unit: str = "GiB"


@record(kw_only=True)
class Use:
    """How busy a device is, in percent."""

    at: float
    device: str
    percent: float


@record(kw_only=True)
class Checkpoint:
    """A checkpoint is on disk, whole or not: `tracked` is the step that the tracker file names."""

    at: float
    step: int
    bytes: int | None = None
    tracked: int | None = None


@record(kw_only=True)
class Left:
    """The time that Slurm still gives a job; `job` is the trainer's own or the runtime's."""

    at: float
    job: str
    seconds: float | None
    state: str = "RUNNING"


@record(kw_only=True)
class Fault:
    """A check of the job's own configuration fails: it may be why what is seen is seen."""

    at: float
    id: str
    slug: str
    message: str
    file: str = ""
    line: int | None = None


@record(kw_only=True)
class Recheck:
    """What a check of preflight says of the node while the job runs; `message` is "" where it passes."""

    at: float
    id: str
    message: str
    is_error: bool = False


@record(kw_only=True)
class Rollouts:
    """The trainer's own count of one step's rollouts: `counts` is the JSON of skyrl_train.contracts.agent.metrics.Counts."""

    at: float
    counts: str


@record(kw_only=True)
class Tick:
    """Time has passed."""

    at: float


@record(kw_only=True)
class Ended:
    """The job is over."""

    at: float
    why: str


Observation = (
    Step
    | Bar
    | Hit
    | Phase
    | Served
    | Sandboxes
    | Fill
    | Use
    | Checkpoint
    | Left
    | Fault
    | Recheck
    | Rollouts
    | Tick
    | Ended
)
