"""[agent]"""

from typing import Literal

from pydantic import Field

from skyrl_train.config.sections.base import Section

Tool = Literal["terminal", "file_editor", "finish", "think"]


class AgentSection(Section):
    """The agent loop: turns, tools and limits of one rollout."""

    max_turns: int = Field(default=20, ge=1)
    """Most model calls in one rollout."""
    max_parallel: int = Field(default=7, ge=1)
    """Most rollouts at the same time; each uses one sandbox."""
    tools: tuple[Tool, ...] = ("terminal", "file_editor", "finish", "think")
    """Tools that the prompt offers to the model."""
    budget_note_tokens: int = Field(default=256, ge=0)
    """The model gets a note to finish when fewer than this many tokens of data.max_response_tokens are left."""
    command_timeout_s: float = Field(default=120, gt=0)
    """Time limit of one command in the sandbox."""
    rollout_timeout_s: float = Field(default=1800, gt=0)
    """Time limit of a rollout; after it the rollout is ended and masked."""
    observation_max_chars: int = Field(default=10000, ge=1)
    """Longer tool results are cut to this length, with a notice."""
    stuck_after_repeats: int = Field(default=4, ge=2)
    """A rollout is stuck if the same action gives the same result this many times in a row, or if two actions alternate this
    many times."""
