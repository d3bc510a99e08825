"""[watch]"""

from typing import Literal

from pydantic import Field

from skyrl_train.config.sections.base import Section


class WatchSection(Section):
    """The doctor that follows the trainer job from beside it."""

    enabled: bool = True
    """Whether the trainer job starts `skyrl-doctor watch` beside itself."""
    on_root: Literal["report", "stop", "hold"] = "report"
    """What happens when a root cause is sure: tell, end the job, or put it back into the queue on hold."""
    settle_s: float = Field(default=120, gt=0)
    """How long nothing must move after a cause in a log before it counts."""
    grace_s: float = Field(default=60, gt=0)
    """Between asking the job to end and ending it."""
