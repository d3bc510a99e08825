"""What the watch observes of a run: plain facts, each with its time (seconds since the epoch)."""

from collections.abc import Mapping
from dataclasses import field

from skyrl_doctor.core.record import record


@record(kw_only=True)
class Step:
    """A training step ended; `metrics` by the names that the trainer printed, `trainer` is the framework."""

    at: float
    step: int
    metrics: Mapping[str, float] = field(default_factory=dict)
    trainer: str = "verl"


@record(kw_only=True)
class Bar:
    """A progress bar: how much is done, after how many seconds by its own count."""

    at: float
    label: str
    done: int
    total: int
    elapsed_s: float = 0.0


@record(kw_only=True)
class Hit:
    """A line that a signature matches. `root`: it ends runs by itself; a consequence or a hint does not."""

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
    """The trainer logged the start of something that may hang."""

    at: float
    name: str
    file: str
    line: int
    text: str


@record(kw_only=True)
class Served:
    """An inference server's counters since its start, and its load now. None where it has no such counter."""

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
    """The sandbox runtime's status, and its counters since its start; None where it gives none."""

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
    """How full a GPU, the job's memory or a disk is: the run ends when it is full."""

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
    """A checkpoint below `root` is on disk, complete or not. `tracked` is the step that the tracker file names."""

    at: float
    step: int
    root: str = ""
    bytes: int | None = None
    tracked: int | None = None


@record(kw_only=True)
class Left:
    """The time that Slurm leaves a job; `job` is `trainer` or `runtime`."""

    at: float
    job: str
    seconds: float | None
    state: str = "RUNNING"


@record(kw_only=True)
class Fault:
    """A check of the job's configuration fails: a possible cause of what the run shows."""

    at: float
    id: str
    slug: str
    message: str
    file: str = ""
    line: int | None = None


@record(kw_only=True)
class Recheck:
    """The result of a preflight check of the node while the job runs; `message` is "" where it passes."""

    at: float
    id: str
    message: str
    is_error: bool = False


@record(kw_only=True)
class Rollouts:
    """The trainer's counts of one step's rollouts: `counts` is the JSON of skyrl_train.contracts.agent.metrics.Counts."""

    at: float
    counts: str


@record(kw_only=True)
class Hang:
    """Where the processes of a stalled job wait, from their stacks."""

    at: float
    message: str
    evidence: tuple[str, ...]


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
    | Hang
    | Tick
    | Ended
)
