"""[watch]"""

from typing import Literal

from pydantic import Field

from skyrl_train.config.sections.base import Section


class WatchSection(Section):
    """The doctor's watch, which runs next to the trainer."""

    enabled: bool = True
    """Start `skyrl-doctor watch` in the trainer job."""
    on_root: Literal["report", "stop", "hold"] = "report"
    """What to do about a certain root cause: report it, stop the job, or requeue the job on hold."""
    settle_s: float = Field(default=120, gt=0)
    """A cause in a log counts after this long without progress."""
    grace_s: float = Field(default=60, gt=0)
    """Time between asking the job to end and killing it."""
