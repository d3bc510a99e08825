"""[trainer]"""

from typing import Literal

from pydantic import Field

from skyrl_train.config.sections.base import Section


class TrainerSection(Section):
    """Steps, checkpoints and logging."""

    project: str = "skyrl"
    """Project name in loggers and paths."""
    experiment: str = "run"
    """Name of this run."""
    logger: tuple[str, ...] = ("console",)
    """Where metrics go: console, wandb, tensorboard, file."""
    mode: Literal["sync", "colocate_async", "separate_async"] = "sync"
    """sync: a step waits for all its rollouts. colocate_async: a step begins as soon as enough rollouts have ended; the others
    are interrupted for the update and continue with the new weights. separate_async: the same, but rollouts have GPUs of their
    own and go on during the update; only the sync of weights interrupts them."""
    rollout_gpus: int = Field(default=0, ge=0)
    """With separate_async: the GPUs of the job that only generate rollouts; the others train. They are whole nodes, or the same
    number on each node."""
    batches_ahead: float = Field(default=1.0, gt=0)
    """Not with sync: the prompts in progress beyond those of the step, in batches."""
    max_staleness: int = Field(default=4, ge=2)
    """Not with sync: the most steps that a rollout may take part in. A step waits for rollouts that would exceed it."""
    epochs: int = Field(default=1, ge=1)
    """Passes over the tasks."""
    steps: int | None = Field(default=None, ge=1)
    """Number of training steps (default: all steps of the epochs)."""
    save_every_steps: int = Field(default=1, ge=-1)
    """Save a checkpoint every N steps; -1 saves none."""
    validate_every_steps: int = Field(default=-1, ge=-1)
    """Validate every N steps; -1 never validates."""
    validate_first: bool = False
    """Validate before the first step."""
    validate_samples: int = Field(default=1, ge=1)
    """Rollouts of each validation task. One is sampled greedily. Several are sampled as in training and give pass@k."""
    checkpoint_dir: str = "checkpoints"
    """Directory of checkpoints; project and experiment are appended."""
    checkpoints_to_keep: int = Field(default=2, ge=1)
    """Number of newest checkpoints to keep; older ones are removed."""
    resume: Literal["auto", "disable", "path"] = "auto"
    """auto resumes from the last checkpoint if there is one; path resumes from resume_from."""
    resume_from: str | None = None
    """The checkpoint (…/global_step_N) to resume from if resume is path."""
    rollout_dir: str | None = None
    """Directory of transcripts (default: the job directory)."""
    seed: int = 42
    """Seed of the trainer."""
    deterministic: bool = False
    """Make runs with the same seed equal: each model call gets a fixed seed, kernels and order are fixed. Slower."""
    empty_steps_allowed: int = Field(default=3, ge=0)
    """The run ends after more than this many steps in a row without a usable rollout."""
    prove_weights: bool = True
    """After each weight sync compare the model servers' log-probabilities of a fixed text with the trainer's. The run ends if
    the weights did not arrive."""
    fork_workers: bool = True
    """One process of the node imports torch, verl and vLLM, and the workers are copies of it: a run starts sooner. A worker that
    cannot be a copy imports for itself."""
    phase_timeout_s: float = Field(default=3600, gt=0)
    """Time limit of each phase in seconds: start-up, rollouts, update, weight sync and checkpoint. The run then ends with exit
    status 124."""
    verl_overrides: tuple[str, ...] = ()
    """More overrides for verl's command line (KEY=VALUE, +KEY=VALUE). They come last and take precedence."""
