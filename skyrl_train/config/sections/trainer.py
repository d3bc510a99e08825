"""[trainer]"""

from typing import Literal

from pydantic import Field

from skyrl_train.config.sections.base import Section


class TrainerSection(Section):
    """Steps, checkpoints, logging."""

    project: str = "skyrl"
    """Name of the project in loggers and paths."""
    experiment: str = "run"
    """Name of this run."""
    logger: tuple[str, ...] = ("console",)
    """Where metrics go: console, wandb, tensorboard, file."""
    epochs: int = Field(default=1, ge=1)
    """Passes over the tasks."""
    steps: int | None = Field(default=None, ge=1)
    """Training steps; none goes by epochs."""
    save_every_steps: int = Field(default=1, ge=-1)
    """A checkpoint so often; -1 for none."""
    validate_every_steps: int = Field(default=-1, ge=-1)
    """Validation so often; -1 for none."""
    validate_first: bool = False
    """Validate before the first step."""
    checkpoint_dir: str = "checkpoints"
    """Where checkpoints go; project and experiment are added."""
    checkpoints_to_keep: int = Field(default=2, ge=1)
    """Older checkpoints are removed."""
    resume: Literal["auto", "disable", "path"] = "auto"
    """auto goes on from the last checkpoint, if there is one."""
    resume_from: str | None = None
    """The checkpoint (…/global_step_N) where resume is path."""
    rollout_dir: str | None = None
    """Where transcripts go; none puts them into the job directory."""
    seed: int = 42
    """Seed of the trainer."""
    deterministic: bool = False
    """Make two runs of one seed equal: each call of the model has a seed of its own, kernels and order are fixed. Slower."""
    empty_steps_allowed: int = Field(default=3, ge=0)
    """Steps in a row without one usable rollout after which the run ends."""
    phase_timeout_s: float = Field(default=3600, gt=0)
    """Longest time of a rollout phase, a weight sync or a checkpoint."""
    verl_overrides: tuple[str, ...] = ()
    """Further overrides, as verl's command line takes them (KEY=VALUE, +KEY=VALUE). They come last, and win."""
